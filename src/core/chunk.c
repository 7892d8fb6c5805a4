/*
 * chunk.c - units in the arena for what a thread counts, and where they are.
 *
 * No malloc, no locks. All but the search runs with signals blocked.
 */
#include "core/chunk.h"

#include "core/runtime.h"

#include <sys/mman.h>

#define FIRST_EDGES 256 /* a page */

static uint32_t edge_place(uint64_t key, uint32_t mask)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & mask;
}

uint32_t vti_edges_find(const struct vti_edges *edges, uint64_t key)
{
    /* Mask first: a handler in between may bring a larger table, where a small mask finds less, and
     * what is not found is looked for again with signals blocked. */
    uint32_t mask = __atomic_load_n(&edges->mask, __ATOMIC_RELAXED);
    const struct vti_edge *table = __atomic_load_n(&edges->table, __ATOMIC_RELAXED);

    for (uint32_t at = edge_place(key, mask);; at = (at + 1) & mask) {
        if (table[at].key == key)
            return table[at].unit;
        if (!table[at].key)
            return 0;
    }
}

static void put_edge(struct vti_edge *table, uint32_t mask, uint64_t key, uint32_t unit)
{
    uint32_t at = edge_place(key, mask);

    while (table[at].key)
        at = (at + 1) & mask;
    table[at] = (struct vti_edge){key, unit, 0};
}

bool vti_edges_room(struct vti_edges *edges)
{
    uint32_t count = edges->mask + 1;
    struct vti_edge *grown;

    if (edges->count < count / 2)
        return true;
    grown = vti_private_map(2 * (size_t)count * sizeof *grown);
    if (!grown)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (edges->table[i].key)
            put_edge(grown, 2 * count - 1, edges->table[i].key, edges->table[i].unit);
    __atomic_store_n(&edges->table, grown, __ATOMIC_RELAXED);
    __atomic_store_n(&edges->mask, 2 * count - 1, __ATOMIC_RELAXED);
    return true;
}

void vti_edges_add(struct vti_edges *edges, uint64_t key, uint32_t unit)
{
    put_edge(edges->table, edges->mask, key, unit);
    edges->count++;
}

bool vti_edges_start(struct vti_edges *edges)
{
    edges->count = 0;
    if (!edges->table) {
        edges->table = vti_private_map(FIRST_EDGES * sizeof *edges->table);
        edges->mask = FIRST_EDGES - 1;
    } else {
        madvise(edges->table, ((size_t)edges->mask + 1) * sizeof *edges->table, MADV_DONTNEED);
    }
    return edges->table != NULL;
}

/* A new chunk, behind the thread's others. Index + 1, or 0. */
static uint32_t new_chunk(struct vti_thread *self, uint32_t type)
{
    uint32_t at = vti_chunks_pop(self->arena);
    struct vti_chunk *chunk = at == UINT32_MAX ? NULL : vti_arena_chunk(self->arena, at);
    uint32_t *link = &self->slot->chunks;

    if (!chunk)
        return 0;
    chunk->next_free = 0;
    chunk->next = 0;
    chunk->type = type;
    chunk->used = 1;
    if (self->last_chunk)
        link = &vti_arena_chunk(self->arena, self->last_chunk - 1)->next;
    self->last_chunk = at + 1;
    __atomic_store_n(link, at + 1, __ATOMIC_RELEASE);
    return at + 1;
}

struct vti_chunk *vti_chunk_room(struct vti_thread *self, uint32_t *current, uint32_t type,
                                 uint32_t units)
{
    struct vti_chunk *chunk = *current ? vti_arena_chunk(self->arena, *current - 1) : NULL;
    uint32_t fresh;

    if (chunk && chunk->used + units <= VTI_CHUNK_UNITS)
        return chunk;
    fresh = new_chunk(self, type);
    if (!fresh)
        return NULL;
    *current = fresh;
    return vti_arena_chunk(self->arena, fresh - 1);
}

uint32_t vti_chunk_unit(const struct vti_chunk *chunk, uint32_t current)
{
    return (current - 1) * VTI_CHUNK_UNITS + chunk->used;
}

void vti_chunk_publish(struct vti_chunk *chunk, uint32_t units)
{
    __atomic_store_n(&chunk->used, chunk->used + units, __ATOMIC_RELEASE);
}
