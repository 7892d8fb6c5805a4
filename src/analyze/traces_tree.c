/*
 * traces_tree.c - spans with their parents become trees: in order, depth first, with their own time.
 *
 * Spans are put into their places where they lie: there may be millions of them, and a second copy is memory that others need. No
 * recursion anywhere: depth is the file's to choose.
 */
#include "analyze/traces_impl.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

struct key {
    int64_t begin_ns, end_ns;
    uint32_t trace, span;
};

static int by_time(const void *left, const void *right)
{
    const struct key *a = left;
    const struct key *b = right;

    if (a->trace != b->trace)
        return a->trace < b->trace ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    return a->span < b->span ? -1 : a->span > b->span;
}

/* Spans of which nothing but the begin is known last until the last that is known of their trace. */
static void end_open(struct vti_traces *traces)
{
    struct vti_trace_owned *owned = traces->owned;

    for (size_t i = 0; i < traces->trace_count; i++)
        traces->traces[i].end_ns = INT64_MIN;
    for (uint32_t i = 0; i < owned->span_count; i++)
        if (owned->trace_of[i] != VTI_NO_SPAN) {
            int64_t *last = &traces->traces[owned->trace_of[i]].end_ns;

            *last = owned->spans[i].end_ns > *last ? owned->spans[i].end_ns : *last;
        }
    for (uint32_t i = 0; i < owned->span_count; i++) {
        struct vti_trace_span *span = &owned->spans[i];

        if (owned->trace_of[i] != VTI_NO_SPAN && !span->is_finished && !span->is_cut &&
            span->end_ns == span->begin_ns)
            span->end_ns = traces->traces[owned->trace_of[i]].end_ns;
    }
}

/* Children of each span in order of time, and the first root of each trace. */
static void hang(struct vti_trace_owned *owned, struct key *keys, uint32_t *roots)
{
    size_t count = 0;

    for (uint32_t i = 0; i < owned->span_count; i++)
        if (owned->trace_of[i] != VTI_NO_SPAN)
            keys[count++] = (struct key){owned->spans[i].begin_ns, owned->spans[i].end_ns,
                                         owned->trace_of[i], i};
    if (count)
        qsort(keys, count, sizeof *keys, by_time);
    for (size_t i = count; i-- > 0;) {
        struct vti_trace_span *span = &owned->spans[keys[i].span];
        uint32_t *first = span->parent == VTI_NO_SPAN ? &roots[keys[i].trace]
                                                      : &owned->spans[span->parent].first_child;

        span->next = *first;
        *first = keys[i].span;
    }
}

/* Numbers the spans of a trace depth first from `number` on; returns the next one. */
static uint32_t number_trace(struct vti_trace_owned *owned, uint32_t root, uint32_t number,
                             uint32_t *place)
{
    uint32_t at = root;

    while (at != VTI_NO_SPAN) {
        struct vti_trace_span *span = &owned->spans[at];

        place[at] = number++;
        span->depth = span->parent == VTI_NO_SPAN ? 0 : owned->spans[span->parent].depth + 1;
        if (span->first_child != VTI_NO_SPAN) {
            at = span->first_child;
            continue;
        }
        while (at != VTI_NO_SPAN && owned->spans[at].next == VTI_NO_SPAN)
            at = owned->spans[at].parent;
        if (at != VTI_NO_SPAN)
            at = owned->spans[at].next;
    }
    return number;
}

static uint32_t renumbered(const uint32_t *place, uint32_t at, uint32_t first)
{
    return at == VTI_NO_SPAN ? VTI_NO_SPAN : place[at] - first;
}

/* Each span goes to its place; those that were left out come last. */
static void put_in_order(struct vti_trace_owned *owned, uint32_t *place)
{
    for (uint32_t i = 0; i < owned->span_count; i++)
        while (place[i] != i) {
            uint32_t to = place[i];
            struct vti_trace_span moved = owned->spans[to];

            owned->spans[to] = owned->spans[i];
            owned->spans[i] = moved;
            place[i] = place[to];
            place[to] = to;
        }
}

/* What is left of a span's time without the union of its children's. */
static int64_t own_time(const struct vti_trace *trace, const struct vti_trace_span *span)
{
    int64_t until = span->begin_ns;
    int64_t inside = 0;

    for (uint32_t at = span->first_child; at != VTI_NO_SPAN; at = trace->spans[at].next) {
        const struct vti_trace_span *child = &trace->spans[at];
        int64_t begin = child->begin_ns > until ? child->begin_ns : until;
        int64_t end = child->end_ns < span->end_ns ? child->end_ns : span->end_ns;

        if (end > begin) {
            inside += end - begin;
            until = end;
        }
    }
    return span->end_ns - span->begin_ns - inside;
}

/* Numbers for the services and hosts of processes, and in which trace each was seen last. */
struct places {
    uint32_t *service_of, *host_of;     /* owned; beside the processes */
    uint32_t *service_seen, *host_seen; /* owned; number of the trace, from 1 */
};

static void fini_places(struct places *places)
{
    free(places->service_of);
    free(places->host_of);
    free(places->service_seen);
    free(places->host_seen);
}

