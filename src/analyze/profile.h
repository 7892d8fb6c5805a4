/*
 * profile.h - the classic function table: calls, own and cumulative time of each function, and the same
 * for each pair of caller and callee, as cProfile counts them.
 *
 * Made from a tree of calls, or read from a file that only ever had pairs. Times are seconds, as the
 * files of other profilers have them: what is read from one and shown again loses no digit.
 */
#ifndef VENTURI_ANALYZE_PROFILE_H
#define VENTURI_ANALYZE_PROFILE_H

#include "analyze/calls.h"

/* How out_of_range is said: the number, and "" or "s". */
#define VTI_OUT_OF_RANGE "%llu number%s out of range, taken as the nearest that can be"

/* Numbers of a function, or of one caller's calls of it. A resumed generator counts as a call. */
struct vti_profile_numbers {
    uint64_t calls;     /* all */
    uint64_t primitive; /* not within another call of the same function (the same pair) */
    double self_s;
    double total_s;                         /* of the primitive ones */
    double self_sampled_s, total_sampled_s; /* how much was estimated from samples to know these */
};

struct vti_profile_row {
    const char
        *file; /* what pstats knows it by; no two rows share all three. "~", 0 and "<name>" … */
    const char
        *name; /* … for functions without a file; strings are owned by the functions' table */
    uint32_t line;
    uint32_t function;   /* index in the table's functions */
    bool is_caller_only; /* a file names it as a caller but has no numbers for it */
    struct vti_profile_numbers numbers;
    uint64_t resumes; /* that are among the calls */
    uint64_t samples; /* in which it was the innermost */
    double suspended_s;
    double shortest_s, longest_s;      /* NaN: unknown */
    double p50_s, p90_s, p99_s;        /* NaN: unknown */
    size_t first_caller, caller_count; /* in `arcs` */
    unsigned namesakes;                /* rows whose names got a number because of this one */
};

struct vti_profile_arc {
    uint32_t caller;    /* index of its row */
    uint32_t callee;    /* likewise */
    bool is_count_only; /* the file has no times for pairs */
    struct vti_profile_numbers numbers;
};

struct vti_profile {
    struct vti_calls *calls; /* where the functions' names are; borrowed or owned: see is_owner */
    bool is_owner;
    bool is_imported;             /* its numbers are those of another profiler */
    struct vti_profile_row *rows; /* one for each function that was called */
    size_t row_count, row_room;
    struct vti_profile_arc *arcs; /* by callee, in the order of the rows */
    size_t arc_count, arc_room;
    uint64_t out_of_range; /* numbers of the file that cannot be, set to the nearest that can */
    struct vti_map *keys;  /* owned, as `pairs` is: rows by file, line and name */
    struct vti_map *pairs;
};

/* 0 or VTI_E_NOMEM. `calls` must outlive the profile. Takes time and memory in proportion to the
 * calls, however deep they are. */
int vti_profile_make(struct vti_profile *profile, struct vti_calls *calls);
void vti_profile_fini(struct vti_profile *profile);

/* Arcs by caller: those of row i are arcs[(*order)[j]], j from (*firsts)[i] to before (*firsts)[i + 1]. The caller
 * frees both, also on failure. 0 or VTI_E_NOMEM. */
int vti_profile_callees(const struct vti_profile *profile, size_t **firsts, uint32_t **order);

/* As strip_dirs() of pstats: folders are cut off the files, and rows that become equal are added up. Of two
 * callers of one row that become equal the later one counts, as there. */
int vti_profile_strip(struct vti_profile *profile);

/* Of a recording: from its trees and spans, and as it was imported (a table that knows no threads: only of the whole, or if it
 * is all there is). 0 or a negative code; a recording without any is no error. */
int vti_profile_load(struct vti_profile *profile, vt_recording *recording,
                     const struct vti_calls_options *options);

/* Of a file of pstats. `name` is for messages. 0 or a negative code. */
int vti_profile_read_pstats(struct vti_profile *profile, const char *name, const void *bytes,
                            size_t count);

/* Of a file of either kind; `options` concern recordings only. */
int vti_profile_open(struct vti_profile *profile, const char *path,
                     const struct vti_calls_options *options);

/* False if there is a file and it is something else. */
bool vti_profile_is_recording(const char *path);

#endif
