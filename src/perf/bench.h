/*
 * bench.h - runs of commands: quantities with one value a run, and where they were measured.
 *
 * One document for `venturi bench`, `venturi check` and baselines; docs/bench.md describes its JSON. A zeroed struct is an
 * empty one; _fini frees everything in it.
 */
#ifndef VENTURI_PERF_BENCH_H
#define VENTURI_PERF_BENCH_H

#include "base/buf.h"
#include "venturi/read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VTI_BENCH_MOST                                                                             \
    1e18 /* of a file's values, but for plain figures: sums and ratios stay finite */

enum vti_quantity_kind {
    VTI_QUANTITY_CPU,    /* seconds of CPU time: decides */
    VTI_QUANTITY_WALL,   /* seconds: only shown, unless there is no CPU time */
    VTI_QUANTITY_MEMORY, /* bytes: only shown */
    VTI_QUANTITY_ENERGY, /* joules: only shown */
    VTI_QUANTITY_ITEMS,  /* work done: what the others are divided by */
    VTI_QUANTITY_COUNT,  /* how often: decides, as it is the same in every run */
    VTI_QUANTITY_TIME,   /* seconds of a span or task: decides where every run has one */
    VTI_QUANTITY_VALUE,  /* a figure for budgets; seconds, or plain */
    VTI_QUANTITY_KINDS
};

struct vti_quantity {
    char *name; /* "cpu", "items", "calls:parse pipeline.py", "span:step:p99"; owned */
    enum vti_quantity_kind kind;
    double share;   /* of the time that it stands for, 0 to 1; 1: unknown, or all */
    double *values; /* one a run; owned */
    size_t count, room;
};

#define VTI_MODE_ITERATIONS "iterations" /* times of one turn of a loop, not of a run */

/* One command. */
struct vti_bench_entry {
    char *name;        /* never NULL, as all texts; owned */
    char *command;     /* shell-readable, "" unknown */
    char *interpreter; /* "Python 3.11.7", "" */
    char *mode;        /* how its times were measured: "plain", "counted", "iterations", …; "" */
    struct vti_quantity *quantities;
    size_t count, room;
    size_t recorded; /* runs that were recordings; not in the file */
};

struct vti_bench {
    char *cpu, *kernel, *governor, *host; /* owned; NULL unknown */
    unsigned cores;                       /* that it may use; 0 unknown */
    bool is_paired; /* run i of each command was made in turn with that of the others */
    struct vti_bench_entry *entries;
    size_t count, room;
    char **budgets; /* owned */
    size_t budget_count, budget_room;
};

/* NULL without memory, with the usual message. Addresses hold until the next one is added. */
struct vti_bench_entry *vti_bench_add(struct vti_bench *bench, const char *name,
                                      const char *command);
struct vti_quantity *vti_bench_quantity(struct vti_bench_entry *entry, const char *name,
                                        enum vti_quantity_kind kind);

/* One more value of the quantity of that name, which is made if there is none. 0 or VTI_E_NOMEM. */
int vti_bench_note(struct vti_bench_entry *entry, const char *name, enum vti_quantity_kind kind,
                   double value);
int vti_bench_budget(struct vti_bench *bench, const char *text);

/* Replaces an owned text. 0 or VTI_E_NOMEM. */
int vti_bench_text(char **to, const char *text);

const struct vti_quantity *vti_bench_find(const struct vti_bench_entry *entry, const char *name);
const struct vti_bench_entry *vti_bench_entry(const struct vti_bench *bench, const char *name);

/* How many runs there are: values of CPU time, or of the wall's. */
size_t vti_bench_runs(const struct vti_bench_entry *entry);
void vti_bench_fini(struct vti_bench *bench);

const char *vti_quantity_kind_text(enum vti_quantity_kind kind); /* "cpu", … */

/* ---- files ------------------------------------------------------------------------------------- */

void vti_bench_write(const struct vti_bench *bench, struct vti_buf *json);

/* Ours, or one of hyperfine, pyperf or google-benchmark. 0 or a negative code with a message that names the file. */
int vti_bench_read(struct vti_bench *bench, const char *path);
int vti_bench_parse(struct vti_bench *bench, const char *name, const char *text, size_t size);

/* Between bench_read.c and bench_foreign.c: 1 if it was one of theirs, 0 if not. */
struct vti_json_scan;
int vti_bench_foreign(struct vti_bench *bench, struct vti_json_scan *scan);
bool vti_json_scan_double(struct vti_json_scan *scan, double *value);

/* ---- recordings -------------------------------------------------------------------------------- */

/* What a recording says, as one more run of the entry: CPU, wall, memory, items, calls, spans, tasks, hits; or only what
 * recording does not change: counts, and figures for budgets. 0 or a negative code. */
int vti_measure(struct vti_bench_entry *entry, vt_recording *recording, bool counts_only);

/* Joules alone, where the recording has some. `how` becomes the worst enum vt_energy_how of them and of what it was. */
int vti_measure_energy(struct vti_bench_entry *entry, vt_recording *recording, uint32_t *how);

/* All of it with the facts of its machine, as the only entry of a bench. `side` is what was loaded of it for a diff, or NULL. */
struct vti_diff_side;
int vti_measure_bench(struct vti_bench *bench, vt_recording *recording,
                      const struct vti_diff_side *side);

/* One recording that is being measured, between the files of it. */
struct vti_measuring {
    struct vti_bench_entry *entry;
    vt_recording *recording;
    bool counts_only;
    const struct vti_diff_side *side; /* its functions, if they were loaded before; NULL: not */
};

/* A value of this run; one that is there already is added to. */
int vti_measuring_add(const struct vti_measuring *measuring, const char *name,
                      enum vti_quantity_kind kind, double share, double value);

/* Functions, spans, tasks and lines by their names. */
#define VTI_LABEL_BYTES 512
const char *vti_measure_label(char to[VTI_LABEL_BYTES], const char *what, const char *name,
                              const char *file); /* "calls:parse pipeline.py" */
int vti_measure_names(const struct vti_measuring *measuring);

#endif
