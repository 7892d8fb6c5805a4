/*
 * traces_skew.c - clocks of several hosts, brought together by what calls across them say.
 *
 * A child never begins before its parent: only that says that clocks differ. That it ends after its parent, or begins long after it, is work that was
 * handed over. Each call from a host to another therefore is a bound for how their clocks differ, and those of all traces together leave a range; what is
 * taken is the value in it that is nearest to none. Hosts are placed from the first one outwards, those that are not known (of logs) last.
 * Clocks that fit are never touched, nor those that differ by less than they may be wrong.
 */
#include "analyze/traces_impl.h"

#include "base/error.h"

#include <stdlib.h>

#define READ_NS 20000 /* what two readings of clocks of different kinds may differ by */

/* Between which bounds the clock of the second host must be moved against that of the first. */
struct range {
    int64_t least, most;
};

struct pair {
    uint32_t first, second; /* clocks; first < second */
    struct range range;
    int64_t error_ns; /* of both together */
};

struct pairs {
    struct pair *list; /* owned */
    size_t count, room;
    struct vti_map *index; /* both clocks to the place in the list */
};

static int64_t error_of(const struct vti_trace_owned *owned, uint32_t first, uint32_t second)
{
    return READ_NS + owned->clock_errors[first] + owned->clock_errors[second];
}

static struct pair *find_pair(struct pairs *pairs, uint32_t first, uint32_t second,
                              int64_t error_ns)
{
    const uint32_t key[2] = {first, second};
    const struct range any = {-INT64_MAX, INT64_MAX};
    int is_new;
    int64_t at = vti_map_add(pairs->index, key, sizeof key, &is_new);

    if (at < 0)
        return NULL;
    if (is_new) {
        if (pairs->count == pairs->room) {
            size_t room = pairs->room ? pairs->room * 2 : 16;
            struct pair *list = realloc(pairs->list, room * sizeof *list);

            if (!list)
                return NULL;
            pairs->list = list;
            pairs->room = room;
        }
        pairs->list[pairs->count++] = (struct pair){first, second, any, error_ns};
    }
    return &pairs->list[at];
}

static int gather(struct pairs *pairs, const struct vti_traces *traces)
{
    const struct vti_trace_owned *owned = traces->owned;

    for (size_t i = 0; i < owned->span_count; i++) {
        const struct vti_trace_span *child = &owned->spans[i];
        const struct vti_trace_span *parent;
        uint32_t to = owned->clock_of[child->process];
        uint32_t from;
        int64_t least;
        struct pair *pair;

        if (owned->trace_of[i] == VTI_NO_SPAN || child->parent == VTI_NO_SPAN)
            continue;
        parent = &owned->spans[child->parent];
        from = owned->clock_of[parent->process];
        if (from == to)
            continue;
        pair = from < to ? find_pair(pairs, from, to, error_of(owned, from, to))
                         : find_pair(pairs, to, from, error_of(owned, from, to));
        if (!pair)
            return VTI_E_NOMEM;
        least = parent->begin_ns - child->begin_ns;
        if (from < to)
            pair->range.least = least > pair->range.least ? least : pair->range.least;
        else
            pair->range.most = -least < pair->range.most ? -least : pair->range.most;
    }
    return 0;
}

static int64_t nearest(const struct pair *pair)
{
    const struct range *range = &pair->range;
    int64_t shift = range->least > 0 ? range->least : range->most < 0 ? range->most : 0;

    if (range->least > range->most || (shift <= pair->error_ns && shift >= -pair->error_ns))
        return 0;
    return shift;
}

/* Which pairs each clock is in: those of clock i are list[from[i]] to list[from[i + 1]]. */
struct neighbours {
    uint32_t *from, *list; /* owned */
};

static int find_neighbours(struct neighbours *near, const struct pairs *pairs, uint32_t count)
{
    near->from = calloc(count + 2u, sizeof *near->from);
    near->list = calloc(2 * pairs->count + 1, sizeof *near->list);
    if (!near->from || !near->list)
        return VTI_E_NOMEM;
    for (size_t i = 0; i < pairs->count; i++) {
        near->from[pairs->list[i].first + 2]++;
        near->from[pairs->list[i].second + 2]++;
    }
    for (uint32_t i = 2; i < count + 2u; i++)
        near->from[i] += near->from[i - 1];
    for (uint32_t i = 0; i < pairs->count; i++) { /* moves each `from` to the end of its own */
        near->list[near->from[pairs->list[i].first + 1]++] = i;
        near->list[near->from[pairs->list[i].second + 1]++] = i;
    }
    return 0;
}

/* Goes outwards from a clock that stays where it is. `queue` has room for all clocks. */
static void place_around(const struct pairs *pairs, const struct neighbours *near, uint32_t clock,
                         int64_t *shifts, bool *is_placed, uint32_t *queue)
{
    size_t count = 0;

    is_placed[clock] = true;
    queue[count++] = clock;
    for (size_t done = 0; done < count; done++) {
        uint32_t at = queue[done];

        for (uint32_t i = near->from[at]; i < near->from[at + 1]; i++) {
            const struct pair *pair = &pairs->list[near->list[i]];
            bool is_first = pair->first == at;
            uint32_t other = is_first ? pair->second : pair->first;

            if (is_placed[other])
                continue;
            if (__builtin_add_overflow(shifts[at], is_first ? nearest(pair) : -nearest(pair),
                                       &shifts[other]))
                shifts[other] = 0;
            shifts[other] = vti_traces_bounded(shifts[other]);
            is_placed[other] = true;
            queue[count++] = other;
        }
    }
}

static void apply(struct vti_traces *traces, const int64_t *shifts)
{
    struct vti_trace_owned *owned = traces->owned;

    for (size_t i = 0; i < traces->process_count; i++)
        traces->processes[i].skew_ns = shifts[owned->clock_of[i]];
    for (size_t i = 0; i < owned->span_count; i++) {
        int64_t shift = traces->processes[owned->spans[i].process].skew_ns;

        owned->spans[i].begin_ns = vti_traces_bounded(owned->spans[i].begin_ns + shift);
        owned->spans[i].end_ns = vti_traces_bounded(owned->spans[i].end_ns + shift);
    }
}

int vti_traces_align(struct vti_traces *traces)
{
    struct vti_trace_owned *owned = traces->owned;
    uint32_t count = vti_map_count(owned->clocks);
    struct pairs pairs = {0};
    struct neighbours near = {0};
    int64_t *shifts = calloc(count + 1u, sizeof *shifts);
    bool *is_placed = calloc(count + 1u, sizeof *is_placed);
    uint32_t *queue = calloc(count + 1u, sizeof *queue);
    int code = VTI_E_NOMEM;

    if (!shifts || !is_placed || !queue || vti_map_create(&pairs.index))
        goto out;
    code = gather(&pairs, traces);
    if (!code)
        code = find_neighbours(&near, &pairs, count);
    if (code)
        goto out;
    for (size_t i = 0; i < traces->process_count; i++)
        if (!traces->processes[i].is_imported && !is_placed[owned->clock_of[i]])
            place_around(&pairs, &near, owned->clock_of[i], shifts, is_placed, queue);
    for (uint32_t i = 0; i < count; i++)
        if (!is_placed[i]) /* nothing connects it with those before */
            place_around(&pairs, &near, i, shifts, is_placed, queue);
    apply(traces, shifts);
out:
    free(near.from);
    free(near.list);
    vti_map_free(pairs.index);
    free(pairs.list);
    free(shifts);
    free(is_placed);
    free(queue);
    return code;
}
