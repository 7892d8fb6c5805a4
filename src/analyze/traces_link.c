/*
 * traces_link.c - the parent of each span, by the last 64 bits of ids within a trace.
 *
 * Ids come from files that anybody may have written: the same one may come twice, and spans may be each other's parents. Of two
 * the one that knows more is kept, with what only the other knows; a circle is cut where it is found.
 */
#include "analyze/traces_impl.h"

#include "base/error.h"
#include "base/uuid.h"
#include "model/model.h"

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

/* Records of one span, each by where its id is in the table. */
struct twin {
    uint32_t slot, span;
};

struct twins {
    struct twin *list; /* owned */
    size_t count, room;
};

static int compare(int64_t left, int64_t right)
{
    return left < right ? -1 : left > right;
}

/* The one that knows more comes first, by what it says and never by the order of files: a recording before a log, then what ended, has
 * facts, or lasted longer. */
static int by_wealth(const void *left, const void *right, void *arg)
{
    const struct vti_traces *traces = arg;
    const struct vti_trace_owned *owned = traces->owned;
    const struct twin *a = left, *b = right;
    const struct vti_trace_span *one = &owned->spans[a->span], *other = &owned->spans[b->span];
    const struct vti_trace_process *from = &traces->processes[one->process];
    const struct vti_trace_process *to = &traces->processes[other->process];
    int order = compare(a->slot, b->slot);

    order = order ? order : compare(from->is_imported, to->is_imported);
    order = order ? order : compare(other->is_finished, one->is_finished);
    order = order ? order : compare(other->attr_count, one->attr_count);
    order = order ? order : compare(other->has_error, one->has_error);
    order = order ? order : compare(other->end_ns - other->begin_ns, one->end_ns - one->begin_ns);
    order = order ? order : compare(one->begin_ns, other->begin_ns);
    order = order ? order : strcmp(from->service, to->service);
    order = order ? order : strcmp(one->name, other->name);
    return order ? order : compare(a->span, b->span);
}

/* What the first does not know. Its clock may be another: how long it took holds on both. */
static void merge(struct vti_trace_span *to, const struct vti_trace_span *from)
{
    if (!to->is_finished && from->is_finished) {
        to->end_ns = vti_traces_bounded(to->begin_ns + (from->end_ns - from->begin_ns));
        to->is_finished = true;
    }
    to->has_error |= from->has_error;
    if (!to->error_type[0] && !to->error_message[0]) {
        to->error_type = from->error_type;
        to->error_message = from->error_message;
    }
    if (!to->attr_count) {
        to->attrs = from->attrs;
        to->attr_count = from->attr_count;
    }
}

static void merge_twins(struct vti_traces *traces, const struct table *table, struct twins *twins)
{
    struct vti_trace_owned *owned = traces->owned;
    uint32_t first = 0;

    if (twins->count)
        qsort_r(twins->list, twins->count, sizeof *twins->list, by_wealth, traces);
    for (size_t i = 0; i < twins->count; i++) {
        const struct twin *twin = &twins->list[i];

        if (!i || twin->slot != twins->list[i - 1].slot) {
            first = twin->span;
            table->slots[twin->slot] = first + 1;
            continue;
        }
        merge(&owned->spans[first], &owned->spans[twin->span]);
        owned->trace_of[twin->span] = VTI_NO_SPAN;
        traces->duplicate_spans++;
    }
}

static int add_twin(struct twins *twins, uint32_t slot, uint32_t span)
{
    if (vti_grow(&twins->list, twins->count, &twins->room, sizeof *twins->list))
        return VTI_E_NOMEM;
    twins->list[twins->count++] = (struct twin){slot, span};
    return 0;
}

/* `has_twin` is beside the spans. */
static int enter(const struct vti_trace_owned *owned, const struct table *table, uint32_t at,
                 struct twins *twins, uint32_t *has_twin)
{
    uint32_t *place = locate(table, owned, owned->trace_of[at], owned->spans[at].id);
    uint32_t slot = (uint32_t)(place - table->slots);
    uint32_t first = *place - 1;

    if (!*place) {
        *place = at + 1;
        return 0;
    }
    if (!has_twin[first]) {
        has_twin[first] = 1;
        if (add_twin(twins, slot, first))
            return VTI_E_NOMEM;
    }
    return add_twin(twins, slot, at);
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
    struct twins twins = {0};
    uint32_t *walk = calloc(owned->span_count + 1, sizeof *walk);
    int code = VTI_E_NOMEM;

    while (table.mask / 2 < owned->span_count)
        table.mask = table.mask * 2 + 1;
    table.slots = calloc((size_t)table.mask + 1, sizeof *table.slots);
    if (!walk || !table.slots)
        goto out;
    for (uint32_t i = 0; i < owned->span_count; i++)
        if (enter(owned, &table, i, &twins, walk))
            goto out;
    merge_twins(traces, &table, &twins);
    memset(walk, 0, owned->span_count * sizeof *walk);
    for (uint32_t i = 0; i < owned->span_count; i++)
        if (owned->trace_of[i] != VTI_NO_SPAN)
            find_parent(traces, &table, i);
    cut_circles(owned, walk);
    code = 0;
out:
    free(twins.list);
    free(table.slots);
    free(walk);
    return code;
}
