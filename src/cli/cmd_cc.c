/*
 * cmd_cc.c - `venturi cc` and `venturi c++`: the compiler, with what functions or lines need to be recorded.
 *
 * Adds options and becomes the compiler: whatever it prints and returns is its own.
 */
#include "base/beside.h"
#include "cli/cc.h"
#include "cli/cmd.h"
#include "cli/preload.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_ADDED 16
#define RUNNING                                                                                    \
    "VENTURI_CC_RUNNING" /* in the environment of the compiler: it must not come back here */

extern const struct vti_command vti_cmd_cc;

void vti_cc_add(struct vti_cc *line, const char *word)
{
    line->words[line->count++] = (char *)(uintptr_t)word;
}

static bool is_one_of(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(word, list[i]))
            return true;
    return false;
}

/* Options after which nothing is linked. */
static bool stops_before_linking(const char *word)
{
    static const char *const list[] = {
        "-c",   "-S",        "-E",           "-M",          "-MM", "-r", "-fsyntax-only",
        "-###", "--version", "-dumpversion", "-dumpmachine"};

    return is_one_of(word, list, sizeof list / sizeof *list) || !strncmp(word, "-print-", 7) ||
           !strncmp(word, "--help", 6);
}

/* Options whose value is a word of its own. */
static bool takes_a_word(const char *word)
{
    static const char *const list[] = {"-o",          "-x",
                                       "-I",          "-L",
                                       "-D",          "-U",
                                       "-l",          "-T",
                                       "-u",          "-z",
                                       "-e",          "-A",
                                       "-G",          "-MF",
                                       "-MT",         "-MQ",
                                       "-include",    "-imacros",
                                       "-isystem",    "-iquote",
                                       "-idirafter",  "-iprefix",
                                       "-isysroot",   "-Xlinker",
                                       "-Xassembler", "-Xpreprocessor",
                                       "-Xclang",     "-target",
                                       "-arch",       "--param",
                                       "-aux-info"};

    return is_one_of(word, list, sizeof list / sizeof *list);
}

/* Whether the compiler will link something, and whether statically. */
static bool will_link(char *const *words, bool *is_static)
{
    bool has_input = false;
    bool links = true;

    *is_static = false;
    for (; *words; words++) {
        const char *word = *words;

        links &= !stops_before_linking(word);
        *is_static |= !strcmp(word, "-static") || !strcmp(word, "-static-pie");
        if (takes_a_word(word) && words[1])
            words++;
        else
            has_input |= word[0] != '-' || !word[1];
    }
    return links && has_input;
}

static bool has_word(char *const *words, const char *start)
{
    for (; *words; words++)
        if (!strncmp(*words, start, strlen(start)))
            return true;
    return false;
}

/* Whether one of the words is this very program: CC="venturi cc" is how people tell a build system. */
static bool is_this_tool(const char *command)
{
    char self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);

    self[len > 0 ? len : 0] = 0;
    while (*command) {
        char word[PATH_MAX];
        char path[PATH_MAX];
        char file[PATH_MAX];
        size_t word_len;

        command += strspn(command, " \t");
        word_len = strcspn(command, " \t");
        if (word_len >= sizeof word)
            return false;
        memcpy(word, command, word_len);
        word[word_len] = 0;
        command += word_len;
        vti_program_find(word, path, sizeof path);
        if (realpath(path, file) && !strcmp(file, self))
            return true;
    }
    return false;
}

static const char *compiler(bool is_cpp)
{
    const char *ours = getenv(is_cpp ? "VENTURI_CXX" : "VENTURI_CC");
    const char *usual = getenv(is_cpp ? "CXX" : "CC");

    if (ours && *ours)
        return ours;
    if (usual && *usual && !is_this_tool(usual))
        return usual;
    return is_cpp ? "c++" : "cc";
}

/* CC may be "ccache gcc": words with spaces between them, as make takes it. */
static bool add_compiler(struct vti_cc *line, const char *command, char **copy)
{
    char *rest = *copy = strdup(command);
    char *word;

    while (rest && (word = strsep(&rest, " \t")) != NULL)
        if (*word && line->count < MOST_ADDED)
            vti_cc_add(line, word);
    return line->count > 0;
}

static bool is_named_clang(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strstr(slash ? slash : path, "clang");
}

/* Only gcc can leave out functions by their file. "cc" may be either: the file that it stands for tells. That of "clang" may be a
 * cache of compilers: then the name does. */
static bool is_clang(const struct vti_cc *line)
{
    char path[PATH_MAX];
    char file[PATH_MAX];

    for (size_t i = 0; i < line->count; i++) {
        vti_program_find(line->words[i], path, sizeof path);
        if (is_named_clang(line->words[i]) || (realpath(path, file) && is_named_clang(file)))
            return true;
    }
    return false;
}

