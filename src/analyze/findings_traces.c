/* findings_traces.c - rules about traces across services: what failed in them, and where the slowest one spent its time. */
#include "analyze/findings_impl.h"

#include "base/uuid.h"

#include <stdio.h>

#define WHERE_BYTES 80
#define SELF_SHARE 0.3 /* of its trace: less is one span among several */

static struct vti_evidence evidence_of(char base[VTI_UUID_TEXT], const struct vti_trace *trace,
                                       const struct vti_trace_span *span)
{
    vti_uuid_text(trace->base, base);
    return (struct vti_evidence){
        .what = "trace", .name = base, .id = (uint32_t)(span - trace->spans)};
}

static const char *service_of(const struct vti_finder *finder, const struct vti_trace_span *span)
{
    const struct vti_traces *traces = &finder->study->traces;

    return span->process < traces->process_count ? traces->processes[span->process].service : "";
}

/* The innermost of the first that failed: an error goes up from where it began, though not every span on its way tells of it. */
static const struct vti_trace_span *first_error(const struct vti_trace *trace)
{
    const struct vti_trace_span *found = NULL;

    for (uint32_t i = 0; i < trace->span_count; i++) {
        const struct vti_trace_span *span = &trace->spans[i];

        if (found && span->depth <= found->depth)
            break;
        if (span->has_error)
            found = span;
    }
    return found;
}

void vti_find_trace_errors(struct vti_finder *finder)
{
    const struct vti_traces *traces = &finder->study->traces;
    const struct vti_trace *first = NULL;
    const struct vti_trace_span *span;
    struct vti_evidence evidence;
    uint64_t errors = 0;
    size_t failed = 0;
    char base[VTI_UUID_TEXT];
    char name[VTI_CLIP_BYTES];
    char service[VTI_CLIP_BYTES];
    char error[VTI_CLIP_BYTES];
    char where[WHERE_BYTES];

    for (size_t i = 0; i < traces->trace_count; i++) {
        const struct vti_trace *trace = &traces->traces[i];

        errors += trace->error_count;
        failed += trace->error_count != 0;
        if (!first && trace->error_count)
            first = trace;
    }
    span = first ? first_error(first) : NULL;
    if (!span)
        return;
    evidence = evidence_of(base, first, span);
    if (traces->trace_count == 1)
        snprintf(where, sizeof where, "in the trace");
    else
        snprintf(where, sizeof where, "in %zu of %zu traces", failed, traces->trace_count);
    vti_finding_say(finder, VTI_SEVERITY_WARNING, (double)failed / (double)traces->trace_count,
                    &evidence, "", "%llu span%s failed %s; %s began with %s in %s: %s.",
                    (unsigned long long)errors, errors == 1 ? "" : "s", where,
                    failed == 1 ? "it" : "the first", vti_clip(name, span->name, "", 0),
                    vti_clip(service, service_of(finder, span), "", 0),
                    vti_clip(error, *span->error_type ? span->error_type : "an error", "", 0));
}

static const struct vti_trace *slowest_of(const struct vti_traces *traces)
{
    const struct vti_trace *slowest = NULL;

    for (size_t i = 0; i < traces->trace_count; i++) {
        const struct vti_trace *trace = &traces->traces[i];

        if (trace->span_count > 1 &&
            (!slowest || trace->end_ns - trace->begin_ns > slowest->end_ns - slowest->begin_ns))
            slowest = trace;
    }
    return slowest;
}

/* Nothing else was under way then: whoever wants the trace shorter looks there. */
static const struct vti_trace_span *costliest(const struct vti_trace *trace)
{
    const struct vti_trace_span *most = NULL;

    for (uint32_t i = 0; i < trace->span_count; i++)
        if (trace->spans[i].is_critical && (!most || trace->spans[i].self_ns > most->self_ns))
            most = &trace->spans[i];
    return most;
}

void vti_find_slow_trace(struct vti_finder *finder)
{
    const struct vti_traces *traces = &finder->study->traces;
    const struct vti_trace *trace = slowest_of(traces);
    const struct vti_trace_span *span = trace ? costliest(trace) : NULL;
    struct vti_evidence evidence;
    char base[VTI_UUID_TEXT];
    char name[VTI_CLIP_BYTES];
    char service[VTI_CLIP_BYTES];
    char time[VTI_NUMBER_BYTES];
    double whole;
    double share;

    if (!span || trace->end_ns <= trace->begin_ns)
        return;
    whole = (double)(trace->end_ns - trace->begin_ns);
    share = (double)span->self_ns / whole;
    if (!(share >= SELF_SHARE))
        return;
    evidence = evidence_of(base, trace, span);
    vti_finding_say(finder, VTI_SEVERITY_NOTICE, share, &evidence, "",
                    "%s took %s, %.0f %% of it within %s (%s) itself, on its critical path.",
                    traces->trace_count == 1 ? "The trace" : "The slowest trace",
                    vti_text_duration(time, whole), share * 100, vti_clip(name, span->name, "", 0),
                    vti_clip(service, service_of(finder, span), "", 0));
}
