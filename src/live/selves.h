/*
 * selves.h - own time of spans of traces while they are still coming in: what is left of each without its children, on whichever thread or
 * process those ran.
 *
 * A span's own time is told once, a while after its end: blocks of other threads come later, and with them children that began before. Until
 * then it waits here. As `venturi stats` has it, children that overlap count once, and of one that outlives its parent the part inside.
 */
#ifndef VENTURI_LIVE_SELVES_H
#define VENTURI_LIVE_SELVES_H

#include "format/event.h"

#include <stdbool.h>
#include <stdint.h>

#define VTI_SELVES_MOST                                                                            \
    262144 /* spans that are open or wait; beyond, the longest waiting are told */

struct vti_selves;

/* NULL without memory. */
struct vti_selves *vti_selves_create(void);
void vti_selves_free(struct vti_selves *selves);

/* Told once of each span: its own time and the group that was given with its end. */
typedef void vti_selves_tell(void *arg, uint32_t group, int64_t self_ns);

/* A span has begun, or ended. Times are of one clock for all, in nanoseconds; `now_ns` is when we came to know. An end without a begin, or with too many open:
 * the whole span is its own, told at once. */
void vti_selves_begin(struct vti_selves *selves, const struct vti_trace_ids *ids, int64_t begin_ns,
                      int64_t now_ns);
void vti_selves_end(struct vti_selves *selves, const struct vti_trace_ids *ids, int64_t begin_ns,
                    int64_t end_ns, uint32_t group, int64_t now_ns, vti_selves_tell *tell,
                    void *arg);

/* Tells of those that have waited since `until_ns` or longer (INT64_MAX: all that have ended). */
void vti_selves_settle(struct vti_selves *selves, int64_t until_ns, vti_selves_tell *tell,
                       void *arg);

#endif