static int number_texts(struct vti_map *map, uint32_t *number, const char *text)
{
    int is_new;
    int64_t at = vti_map_add(map, text, strlen(text), &is_new);

    *number = (uint32_t)at;
    return at < 0 ? VTI_E_NOMEM : 0;
}

static int find_places(struct places *places, const struct vti_traces *traces)
{
    size_t count = traces->process_count + 1;
    struct vti_map *services = NULL, *hosts = NULL;
    int code = VTI_E_NOMEM;

    places->service_of = calloc(count, sizeof *places->service_of);
    places->host_of = calloc(count, sizeof *places->host_of);
    places->service_seen = calloc(count, sizeof *places->service_seen);
    places->host_seen = calloc(count, sizeof *places->host_seen);
    if (places->service_of && places->host_of && places->service_seen && places->host_seen &&
        !vti_map_create(&services) && !vti_map_create(&hosts))
        code = 0;
    for (size_t i = 0; i < traces->process_count && !code; i++) {
        code = number_texts(services, &places->service_of[i], traces->processes[i].service);
        if (!code)
            code = number_texts(hosts, &places->host_of[i], traces->processes[i].host);
    }
    vti_map_free(services);
    vti_map_free(hosts);
    return code;
}

static void count_places(const struct vti_traces *traces, struct vti_trace *trace, uint32_t number,
                         struct places *places)
{
    trace->knows_errors = trace->error_count;
    for (uint32_t i = 0; i < trace->span_count; i++) {
        uint32_t process = trace->spans[i].process;
        uint32_t *service = &places->service_seen[places->service_of[process]];
        uint32_t *host = &places->host_seen[places->host_of[process]];

        trace->service_count += *service != number;
        trace->host_count += *host != number && traces->processes[process].host[0];
        trace->knows_errors |= !traces->processes[process].is_log;
        *service = *host = number;
    }
}

static void measure(struct vti_trace *trace, uint32_t *scratch)
{
    trace->begin_ns = INT64_MAX;
    trace->end_ns = INT64_MIN;
    for (uint32_t i = 0; i < trace->span_count; i++) {
        struct vti_trace_span *span = &trace->spans[i];

        span->self_ns = own_time(trace, span);
        trace->begin_ns = span->begin_ns < trace->begin_ns ? span->begin_ns : trace->begin_ns;
        trace->end_ns = span->end_ns > trace->end_ns ? span->end_ns : trace->end_ns;
        trace->error_count += span->has_error;
        trace->unfinished_count += !span->is_finished;
        trace->orphan_count += span->is_orphan;
    }
    vti_trace_mark_path(trace, scratch);
}

static int by_begin(const void *left, const void *right)
{
    const struct vti_trace *a = left;
    const struct vti_trace *b = right;

    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return memcmp(a->base, b->base, sizeof a->base);
}

/* Trees out of links: numbers, places, and indices that count within the trace. */
static void plant(struct vti_traces *traces, uint32_t *roots, uint32_t *place)
{
    struct vti_trace_owned *owned = traces->owned;
    uint32_t number = 0;

    for (size_t i = 0; i < traces->trace_count; i++) {
        struct vti_trace *trace = &traces->traces[i];
        uint32_t first = number;

        number = number_trace(owned, roots[i], number, place);
        trace->spans = owned->spans + first;
        trace->span_count = number - first;
    }
    for (uint32_t i = 0; i < owned->span_count; i++) {
        struct vti_trace_span *span = &owned->spans[i];
        uint32_t first;

        if (owned->trace_of[i] == VTI_NO_SPAN) {
            place[i] = number++;
            continue;
        }
        first = (uint32_t)(traces->traces[owned->trace_of[i]].spans - owned->spans);
        span->parent = renumbered(place, span->parent, first);
        span->first_child = renumbered(place, span->first_child, first);
        span->next = renumbered(place, span->next, first);
    }
    put_in_order(owned, place);
}

int vti_traces_build(struct vti_traces *traces)
{
    struct vti_trace_owned *owned = traces->owned;
    struct key *keys = NULL;
    uint32_t *roots = NULL, *place = NULL;
    struct places places = {0};
    int code = vti_traces_link(traces);

    if (!code)
        code = vti_traces_say(traces);
    if (!code)
        code = vti_traces_align(traces);
    if (!code && owned->only)
        code = vti_traces_keep(traces, owned->only);
    if (code)
        return code;
    keys = malloc((owned->span_count + 1) * sizeof *keys);
    roots = malloc((traces->trace_count + 1) * sizeof *roots);
    place = malloc((owned->span_count + 1) * sizeof *place);
    code = keys && roots && place ? find_places(&places, traces) : VTI_E_NOMEM;
    if (code)
        goto out;
    memset(roots, 0xff, (traces->trace_count + 1) * sizeof *roots);
    end_open(traces);
    hang(owned, keys, roots);
    plant(traces, roots, place);
    for (size_t i = 0; i < traces->trace_count; i++) {
        measure(&traces->traces[i], place);
        count_places(traces, &traces->traces[i], (uint32_t)i + 1, &places);
    }
    if (traces->trace_count)
        qsort(traces->traces, traces->trace_count, sizeof *traces->traces, by_begin);
out:
    fini_places(&places);
    free(keys);
    free(roots);
    free(place);
    return code;
}
