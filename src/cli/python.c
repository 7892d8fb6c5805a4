/*
 * python.c - Python programs under `run`.
 *
 * The interpreter itself runs the script, so that everything it sees is as without us. Our hooks get
 * in by a folder in front of PYTHONPATH that holds nothing but a sitecustomize.py.
 */
#include "cli/python.h"

#include "base/beside.h"
#include "cli/cmd.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_with(const char *word, const char *ending)
{
    size_t len = strlen(word), end = strlen(ending);

    return len > end && !strcmp(word + len - end, ending);
}

static bool has_main(const char *folder)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof path, "%s/__main__.py", folder) < (int)sizeof path &&
           access(path, F_OK) == 0;
}

static bool is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool vti_python_is_script(const char *word)
{
    static const char *const endings[] = {".py", ".pyw", ".pyc", ".pyz"};

    for (unsigned i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(word, endings[i]))
            return true;
    return has_main(word);
}

bool vti_python_add_glob(struct vti_buf *globs, const char *name, const char *glob)
{
    if (!*glob || strchr(glob, ':')) {
        vti_cmd_fail("run", "--%s %s: not a pattern: %s", name, glob,
                     *glob ? "give the option twice instead of a colon" : "it is empty");
        return false;
    }
    if (globs->len)
        vti_buf_add_u8(globs, ':');
    vti_buf_add(globs, glob, strlen(glob));
    return true;
}

bool vti_python_add_names(struct vti_buf *names, const char *given)
{
    size_t from = names->len;

    if (!vti_python_add_glob(names, "profile", given))
        return false;
    for (; from < names->len; from++)
        if (names->data[from] == ',')
            names->data[from] = ':';
    return true;
}

/* ---- the command line ------------------------------------------------------------------------ */

static bool is_on_path(const char *name)
{
    const char *at = getenv("PATH");

    while (at && *at) {
        char path[PATH_MAX];
        size_t len = strcspn(at, ":");

        if (snprintf(path, sizeof path, "%.*s/%s", len ? (int)len : 1, len ? at : ".", name) <
                (int)sizeof path &&
            access(path, X_OK) == 0)
            return true;
        at += len + (at[len] == ':');
    }
    return false;
}

static const char *choose_interpreter(const struct vti_python *python)
{
    const char *named = python->interpreter ? python->interpreter : getenv("VENTURI_INTERPRETER");

    if (named && *named)
        return named;
    return is_on_path("python3") || !is_on_path("python") ? "python3" : "python";
}

/* The interpreter would say it too, but with its own exit code, and after it was started. */
static int check_script(const char *script)
{
    int error = access(script, F_OK) ? errno : 0;

    if (!error && is_folder(script) && !has_main(script)) {
        vti_cmd_fail("run", "%s: a folder without a __main__.py", script);
        return VTI_EXIT_CANNOT;
    }
    if (!error && access(script, R_OK))
        error = errno;
    if (!error)
        return 0;
    vti_cmd_fail("run", "%s: %s", script, error == ENOENT ? "not found" : strerror(error));
    return error == ENOENT ? VTI_EXIT_MISSING : VTI_EXIT_CANNOT;
}

int vti_python_command(const struct vti_python *python, char **words, char ***command)
{
    const char *given = python->module ? python->module : python->code;
    size_t count = 0, at = 0;
    int code;

    *command = NULL;
    if (!given && strcmp(words[0], "-") != 0) {
        if (!vti_python_is_script(words[0]) && !is_folder(words[0]))
            return 0;
        code = check_script(words[0]);
        if (code)
            return code;
    }
    while (words[count])
        count++;
    *command = calloc(count + 4, sizeof **command);
    if (!*command) {
        vti_cmd_fail("run", "out of memory");
        return VTI_EXIT_SETUP;
    }
    (*command)[at++] = (char *)(uintptr_t)choose_interpreter(python);
    if (given) {
        (*command)[at++] = python->module ? "-m" : "-c";
        (*command)[at++] = (char *)(uintptr_t)given;
    }
    memcpy(*command + at, words, count * sizeof *words);
    return 0;
}

