/*
 * index_build.c - the INDEX block of one track, gathered while its event blocks are written.
 *
 * Kept while writing are the elements of level 0 and those of level 1 that cover 16 whole blocks. The
 * last element of level 1 and the levels above, a sixteenth of the rest, are made by _finish, so a cut
 * has nothing to repair there. Offsets grow from block to block.
 */
#include "base/error.h"
#include "format/index.h"

#include <stdlib.h>
#include <string.h>

#define ELEMENT_BYTES 40
#define LANE_BYTES 24

struct entry {
    struct vti_index_entry entry;
    uint64_t busy;
    bool is_open; /* as in struct node */
};

struct node {
    uint64_t first;
    uint64_t last;
    uint64_t busy;
    uint64_t begins;
    size_t lane_start; /* in the lanes that go with the nodes */
    uint32_t lane_count;
    bool is_open; /* a span was open when it began */
};

/* Nodes in order of time, their lanes in the same order. */
struct level {
    struct vti_buf nodes; /* of struct node */
    struct vti_buf lanes; /* of struct vti_lane */
};

struct vti_index_builder {
    uint32_t track;
    struct vti_buf entries; /* of struct entry */
    struct level sealed;    /* level 1, each over VTI_INDEX_FANOUT blocks */
    struct level recent;    /* one node for each of the last blocks */
};

static size_t node_count(const struct level *level)
{
    return level->nodes.len / sizeof(struct node);
}

static struct node *node_at(const struct level *level, size_t at)
{
    return (struct node *)(void *)level->nodes.data + at;
}

static struct vti_lane *lanes_of(const struct level *level, const struct node *node)
{
    return (struct vti_lane *)(void *)level->lanes.data + node->lane_start;
}

static size_t entry_count(const struct vti_index_builder *builder)
{
    return builder->entries.len / sizeof(struct entry);
}

static struct entry *entry_at(const struct vti_index_builder *builder, size_t at)
{
    return (struct entry *)(void *)builder->entries.data + at;
}

static void level_fini(struct level *level)
{
    vti_buf_fini(&level->nodes);
    vti_buf_fini(&level->lanes);
}

/* Appends a node; false leaves the level as it was. */
static bool level_add(struct level *level, const struct node *node, const struct vti_lane *lanes)
{
    struct node placed = *node;

    placed.lane_start = level->lanes.len / sizeof *lanes;
    if (!vti_buf_reserve(&level->nodes, sizeof placed) ||
        !vti_buf_reserve(&level->lanes, (node->lane_count + 1) * sizeof *lanes)) {
        level->nodes.failed = level->lanes.failed = false;
        return false;
    }
    vti_buf_add(&level->nodes, &placed, sizeof placed);
    vti_buf_add(&level->lanes, lanes, node->lane_count * sizeof *lanes);
    return true;
}

static void level_cut(struct level *level, size_t count)
{
    if (count >= node_count(level))
        return;
    level->lanes.len = node_at(level, count)->lane_start * sizeof(struct vti_lane);
    level->nodes.len = count * sizeof(struct node);
}

/* Forgets the first `count` nodes. */
static void level_shift(struct level *level, size_t count)
{
    size_t lanes = count < node_count(level) ? node_at(level, count)->lane_start
                                             : level->lanes.len / sizeof(struct vti_lane);

    level->nodes.len -= count * sizeof(struct node);
    memmove(level->nodes.data, node_at(level, count), level->nodes.len);
    level->lanes.len -= lanes * sizeof(struct vti_lane);
    memmove(level->lanes.data, level->lanes.data + lanes * sizeof(struct vti_lane),
            level->lanes.len);
    for (size_t i = 0; i < node_count(level); i++)
        node_at(level, i)->lane_start -= lanes;
}

