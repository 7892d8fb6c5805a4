/*
 * shared_arena.h - blocks of memory that several processes see, without a lock among them.
 *
 * The memory is cut into segments. A process claims a segment by one compare-and-swap of its mark in a table that all see; within its own
 * segments it alone gives out blocks, with what it knows about them in memory of its own. If it is killed, the table still says which
 * segments were its own. Blocks are named by their offset, because processes see the memory at different addresses.
 */
#ifndef VENTURI_GRAPH_SHARED_ARENA_H
#define VENTURI_GRAPH_SHARED_ARENA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define VTI_SPACE_CLASSES 16
#define VTI_SPACE_FREE 0u /* the mark of a segment that nobody has */

/* Where the segments are; the same for all processes but for `base` and `owners`. */
struct vti_segments {
    uint8_t *base;
    _Atomic uint32_t *owners; /* a mark for each segment */
    uint64_t first;           /* offset of the first segment */
    uint32_t bytes;           /* of one; a power of two */
    uint32_t count;
};

struct vti_segment; /* what an owner knows of a segment */

/* What one process gives out. One thread at a time. */
struct vti_space {
    struct vti_segments in;
    uint32_t owner;                      /* its mark, not 0 */
    uint32_t hint;                       /* where to look for a free segment first */
    uint32_t partial[VTI_SPACE_CLASSES]; /* segments of a class that have room */
    struct vti_segment *segments;        /* owned */
};

int vti_space_init(struct vti_space *space, const struct vti_segments *in, uint32_t owner);
void vti_space_fini(struct vti_space *space); /* its segments stay claimed */

/* A block of at least `size` bytes, aligned to 32, or 0: there is no room. */
uint64_t vti_space_take(struct vti_space *space, size_t size);

/* Gives one back that vti_space_take() of this space gave out. */
void vti_space_give(struct vti_space *space, uint64_t offset);

/* Bytes in segments that nobody has. */
uint64_t vti_segments_left(const struct vti_segments *in);

/* The segment of an offset; the caller knows that it is inside. */
uint32_t vti_segments_of(const struct vti_segments *in, uint64_t offset);

/* A stack of blocks that other threads give back to their owner: each push is one compare-and-swap, and the owner takes all at once. */
void vti_given_push(_Atomic uint64_t *head, uint8_t *base, uint64_t offset);
void vti_given_take(_Atomic uint64_t *head, struct vti_space *space);

#endif
