/*
 * traces_link.c - the parent of each span, by ids within a trace.
 *
 * An id is all of its 128 bits. Only one that came in a `traceparent`, whose first half is zero, is found by its last 64, and only if one span
 * alone has those. Ids come from files that anybody may have written: the same one may come twice, and spans may be each other's parents. Of two
 * the one that knows more is kept, with what only the other knows; a circle is cut where it is found.
 */
#include "analyze/traces_impl.h"

#include "base/error.h"
#include "base/uuid.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define SEVERAL (UINT32_C(1) << 31) /* in a slot of short ids: they belong to more than one span */

struct table {
    uint32_t *slots; /* index + 1, 0: free */
    uint32_t mask;
    bool is_short; /* by the last 64 bits */
};

static uint64_t upper_half(const uint8_t *id)
{
    uint64_t half;

    memcpy(&half, id, sizeof half);
    return half;
}

static uint32_t home(const struct table *table, uint32_t trace, const uint8_t *id)
{
    uint64_t mixed = (vti_uuid_short(id) ^ (uint64_t)trace * 0x9e3779b97f4a7c15u) *
                     0xff51afd7ed558ccdu;

    if (!table->is_short)
        mixed = (mixed ^ mixed >> 32 ^ upper_half(id)) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(mixed >> 32) & table->mask;
}

/* Where the id is, or the free place where it would go. */
static uint32_t *locate(const struct table *table, const struct vti_trace_owned *owned,
                        uint32_t trace, const uint8_t *id)
{
    uint32_t at = home(table, trace, id);

    for (; table->slots[at]; at = (at + 1) & table->mask) {
        uint32_t span = (table->slots[at] & ~SEVERAL) - 1;
        const uint8_t *known = owned->spans[span].id;

        if (owned->trace_of[span] == trace && vti_uuid_short(known) == vti_uuid_short(id) &&
            (table->is_short || upper_half(known) == upper_half(id)))
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

/* All that is needed to find spans by their ids. */
struct finder {
    struct vti_traces *traces;
    struct table whole, shorts; /* owned; shorts: only of ids that have a first half */
    struct twins twins;
    uint32_t *seen; /* owned; a number beside each span */
};

/* The slot of the one span whose id ends like this short one, NULL if there is none or more than one. */
static uint32_t *locate_by_end(const struct finder *finder, uint32_t trace, const uint8_t *id)
{
    const struct vti_trace_owned *owned = finder->traces->owned;
    uint32_t found = *locate(&finder->shorts, owned, trace, id);

    if (!found || found & SEVERAL)
        return NULL;
    return locate(&finder->whole, owned, trace, owned->spans[found - 1].id);
}

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
    if (!upper_half(to->id))
        memcpy(to->id, from->id, sizeof to->id);
    if (!to->is_finished && from->is_finished) {
        to->end_ns = vti_traces_bounded(to->begin_ns + (from->end_ns - from->begin_ns));
        to->is_finished = true;
        to->is_cut = false;
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

static void merge_twins(struct finder *finder)
{
    struct vti_traces *traces = finder->traces;
    struct vti_trace_owned *owned = traces->owned;
    struct twins *twins = &finder->twins;
    uint32_t first = 0;

    if (twins->count)
        qsort_r(twins->list, twins->count, sizeof *twins->list, by_wealth, traces);
    for (size_t i = 0; i < twins->count; i++) {
        const struct twin *twin = &twins->list[i];
        uint32_t *by_end;

        if (!i || twin->slot != twins->list[i - 1].slot) {
            first = twin->span;
            finder->whole.slots[twin->slot] = first + 1;
            by_end = locate(&finder->shorts, owned, owned->trace_of[first], owned->spans[first].id);
            *by_end = *by_end ? (*by_end & SEVERAL) | (first + 1) : 0;
            continue;
        }
        merge(&owned->spans[first], &owned->spans[twin->span]);
        traces->duplicate_spans += !owned->only ||
                                   !memcmp(traces->traces[owned->trace_of[first]].base, owned->only,
                                           16);
        owned->trace_of[twin->span] = VTI_NO_SPAN;
    }
}

static int add_twin(struct twins *twins, uint32_t slot, uint32_t span)
{
    if (vti_grow(&twins->list, twins->count, &twins->room, sizeof *twins->list))
        return VTI_E_NOMEM;
    twins->list[twins->count++] = (struct twin){slot, span};
    return 0;
}

static int enter_at(struct finder *finder, uint32_t *place, uint32_t at)
{
    uint32_t slot = (uint32_t)(place - finder->whole.slots);
    uint32_t first = *place - 1;

    if (!*place) {
        *place = at + 1;
        return 0;
    }
    if (!finder->seen[first]) {
        finder->seen[first] = 1;
        if (add_twin(&finder->twins, slot, first))
            return VTI_E_NOMEM;
    }
    return add_twin(&finder->twins, slot, at);
}

/* Whole ids first, so that short ones find them in whatever order the files have them. */
static int enter_whole(struct finder *finder)
{
    const struct vti_trace_owned *owned = finder->traces->owned;

    for (uint32_t i = 0; i < owned->span_count; i++) {
        uint32_t *place = locate(&finder->whole, owned, owned->trace_of[i], owned->spans[i].id);
        bool is_new = !*place;
        uint32_t *by_end;

        if (!upper_half(owned->spans[i].id))
            continue;
        if (enter_at(finder, place, i))
            return VTI_E_NOMEM;
        if (!is_new)
            continue;
        by_end = locate(&finder->shorts, owned, owned->trace_of[i], owned->spans[i].id);
        *by_end = *by_end ? *by_end | SEVERAL : i + 1;
    }
    return 0;
}

/* Where names are not known sites tell. */
static bool has_same_name(const struct vti_trace_span *a, const struct vti_trace_span *b)
{
    return !strcmp(a->name, b->name) && (*a->name || a->site == b->site);
}

static int enter_short(struct finder *finder)
{
    const struct vti_trace_owned *owned = finder->traces->owned;

    for (uint32_t i = 0; i < owned->span_count; i++) {
        const uint8_t *id = owned->spans[i].id;
        uint32_t *place;

        if (upper_half(id))
            continue;
        place = locate_by_end(finder, owned->trace_of[i], id);
        if (!place || !has_same_name(&owned->spans[*place - 1], &owned->spans[i]))
            place = locate(&finder->whole, owned, owned->trace_of[i], id);
        if (enter_at(finder, place, i))
            return VTI_E_NOMEM;
    }
    return 0;
}

/* Whether they may be the same, as one of them may be only an end. */
static bool is_same_id(const uint8_t *a, const uint8_t *b)
{
    return vti_uuid_short(a) == vti_uuid_short(b) &&
           (upper_half(a) == upper_half(b) || !upper_half(a) || !upper_half(b));
}

static void find_parent(const struct finder *finder, uint32_t at)
{
    const struct vti_trace_owned *owned = finder->traces->owned;
    struct vti_trace_span *span = &owned->spans[at];
    uint32_t trace = owned->trace_of[at];
    uint32_t found = *locate(&finder->whole, owned, trace, span->parent_id);
    uint8_t end[16] = {0};
    uint32_t *place;

    if (!found && upper_half(span->parent_id)) {
        memcpy(end + 8, span->parent_id + 8, 8);
        found = *locate(&finder->whole, owned, trace, end);
    } else if (!found) {
        place = locate_by_end(finder, trace, span->parent_id);
        found = place ? *place : 0;
    }
    span->parent = VTI_NO_SPAN;
    if (found && found - 1 != at)
        span->parent = found - 1;
    else if (!is_same_id(span->parent_id, finder->traces->traces[trace].base))
        span->is_orphan = true;
    span->is_own_parent = span->is_orphan && found;
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
                owned->spans[at].is_orphan = owned->spans[at].is_own_parent = true;
                break;
            }
            at = parent;
        }
    }
}

