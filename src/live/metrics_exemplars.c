/* metrics_exemplars.c - the newest span of a trace for each bucket of durations. */
#include "live/metrics_exemplars.h"

#include "base/uuid.h"
#include "live/times.h"

#include <stdlib.h>
#include <string.h>

void vti_exemplars_note(struct vti_exemplars **exemplars, const uint8_t trace[16], int64_t ns,
                        int64_t end_unix_ns)
{
    unsigned at = vti_times_bucket(ns);

    if (vti_uuid_is_zero(trace))
        return;
    if (!*exemplars)
        *exemplars = calloc(1, sizeof **exemplars);
    if (!*exemplars || (*exemplars)->buckets[at].end_unix_ns > end_unix_ns)
        return;
    memcpy((*exemplars)->buckets[at].trace, trace, 16);
    (*exemplars)->buckets[at].ns = ns;
    (*exemplars)->buckets[at].end_unix_ns = end_unix_ns;
}
