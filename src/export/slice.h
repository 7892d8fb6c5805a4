/* slice.h - a stretch of time of a recording becomes a recording of its own. */
#ifndef VENTURI_EXPORT_SLICE_H
#define VENTURI_EXPORT_SLICE_H

#include "format/write.h"
#include "venturi/read.h"

struct vti_slice {
    vt_recording *recording;
    int64_t from_ns, to_ns; /* what overlaps [from_ns, to_ns) is kept */
    const char *output;
    bool force;
    bool (*is_stopped)(void); /* asked now and then; or NULL */
};

struct vti_slice_report {
    struct vti_writer_stats file;
    uint64_t cut_events; /* before and after */
    bool has_sums;       /* of calls of functions, over the whole time: they are left out */
};

/* Times stay what they were: the result counts from the same start. 0, VTI_E_EMPTY if there is
 * nothing in the range, or another negative code; and then there is no result. */
int vti_slice(const struct vti_slice *slice, struct vti_slice_report *report);

#endif
