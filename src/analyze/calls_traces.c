/*
 * calls_traces.c - a tree of calls from the spans of traces: who waited for whom, on whichever thread or process.
 *
 * Children of a span may run at the same time, or go on when it has ended. So that widths add up, a total here is a span's own time and
 * the totals of what is under it.
 */
#include "analyze/calls_sites.h"
#include "analyze/traces_impl.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

struct reader {
    struct vti_calls *calls;
    struct vti_call_sites sites;
    struct vti_map *places; /* (parent, function) to an index of a call: they are added together */
};

/* Beside a span of a trace. */
struct beside {
    double total;
    uint32_t
        place; /* of its call; VT_NONE: it and what is around it are of sites that are not known */
};

/* That of the span around it if its site is not known. */
static int64_t find_place(struct reader *reader, uint32_t parent, uint32_t site)
{
    const struct vti_durations none = {.ns_per_tick = 1};
    int64_t function = vti_call_sites_find(&reader->sites, site);
    uint32_t key[2] = {parent, (uint32_t)function};
    struct vti_call call = {.parent = parent,
                            .function = key[1],
                            .track = VT_NONE,
                            .shortest_ns = NAN,
                            .longest_ns = NAN};
    int is_new;
    int64_t at;

    if (function == VTI_E_NOT_FOUND)
        return parent;
    if (function < 0)
        return function;
    at = vti_map_add(reader->places, key, sizeof key, &is_new);
    if (at < 0)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (is_new && (vti_calls_add(reader->calls, &call) != at ||
                   vti_calls_durations(reader->calls, key[1], &none)))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    return at;
}

static void note(struct vti_calls *calls, uint32_t at, const struct vti_trace_span *span,
                 double total)
{
    struct vti_call *call = &calls->calls[at];
    double ns = (double)(span->end_ns - span->begin_ns);

    call->calls++;
    call->total_ns += total;
    call->is_open |= !span->is_finished;
    if (!span->is_finished)
        return;
    call->shortest_ns = fmin(call->shortest_ns, ns);
    call->longest_ns = fmax(call->longest_ns, ns);
    vti_durations_note(calls->durations[call->function], ns);
}

/* Parents come before their children, so that one way round totals are whole, and the other way places are known. */
static int fill(struct reader *reader, const struct vti_trace *trace, struct beside *beside)
{
    uint32_t count = trace->span_count;

    for (uint32_t i = 0; i < count; i++)
        beside[i].total = (double)trace->spans[i].self_ns;
    for (uint32_t i = count; i-- > 0;)
        if (trace->spans[i].parent != VTI_NO_SPAN)
            beside[trace->spans[i].parent].total += beside[i].total;
    for (uint32_t i = 0; i < count; i++) {
        const struct vti_trace_span *span = &trace->spans[i];
        uint32_t parent = span->parent == VTI_NO_SPAN ? VT_NONE : beside[span->parent].place;
        int64_t place = find_place(reader, parent, span->site);

        if (place < 0)
            return (int)place;
        beside[i].place = (uint32_t)place;
        if (place != parent)
            note(reader->calls, (uint32_t)place, span, beside[i].total);
    }
    return 0;
}

static int add_trace(struct reader *reader, const struct vti_trace *trace)
{
    struct beside *beside = calloc(trace->span_count + 1u, sizeof *beside);
    int code = beside ? fill(reader, trace, beside) : vti_fail(VTI_E_NOMEM, "out of memory");

    free(beside);
    return code;
}

int vti_calls_load_traces(struct vti_calls *calls, vt_recording *recording)
{
    struct reader reader = {.calls = calls,
                            .sites = {.calls = calls, .recording = recording, .takes_spans = true}};
    struct vti_traces traces;
    int code = vti_traces_load_bare(&traces, recording);

    vti_calls_init(calls);
    if (code)
        return code;
    code = vti_map_create(&reader.places);
    for (size_t i = 0; i < traces.trace_count && !code; i++)
        code = add_trace(&reader, &traces.traces[i]);
    if (code)
        vti_calls_fini(calls);
    else
        vti_calls_finish(calls);
    vti_map_free(reader.places);
    vti_call_sites_fini(&reader.sites);
    vti_traces_fini(&traces);
    return code;
}
