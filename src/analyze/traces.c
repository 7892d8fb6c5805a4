/*
 * traces.c - the spans of several recordings are gathered for their traces.
 *
 * What a span points at lives only while it is handed over, so texts are copied: those that repeat once, values of attributes into
 * chunks. Spans of no trace are counted and forgotten.
 */
#include "analyze/traces_impl.h"

#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)256 << 10)
#define ALIGNMENT 8u
#define SPANS_MOST (UINT32_MAX / 4)

struct vti_trace_chunk {
    struct vti_trace_chunk *next;
    size_t used, room;
    _Alignas(ALIGNMENT) uint8_t bytes[];
};

static int out_of_memory(void)
{
    return vti_fail(VTI_E_NOMEM, "out of memory");
}

void *vti_traces_alloc(struct vti_traces *traces, size_t bytes)
{
    struct vti_trace_owned *owned = traces->owned;
    struct vti_trace_chunk *chunk = owned->chunks;
    void *result;

    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (!chunk || chunk->room - chunk->used < bytes) {
        size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;

        chunk = malloc(sizeof *chunk + room);
        if (!chunk)
            return NULL;
        *chunk = (struct vti_trace_chunk){.next = owned->chunks, .room = room};
        owned->chunks = chunk;
    }
    result = chunk->bytes + chunk->used;
    chunk->used += bytes;
    return result;
}

const char *vti_traces_text(struct vti_traces *traces, const char *text, size_t len)
{
    struct vti_trace_owned *owned = traces->owned;
    int is_new;
    int64_t at = vti_map_add(owned->texts, text, len, &is_new);

    return at < 0 ? NULL : vti_map_key(owned->texts, (uint32_t)at, NULL);
}

int vti_traces_start(struct vti_traces *traces)
{
    struct vti_trace_owned *owned = calloc(1, sizeof *owned);

    memset(traces, 0, sizeof *traces);
    if (!owned)
        return out_of_memory();
    traces->owned = owned;
    if (vti_map_create(&owned->texts) || vti_map_create(&owned->bases) ||
        vti_map_create(&owned->sources) || vti_map_create(&owned->clocks)) {
        vti_traces_fini(traces);
        return out_of_memory();
    }
    return 0;
}

void vti_traces_fini(struct vti_traces *traces)
{
    struct vti_trace_owned *owned = traces->owned;

    if (owned) {
        while (owned->chunks) {
            struct vti_trace_chunk *next = owned->chunks->next;

            free(owned->chunks);
            owned->chunks = next;
        }
        vti_map_free(owned->texts);
        vti_map_free(owned->bases);
        vti_map_free(owned->sources);
        vti_map_free(owned->clocks);
        free(owned->spans);
        free(owned->trace_of);
        free(owned->clock_of);
        free(owned->clock_errors);
        free(owned);
    }
    free(traces->traces);
    free(traces->processes);
    memset(traces, 0, sizeof *traces);
}

/* ---- entering -------------------------------------------------------------------------------- */

int64_t vti_traces_process(struct vti_traces *traces, uint32_t recording, uint32_t id, bool *is_new)
{
    struct vti_trace_owned *owned = traces->owned;
    const uint32_t key[2] = {recording, id};
    int is_first;
    int64_t at = vti_map_add(owned->sources, key, sizeof key, &is_first);

    *is_new = is_first;
    if (at < 0 || !is_first)
        return at;
    if (vti_grow(&traces->processes, traces->process_count, &owned->process_room,
                 sizeof *traces->processes) ||
        vti_grow(&owned->clock_of, traces->process_count, &owned->clock_room,
                 sizeof *owned->clock_of))
        return VTI_E_NOMEM;
    owned->clock_of[traces->process_count] = 0;
    traces->processes[traces->process_count++] = (struct vti_trace_process){
        .service = "", .project = "", .host = "", .recording = recording};
    return at;
}

int vti_traces_clock(struct vti_traces *traces, uint32_t process, const char *name,
                     int64_t error_ns)
{
    struct vti_trace_owned *owned = traces->owned;
    int is_new;
    int64_t at = vti_map_add(owned->clocks, name, strlen(name), &is_new);

    if (at < 0 || (is_new && vti_grow(&owned->clock_errors, (size_t)at, &owned->clock_error_room,
                                      sizeof *owned->clock_errors)))
        return VTI_E_NOMEM;
    if (is_new || owned->clock_errors[at] < error_ns)
        owned->clock_errors[at] = error_ns;
    owned->clock_of[process] = (uint32_t)at;
    return 0;
}

int64_t vti_traces_bounded(int64_t ns)
{
    const int64_t most = (INT64_C(1) << 62) - 1;

    return ns > most ? most : ns < -most ? -most : ns;
}

int vti_traces_span(struct vti_traces *traces, const uint8_t base[16],
                    const struct vti_trace_span *span)
{
    struct vti_trace_owned *owned = traces->owned;
    struct vti_trace_span *to;
    int is_new;
    int64_t at = vti_map_add(owned->bases, base, 16, &is_new);

    if (at < 0 || vti_grow(&owned->spans, owned->span_count, &owned->span_room, sizeof *span) ||
        vti_grow(&owned->trace_of, owned->span_count, &owned->trace_of_room,
                 sizeof *owned->trace_of))
        return VTI_E_NOMEM;
    if (owned->span_count >= SPANS_MOST)
        return vti_fail(VTI_E_LIMIT, "more than %u spans of traces", SPANS_MOST);
    if (is_new) {
        if (vti_grow(&traces->traces, traces->trace_count, &owned->trace_room,
                     sizeof *traces->traces))
            return VTI_E_NOMEM;
        memset(&traces->traces[traces->trace_count], 0, sizeof *traces->traces);
        memcpy(traces->traces[traces->trace_count++].base, base, 16);
    }
    owned->trace_of[owned->span_count] = (uint32_t)at;
    to = &owned->spans[owned->span_count++];
    *to = *span;
    to->parent = to->first_child = to->next = VTI_NO_SPAN;
    to->begin_ns = vti_traces_bounded(span->begin_ns);
    to->end_ns = vti_traces_bounded(span->end_ns > span->begin_ns ? span->end_ns : span->begin_ns);
    return 0;
}
