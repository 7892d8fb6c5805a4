/*
 * compare.h - two benches side by side: what got slower, what only seems so, and what cannot be compared.
 *
 * The order of questions: can they be compared at all; are the counts the same, which no noise touches; then times, by tests
 * that assume nothing. Nothing is thrown away, and where there is too little data no verdict is made up.
 */
#ifndef VENTURI_PERF_COMPARE_H
#define VENTURI_PERF_COMPARE_H

#include "base/buf.h"
#include "perf/bench.h"
#include "perf/rules.h"

enum vti_verdict {
    VTI_VERDICT_SAME,      /* no loss above the threshold */
    VTI_VERDICT_BETTER,    /* a gain above it */
    VTI_VERDICT_WORSE,     /* a loss above it */
    VTI_VERDICT_UNDECIDED, /* could be either: more runs would tell */
    VTI_VERDICT_TOO_FEW,   /* too few runs for any verdict */
    VTI_VERDICT_UNKNOWN    /* varies by itself, or is on one side only */
};

struct vti_compared {
    const char *entry, *name; /* of the benches */
    enum vti_quantity_kind kind;
    bool gates; /* its verdict decides */
    bool is_paired, is_exact;
    bool is_per_item;        /* `base` and `now` are for one item */
    bool is_iteration;       /* … or for one turn of a loop: no loss is too short to count */
    double items;            /* of a run of the base; 1 where times are not for one item */
    double base, now;        /* medians */
    double ratio, low, high; /* of now to base: Hodges and Lehmann's estimate, and its interval */
    double p;                /* that it is worse by chance … */
    double p_less;           /* … or better */
    double adjusted; /* p among all that decide (Holm); of the others: Benjamini and Hochberg */
    double threshold;
    size_t base_count, now_count, need; /* runs, and how many it takes */
    enum vti_verdict verdict;
};

struct vti_comparison {
    struct vti_compared *rows; /* owned; in the order of the base */
    size_t count, room;
    size_t gating;
    bool is_comparable;  /* false: only counts count, or nothing (is_same_work) */
    bool is_same_work;   /* false: other commands, other modes */
    bool counts_suffice; /* times that cannot be compared are no reason to be unsure */
    bool
        is_incomplete; /* what decides is on one side only: the rest being the same is not enough */
    size_t lone;       /* commands that are on one side only */
    bool is_forced;    /* compared in spite of the doubts */
    struct vti_buf doubts; /* why not, a sentence a line */
    struct vti_buf notes;  /* what is different and does not matter enough */
};

struct vti_compare_options {
    struct vti_rules rules;
    bool is_paired;   /* run i of one belongs to run i of the other */
    bool any_command; /* the commands differ on purpose */
    bool is_forced;   /* compare whatever speaks against it */
    bool is_baseline; /* another CPU only takes the times out */
    bool no_counts;   /* nobody wants any of the new side */
    unsigned gates;   /* 1 << enum vti_quantity_kind: what decides beyond the rules */
};

/* Borrows both benches. 0 or a negative code; _fini in every case. */
int vti_compare(struct vti_comparison *comparison, const struct vti_bench *base,
                const struct vti_bench *now, const struct vti_compare_options *options);
void vti_comparison_fini(struct vti_comparison *comparison);

/* All of it in one: WORSE, UNDECIDED (or TOO_FEW), UNKNOWN if nothing was compared, else SAME. */
enum vti_verdict vti_comparison_verdict(const struct vti_comparison *comparison);

const char *vti_verdict_text(enum vti_verdict verdict); /* "same", "worse", … */

/* ---- between the files of compare --------------------------------------------------------------- */

/* Fills is_comparable, is_same_work, doubts, notes. */
void vti_comparable(struct vti_comparison *comparison, const struct vti_bench *base,
                    const struct vti_bench *now, const struct vti_compare_options *options);

/* What is on one side only, once the rows of a command are there. */
void vti_compare_missing(struct vti_comparison *comparison, const struct vti_bench_entry *base,
                         const struct vti_bench_entry *now,
                         const struct vti_compare_options *options);
bool vti_compare_has_items(const struct vti_bench_entry *entry); /* above zero in every run */
/* Above zero in one: a program that took no time in any run was not measured. */
bool vti_compare_has_time(const struct vti_bench_entry *entry, const char *name);

/* One sentence more, on one line whatever names are in it. */
void vti_comparison_say(struct vti_buf *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The test of a time, memory or energy: everything but `adjusted` and the verdict. `items` may be NULL. */
int vti_compare_times(struct vti_compared *row, const struct vti_quantity *base,
                      const struct vti_quantity *now, const struct vti_quantity *base_items,
                      const struct vti_quantity *now_items,
                      const struct vti_compare_options *options);

/* The verdict, once `adjusted` is known. */
void vti_compare_decide(struct vti_compared *row, const struct vti_rules *rules);

#endif
