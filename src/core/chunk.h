/*
 * chunk.h - how a thread gets units in the arena for what it counts (share/tree.h), and how it finds
 * those that it has: by a key, in private memory that is never given back while the thread lives,
 * because a signal handler may have been about to read it. Slow path only, but for the search.
 */
#ifndef VENTURI_CORE_CHUNK_H
#define VENTURI_CORE_CHUNK_H

#include "core/thread.h"
#include "share/tree.h"

struct vti_edge {
    uint64_t key; /* 0: free */
    uint32_t unit;
    uint32_t reserved;
};

/* Zeroed: not begun. */
struct vti_edges {
    struct vti_edge *table; /* `mask` + 1 of them */
    uint32_t mask;
    uint32_t count;
};

/* Forgets all edges; false without memory. */
bool vti_edges_start(struct vti_edges *edges);

/* 0: there is none. */
uint32_t vti_edges_find(const struct vti_edges *edges, uint64_t key);

/* Room for one more must have been asked for before one is added. */
bool vti_edges_room(struct vti_edges *edges);
void vti_edges_add(struct vti_edges *edges, uint64_t key, uint32_t unit);

/*
 * The chunk of a type with room for `units` more, a new one if need be; NULL if there is none. `current` is index + 1
 * of the one that was used last, 0: none. What follows is to fill them in, then vti_chunk_publish().
 */
struct vti_chunk *vti_chunk_room(struct vti_thread *self, uint32_t *current, uint32_t type,
                                 uint32_t units);

/* The number of the first unit of `chunk`, whose index + 1 is `current`, that is not used. */
uint32_t vti_chunk_unit(const struct vti_chunk *chunk, uint32_t current);
void vti_chunk_publish(struct vti_chunk *chunk, uint32_t units);

/*
 * Four buckets for each power of two, from 32 ticks on. Here, because the hot paths of calls and of lines need it. A
 * double begins with just that, its exponent and the next two bits: looking for the highest bit and shifting takes longer.
 */
static inline unsigned vti_duration_bucket(uint64_t ticks)
{
    const union {
        double number;
        uint64_t bits;
    } as = {.number = (double)(int64_t)ticks};
    int64_t at = (int64_t)(as.bits >> 50) - 4 * (1023 + 5);

    if (__builtin_expect((uint64_t)at >= VTI_DURATION_BUCKETS, 0))
        return at < 0 ? 0 : VTI_DURATION_BUCKETS - 1;
    return (unsigned)at;
}

#endif
