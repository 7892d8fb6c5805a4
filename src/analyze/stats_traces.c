/*
 * stats_traces.c - what spans of traces spent in spans of the same trace, whichever thread or process those ran in.
 *
 * Nesting on a thread says nothing about them: only their ids do. A second pass over the recording, made where there are traces at all.
 */
#include "analyze/traces_impl.h"

#include "analyze/stats_traces.h"
#include "base/error.h"

#include <string.h>

static int take_span(const struct vt_span *from, void *arg)
{
    struct vti_traces *traces = arg;
    struct vti_trace_span span = {.name = "",
                                  .thread = "",
                                  .error_type = "",
                                  .error_message = "",
                                  .site = from->site,
                                  .begin_ns = from->begin_ns,
                                  .end_ns = from->end_ns,
                                  .is_finished = from->is_finished};
    bool is_new;
    int64_t source;

    if (!from->has_trace)
        return 0;
    source = vti_traces_process(traces, 0, from->track, &is_new);
    if (source < 0)
        return VTI_E_NOMEM;
    span.process = (uint32_t)source;
    traces->processes[source].pid = from->track;
    memcpy(span.id, from->trace_span, sizeof span.id);
    memcpy(span.parent_id, from->trace_parent, sizeof span.parent_id);
    return vti_traces_span(traces, from->trace_base, &span);
}

static int tell(const struct vti_traces *traces, const struct vt_filter *filter,
                int (*each)(uint32_t site, int64_t inside_ns, void *arg), void *arg)
{
    int code = 0;

    for (size_t i = 0; i < traces->trace_count; i++)
        for (uint32_t k = 0; k < traces->traces[i].span_count && !code; k++) {
            const struct vti_trace_span *span = &traces->traces[i].spans[k];
            int64_t inside = span->end_ns - span->begin_ns - span->self_ns;

            if (inside > 0 && span->begin_ns >= filter->from_ns && span->begin_ns < filter->to_ns &&
                (filter->track == VT_NONE || traces->processes[span->process].pid == filter->track))
                code = each(span->site, inside, arg);
        }
    return code;
}

int vti_stats_traces(vt_recording *recording, const struct vt_filter *filter,
                     int (*each)(uint32_t site, int64_t inside_ns, void *arg), void *arg)
{
    static const struct vt_filter all = {INT64_MIN, INT64_MAX, VT_NONE};
    struct vti_traces traces;
    int code = vti_traces_start(&traces);

    if (code)
        return code;
    code = vt_recording_spans(recording, &all, take_span, &traces);
    if (!code)
        code = vti_traces_build(&traces);
    if (!code)
        code = tell(&traces, filter, each, arg);
    vti_traces_fini(&traces);
    return code;
}
