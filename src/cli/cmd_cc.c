/*
 * cmd_cc.c - `venturi cc` and `venturi c++`: the compiler, with what functions need to be recorded.
 *
 * Adds options and becomes the compiler: whatever it prints and returns is its own.
 */
#include "base/beside.h"
#include "cli/cmd.h"
#include "cli/preload.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_ADDED 16
#define RUNNING                                                                                    \
    "VENTURI_CC_RUNNING" /* in the environment of the compiler: it must not come back here */

extern const struct vti_command vti_cmd_cc;

/* The words of a compiler's command line: ours in front, where options of the user still win; the library at the end. */
struct line {
    char **words;
    size_t count;
    char folder[PATH_MAX]; /* of our runtime, and the option that names it: */
    char rpath[PATH_MAX + 16];
};

static void add(struct line *line, const char *word)
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
static bool add_compiler(struct line *line, const char *command, char **copy)
{
    char *rest = *copy = strdup(command);
    char *word;

    while (rest && (word = strsep(&rest, " \t")) != NULL)
        if (*word && line->count < MOST_ADDED)
            add(line, word);
    return line->count > 0;
}

/* Only gcc can leave out functions by their file. "cc" may be either: the file that it stands for tells. */
static bool is_clang(const struct line *line)
{
    char path[PATH_MAX];
    char file[PATH_MAX];
    const char *slash;

    for (size_t i = 0; i < line->count; i++) {
        vti_program_find(line->words[i], path, sizeof path);
        slash = realpath(path, file) ? strrchr(file, '/') : NULL;
        if (strstr(slash ? slash : line->words[i], "clang"))
            return true;
    }
    return false;
}

static void add_runtime(struct line *line, const char *library)
{
    snprintf(line->folder, sizeof line->folder, "%s", library);
    *strrchr(line->folder, '/') = 0;
    snprintf(line->rpath, sizeof line->rpath, "-Wl,-rpath,%s", line->folder);
    add(line, "-L");
    add(line, line->folder);
    add(line, line->rpath);
    add(line, "-lventuri-hooks");
    add(line, "-Wl,--push-state,--no-as-needed");
    add(line, "-lventuri-functions");
    add(line, "-Wl,--pop-state");
}

/* All words of the compiler's command line. */
static void fill(struct line *line, int argc, char **argv, const char *library)
{
    if (!is_clang(line))
        add(line, "-finstrument-functions-exclude-file-list=/usr/include,/usr/lib/gcc");
    add(line, "-finstrument-functions");
    add(line, "-fno-omit-frame-pointer");
    if (!has_word(argv + 1, "-g"))
        add(line, "-g");
    for (int i = 1; i < argc; i++)
        add(line, argv[i]);
    if (library)
        add_runtime(line, library);
    add(line, NULL);
}

/* Comes back only if there is no such compiler. */
static int become(const char *name, const char *command, int argc, char **argv, const char *library)
{
    struct line line = {calloc((size_t)argc + 3 * MOST_ADDED, sizeof(char *)), 0, "", ""};
    char *copy = NULL;

    if (!line.words || !add_compiler(&line, command, &copy)) {
        free(line.words);
        free(copy);
        return vti_cmd_fail(name, "no compiler: %s", command);
    }
    fill(&line, argc, argv, library);
    setenv(RUNNING, "1", 1);
    execvp(line.words[0], line.words);
    vti_cmd_fail(name, "%s: %s", line.words[0], strerror(errno));
    free(line.words);
    free(copy);
    return VTI_EXIT_MISSING;
}

static int run_command(int argc, char **argv)
{
    const char *command = compiler(!strcmp(argv[0], "c++"));
    char library[PATH_MAX];
    bool is_static;
    bool links = will_link(argv + 1, &is_static);

    if (getenv(RUNNING))
        return vti_cmd_fail(argv[0], "the compiler that it is to run is itself");
    if (argc < 2)
        return vti_cmd_fail(argv[0], "compile what? venturi %s [options] FILE…", argv[0]);
    if (links && is_static)
        vti_cmd_warn(argv[0], "-static: nothing will be recorded, our runtime is a shared library");
    else if (links && !vti_functions_library(library, sizeof library))
        return vti_cmd_fail(argv[0], "libventuri-functions.so is not where the tool is");
    return become(argv[0], command, argc, argv, links && !is_static ? library : NULL);
}

const struct vti_command vti_cmd_cc = {
    .name = "cc",
    .alias = "c++",
    .summary = "compile C (c++: C++) so that functions are recorded",
    .usage = "[compiler options] FILE…",
    .about = "Runs the compiler (VENTURI_CC, CC or cc; for `venturi c++` VENTURI_CXX, CXX\n"
             "or c++) with what recording its functions needs, and links our runtime. All\n"
             "options are the compiler's own, as is the exit code; 127: no such compiler.\n"
             "Run the program with `venturi run`; alone it runs as ever, a little slower.",
    .stops_at_operand = true,
    .passes_options = true,
    .run = run_command,
};