const char *vti_python_title(const struct vti_python *python, char *const *words, char *to,
                             size_t room)
{
    const char *name = python->module ? python->module : python->code ? "python" : words[0];
    size_t len = strlen(name);
    const char *slash;

    while (len > 1 && name[len - 1] == '/')
        len--;
    slash = memrchr(name, '/', len);
    if (slash && len > 1) {
        len -= (size_t)(slash + 1 - name);
        name = slash + 1;
    }
    snprintf(to, room, "%.*s", (int)(len > 200 ? 200 : len), name);
    if (vti_python_is_script(to) && strrchr(to, '.') > to)
        *strrchr(to, '.') = 0;
    return strcmp(to, "-") ? to : "python";
}

/* ---- the environment ------------------------------------------------------------------------- */

/* The folder with our sitecustomize.py: beside the tool in a build folder, in ../lib once installed;
 * in a wheel the tool lies within the package itself. */
static bool find_folder(char *to, size_t room)
{
    static const char *const places[] = {
        "python/venturi/_inject/sitecustomize.py", "../_inject/sitecustomize.py",
        "../lib*/venturi/python/venturi/_inject/sitecustomize.py",
        "../lib*/*/venturi/python/venturi/_inject/sitecustomize.py"};

    if (!vti_beside_find(places, sizeof places / sizeof *places, to, room))
        return false;
    *strrchr(to, '/') = 0;
    return true;
}

static void set_or_unset(const char *name, struct vti_buf *value)
{
    bool is_given = value->len > 0;

    vti_buf_add_u8(value, 0);
    if (is_given && !value->failed)
        setenv(name, (const char *)value->data, 1);
    else
        unsetenv(name);
}

/* An empty PYTHONPATH means none, but an empty part of one means the current folder. */
static void put_in_front(const char *folder)
{
    const char *old = getenv("PYTHONPATH");
    size_t len = strlen(folder);
    struct vti_buf path = {0};

    while (old && !strncmp(old, folder, len) && (old[len] == ':' || !old[len]))
        old += len + (old[len] == ':');
    vti_buf_printf(&path, "%s%s%s", folder, old && *old ? ":" : "", old ? old : "");
    vti_buf_add_u8(&path, 0);
    if (!path.failed)
        setenv("PYTHONPATH", (const char *)path.data, 1);
    vti_buf_fini(&path);
}

static bool is_part(const char *path, const char *folder)
{
    size_t len = strlen(folder);

    for (const char *at = path; at; at = strchr(at, ':')) {
        at += *at == ':';
        if (!strncmp(at, folder, len) && (at[len] == ':' || !at[len]))
            return true;
    }
    return false;
}

void vti_python_offer_package(void)
{
    const char *old = getenv("PYTHONPATH");
    char folder[PATH_MAX];
    char *path = NULL;

    if (!find_folder(folder, sizeof folder))
        return;
    *strrchr(folder, '/') = 0; /* of the package … */
    *strrchr(folder, '/') = 0; /* … and what it is in */
    /* A wheel lies among other packages, which are not ours to offer; its interpreter finds it. */
    if (!ends_with(folder, "/python") || strchr(folder, ':') || (old && is_part(old, folder)))
        return;
    if (asprintf(&path, "%s%s%s", old ? old : "", old && *old ? ":" : "", folder) < 0)
        return;
    setenv("PYTHONPATH", path, 1);
    free(path);
}

bool vti_python_environment(struct vti_python *python)
{
    char folder[PATH_MAX];
    bool has_package = find_folder(folder, sizeof folder);
    char what[64];

    set_or_unset("VENTURI_INCLUDE", &python->include);
    set_or_unset("VENTURI_EXCLUDE", &python->exclude);
    set_or_unset("VENTURI_LINES_OF", &python->lines_of);
    unsetenv("VENTURI_PYTHON");
    if (has_package) /* also where nothing of Python is recorded: programs may import it */
        put_in_front(folder);
    if (!python->has_functions && !python->has_lines)
        return true;
    if (!has_package)
        return false;
    snprintf(what, sizeof what, "%s%s%s%s%s", python->has_lines ? "lines" : "",
             python->has_lines && python->has_functions ? "," : "",
             python->has_functions ? "calls" : "", python->has_builtins ? ",builtins" : "",
             python->is_only_mine ? ",only-mine" : "");
    setenv("VENTURI_PYTHON", what, 1);
    snprintf(what, sizeof what, "%ld", (long)getpid());
    if (python->has_lines)
        setenv("VENTURI_LINES_TOOL", what, 1); /* whose child says which names of -p it lacks */
    return true;
}
