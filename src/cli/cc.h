/* cc.h - the command line of a compiler, and what `venturi cc -l` adds to it. */
#ifndef VENTURI_CLI_CC_H
#define VENTURI_CLI_CC_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The words of a compiler's command line: ours in front, where options of the user still win; the library at the end. */
struct vti_cc {
    char **words;
    size_t count;
    bool is_clang;
    char folder[PATH_MAX]; /* of our runtime, and options that name it: */
    char rpath[PATH_MAX + 16];
    char script[PATH_MAX + 64];
    char tools[PATH_MAX + 64];
};

void vti_cc_add(struct vti_cc *line, const char *word);

/* What was asked for in front of the compiler's own options. */
struct vti_cc_lines {
    bool is_on;
    bool is_exact;
    char as[PATH_MAX]; /* our assembler, if it is */
};

/* Takes -l and --exact off the front of `argv`. False after having said what is wrong with them. */
bool vti_cc_lines_take(struct vti_cc_lines *lines, int *argc, char ***argv);

/* What stands in front of the user's options, … */
void vti_cc_lines_before(const struct vti_cc_lines *lines, struct vti_cc *line);

/* … behind them, because --exact needs it whatever they say, … */
void vti_cc_lines_insist(struct vti_cc *line, char *const *words);

/* … and when something is linked: then line->folder is known. */
void vti_cc_lines_after(struct vti_cc *line, bool is_static);

#endif
