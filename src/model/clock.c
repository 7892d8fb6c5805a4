/*
 * clock.c - ticks of a clock domain become nanoseconds since the start of the recording.
 *
 * Time is linear between anchors. The recording starts at the first anchor of the first domain that
 * has one; other domains are put beside it by their wall clocks, corrected by the clock links on
 * the way with the smallest error. Numbers from the file are clamped, so that times never leave
 * +-2^61 ns (73 years) and a difference of two never overflows.
 */
#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>

#define MOST_NS ((int64_t)1 << 60) /* a time is a sum of two of these */
#define QUICK_TICKS ((uint64_t)1 << 50)
#define LINK_ROUNDS 64 /* clock links that a way between two domains may have */

static int64_t clamp_ns(__int128 ns)
{
    return ns > MOST_NS ? MOST_NS : ns < -MOST_NS ? -MOST_NS : (int64_t)ns;
}

static int64_t difference(uint64_t a, uint64_t b)
{
    return clamp_ns((__int128)a - b);
}

int64_t vti_clock_add(struct vti_clocks *clocks, const struct vti_clock_fact *fact)
{
    int64_t at;

    if (vti_grow(&clocks->clocks, clocks->count, &clocks->capacity, sizeof *clocks->clocks))
        return VTI_E_NOMEM;
    at = vti_ids_add(&clocks->ids, fact->domain);
    if (at < 0)
        return at;
    if ((size_t)at == clocks->count)
        clocks->clocks[clocks->count++] = (struct vti_clock){.id = fact->domain};
    clocks->clocks[at].host = fact->host;
    clocks->clocks[at].type = fact->type;
    return at;
}

int vti_clock_add_anchor(struct vti_clock *clock, const struct vti_anchor *anchor)
{
    size_t at = clock->anchor_count;

    if (vti_grow(&clock->anchors, at, &clock->anchor_capacity, sizeof *clock->anchors))
        return VTI_E_NOMEM;
    clock->anchors[at] = *anchor;
    clock->anchor_count++;
    return 0;
}

int vti_clock_add_link(struct vti_clocks *clocks, const struct vti_clock_link_fact *fact)
{
    size_t at = clocks->link_count;

    if (vti_grow(&clocks->links, at, &clocks->link_capacity, sizeof *clocks->links))
        return VTI_E_NOMEM;
    clocks->links[at] = (struct vti_clock_link){
        fact->a, fact->b, clamp_ns(fact->offset_ns),
        fact->error_ns < (uint64_t)MOST_NS ? fact->error_ns : (uint64_t)MOST_NS};
    clocks->link_count++;
    return 0;
}

static int compare_anchors(const void *left, const void *right)
{
    const struct vti_anchor *a = left;
    const struct vti_anchor *b = right;

    return a->ticks < b->ticks ? -1 : a->ticks > b->ticks;
}

/* In order of ticks; anchors whose time stands still or goes back are dropped. */
static void sort_anchors(struct vti_clock *clock)
{
    struct vti_anchor *anchors = clock->anchors;
    size_t kept = 1;

    if (clock->anchor_count < 2)
        return;
    for (size_t i = 1; i < clock->anchor_count; i++)
        if (anchors[i].ticks < anchors[i - 1].ticks) {
            qsort(anchors, clock->anchor_count, sizeof *anchors, compare_anchors);
            break;
        }
    for (size_t i = 1; i < clock->anchor_count; i++)
        if (anchors[i].ticks > anchors[kept - 1].ticks &&
            anchors[i].monotonic_ns > anchors[kept - 1].monotonic_ns)
            anchors[kept++] = anchors[i];
    clock->anchor_count = kept;
}

static struct vti_clock_piece make_piece(uint64_t ticks, uint64_t length, int64_t ns, double slope,
                                         int64_t most_ns)
{
    double most_ticks = (double)MOST_NS / slope;
    uint64_t quick = most_ticks < (double)QUICK_TICKS ? (uint64_t)most_ticks : QUICK_TICKS;

    return (struct vti_clock_piece){ticks, length, quick < length ? quick : length,
                                    ns,    slope,  most_ns};
}

/* `ns` is the recording time of the first anchor. */
static int make_pieces(struct vti_clock *clock, int64_t ns, uint64_t first_tick)
{
    const struct vti_anchor *anchors = clock->anchors;
    size_t count = clock->anchor_count < 2 ? 1 : clock->anchor_count - 1;
    struct vti_clock_piece *pieces = realloc(clock->pieces, count * sizeof *pieces);

    if (!pieces)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    clock->pieces = pieces;
    clock->piece_count = count;
    clock->hint = 0;
    clock->ns_per_tick = 1;
    if (clock->anchor_count < 2) {
        uint64_t ticks = clock->anchor_count ? anchors[0].ticks : first_tick;

        pieces[0] = make_piece(ticks, UINT64_MAX - ticks, ns, 1, INT64_MAX);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t elapsed = anchors[i + 1].monotonic_ns - anchors[i].monotonic_ns;
        uint64_t since = anchors[i].monotonic_ns - anchors[0].monotonic_ns;
        uint64_t length = anchors[i + 1].ticks - anchors[i].ticks;
        bool is_last = i + 1 == count;

        pieces[i] = make_piece(anchors[i].ticks, is_last ? UINT64_MAX - anchors[i].ticks : length,
                               clamp_ns((__int128)ns + since), (double)elapsed / (double)length,
                               is_last ? INT64_MAX : clamp_ns((__int128)ns + since + elapsed));
    }
    clock->ns_per_tick = (double)(anchors[count].monotonic_ns - anchors[0].monotonic_ns) /
                         (double)(anchors[count].ticks - anchors[0].ticks);
    return 0;
}

