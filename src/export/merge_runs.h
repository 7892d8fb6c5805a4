/*
 * merge_runs.h - inputs of a merge that are files of one run of a spool.
 *
 * Such files have the same ids, and each says again what it needs of the one before: sums of calls and lines since their thread began,
 * spans that were open. So they share their numbers, in the order in which they were written, and what is told again counts once.
 */
#ifndef VENTURI_EXPORT_MERGE_RUNS_H
#define VENTURI_EXPORT_MERGE_RUNS_H

#include "export/copy.h"
#include "export/merge.h"

struct vti_merge_source {
    const struct vti_merge_input *given;
    vt_recording *recording; /* owned */
    struct vti_copy_input input;
    int64_t start_ns; /* wall clock, with its offset; of the first file of its run */
    struct vti_merge_source
        *run;      /* the first file of its run that is merged; itself: it, or of no run */
    uint64_t file; /* its number in the run; 0: of none */
};

/*
 * Finds the runs: sets `run` (which is the source itself before), `file`, `start_ns` and what of the input is told again. `names` becomes all
 * runs in the result, with commas between them. Refuses what would count twice.
 */
int vti_merge_runs(struct vti_merge_source *sources, size_t count, struct vti_buf *names);

#endif
