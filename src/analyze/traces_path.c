/*
 * traces_path.c - the critical path of a trace: the spans that, had they been shorter, would have ended it sooner.
 *
 * From the end backwards: within a span the child that ended last, then the one that ended last before that one began, and so on; each of
 * these likewise inside. What ran beside them is not on it, nor what is not known to have lasted: its end was lost. No recursion: depth is the file's to choose.
 */
#include "analyze/traces_impl.h"

#include <stdlib.h>

static const struct vti_trace_span *sorted; /* qsort has no argument for it */

static int by_end_last_first(const void *left, const void *right)
{
    const struct vti_trace_span *a = &sorted[*(const uint32_t *)left];
    const struct vti_trace_span *b = &sorted[*(const uint32_t *)right];

    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    if (a->begin_ns != b->begin_ns) /* of two that end together the longer one */
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return a < b ? -1 : 1;
}

/* Marks those of the siblings from `first` on that are on the path of what ends at `until`. One that goes on beyond is cut there. */
static void mark_siblings(struct vti_trace *trace, uint32_t first, int64_t until, uint32_t *scratch)
{
    uint32_t count = 0;
    int64_t end = until;

    for (uint32_t at = first; at != VTI_NO_SPAN; at = trace->spans[at].next)
        if (trace->spans[at].begin_ns <= until && !trace->spans[at].is_cut)
            scratch[count++] = at;
    sorted = trace->spans;
    if (count > 1)
        qsort(scratch, count, sizeof *scratch, by_end_last_first);
    for (uint32_t i = 0; i < count; i++) {
        struct vti_trace_span *span = &trace->spans[scratch[i]];

        if ((span->end_ns < until ? span->end_ns : until) > end)
            continue;
        span->is_critical = true;
        end = span->begin_ns;
    }
}

void vti_trace_mark_path(struct vti_trace *trace, uint32_t *scratch)
{
    if (!trace->span_count)
        return;
    mark_siblings(trace, 0, trace->end_ns, scratch);
    for (uint32_t i = 0; i < trace->span_count; i++) /* parents come before their children */
        if (trace->spans[i].is_critical && trace->spans[i].first_child != VTI_NO_SPAN)
            mark_siblings(trace, trace->spans[i].first_child, trace->spans[i].end_ns, scratch);
}
