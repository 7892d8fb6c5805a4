/* spans.c - calls back for every span of a recording, and what our own cost leaves of a
 * duration. */
#include "model/span_walk.h"

int64_t vti_corrected(int64_t ns, double cost_ns)
{
    double left = (double)ns - cost_ns;

    /* Without a cost the number stays exact, however large. */
    if (cost_ns == 0)
        return ns;
    return left > 0 ? (int64_t)(left + 0.5) : 0;
}

int vt_recording_spans(vt_recording *recording, const struct vt_filter *filter,
                       int (*each)(const struct vt_span *span, void *arg), void *arg)
{
    struct vti_span_walk *walk;
    struct vt_span span;
    int result = vti_span_walk_open(&walk, recording, filter);
    int got = 0;

    if (result)
        return vti_read_result(result);
    while (!result && (got = vti_span_walk_next(walk, &span)) > 0)
        result = each(&span, arg);
    vti_span_walk_close(walk);
    return vti_read_result(result ? result : got);
}
