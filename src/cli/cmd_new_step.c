/*
 * cmd_new_step.c - `venturi new-step`: a folder with a step that runs as it is, from the templates in src/cli/new_step.
 *
 * Nothing that exists is touched: all of it goes into a new folder, which is taken away again if a file cannot be written.
 */
#include "base/beside.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_MOST 64
#define PATH_BYTES 4096

extern const char vti_new_step_settings[], vti_new_step_init[], vti_new_step_step[],
    vti_new_step_run_step[], vti_new_step_run_multiprocess[], vti_new_step_test_step[],
    vti_new_step_messages[], vti_new_step_readme[], vti_new_step_requirements[],
    vti_new_step_dockerfile[], vti_new_step_step_c[], vti_new_step_makefile[],
    vti_new_step_readme_c[];

extern const struct vti_command vti_cmd_new_step;

static const struct vti_option options[] = {
    {'o', "output", "DIR", "the folder to make (default: NAME)"},
    {'l', "language", "python|c", "what it is written in (default: python)"},
    {0},
};

/* A file of a new step; of a name without text the folder is made. */
struct template
{
    const char *path;
    const char *text;
};

static const struct template python_files[] = {
    {"settings.py", vti_new_step_settings},
    {"@PACKAGE@", NULL},
    {"@PACKAGE@/__init__.py", vti_new_step_init},
    {"@PACKAGE@/step.py", vti_new_step_step},
    {"scripts", NULL},
    {"scripts/run_step.py", vti_new_step_run_step},
    {"scripts/run_multiprocess.py", vti_new_step_run_multiprocess},
    {"tests", NULL},
    {"tests/test_step.py", vti_new_step_test_step},
    {"messages.jsonl", vti_new_step_messages},
    {"README.md", vti_new_step_readme},
    {"requirements.txt", vti_new_step_requirements},
    {"Dockerfile", vti_new_step_dockerfile},
    {0},
};

static const struct template c_files[] = {
    {"step.c", vti_new_step_step_c},
    {"Makefile", vti_new_step_makefile},
    {"messages.jsonl", vti_new_step_messages},
    {"README.md", vti_new_step_readme_c},
    {0},
};

struct names {
    char class_[NAME_MOST + 1];  /* MyStep */
    char package[NAME_MOST + 1]; /* my_step */
    char lower[NAME_MOST + 1];   /* mystep: of the class, as in the name of an index */
    char pc_folder[PATH_BYTES];  /* where pkg-config finds this Venturi; "": not known */
};

/* ---- names ---------------------------------------------------------------------------------- */

/* Names that Python's own words and modules have, or files of the step. */
static bool is_taken(const char *package)
{
    static const char *const taken[] = {
        "and",      "array",  "as",     "ast",      "async",   "await",    "break",      "calendar",
        "class",    "code",   "copy",   "csv",      "def",     "del",      "dis",        "elif",
        "else",     "email",  "enum",   "except",   "finally", "for",      "from",       "glob",
        "global",   "html",   "http",   "if",       "import",  "in",       "inspect",    "io",
        "is",       "json",   "lambda", "logging",  "math",    "messages", "nonlocal",   "not",
        "operator", "or",     "os",     "pass",     "pickle",  "platform", "profile",    "queue",
        "raise",    "random", "re",     "return",   "scripts", "select",   "settings",   "shutil",
        "signal",   "site",   "socket", "sqlite3",  "ssl",     "stat",     "statistics", "step",
        "string",   "struct", "sys",    "tempfile", "test",    "tests",    "threading",  "time",
        "token",    "trace",  "try",    "types",    "typing",  "unittest", "uuid",       "venturi",
        "warnings", "while",  "with",   "xml",      "yield",   "zlib"};

    for (unsigned i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!strcmp(package, taken[i]))
            return true;
    return false;
}

/* Words become a class's name and a package's. */
static int make_names(struct names *names, const char *name)
{
    size_t len = strlen(name);
    size_t at = 0;
    bool is_first = true;

    if (!isalpha((unsigned char)*name) || len > NAME_MOST)
        return vti_cmd_fail("new-step", "'%.80s': a name begins with a letter and has at most %d",
                            name, NAME_MOST);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)name[i];

        if (!isalnum(c) && !strchr("_-.", c))
            return vti_cmd_fail("new-step", "'%s': letters, digits, - and _ make a name", name);
        names->package[i] = (char)(isalnum(c) ? tolower(c) : '_');
        if (isalnum(c)) {
            names->class_[at] = (char)(is_first ? toupper(c) : c);
            names->lower[at++] = (char)tolower(c);
        }
        is_first = !isalnum(c);
    }
    if (is_taken(names->package))
        return vti_cmd_fail("new-step", "'%s' means something to Python; %s_step, perhaps?", name,
                            name);
    return 0;
}

/* Of this very tool, however it was installed or built; but not one that make or a shell would take for something else. */
static void find_pc_folder(struct names *names)
{
    static const char *const places[] = {
        "meson-uninstalled/venturi-step-uninstalled.pc", "../lib/pkgconfig/venturi-step.pc",
        "../lib/*/pkgconfig/venturi-step.pc", "../lib64/pkgconfig/venturi-step.pc",
        "../pkgconfig/venturi-step.pc"}; /* in a Python package */
    char *slash;

    if (!vti_beside_find(places, sizeof places / sizeof *places, names->pc_folder,
                         sizeof names->pc_folder))
        return;
    slash = strrchr(names->pc_folder, '/');
    if (!slash || strpbrk(names->pc_folder, " \t\n'\"\\$#:;%&|*?~`"))
        slash = names->pc_folder;
    *slash = 0;
}

