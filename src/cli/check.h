/*
 * check.h - the parts of `venturi check`: where the two sides come from, how they are compared, what is shown.
 *
 * Functions that return an exit code have said why on stderr if it is VTI_EXIT_BAD.
 */
#ifndef VENTURI_CLI_CHECK_H
#define VENTURI_CLI_CHECK_H

#include "analyze/diff.h"
#include "base/number.h"
#include "cli/bencher.h"
#include "perf/budget.h"
#include "perf/compare.h"

#define VTI_CHECK_BUDGETS 200

/* What stands behind a verdict: one function, span, task or line, the largest change first. */
struct vti_reason {
    char *text;                   /* owned: "parse  pipeline.py:12" */
    const char *kind;             /* "function", "span", "task", "line" */
    double base_s, now_s;         /* own time; of a task all of it, of a line with what it calls */
    double base_count, now_count; /* calls or hits; NaN: samples do not tell */
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
    struct vti_budget_result budgets[VTI_CHECK_BUDGETS]; /* asked for, then those of the base */
    size_t budget_count;
    size_t runs;     /* of a side that is not run in turn */
    bool asks_times; /* they are measured to their end whatever counts say */
    const char *junit;
    size_t selftest;
    bool updates, is_json, is_markdown;
    /* what was found */
    struct vti_bencher bencher;
    struct vti_bench base, now;
    bool has_base;
    char *names[2];                   /* of the sides, for people; owned */
    struct vti_comparison comparison; /* the last round's */
    size_t pairs[2];                  /* runs of the first round and of the one that confirms */
    struct vti_comparison first;      /* the first round's, if there was a second */
    bool is_live;                     /* runs can be repeated */
    bool is_confirmed, is_refuted;
    char *recordings[2];        /* to explain with; owned, NULL: none */
    struct vti_reason *reasons; /* owned */
    size_t reason_count, reason_room;
    size_t reason_runs; /* recorded runs of each side behind them */
    bool says_doubt;    /* the first of the doubts is in `why` */
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
void vti_check_conclude(struct vti_checking *checking); /* fills exit_code and why */

/* One more budget, or those of the base: before anything is run. */
int vti_check_take_budget(struct vti_checking *checking, const char *text);
int vti_check_take_budgets(struct vti_checking *checking);
void vti_check_budgets(struct vti_checking *checking); /* fills their values */

/* Why nothing is known about it, and what would help. */
const char *vti_check_unknown(const struct vti_checking *checking,
                              const struct vti_budget_result *result);
void vti_check_say_budgets(struct vti_checking *checking); /* appends to `why` */
bool vti_check_keeps_budgets(const struct vti_checking *checking);

/* A deciding count that has grown; NULL: none. */
const struct vti_compared *vti_check_worse_count(const struct vti_comparison *comparison);
size_t vti_check_same_counts(const struct vti_comparison *comparison);

/* Appends to `why`. */
void vti_check_add(struct vti_checking *checking, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum vti_verdict vti_check_times(
    const struct vti_comparison *comparison); /* of what is timed alone */

/* For a second round: forgets what every run of the first said. What recorded runs counted stays, unless every run was one. */
void vti_check_forget(const struct vti_bencher *bencher, struct vti_bench_entry *entry);

/* Around a second round: keeps what the first one said; then only what was worse in both is. */
void vti_check_keep_first(struct vti_checking *checking);
void vti_check_confirm(struct vti_checking *checking);

/* A function of two recordings, with the medians of its own times where several runs were recorded. */
struct vti_candidate {
    const struct vti_diff_function *function;
    double base_s, now_s;
    bool is_kept; /* it is a reason */
};

#define VTI_CHECK_RECORDED 3 /* runs of each side, at most */

/* Several recorded runs of each side, compared function by function. */
struct vti_check_runs {
    struct vti_diff_side sides[VTI_CHECK_RECORDED][2];
    struct vti_diff diffs[VTI_CHECK_RECORDED];
    size_t count;
    struct vti_candidate *candidates; /* owned; the largest loss of own time first */
    size_t candidate_count;
};

/* 0 or a negative code; _fini in every case. */
int vti_check_runs_add(struct vti_check_runs *runs, const char *base, const char *now);
int vti_check_runs_order(struct vti_check_runs *runs);
void vti_check_runs_fini(struct vti_check_runs *runs);

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

/* "+38 % to +49 %", or "" where there is none; "20 to 30" of a reason, "-" unknown; " (8 and 8 pairs of runs)". */
#define VTI_INTERVAL_BYTES 80
#define VTI_COUNTS_BYTES 80
const char *vti_check_interval(char to[VTI_INTERVAL_BYTES], const struct vti_compared *row);
const char *vti_check_counts(char to[VTI_COUNTS_BYTES], const struct vti_reason *reason);
const char *vti_check_runs_text(char to[VTI_COUNTS_BYTES], const struct vti_checking *checking);

/* What the reasons are made of, and whose time each is; why rows in parentheses do not decide. */
const char *vti_check_times_text(const struct vti_checking *checking);
void vti_check_reasons_legend(struct vti_buf *to, const struct vti_checking *checking);
void vti_check_legend(struct vti_buf *to, const struct vti_comparison *comparison);

/* What stands under Change, where somebody could take it for New / Base; "" if nothing is measured. */
const char *vti_check_change_legend(const struct vti_comparison *comparison);

/* Whether a row is worth a line: what decides and changed, and times. */
bool vti_check_is_shown(const struct vti_compared *row);
const char *vti_check_outcome(const struct vti_checking *checking); /* "ok", "regression", … */

#endif
