/*
 * traces_bare.c - the traces of one recording without texts and facts: sites, times and links, for sums over all of them.
 */
#include "analyze/traces_impl.h"

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
                                  .is_finished = from->is_finished,
                                  .is_cut = !from->is_finished && (from->flags & VT_FLAG_IN_GAP)};
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

int vti_traces_load_bare(struct vti_traces *traces, vt_recording *recording)
{
    static const struct vt_filter all = {INT64_MIN, INT64_MAX, VT_NONE};
    int code = vti_traces_start(traces);

    if (code)
        return code;
    code = vt_recording_spans(recording, &all, take_span, traces);
    if (!code)
        code = vti_traces_build(traces);
    if (code)
        vti_traces_fini(traces);
    return code;
}