static void add_functions(struct vti_cc *line)
{
    vti_cc_add(line, "-L");
    vti_cc_add(line, line->folder);
    vti_cc_add(line, line->rpath);
    vti_cc_add(line, "-lventuri-hooks");
    vti_cc_add(line, "-Wl,--push-state,--no-as-needed");
    vti_cc_add(line, "-lventuri-functions");
    vti_cc_add(line, "-Wl,--pop-state");
}

static void before_user(const struct vti_cc_lines *lines, struct vti_cc *line)
{
    line->is_clang = is_clang(line);
    if (lines->is_on) {
        vti_cc_lines_before(lines, line);
        return;
    }
    if (!line->is_clang)
        vti_cc_add(line, "-finstrument-functions-exclude-file-list=/usr/include,/usr/lib/gcc");
    vti_cc_add(line, "-finstrument-functions");
    vti_cc_add(line, "-fno-omit-frame-pointer");
}

/* What is compiled, and how. */
struct job {
    const char *name; /* of the command */
    const char *command;
    int argc;
    char **argv;
    struct vti_cc_lines lines;
    bool links;
    bool is_static;
    char library[PATH_MAX]; /* beside which our runtime is; "": none is linked */
};

/* All words of the compiler's command line. */
static void fill(struct vti_cc *line, const struct job *job)
{
    before_user(&job->lines, line);
    if (!has_word(job->argv + 1, "-gtoggle")) /* of all others (-g0, -g1) the last counts */
        vti_cc_add(line, "-g");
    for (int i = 1; i < job->argc; i++)
        vti_cc_add(line, job->argv[i]);
    if (job->lines.is_exact)
        vti_cc_lines_insist(line, job->argv + 1);
    if (job->library[0]) {
        snprintf(line->folder, sizeof line->folder, "%s", job->library);
        *strrchr(line->folder, '/') = 0;
        snprintf(line->rpath, sizeof line->rpath, "-Wl,-rpath,%s", line->folder);
        if (job->lines.is_on)
            vti_cc_lines_after(line, job->is_static);
        else
            add_functions(line);
    }
    vti_cc_add(line, NULL);
}

/* Comes back only if there is no such compiler. */
static int become(const struct job *job)
{
    struct vti_cc line = {.words = calloc((size_t)job->argc + 3 * MOST_ADDED, sizeof(char *))};
    char *copy = NULL;

    if (!line.words || !add_compiler(&line, job->command, &copy)) {
        free(line.words);
        free(copy);
        return vti_cmd_fail(job->name, "no compiler: %s", job->command);
    }
    fill(&line, job);
    setenv(RUNNING, "1", 1);
    execvp(line.words[0], line.words);
    vti_cmd_fail(job->name, "%s: %s", line.words[0], strerror(errno));
    free(line.words);
    free(copy);
    return VTI_EXIT_MISSING;
}

/* Our runtime is a shared library; that of lines can be had in both ways. */
static int find_runtime(struct job *job)
{
    const char *name = job->lines.is_on ? "libventuri-lines.so" : "libventuri-functions.so";

    if (!job->links)
        return 0;
    if (job->is_static && !job->lines.is_on) {
        vti_cmd_warn(job->name,
                     "-static: nothing will be recorded, our runtime is a shared library");
        return 0;
    }
    if (!vti_library_find(name, job->library, sizeof job->library))
        return vti_cmd_fail(job->name, "%s is not where the tool is", name);
    return 0;
}

static int run_command(int argc, char **argv)
{
    struct job job = {.name = argv[0], .command = compiler(!strcmp(argv[0], "c++"))};
    int code;

    if (getenv(RUNNING))
        return vti_cmd_fail(argv[0], "the compiler that it is to run is itself");
    if (!vti_cc_lines_take(&job.lines, &argc, &argv))
        return VTI_EXIT_BAD;
    if (argc < 2)
        return vti_cmd_fail(argv[0], "compile what? venturi %s [options] FILE…", argv[0]);
    job.argc = argc;
    job.argv = argv;
    job.links = will_link(argv + 1, &job.is_static);
    code = find_runtime(&job);
    return code ? code : become(&job);
}

const struct vti_command vti_cmd_cc = {
    .name = "cc",
    .alias = "c++",
    .summary = "compile C (c++: C++) so that functions or lines are recorded",
    .usage = "[-l [--exact]] [compiler options] FILE…",
    .about = "Runs the compiler (VENTURI_CC, CC or cc; for `venturi c++` VENTURI_CXX, CXX\n"
             "or c++) with what recording its functions needs, and links our runtime. All\n"
             "options are the compiler's own, as is the exit code; 127: no such compiler.\n"
             "Run the program with `venturi run`; alone it runs as ever, a little slower.\n"
             "In front of all others: -l (--lines) records its lines (`venturi run -l`), and\n"
             "-l --exact times each line of these files, instead of sampling.",
    .stops_at_operand = true,
    .passes_options = true,
    .run = run_command,
};
