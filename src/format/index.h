/*
 * index.h - the INDEX block of one track: built while blocks are written, used in place when reading.
 */
#ifndef VENTURI_FORMAT_INDEX_H
#define VENTURI_FORMAT_INDEX_H

#include "base/buf.h"
#include "format/encode.h"
#include "format/layout.h"

#define VTI_INDEX_FANOUT 16
#define VTI_INDEX_LEVELS 8

struct vti_index_entry {
    uint64_t offset;
    uint64_t first;
    uint64_t last;
    uint32_t payload_bytes;
    uint32_t events;
    uint32_t begins;
    uint32_t deepest;
};

struct vti_index_node {
    uint64_t first;
    uint64_t last;
    uint64_t busy;
    uint64_t begins;
    uint32_t lane_count;
    const uint8_t *lanes; /* 24 bytes each, in the payload */
};

/*
 * Building. Memory: 48 bytes a block, 40 and 24 a lane for each 16 blocks, and the lanes of the last
 * blocks (at most VTI_INDEX_RECENT) so that a cut there leaves an exact index. A cut further back is
 * exact too, but for lanes of the last node whose span ended in what was cut: they are empty.
 */
#define VTI_INDEX_RECENT 80

struct vti_index_builder;

int vti_index_builder_create(struct vti_index_builder **builder, uint32_t track);
void vti_index_builder_free(struct vti_index_builder *builder);
int vti_index_builder_add(struct vti_index_builder *builder, uint64_t offset,
                          const struct vti_block_header *header, const struct vti_summary *summary);

size_t vti_index_builder_count(const struct vti_index_builder *builder); /* blocks */

/* The first block at or after file offset `offset`, or the last before it; false if there is none. */
bool vti_index_builder_from(const struct vti_index_builder *builder, uint64_t offset,
                            struct vti_index_entry *entry);
bool vti_index_builder_before(const struct vti_index_builder *builder, uint64_t offset,
                              struct vti_index_entry *entry);

/* Forgets blocks at or after file offset `offset` (they were cut off); returns how many events they held. */
uint64_t vti_index_builder_cut(struct vti_index_builder *builder, uint64_t offset);

/* Appends the whole INDEX block to `out`; the builder stays as it is. */
int vti_index_builder_finish(struct vti_index_builder *builder, struct vti_buf *out);

/* Reading, over a payload that stays mapped. All accessors are bounded by what _open checked. */
struct vti_index {
    const uint8_t *payload;
    size_t payload_bytes;
    uint32_t level_count;
    const uint8_t *levels[VTI_INDEX_LEVELS];
    uint64_t counts[VTI_INDEX_LEVELS];
};

int vti_index_open(struct vti_index *index, const struct vti_block_header *header,
                   const uint8_t *payload); /* 0 or VTI_E_DAMAGED */
void vti_index_entry_at(const struct vti_index *index, uint64_t at, struct vti_index_entry *entry);

/* Nodes of level 1 and above; lanes that do not lie in the payload read as none. */
void vti_index_node_at(const struct vti_index *index, uint32_t level, uint64_t at,
                       struct vti_index_node *node);
void vti_index_lane_at(const struct vti_index_node *node, uint32_t at, struct vti_lane *lane);

#endif
