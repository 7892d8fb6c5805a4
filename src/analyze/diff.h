/*
 * diff.h - two runs side by side: what changed from the base to the new one.
 *
 * Functions are matched by name and file, whatever lines they moved to; then by name and the last part of their
 * file, where that leaves no doubt. Paths are matched function by function from the root. Spans of threads stand
 * beside functions, with the language "span"; tasks and steps of a pipeline are parts of their own, matched by name. One
 * run a side says nothing about noise: whoever shows this says so.
 */
#ifndef VENTURI_ANALYZE_DIFF_H
#define VENTURI_ANALYZE_DIFF_H

#include "analyze/profile.h"
#include "base/buf.h"

struct vti_diff_numbers {
    uint64_t calls; /* with resumes of generators */
    double self_ns;
    double total_ns; /* where a function calls itself: counted once */
};

enum vti_diff_match { VTI_DIFF_BOTH, VTI_DIFF_GONE, VTI_DIFF_NEW };

struct vti_diff_function {
    const char *name, *file, *language; /* of the new side if it is there; owned by the sides */
    uint32_t line, base_line;           /* 0: not there, or unknown */
    enum vti_diff_match match;
    struct vti_diff_numbers base, now;
};

struct vti_diff_path {
    uint32_t parent;   /* index, before this one; VT_NONE: a root */
    uint32_t function; /* index */
    struct vti_diff_numbers base, now;
};

/* All tasks of one name, or one step of a pipeline, in one run. */
struct vti_diff_part {
    const char *kind; /* "task", "step" */
    char *name;       /* owned */
    uint64_t count;   /* tasks that ran, messages of a step */
    double total_ns;  /* that they took: of a step, to execute */
};

/* … in both: one of them is NULL where it is new or gone. */
struct vti_diff_part_pair {
    const struct vti_diff_part *base, *now; /* borrowed */
};

/* One run. Calls counted in trees and imported ones are in `counted`, calls and spans of the time line in `spans`. */
struct vti_diff_side {
    struct vti_profile counted, spans; /* owned */
    struct vti_calls trees, span_tree; /* owned; one path for all threads */
    struct vti_diff_part *parts;       /* owned; none unless they were loaded */
    size_t part_count, part_room;
    char *command, *cpu;       /* owned; "" unknown */
    int64_t start_realtime_ns; /* 0: unknown */
    double duration_ns;        /* likewise */
    double self_ns;            /* of all functions together, or of all spans if there are none */
    uint64_t lost_events;
    double others_busy; /* share of the CPUs, where it is enough to lengthen times; else 0 */
    bool is_closed, is_sampled;
};

/* 0 or a negative code; _fini in every case. */
int vti_diff_side_load(struct vti_diff_side *side, vt_recording *recording);
int vti_diff_side_read(struct vti_diff_side *side, const char *path); /* a file of cProfile */

/* Tasks and steps, too, of a side that was loaded. */
int vti_diff_side_load_parts(struct vti_diff_side *side, vt_recording *recording);
void vti_diff_side_fini(struct vti_diff_side *side);

struct vti_diff {
    const struct vti_diff_side *base, *now; /* borrowed */
    struct vti_diff_function *functions;    /* owned; the largest change of own time first */
    size_t function_count, function_room;
    struct vti_diff_path *paths; /* owned; none where a side knows no paths */
    size_t path_count, path_room;
    size_t common;                    /* functions on both sides */
    struct vti_diff_part_pair *parts; /* owned; the largest change of time first */
    size_t part_count, common_parts;
    struct vti_buf doubts; /* reasons not to trust the comparison, a sentence a line */
};

int vti_diff_make(struct vti_diff *diff, const struct vti_diff_side *base,
                  const struct vti_diff_side *now);
void vti_diff_fini(struct vti_diff *diff);

#endif
