/* perf_line.h - one line of what `perf script` prints. */
#ifndef VENTURI_IMPORT_PERF_LINE_H
#define VENTURI_IMPORT_PERF_LINE_H

#include "format/facts.h"

#include <stdbool.h>
#include <stdint.h>

/* "name pid/tid [cpu] seconds: period event:", and what stands behind it where there are no stacks. */
struct vti_perf_head {
    struct vti_bytes name;
    uint32_t pid; /* 0: not printed */
    uint32_t tid;
    uint64_t time_ns;
    uint64_t period; /* 0: not printed */
    struct vti_bytes event;
    struct vti_bytes rest;
};

/* "address function+0xoffset (file)". */
struct vti_perf_frame {
    struct vti_bytes name;
    struct vti_bytes file;
    bool is_python; /* of `python -X perf`: name and file are those of the source */
};

/* False if the line is something else. The texts are parts of the line. */
bool vti_perf_head(struct vti_bytes line, struct vti_perf_head *head);
bool vti_perf_frame(struct vti_bytes line, struct vti_perf_frame *frame);

/* Whether an event counts nanoseconds of CPU time. */
bool vti_perf_is_clock(struct vti_bytes event);

#endif
