/* task_tracks.h - tasks as slices on tracks of their workers, for formats that have such. */
#ifndef VENTURI_EXPORT_TASK_TRACKS_H
#define VENTURI_EXPORT_TASK_TRACKS_H

#include "analyze/tasks.h"

struct vti_task_slice {
    uint32_t track;           /* from 0; slices of one come in order of time and do not overlap */
    bool is_new;              /* it is the first of its track */
    const char *name;         /* of the track: "run 1, worker 0" */
    uint32_t process;         /* id */
    int64_t begin_ns, end_ns; /* of the recording */
    const struct vti_task *task;
};

/* Calls `each` for every task that began and reaches into the range. A worker that does several things at once has several tracks. Stops when it
 * returns non-zero and returns that. */
int vti_task_slices(vt_recording *recording, const struct vt_filter *range,
                    int (*each)(const struct vti_task_slice *slice, void *arg), void *arg);

#endif