/* `text` with names in the places of @…@. */
static void fill_in(struct vti_buf *out, const char *text, const struct names *names)
{
    const struct {
        const char *mark, *name;
    } marks[] = {{"@CLASS@", names->class_},
                 {"@PACKAGE@", names->package},
                 {"@PREFIX@", "pipeline"},
                 {"@LOWER@", names->lower},
                 {"@PC_FOLDER@", names->pc_folder}};

    while (*text) {
        size_t until = strcspn(text, "@");
        unsigned i;

        vti_buf_add(out, text, until);
        text += until;
        for (i = 0; *text && i < sizeof marks / sizeof *marks; i++)
            if (!strncmp(text, marks[i].mark, strlen(marks[i].mark)))
                break;
        if (!*text)
            break;
        if (i < sizeof marks / sizeof *marks) {
            vti_buf_add_text(out, marks[i].name);
            text += strlen(marks[i].mark);
        } else {
            vti_buf_add_u8(out, (uint8_t)*text++);
        }
    }
}

/* ---- files ---------------------------------------------------------------------------------- */

/* "DIR/path" with its names, into `to`. */
static int path_of(char to[PATH_BYTES], const char *folder, const char *path,
                   const struct names *names)
{
    struct vti_buf out = {0};
    int wrote = -1;

    fill_in(&out, path, names);
    vti_buf_add_u8(&out, 0);
    if (!out.failed)
        wrote = snprintf(to, PATH_BYTES, "%s/%s", folder, (const char *)out.data);
    vti_buf_fini(&out);
    return wrote > 0 && wrote < PATH_BYTES ? 0
                                           : vti_fail(VTI_E_LIMIT, "%s: too long a path", folder);
}

static int write_file(const char *path, const char *text, const struct names *names)
{
    struct vti_output *output = NULL;
    struct vti_buf out = {0};
    int code = vti_output_open(&output, path, false, false);

    fill_in(&out, text, names);
    if (!code && out.failed)
        code = vti_fail(VTI_E_NOMEM, "%s: no memory", path);
    if (!code)
        code = vti_output_write(output, out.data, out.len);
    vti_buf_fini(&out);
    if (code && output)
        vti_output_abandon(output);
    return code ? code : vti_output_commit(output);
}

static int make_one(const char *folder, const struct template *template, const struct names *names)
{
    char path[PATH_BYTES];
    int code = path_of(path, folder, template->path, names);

    if (code)
        return code;
    if (template->text)
        return write_file(path, template->text, names);
    return mkdir(path, 0777) ? vti_fail_errno(VTI_E_WRITE, "%s: cannot make it", path) : 0;
}

/* The last first: files before the folders that they are in. */
static void take_away(const char *folder, const struct template *templates, size_t count,
                      const struct names *names)
{
    char path[PATH_BYTES];

    while (count--)
        if (!path_of(path, folder, templates[count].path, names))
            remove(path);
    rmdir(folder);
}

static int make_all(const char *folder, const struct template *templates, const struct names *names)
{
    int code;

    if (mkdir(folder, 0777))
        return errno == EEXIST
                   ? vti_fail(VTI_E_OPEN, "%s exists already; -o names another folder", folder)
                   : vti_fail_errno(VTI_E_WRITE, "%s: cannot make it", folder);
    for (size_t i = 0; templates[i].path; i++) {
        code = make_one(folder, &templates[i], names);
        if (code) {
            char why[512];

            snprintf(why, sizeof why, "%s", vti_error_message(code));
            take_away(folder, templates, i + 1, names);
            return vti_fail(code, "%s", why);
        }
    }
    return 0;
}

static int run(int argc, char **argv)
{
    const char *language = "python", *folder = NULL, *name = NULL;
    const struct vti_place places[] = {{.text = &folder}, {.text = &language}};
    struct names names = {0};
    bool is_c;
    int code = vti_args_collect(&vti_cmd_new_step, argc, argv, places, &name, 1, "one NAME");

    if (code)
        return code;
    if (!name)
        return vti_cmd_fail("new-step", "what is it to be called?");
    code = make_names(&names, name);
    if (code)
        return code;
    folder = folder ? folder : name;
    is_c = !strcmp(language, "c");
    find_pc_folder(&names);
    code = make_all(folder, is_c ? c_files : python_files, &names);
    if (code)
        return vti_cmd_error("new-step", code);
    vti_cmd_say("%s  a step %s; it runs as it is", folder, names.class_);
    if (is_c)
        vti_cmd_say("next  cd %s && make && venturi run ./%s", folder, names.package);
    else
        vti_cmd_say("next  cd %s && venturi run scripts/run_step.py", folder);
    return VTI_EXIT_OK;
}

const struct vti_command vti_cmd_new_step = {
    .name = "new-step",
    .summary = "write a step of a pipeline that runs as it is",
    .usage = "[options] NAME",
    .about = "Makes a folder with a step: it takes messages from a consumer, executes, and\n"
             "hands on to a producer; what each message took is recorded. Settings, scripts\n"
             "for one process and for several, messages to try it with, and a test are there.",
    .options = options,
    .run = run,
};
