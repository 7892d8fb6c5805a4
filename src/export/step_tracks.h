/* step_tracks.h - what steps have dealt with as slices on tracks of their own, for formats that have such. */
#ifndef VENTURI_EXPORT_STEP_TRACKS_H
#define VENTURI_EXPORT_STEP_TRACKS_H

#include "model/step_log.h"

struct vti_step_slice {
    uint32_t track;           /* from 0; slices of one come in order of time and do not overlap */
    bool is_new;              /* it is the first of its track */
    const char *name;         /* of the track: "step Classifier" */
    uint32_t process;         /* id */
    int64_t begin_ns, end_ns; /* of the recording: received and sent */
    const struct vti_step *step;
};

/* Calls `each` for every message or batch that reaches into the range, in the order of the file; documents that were sent by hand are none. A step
 * has a track in each process, and more where it runs in several threads. Stops when it returns non-zero and returns that. */
int vti_step_slices(vt_recording *recording, const struct vt_filter *range,
                    int (*each)(const struct vti_step_slice *slice, void *arg), void *arg);

#endif
