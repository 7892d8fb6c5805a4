/* index.c - an INDEX block used where it lies. Nothing in it is trusted before it was checked. */
#include "format/index.h"

#include "base/bytes.h"
#include "base/error.h"

#include <string.h>

#define LEVEL_BYTES 16
#define ELEMENT_BYTES 40
#define LANE_BYTES 24

int vti_index_open(struct vti_index *index, const struct vti_block_header *header,
                   const uint8_t *payload)
{
    uint64_t expected = header->count;

    memset(index, 0, sizeof *index);
    if (header->kind != VTI_INDEX || header->flags || header->payload_bytes < 8)
        return vti_fail(VTI_E_DAMAGED, "block header does not fit an index");
    index->payload = payload;
    index->payload_bytes = header->payload_bytes;
    index->level_count = vti_get_u32(payload);
    if (index->level_count < 1 || index->level_count > VTI_INDEX_LEVELS ||
        8 + LEVEL_BYTES * index->level_count > header->payload_bytes)
        return vti_fail(VTI_E_DAMAGED, "index with %u levels", index->level_count);
    for (uint32_t i = 0; i < index->level_count; i++) {
        uint64_t at = vti_get_u64(payload + 8 + LEVEL_BYTES * i);
        uint64_t count = vti_get_u64(payload + 16 + LEVEL_BYTES * i);

        if (count != expected || at > header->payload_bytes ||
            count > (header->payload_bytes - at) / ELEMENT_BYTES)
            return vti_fail(VTI_E_DAMAGED, "level %u of the index does not fit", i);
        index->levels[i] = payload + at;
        index->counts[i] = count;
        expected = (count + VTI_INDEX_FANOUT - 1) / VTI_INDEX_FANOUT;
    }
    if (index->counts[index->level_count - 1] > VTI_INDEX_FANOUT)
        return vti_fail(VTI_E_DAMAGED, "index ends at level %u", index->level_count - 1);
    return 0;
}

void vti_index_entry_at(const struct vti_index *index, uint64_t at, struct vti_index_entry *entry)
{
    const uint8_t *from;

    memset(entry, 0, sizeof *entry);
    if (at >= index->counts[0])
        return;
    from = index->levels[0] + at * ELEMENT_BYTES;
    entry->offset = vti_get_u64(from);
    entry->first = vti_get_u64(from + 8);
    entry->last = vti_get_u64(from + 16);
    entry->payload_bytes = vti_get_u32(from + 24);
    entry->events = vti_get_u32(from + 28);
    entry->begins = vti_get_u32(from + 32);
    entry->deepest = vti_get_u32(from + 36);
}

void vti_index_node_at(const struct vti_index *index, uint32_t level, uint64_t at,
                       struct vti_index_node *node)
{
    const uint8_t *from;
    uint64_t lanes_at;

    memset(node, 0, sizeof *node);
    if (level < 1 || level >= index->level_count || at >= index->counts[level])
        return;
    from = index->levels[level] + at * ELEMENT_BYTES;
    node->first = vti_get_u64(from);
    node->last = vti_get_u64(from + 8);
    node->busy = vti_get_u64(from + 16);
    node->begins = vti_get_u64(from + 24);
    lanes_at = (uint64_t)vti_get_u32(from + 32) * 8;
    node->lane_count = vti_get_u32(from + 36);
    if (node->lane_count > VTI_LANES_MAX || lanes_at > index->payload_bytes ||
        node->lane_count > (index->payload_bytes - lanes_at) / LANE_BYTES)
        node->lane_count = 0;
    else
        node->lanes = index->payload + lanes_at;
}

void vti_index_lane_at(const struct vti_index_node *node, uint32_t at, struct vti_lane *lane)
{
    const uint8_t *from;
    uint32_t site_plus_one;

    memset(lane, 0, sizeof *lane);
    if (at >= node->lane_count)
        return;
    from = node->lanes + (size_t)at * LANE_BYTES;
    site_plus_one = vti_get_u32(from);
    if (site_plus_one == 0 || vti_get_u64(from + 16) < vti_get_u64(from + 8))
        return;
    lane->site = site_plus_one - 1;
    lane->begin = vti_get_u64(from + 8);
    lane->end = vti_get_u64(from + 16);
}