int vti_traces_link(struct vti_traces *traces)
{
    struct vti_trace_owned *owned = traces->owned;
    struct finder finder = {traces, {NULL, 63, false}, {NULL, 63, true}, {0}, NULL};
    int code = VTI_E_NOMEM;

    while (finder.whole.mask / 2 < owned->span_count)
        finder.whole.mask = finder.shorts.mask = finder.whole.mask * 2 + 1;
    finder.whole.slots = calloc((size_t)finder.whole.mask + 1, sizeof *finder.whole.slots);
    finder.shorts.slots = calloc((size_t)finder.shorts.mask + 1, sizeof *finder.shorts.slots);
    finder.seen = calloc(owned->span_count + 1, sizeof *finder.seen);
    if (!finder.whole.slots || !finder.shorts.slots || !finder.seen || enter_whole(&finder) ||
        enter_short(&finder))
        goto out;
    merge_twins(&finder);
    memset(finder.seen, 0, owned->span_count * sizeof *finder.seen);
    for (uint32_t i = 0; i < owned->span_count; i++)
        if (owned->trace_of[i] != VTI_NO_SPAN)
            find_parent(&finder, i);
    cut_circles(owned, finder.seen);
    code = 0;
out:
    free(finder.twins.list);
    free(finder.whole.slots);
    free(finder.shorts.slots);
    free(finder.seen);
    return code;
}