/* Appends to `to` one node over nodes [from, until) of `of`. */
static bool level_fold(struct level *to, const struct level *of, size_t from, size_t until)
{
    struct node node = {.first = node_at(of, from)->first,
                        .last = node_at(of, until - 1)->last,
                        .is_open = node_at(of, from)->is_open};
    struct vti_lane lanes[VTI_LANES_MAX] = {0};

    for (size_t i = from; i < until; i++) {
        const struct node *part = node_at(of, i);
        const struct vti_lane *part_lanes = lanes_of(of, part);

        node.busy += part->busy;
        /* No event lies between two parts, so what was open after it was open all the time. */
        if (i > from && part->is_open && part->first > part[-1].last)
            node.busy += part->first - part[-1].last;
        node.begins += part->begins;
        if (part->lane_count > node.lane_count)
            node.lane_count = part->lane_count;
        for (uint32_t k = 0; k < part->lane_count; k++)
            if (part_lanes[k].site && (!lanes[k].site || part_lanes[k].end - part_lanes[k].begin >
                                                             lanes[k].end - lanes[k].begin))
                lanes[k] = part_lanes[k];
    }
    return level_add(to, &node, lanes);
}

int vti_index_builder_create(struct vti_index_builder **result, uint32_t track)
{
    struct vti_index_builder *builder = calloc(1, sizeof *builder);

    if (!builder)
        return vti_fail(VTI_E_NOMEM, "track %u: no memory for its index", track);
    builder->track = track;
    *result = builder;
    return 0;
}

void vti_index_builder_free(struct vti_index_builder *builder)
{
    if (!builder)
        return;
    vti_buf_fini(&builder->entries);
    level_fini(&builder->sealed);
    level_fini(&builder->recent);
    free(builder);
}

int vti_index_builder_add(struct vti_index_builder *builder, uint64_t offset,
                          const struct vti_block_header *header, const struct vti_summary *summary)
{
    struct node node = {.first = header->first,
                        .last = header->last,
                        .busy = summary->busy,
                        .begins = summary->begins,
                        .lane_count = summary->lane_count,
                        .is_open = summary->open > 0};
    struct entry added = {.entry = {.offset = offset,
                                    .first = header->first,
                                    .last = header->last,
                                    .payload_bytes = header->payload_bytes,
                                    .events = header->count,
                                    .begins = (uint32_t)summary->begins,
                                    .deepest = summary->deepest},
                          .busy = summary->busy,
                          .is_open = summary->open > 0};
    size_t recent;

    if (!vti_buf_reserve(&builder->entries, sizeof added)) {
        builder->entries.failed = false;
        return vti_fail(VTI_E_NOMEM, "track %u: no memory for its index", builder->track);
    }
    if (node_count(&builder->recent) == VTI_INDEX_RECENT)
        level_shift(&builder->recent, VTI_INDEX_FANOUT);
    if (!level_add(&builder->recent, &node, summary->lanes))
        return vti_fail(VTI_E_NOMEM, "track %u: no memory for its index", builder->track);
    vti_buf_add(&builder->entries, &added, sizeof added);
    recent = node_count(&builder->recent);
    if (entry_count(builder) % VTI_INDEX_FANOUT == 0 &&
        !level_fold(&builder->sealed, &builder->recent, recent - VTI_INDEX_FANOUT, recent)) {
        builder->entries.len -= sizeof added;
        level_cut(&builder->recent, recent - 1);
        return vti_fail(VTI_E_NOMEM, "track %u: no memory for its index", builder->track);
    }
    return 0;
}

size_t vti_index_builder_count(const struct vti_index_builder *builder)
{
    return entry_count(builder);
}