/* One step along a link, if that is a better way than the one known. */
static bool follow(const struct vti_clock *from, struct vti_clock *to, int64_t offset_ns,
                   uint64_t link_error_ns)
{
    uint64_t error = from->error_ns + link_error_ns;

    if (!from->is_linked || (to->is_linked && to->error_ns <= error) || error > (uint64_t)MOST_NS)
        return false;
    to->is_linked = true;
    to->error_ns = error;
    to->link_ns = clamp_ns((__int128)from->link_ns + offset_ns);
    return true;
}

/* A domain that no link reaches shares the wall clock of one on the same host that a link does
 * reach. */
static int share_within_hosts(struct vti_clocks *clocks)
{
    struct vti_ids hosts = {0};
    size_t *linked = calloc(clocks->count, sizeof *linked);
    int result = 0;

    if (!linked)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; i < clocks->count; i++) {
        const struct vti_clock *clock = &clocks->clocks[i];

        if (clock->is_linked && vti_ids_find(&hosts, clock->host) < 0) {
            int64_t at = vti_ids_add(&hosts, clock->host);

            if (at < 0) {
                result = (int)at;
                goto out;
            }
            linked[at] = i;
        }
    }
    for (size_t i = 0; i < clocks->count; i++) {
        struct vti_clock *clock = &clocks->clocks[i];
        int64_t at = clock->is_linked ? -1 : vti_ids_find(&hosts, clock->host);

        if (at >= 0) {
            clock->link_ns = clocks->clocks[linked[at]].link_ns;
            clock->error_ns = clocks->clocks[linked[at]].error_ns;
        }
    }
out:
    vti_ids_fini(&hosts);
    free(linked);
    return result;
}

static int resolve_links(struct vti_clocks *clocks, struct vti_clock *origin)
{
    bool has_changed = clocks->link_count > 0;

    for (size_t i = 0; i < clocks->count; i++) {
        clocks->clocks[i].is_linked = &clocks->clocks[i] == origin;
        clocks->clocks[i].link_ns = 0;
        clocks->clocks[i].error_ns = 0;
    }
    for (int round = 0; has_changed && round < LINK_ROUNDS; round++) {
        has_changed = false;
        for (size_t i = 0; i < clocks->link_count; i++) {
            const struct vti_clock_link *link = &clocks->links[i];
            int64_t a = vti_ids_find(&clocks->ids, link->a);
            int64_t b = vti_ids_find(&clocks->ids, link->b);

            if (a < 0 || b < 0)
                continue;
            has_changed |= follow(&clocks->clocks[a], &clocks->clocks[b], link->offset_ns,
                                  link->error_ns);
            has_changed |= follow(&clocks->clocks[b], &clocks->clocks[a], -link->offset_ns,
                                  link->error_ns);
        }
    }
    return share_within_hosts(clocks);
}

int vti_clocks_resolve(struct vti_clocks *clocks, uint64_t first_tick, uint64_t created_ns)
{
    struct vti_clock *origin;
    int result;

    if (clocks->count == 0 && vti_clock_add(clocks, &(struct vti_clock_fact){0}) < 0)
        return VTI_E_NOMEM;
    origin = &clocks->clocks[0];
    for (size_t i = 0; i < clocks->count; i++) {
        sort_anchors(&clocks->clocks[i]);
        if (clocks->clocks[i].anchor_count && !origin->anchor_count)
            origin = &clocks->clocks[i];
    }
    if (origin->anchor_count)
        created_ns = origin->anchors[0].realtime_ns;
    clocks->start_realtime_ns = created_ns < INT64_MAX ? (int64_t)created_ns : INT64_MAX;
    result = resolve_links(clocks, origin);
    for (size_t i = 0; i < clocks->count && !result; i++) {
        struct vti_clock *clock = &clocks->clocks[i];
        int64_t ns = 0;

        if (clock != origin && clock->anchor_count)
            ns = clamp_ns((__int128)difference(clock->anchors[0].realtime_ns,
                                               origin->anchors[0].realtime_ns) +
                          clock->link_ns);
        result = make_pieces(clock, ns, first_tick);
    }
    return result;
}

void vti_clocks_fini(struct vti_clocks *clocks)
{
    for (size_t i = 0; i < clocks->count; i++) {
        free(clocks->clocks[i].anchors);
        free(clocks->clocks[i].pieces);
    }
    free(clocks->clocks);
    free(clocks->links);
    vti_ids_fini(&clocks->ids);
    *clocks = (struct vti_clocks){0};
}

static size_t find_piece(const struct vti_clock *clock, uint64_t ticks)
{
    size_t low = 0;
    size_t high = clock->piece_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (clock->pieces[middle].ticks <= ticks)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int64_t scale(uint64_t ticks, double slope)
{
    double ns = (double)ticks * slope + 0.5;

    return ns < (double)MOST_NS ? (int64_t)ns : MOST_NS;
}

int64_t vti_clock_ns(struct vti_clock *clock, uint64_t ticks)
{
    const struct vti_clock_piece *piece = &clock->pieces[clock->hint];
    int64_t ns;

    if (ticks - piece->ticks >= piece->length) {
        clock->hint = find_piece(clock, ticks);
        piece = &clock->pieces[clock->hint];
    }
    if (ticks < piece->ticks)
        return piece->ns - scale(piece->ticks - ticks, piece->slope);
    ns = piece->ns + scale(ticks - piece->ticks, piece->slope);
    return ns < piece->most_ns ? ns : piece->most_ns;
}
