/*
 * metrics_exemplars.h - for each bucket of durations the newest span of a trace that it counted, so that a graph of durations leads to a
 * trace. Kept for spans that are of a trace only; takes one comparison for each of them.
 */
#ifndef VENTURI_LIVE_METRICS_EXEMPLARS_H
#define VENTURI_LIVE_METRICS_EXEMPLARS_H

#include "live/live.h"

struct vti_exemplars {
    struct {
        uint8_t trace[16]; /* zeros: none so far */
        int64_t ns, end_unix_ns;
    } buckets[VTI_LIVE_BUCKETS];
};

/* Notes a span that has ended; *exemplars is made when it is first needed, and freed by free(). Zeros are no trace. Without memory
 * nothing is noted. */
void vti_exemplars_note(struct vti_exemplars **exemplars, const uint8_t trace[16], int64_t ns,
                        int64_t end_unix_ns);

#endif