/* The number of blocks before file offset `offset`. */
static size_t count_before(const struct vti_index_builder *builder, uint64_t offset)
{
    size_t low = 0;
    size_t high = entry_count(builder);

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (entry_at(builder, middle)->entry.offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool vti_index_builder_from(const struct vti_index_builder *builder, uint64_t offset,
                            struct vti_index_entry *entry)
{
    size_t at = count_before(builder, offset);

    if (at == entry_count(builder))
        return false;
    *entry = entry_at(builder, at)->entry;
    return true;
}

bool vti_index_builder_before(const struct vti_index_builder *builder, uint64_t offset,
                              struct vti_index_entry *entry)
{
    size_t count = count_before(builder, offset);

    if (count == 0)
        return false;
    *entry = entry_at(builder, count - 1)->entry;
    return true;
}

/*
 * The lanes of the blocks that are left of node `at` were forgotten. A lane of the node that ended in
 * one of them is the longest there too; of the others nothing is known.
 */
static void recall(struct vti_index_builder *builder, size_t at, size_t count)
{
    const struct node *old = node_at(&builder->sealed, at);
    const struct vti_lane *old_lanes = lanes_of(&builder->sealed, old);
    struct vti_lane lanes[VTI_LANES_MAX] = {0};
    uint64_t last = entry_at(builder, count - 1)->entry.last;

    for (uint32_t i = 0; i < old->lane_count; i++)
        if (old_lanes[i].end <= last)
            lanes[i] = old_lanes[i];
    builder->recent.nodes.len = 0;
    builder->recent.lanes.len = 0;
    for (size_t i = at * VTI_INDEX_FANOUT; i < count; i++) {
        const struct entry *entry = entry_at(builder, i);
        struct node node = {.first = entry->entry.first,
                            .last = entry->entry.last,
                            .busy = entry->busy,
                            .begins = entry->entry.begins,
                            .is_open = entry->is_open,
                            .lane_count = i + 1 == count ? old->lane_count : 0};

        level_add(&builder->recent, &node, lanes); /* cannot fail: there was room for more */
    }
}

uint64_t vti_index_builder_cut(struct vti_index_builder *builder, uint64_t offset)
{
    size_t old_count = entry_count(builder);
    size_t count = count_before(builder, offset);
    size_t recent_first = old_count - node_count(&builder->recent);
    size_t whole = count / VTI_INDEX_FANOUT;
    uint64_t events = 0;

    for (size_t i = count; i < old_count; i++)
        events += entry_at(builder, i)->entry.events;
    if (count == old_count)
        return 0;
    if (recent_first <= whole * VTI_INDEX_FANOUT) {
        level_cut(&builder->recent, count - recent_first);
    } else if (count % VTI_INDEX_FANOUT) {
        recall(builder, whole, count);
    } else {
        level_cut(&builder->recent, 0);
    }
    builder->entries.len = count * sizeof(struct entry);
    level_cut(&builder->sealed, whole);
    return events;
}

/* Level 1 with its last, partly filled node, then the levels above it. Returns how many there are
 * with level 0, or 0 when memory is short. */
static uint32_t make_levels(const struct vti_index_builder *builder,
                            struct level levels[VTI_INDEX_LEVELS])
{
    size_t count = entry_count(builder);
    size_t recent = node_count(&builder->recent);
    uint32_t level = 1;

    if (count <= VTI_INDEX_FANOUT)
        return 1;
    vti_buf_add(&levels[1].nodes, builder->sealed.nodes.data, builder->sealed.nodes.len);
    vti_buf_add(&levels[1].lanes, builder->sealed.lanes.data, builder->sealed.lanes.len);
    if (levels[1].nodes.failed || levels[1].lanes.failed)
        return 0;
    if (count % VTI_INDEX_FANOUT &&
        !level_fold(&levels[1], &builder->recent, recent - count % VTI_INDEX_FANOUT, recent))
        return 0;
    for (count = node_count(&levels[1]); count > VTI_INDEX_FANOUT; level++) {
        for (size_t i = 0; i < count; i += VTI_INDEX_FANOUT) {
            size_t until = count - i < VTI_INDEX_FANOUT ? count : i + VTI_INDEX_FANOUT;

            if (!level_fold(&levels[level + 1], &levels[level], i, until))
                return 0;
        }
        count = node_count(&levels[level + 1]);
    }
    return level + 1;
}

static void put_entries(struct vti_buf *out, const struct vti_index_builder *builder)
{
    for (size_t i = 0; i < entry_count(builder); i++) {
        const struct vti_index_entry *entry = &entry_at(builder, i)->entry;

        vti_buf_add_u64(out, entry->offset);
        vti_buf_add_u64(out, entry->first);
        vti_buf_add_u64(out, entry->last);
        vti_buf_add_u32(out, entry->payload_bytes);
        vti_buf_add_u32(out, entry->events);
        vti_buf_add_u32(out, entry->begins);
        vti_buf_add_u32(out, entry->deepest);
    }
}

/* The level's lanes lie at `lanes_at` in the payload, back to back. */
static void put_nodes(struct vti_buf *out, const struct level *level, uint64_t lanes_at)
{
    for (size_t i = 0; i < node_count(level); i++) {
        const struct node *node = node_at(level, i);

        vti_buf_add_u64(out, node->first);
        vti_buf_add_u64(out, node->last);
        vti_buf_add_u64(out, node->busy);
        vti_buf_add_u64(out, node->begins);
        vti_buf_add_u32(out, (uint32_t)((lanes_at + node->lane_start * LANE_BYTES) / 8));
        vti_buf_add_u32(out, node->lane_count);
    }
}

static void put_lanes(struct vti_buf *out, const struct level *level)
{
    const struct vti_lane *lanes = (const struct vti_lane *)(const void *)level->lanes.data;

    for (size_t i = 0; i < level->lanes.len / sizeof *lanes; i++) {
        vti_buf_add_u32(out, lanes[i].site ? lanes[i].site + 1 : 0);
        vti_buf_add_u32(out, 0);
        vti_buf_add_u64(out, lanes[i].begin);
        vti_buf_add_u64(out, lanes[i].end);
    }
}

/* Level table, then the arrays of all levels, then the lanes. */
static void put_payload(struct vti_buf *out, const struct vti_index_builder *builder,
                        const struct level levels[VTI_INDEX_LEVELS], uint32_t level_count)
{
    uint64_t counts[VTI_INDEX_LEVELS] = {entry_count(builder)};
    uint64_t at = 8 + 16 * (uint64_t)level_count;

    vti_buf_add_u32(out, level_count);
    vti_buf_add_u32(out, 0);
    for (uint32_t i = 0; i < level_count; i++) {
        if (i > 0)
            counts[i] = node_count(&levels[i]);
        vti_buf_add_u64(out, at);
        vti_buf_add_u64(out, counts[i]);
        at += counts[i] * ELEMENT_BYTES;
    }
    put_entries(out, builder);
    for (uint32_t i = 1; i < level_count; i++) {
        put_nodes(out, &levels[i], at);
        at += levels[i].lanes.len / sizeof(struct vti_lane) * LANE_BYTES;
    }
    for (uint32_t i = 1; i < level_count; i++)
        put_lanes(out, &levels[i]);
}

int vti_index_builder_finish(struct vti_index_builder *builder, struct vti_buf *out)
{
    struct level levels[VTI_INDEX_LEVELS] = {0};
    struct vti_block_header header = {.kind = VTI_INDEX, .owner = builder->track};
    size_t count = entry_count(builder);
    size_t start = out->len;
    uint32_t level_count = make_levels(builder, levels);
    int result = 0;
    size_t bytes;

    vti_buf_add_zeros(out, VTI_BLOCK_HEADER_BYTES);
    if (level_count)
        put_payload(out, builder, levels, level_count);
    if (!level_count || out->failed) {
        result = vti_fail(VTI_E_NOMEM, "track %u: no memory for its index", builder->track);
        goto out;
    }
    bytes = out->len - start - VTI_BLOCK_HEADER_BYTES;
    if (bytes > VTI_PAYLOAD_MAX) {
        result = vti_fail(VTI_E_LIMIT, "track %u: index of %zu bytes is too long", builder->track,
                          bytes);
        goto out;
    }
    header.payload_bytes = (uint32_t)bytes;
    header.count = (uint32_t)count;
    if (count) {
        header.first = entry_at(builder, 0)->entry.first;
        header.last = entry_at(builder, count - 1)->entry.last;
    }
    vti_block_header_write(out->data + start, &header, out->data + start + VTI_BLOCK_HEADER_BYTES);
out:
    if (result && !out->failed)
        out->len = start;
    for (uint32_t i = 0; i < VTI_INDEX_LEVELS; i++)
        level_fini(&levels[i]);
    return result;
}
