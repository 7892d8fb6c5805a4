/*
 * traces_link.c - the parent of each span, by the last 64 bits of ids within a trace.
 *
 * Ids come from files that anybody may have written: the same one may come twice, and spans may be each other's parents. The second of
 * two is left out; a circle is cut where it is found.
 */
#include "analyze/traces_impl.h"

#include "base/error.h"
#include "base/uuid.h"

#include <stdlib.h>
#include <string.h>

struct table {
    uint32_t *slots; /* index + 1, 0: free */
    uint32_t mask;
};

static uint32_t home(const struct table *table, uint32_t trace, uint64_t id)
{
    uint64_t mixed = (id ^ (uint64_t)trace * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;

    return (uint32_t)(mixed >> 32) & table->mask;
}

/* Where the id is, or the free place where it would go. */
static uint32_t *locate(const struct table *table, const struct vti_trace_owned *owned,
                        uint32_t trace, const uint8_t *id)
{
    uint64_t wanted = vti_uuid_short(id);
    uint32_t at = home(table, trace, wanted);

    for (; table->slots[at]; at = (at + 1) & table->mask) {
        uint32_t span = table->slots[at] - 1;

        if (owned->trace_of[span] == trace && vti_uuid_short(owned->spans[span].id) == wanted)
            break;
    }
    return &table->slots[at];
}

/* Of two records of one span the one that knows its end is kept, else the first. */
static void enter(struct vti_traces *traces, const struct table *table, uint32_t at)
{
    struct vti_trace_owned *owned = traces->owned;
    uint32_t *slot = locate(table, owned, owned->trace_of[at], owned->spans[at].id);
    uint32_t dropped = at;

    if (!*slot) {
        *slot = at + 1;
        return;
    }
    if (owned->spans[at].is_finished && !owned->spans[*slot - 1].is_finished) {
        dropped = *slot - 1;
        *slot = at + 1;
    }
    owned->trace_of[dropped] = VTI_NO_SPAN;
    traces->duplicate_spans++;
}

static void find_parent(const struct vti_traces *traces, const struct table *table, uint32_t at)
{
    const struct vti_trace_owned *owned = traces->owned;
    struct vti_trace_span *span = &owned->spans[at];
    uint32_t trace = owned->trace_of[at];
    uint32_t found = *locate(table, owned, trace, span->parent_id);

    span->parent = VTI_NO_SPAN;
    if (found && found - 1 != at)
        span->parent = found - 1;
    else if (vti_uuid_short(span->parent_id) != vti_uuid_short(traces->traces[trace].base))
        span->is_orphan = true;
}

/* Goes up from each span until what was seen before; `walk` says in which walk that was. */
static void cut_circles(struct vti_trace_owned *owned, uint32_t *walk)
{
    for (uint32_t i = 0; i < owned->span_count; i++) {
        uint32_t at = i;

        while (at != VTI_NO_SPAN && !walk[at]) {
            uint32_t parent = owned->spans[at].parent;

            walk[at] = i + 1;
            if (parent != VTI_NO_SPAN && walk[parent] == i + 1) {
                owned->spans[at].parent = VTI_NO_SPAN;
                owned->spans[at].is_orphan = true;
                break;
            }
            at = parent;
        }
    }
}

int vti_traces_link(struct vti_traces *traces)
{
    struct vti_trace_owned *owned = traces->owned;
    struct table table = {NULL, 63};
    uint32_t *walk = calloc(owned->span_count + 1, sizeof *walk);
    int code = VTI_E_NOMEM;

    while (table.mask / 2 < owned->span_count)
        table.mask = table.mask * 2 + 1;
    table.slots = calloc((size_t)table.mask + 1, sizeof *table.slots);
    if (!walk || !table.slots)
        goto out;
    for (uint32_t i = 0; i < owned->span_count; i++)
        enter(traces, &table, i);
    for (uint32_t i = 0; i < owned->span_count; i++)
        if (owned->trace_of[i] != VTI_NO_SPAN)
            find_parent(traces, &table, i);
    cut_circles(owned, walk);
    code = 0;
out:
    free(table.slots);
    free(walk);
    return code;
}
