/*
 * stats_traces.c - what spans of traces spent in spans of the same trace, whichever thread or process those ran in, and which of them
 * are inside of one of their own site.
 *
 * Nesting on a thread says nothing about them: only their ids do. A second pass over the recording, made where there are traces at all.
 */
#include "analyze/traces_impl.h"

#include "analyze/stats_traces.h"
#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>

/* Spans that are open around the one that is looked at, and how many of them each site has. */
struct path {
    vt_recording *recording;
    const struct vt_filter *filter;
    bool is_timed_only;
    struct vti_map *sites; /* to indices of ... */
    uint32_t *open;        /* ... these */
    size_t open_room;
    struct step {
        uint32_t span;
        uint32_t site; /* an index, VT_NONE: it is not counted */
    } * steps;
    size_t depth, step_room;
};

static bool is_counted(const struct path *path, const struct vti_traces *traces,
                       const struct vti_trace_span *span)
{
    const struct vt_filter *filter = path->filter;

    return (span->is_finished || !path->is_timed_only) && span->begin_ns >= filter->from_ns &&
           span->begin_ns < filter->to_ns &&
           (filter->track == VT_NONE || traces->processes[span->process].pid == filter->track);
}

static void leave_until(struct path *path, uint32_t parent)
{
    while (path->depth && path->steps[path->depth - 1].span != parent) {
        uint32_t site = path->steps[--path->depth].site;

        if (site != VT_NONE)
            path->open[site]--;
    }
}

/* Whether a counted span of its site is around it: 1, 0, or a negative code. */
static int enter(struct path *path, uint32_t at, const struct vti_trace_span *span, bool counts)
{
    uint32_t site = vti_site_same(path->recording, span->site);
    int64_t index = VT_NONE;
    int is_new = 0;

    if (vti_grow(&path->steps, path->depth, &path->step_room, sizeof *path->steps) ||
        vti_grow(&path->open, vti_map_count(path->sites), &path->open_room, sizeof *path->open))
        return VTI_E_NOMEM;
    if (counts) {
        index = vti_map_add(path->sites, &site, sizeof site, &is_new);
        if (index < 0)
            return VTI_E_NOMEM;
        if (is_new)
            path->open[index] = 0;
        path->open[index]++;
    }
    path->steps[path->depth++] = (struct step){at, (uint32_t)index};
    return counts && path->open[index] > 1;
}

static int tell_trace(struct path *path, const struct vti_traces *traces,
                      const struct vti_trace *trace, vti_stats_trace_span *each, void *arg)
{
    leave_until(path, VTI_NO_SPAN);
    for (uint32_t i = 0; i < trace->span_count; i++) {
        const struct vti_trace_span *span = &trace->spans[i];
        bool counts = is_counted(path, traces, span);
        int64_t whole = span->end_ns - span->begin_ns;
        int nested;
        int code;

        leave_until(path, span->parent);
        nested = enter(path, i, span, counts);
        if (nested < 0)
            return nested;
        code = counts ? each(span->site, whole - span->self_ns, nested ? whole : 0, arg) : 0;
        if (code)
            return code;
    }
    return 0;
}

static int tell(vt_recording *recording, const struct vti_traces *traces,
                const struct vt_filter *filter, bool is_timed_only, vti_stats_trace_span *each,
                void *arg)
{
    struct path path = {.recording = recording, .filter = filter, .is_timed_only = is_timed_only};
    int code = vti_map_create(&path.sites);

    for (size_t i = 0; i < traces->trace_count && !code; i++)
        code = tell_trace(&path, traces, &traces->traces[i], each, arg);
    vti_map_free(path.sites);
    free(path.open);
    free(path.steps);
    return code;
}

int vti_stats_traces(vt_recording *recording, const struct vt_filter *filter, bool is_timed_only,
                     vti_stats_trace_span *each, void *arg)
{
    struct vti_traces traces;
    int code = vti_traces_load_bare(&traces, recording);

    if (code)
        return code;
    code = tell(recording, &traces, filter, is_timed_only, each, arg);
    vti_traces_fini(&traces);
    return code;
}
