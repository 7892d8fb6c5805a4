/*
 * cc_lines.c - what `venturi cc -l` adds to the compiler's command line, so that lines are counted.
 *
 * The compilers' own coverage is switched on and our runtime linked in place of theirs; a script for the linker puts
 * the counters into pages of their own.
 */
#include "base/beside.h"
#include "cli/cc.h"
#include "cli/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAMPLER "libventuri-sample.so"

static bool has_word(char *const *words, const char *wanted)
{
    while (*words && strcmp(*words, wanted))
        words++;
    return *words;
}

bool vti_cc_lines_take(struct vti_cc_lines *lines, int *argc, char ***argv)
{
    static const char *const places[] = {"src/exact/as/as", "../libexec/venturi/exact/as"};
    const char *name = (*argv)[0];

    memset(lines, 0, sizeof *lines);
    while (*argc > 1) {
        const char *word = (*argv)[1];

        if (!strcmp(word, "-l") || !strcmp(word, "--lines"))
            lines->is_on = true;
        else if (!strcmp(word, "--exact"))
            lines->is_exact = true;
        else
            break;
        ++*argv;
        --*argc;
    }
    (*argv)[0] = (char *)name;
    if (lines->is_exact && !lines->is_on) {
        vti_cmd_fail(name, "--exact is for lines: venturi %s -l --exact FILE…", name);
        return false;
    }
    if (lines->is_exact &&
        !vti_beside_find(places, sizeof places / sizeof *places, lines->as, sizeof lines->as)) {
        vti_cmd_fail(name, "--exact: there is no assembler of ours for this machine: x86-64 only");
        return false;
    }
    if (lines->is_exact && has_word(*argv, "-fsplit-stack")) {
        vti_cmd_fail(name, "--exact: a stack in pieces (-fsplit-stack) has no room for our hook");
        return false;
    }
    if (lines->is_on && (has_word(*argv, "-fuse-ld=gold") || has_word(*argv, "-fuse-ld=mold"))) {
        vti_cmd_fail(name, "-l: lines need the linker ld or lld, for its INSERT");
        return false;
    }
    return true;
}

/* Functions say when they begin and end, all of their lines are their own, and our assembler comes first. */
static void add_exact(const struct vti_cc_lines *lines, struct vti_cc *line)
{
    static const char *const options[] = {"-finstrument-functions", "-fno-omit-frame-pointer",
                                          "-mno-red-zone", "-fno-inline",
                                          "-fno-optimize-sibling-calls"};

    snprintf(line->tools, sizeof line->tools, "-B%s", lines->as);
    *(strrchr(line->tools, '/') + 1) = 0;
    vti_cc_add(line, line->tools);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        vti_cc_add(line, options[i]);
    if (line->is_clang) {
        vti_cc_add(line, "-fno-integrated-as");
    } else {
        vti_cc_add(line, "-fno-reorder-blocks-and-partition");
        vti_cc_add(line, "-finstrument-functions-exclude-file-list=/usr/include,/usr/lib/gcc");
    }
}

void vti_cc_lines_before(const struct vti_cc_lines *lines, struct vti_cc *line)
{
    vti_cc_add(line, "-fprofile-arcs");
    vti_cc_add(line, "-ftest-coverage");
    vti_cc_add(line, "-fprofile-update=atomic");
    vti_cc_add(line, "-fdata-sections");
    if (!line->is_clang) /* which inlines only after it has put in the counters */
        vti_cc_add(line, "-fno-early-inlining");
    if (lines->is_exact)
        add_exact(lines, line);
}

/* Whether the compiler leaves code in the order of its lines: then our assembler need not look for what it has mixed. */
static bool is_plain(char *const *words)
{
    bool is_one = true;

    for (; *words; words++) {
        if (!strncmp(*words, "-O", 2))
            is_one = !strcmp(*words, "-O0");
        else if (!strncmp(*words, "-flto", 5)) /* what it links was compiled by others */
            return false;
    }
    return is_one;
}

void vti_cc_lines_insist(struct vti_cc *line, char *const *words)
{
    if (is_plain(words))
        setenv("VENTURI_EXACT_PLAIN", "1", 1);
    else
        unsetenv("VENTURI_EXACT_PLAIN");
    vti_cc_add(line, "-fno-omit-frame-pointer");
    vti_cc_add(line, "-mno-red-zone");
    if (line->is_clang) /* whose linker makes no text for an assembler */
        vti_cc_add(line, "-fno-lto");
}

void vti_cc_lines_after(struct vti_cc *line, bool is_static)
{
    char sampler[PATH_MAX + sizeof SAMPLER + 1];

    snprintf(line->script, sizeof line->script, "-Wl,-T,%s/venturi-counters.ld", line->folder);
    snprintf(sampler, sizeof sampler, "%s/" SAMPLER, line->folder);
    vti_cc_add(line, line->script);
    vti_cc_add(line, "-L");
    vti_cc_add(line, line->folder);
    vti_cc_add(line, "-lventuri-line-hooks");
    if (is_static) {
        vti_cc_add(line, "-lventuri-lines-static");
        vti_cc_add(line, "-pthread");
        return;
    }
    vti_cc_add(line, line->rpath);
    vti_cc_add(line, "-Wl,--push-state,--no-as-needed");
    vti_cc_add(line, "-lventuri-lines");
    vti_cc_add(line, "-lventuri");
    if (!access(sampler, R_OK))
        vti_cc_add(line, "-lventuri-sample");
    vti_cc_add(line, "-Wl,--pop-state");
}
