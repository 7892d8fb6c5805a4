/* traces_find.c - which traces there are, without their spans: for whoever names one by a part of its id, or wants the last. */
#include "analyze/traces.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/uuid.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

struct job {
    struct vti_trace_bases *bases;
    struct vti_map *index;
    size_t room;
    int64_t start_ns;
};

static int take_span(const struct vt_span *span, void *arg)
{
    struct job *job = arg;
    struct vti_trace_bases *bases = job->bases;
    int64_t begin_ns;
    int is_new;
    int64_t at;

    if (!span->has_trace || vti_uuid_is_zero(span->trace_base))
        return 0;
    if (__builtin_add_overflow(job->start_ns, span->begin_ns, &begin_ns))
        begin_ns = INT64_MAX;
    at = vti_map_add(job->index, span->trace_base, sizeof span->trace_base, &is_new);
    if (at < 0 || (is_new && vti_grow(&bases->list, bases->count, &job->room, sizeof *bases->list)))
        return VTI_E_NOMEM;
    if (is_new) {
        memcpy(bases->list[bases->count].base, span->trace_base, sizeof span->trace_base);
        bases->list[bases->count++].begin_ns = begin_ns;
    } else if (begin_ns < bases->list[at].begin_ns) {
        bases->list[at].begin_ns = begin_ns;
    }
    return 0;
}

static int by_begin(const void *left, const void *right)
{
    const struct vti_trace_base *a = left;
    const struct vti_trace_base *b = right;

    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return memcmp(a->base, b->base, sizeof a->base);
}

int vti_traces_bases(struct vti_trace_bases *bases, vt_recording *const *recordings, size_t count)
{
    static const struct vt_filter all = {INT64_MIN, INT64_MAX, VT_NONE};
    struct job job = {.bases = bases};
    int code = vti_map_create(&job.index);

    memset(bases, 0, sizeof *bases);
    for (size_t i = 0; i < count && !code; i++) {
        struct vt_recording_info info;

        vt_recording_info(recordings[i], &info);
        job.start_ns = info.start_realtime_ns;
        code = vt_recording_spans(recordings[i], &all, take_span, &job);
    }
    vti_map_free(job.index);
    if (code)
        free(bases->list);
    else if (bases->count)
        qsort(bases->list, bases->count, sizeof *bases->list, by_begin);
    return code == VTI_E_NOMEM ? vti_fail(code, "out of memory") : code;
}

const struct vti_trace *vti_traces_slowest(const struct vti_traces *traces)
{
    const struct vti_trace *slowest = NULL;

    for (size_t i = 0; i < traces->trace_count; i++) {
        const struct vti_trace *trace = &traces->traces[i];

        if (trace->span_count &&
            (!slowest || trace->end_ns - trace->begin_ns > slowest->end_ns - slowest->begin_ns))
            slowest = trace;
    }
    return slowest;
}
