/*
 * traces_self.c - how much of a span of a trace went to its children, on whichever thread or process: looked up by its ids.
 */
#include "analyze/traces_self.h"

#include "analyze/traces_impl.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

struct known {
    int64_t begin_ns, inside_ns;
};

struct vti_trace_selves {
    struct vti_map *ids; /* base and span, to ... */
    struct known *known; /* ... these */
};

static void make_key(uint8_t key[32], const uint8_t base[16], const uint8_t span[16])
{
    memcpy(key, base, 16);
    memcpy(key + 16, span, 16);
}

void vti_trace_selves_free(struct vti_trace_selves *selves)
{
    if (!selves)
        return;
    vti_map_free(selves->ids);
    free(selves->known);
    free(selves);
}

static int add_trace(struct vti_trace_selves *selves, const struct vti_trace *trace)
{
    for (uint32_t i = 0; i < trace->span_count; i++) {
        const struct vti_trace_span *span = &trace->spans[i];
        uint8_t key[32];
        int is_new;
        int64_t at;

        make_key(key, trace->base, span->id);
        at = vti_map_add(selves->ids, key, sizeof key, &is_new);
        if (at < 0)
            return VTI_E_NOMEM;
        selves->known[at] = (struct known){span->begin_ns,
                                           span->end_ns - span->begin_ns - span->self_ns};
    }
    return 0;
}

static int fill(struct vti_trace_selves *selves, const struct vti_traces *traces)
{
    size_t count = 0;
    int code;

    for (size_t i = 0; i < traces->trace_count; i++)
        count += traces->traces[i].span_count;
    selves->known = calloc(count + 1, sizeof *selves->known);
    code = selves->known ? vti_map_create(&selves->ids) : VTI_E_NOMEM;
    for (size_t i = 0; i < traces->trace_count && !code; i++)
        code = add_trace(selves, &traces->traces[i]);
    return code;
}

int vti_trace_selves_load(struct vti_trace_selves **result, vt_recording *recording)
{
    struct vti_trace_selves *selves = calloc(1, sizeof *selves);
    struct vti_traces traces;
    int code = selves ? vti_traces_load_bare(&traces, recording) : VTI_E_NOMEM;

    if (!code) {
        code = fill(selves, &traces);
        vti_traces_fini(&traces);
    }
    if (code) {
        vti_trace_selves_free(selves);
        return code == VTI_E_NOMEM ? vti_fail(code, "out of memory") : code;
    }
    *result = selves;
    return 0;
}

static int64_t without(int64_t ns, int64_t inside_ns)
{
    return inside_ns < ns ? ns - inside_ns : 0;
}

/* The second of two records of a span is none of the trees: the statistics count it as it is. */
void vti_trace_selves_apply(const struct vti_trace_selves *selves, struct vt_span *span)
{
    uint8_t key[32];
    int64_t at;

    if (!span->has_trace)
        return;
    make_key(key, span->trace_base, span->trace_span);
    at = vti_map_find(selves->ids, key, sizeof key);
    if (at < 0 || selves->known[at].begin_ns != span->begin_ns)
        return;
    span->self_ns = without(span->self_ns, selves->known[at].inside_ns);
    span->corrected_self_ns = without(span->corrected_self_ns, selves->known[at].inside_ns);
}
