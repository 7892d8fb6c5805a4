/* findings_traces.c - rules about traces across services: what failed in them, and where the slowest one spent its time. */
#include "analyze/findings_impl.h"

#include "base/uuid.h"

#include <stdio.h>
#include <stdlib.h>

#define WHERE_BYTES 80
#define SLOW_BYTES (VTI_CLIP_BYTES + 160)
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

/* Nothing else was under way then: whoever wants the trace shorter looks there. */
static const struct vti_trace_span *costliest(const struct vti_trace *trace)
{
    const struct vti_trace_span *most = NULL;

    for (uint32_t i = 0; i < trace->span_count; i++)
        if (trace->spans[i].is_critical && (!most || trace->spans[i].self_ns > most->self_ns))
            most = &trace->spans[i];
    return most;
}

static int by_number(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* What half of the traces took at most; 0 without memory. */
static int64_t middle_of(const struct vti_traces *traces)
{
    int64_t *times = calloc(traces->trace_count + 1, sizeof *times);
    int64_t middle;

    if (!times)
        return 0;
    for (size_t i = 0; i < traces->trace_count; i++)
        times[i] = traces->traces[i].end_ns - traces->traces[i].begin_ns;
    qsort(times, traces->trace_count, sizeof *times, by_number);
    middle = times[traces->trace_count / 2];
    free(times);
    return middle;
}

/* "The trace took 3 s", or which of several took the longest, and how long the others took. */
static void say_how_slow(char to[SLOW_BYTES], const struct vti_traces *traces,
                         const struct vti_trace *trace)
{
    char time[VTI_NUMBER_BYTES];
    char middle[VTI_NUMBER_BYTES];
    char base[VTI_UUID_TEXT];
    char name[VTI_CLIP_BYTES];

    vti_text_duration(time, (double)(trace->end_ns - trace->begin_ns));
    vti_uuid_text(trace->base, base);
    if (traces->trace_count == 1)
        snprintf(to, SLOW_BYTES, "The trace took %s", time);
    else
        snprintf(to, SLOW_BYTES,
                 "The slowest of %zu traces, %.8s (%s), took %s (the middle one %s)",
                 traces->trace_count, base, vti_clip(name, trace->spans[0].name, "", 0), time,
                 vti_text_duration(middle, (double)middle_of(traces)));
}

/* Of several it is said in any case, and first: whoever records traces looks for that one. */
void vti_find_slow_trace(struct vti_finder *finder)
{
    const struct vti_traces *traces = &finder->study->traces;
    const struct vti_trace *trace = vti_traces_slowest(traces);
    const struct vti_trace_span *span = trace ? costliest(trace) : NULL;
    bool is_one = traces->trace_count == 1;
    struct vti_evidence evidence;
    char base[VTI_UUID_TEXT];
    char slow[SLOW_BYTES];
    char name[VTI_CLIP_BYTES];
    char service[VTI_CLIP_BYTES];
    double share;

    if (!span || trace->end_ns <= trace->begin_ns || (is_one && trace->span_count == 1))
        return;
    share = (double)span->self_ns / (double)(trace->end_ns - trace->begin_ns);
    if (is_one && !(share >= SELF_SHARE))
        return;
    evidence = evidence_of(base, trace, span);
    say_how_slow(slow, traces, trace);
    if (share >= SELF_SHARE && trace->span_count > 1)
        vti_finding_say(finder, VTI_SEVERITY_NOTICE, is_one ? share : 1, &evidence, "",
                        "%s, %.0f %% of it within %s (%s) itself, on its critical path.", slow,
                        share * 100, vti_clip(name, span->name, "", 0),
                        vti_clip(service, service_of(finder, span), "", 0));
    else
        vti_finding_say(finder, VTI_SEVERITY_NOTICE, 1, &evidence, "", "%s.", slow);
}
