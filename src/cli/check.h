/*
 * check.h - the parts of `venturi check`: where the two sides come from, how they are compared, what is shown.
 *
 * Functions that return an exit code have said why on stderr if it is VTI_EXIT_BAD.
 */
#ifndef VENTURI_CLI_CHECK_H
#define VENTURI_CLI_CHECK_H

#include "base/number.h"
#include "cli/bencher.h"
#include "perf/budget.h"
#include "perf/compare.h"

#define VTI_CHECK_BUDGETS 200

/* What stands behind a verdict: one function, span, task or line, the largest change first. */
struct vti_reason {
    char *text;                   /* owned: "parse  pipeline.py:12" */
    const char *kind;             /* "function", "span", "task", "line" */
    double base_s, now_s;         /* own time; of a task all of it */
    double base_count, now_count; /* calls or hits */
};

struct vti_budget_result {
    struct vti_budget budget;
    double value; /* NaN: unknown */
    bool is_kept;
};

struct vti_checking {
    /* what was asked for */
    struct vti_compare_options options;
    struct vti_command_line lines[2]; /* base and new; no words: none */
    const char *files[2];
    size_t file_count;
    const char *rev, *setup;
    const char *baseline;
    const char *budget_texts[VTI_CHECK_BUDGETS];
    size_t budget_count;
    const char *junit;
    size_t selftest;
    bool updates, is_json, is_markdown;
    /* what was found */
    struct vti_bencher bencher;
    struct vti_bench base, now;
    bool has_base;
    char *names[2];                   /* of the sides, for people; owned */
    struct vti_comparison comparison; /* the last round's */
    struct vti_budget_result budgets[VTI_CHECK_BUDGETS];
    size_t pairs[2];    /* runs of the first round and of the one that confirms */
    double first_ratio; /* what the first round said, if there was a second */
    bool is_live;       /* runs can be repeated */
    bool is_confirmed, is_refuted;
    char *recordings[2];        /* to explain with; owned, NULL: none */
    struct vti_reason *reasons; /* owned */
    size_t reason_count, reason_room;
    int exit_code;
    char why[512]; /* one sentence: what the exit code stands for */
};

/* ---- sides --------------------------------------------------------------------------------------- */

/* Files become benches: recordings, benches, or one file with two commands made in turn. */
int vti_check_files(struct vti_checking *checking);

/* The new side from its command, the base from its file; or --update. */
int vti_check_baseline(struct vti_checking *checking);

/* Two commands in turn, until it is decided; a regression is measured once more. */
int vti_check_live(struct vti_checking *checking);

/* Both revisions in worktrees of their own, then as above. */
int vti_check_revisions(struct vti_checking *checking);

/* One command, only for budgets. */
int vti_check_budgets_live(struct vti_checking *checking);

/* The command against itself, N times. */
int vti_check_selftest(struct vti_checking *checking);

/* ---- deciding ------------------------------------------------------------------------------------ */

int vti_check_compare(struct vti_checking *checking);   /* fills `comparison` */
int vti_check_budgets(struct vti_checking *checking);   /* fills `budgets` */
void vti_check_conclude(struct vti_checking *checking); /* fills exit_code and why */
enum vti_verdict vti_check_times(
    const struct vti_comparison *comparison); /* of what is timed alone */

/* For a second round: forgets what every run of the first said. What recorded runs counted stays, unless every run was one. */
void vti_check_forget(const struct vti_bencher *bencher, struct vti_bench_entry *entry);
double vti_check_worst(
    const struct vti_comparison *comparison); /* the change of a time that is worse; NaN: none */

/* Fills `reasons` from two recordings, made now if they are not there yet. */
int vti_check_explain(struct vti_checking *checking);
int vti_check_explain_lines(struct vti_checking *checking, const char *function);
int vti_check_reason(struct vti_checking *checking, const struct vti_reason *reason);

/* One more recorded run of the command, into its name in the folder; NULL if it cannot be had. */
char *vti_check_record(struct vti_checking *checking, int side, const char *name,
                       const char *const *options);

/* ---- showing: 0 or a negative code --------------------------------------------------------------- */

int vti_check_print(const struct vti_checking *checking);
int vti_check_print_json(const struct vti_checking *checking);
int vti_check_print_markdown(const struct vti_checking *checking);
int vti_check_write_junit(const struct vti_checking *checking, const char *path);

/* "+21 %", "x3.2"; the value of a quantity with its unit. */
#define VTI_CHANGE_BYTES 32
const char *vti_check_change(char to[VTI_CHANGE_BYTES], double ratio);
const char *vti_check_value(char to[VTI_NUMBER_BYTES], enum vti_quantity_kind kind, double value);
const char *vti_check_budget_value(char to[VTI_NUMBER_BYTES],
                                   const struct vti_budget_result *result);

/* Whether a row is worth a line: what decides and changed, and times. */
bool vti_check_is_shown(const struct vti_compared *row);
const char *vti_check_outcome(const struct vti_checking *checking); /* "ok", "regression", … */

#endif
