/*
 * tree.c - how the tree of a thread grows: which node a call belongs to, and where new ones come from.
 *
 * No malloc, no locks. All but the search runs with signals blocked.
 */
#include "core/tree.h"

#include "core/clock.h"
#include "core/runtime.h"

#include <sys/mman.h>

#define FIRST_EDGES 256             /* a page */
#define DURATIONS_PARENT UINT32_MAX /* no unit: the edges from here lead to durations */
#define SAMPLES_PARENT 0x80000000u  /* added to a unit: the edges from there lead to samples */

static uint64_t edge_key(uint32_t parent, uint32_t site)
{
    return (uint64_t)parent << 32 | site;
}

static uint32_t edge_place(uint64_t key, uint32_t mask)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & mask;
}

static uint32_t find_unit(const struct vti_tree *tree, uint64_t key)
{
    /* Mask first: a handler in between may bring a larger table, where a small mask finds less, and
     * what is not found is looked for again with signals blocked. */
    uint32_t mask = __atomic_load_n(&tree->mask, __ATOMIC_RELAXED);
    const struct vti_edge *edges = __atomic_load_n(&tree->edges, __ATOMIC_RELAXED);

    for (uint32_t at = edge_place(key, mask);; at = (at + 1) & mask) {
        if (edges[at].key == key)
            return edges[at].unit;
        if (!edges[at].key)
            return 0;
    }
}

struct vti_node *vti_tree_find(const struct vti_tree *tree, uint32_t parent, uint32_t site)
{
    uint32_t unit = find_unit(tree, edge_key(parent, site));

    return unit ? vti_tree_node(tree, unit) : NULL;
}

static void put_edge(struct vti_edge *edges, uint32_t mask, uint64_t key, uint32_t unit)
{
    uint32_t at = edge_place(key, mask);

    while (edges[at].key)
        at = (at + 1) & mask;
    edges[at] = (struct vti_edge){key, unit, 0};
}

static bool edge_room(struct vti_tree *tree)
{
    uint32_t count = tree->mask + 1;
    struct vti_edge *grown;

    if (tree->edge_count < count / 2)
        return true;
    grown = vti_private_map(2 * (size_t)count * sizeof *grown);
    if (!grown)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (tree->edges[i].key)
            put_edge(grown, 2 * count - 1, tree->edges[i].key, tree->edges[i].unit);
    __atomic_store_n(&tree->edges, grown, __ATOMIC_RELAXED);
    __atomic_store_n(&tree->mask, 2 * count - 1, __ATOMIC_RELAXED);
    return true;
}

static void add_edge(struct vti_tree *tree, uint64_t key, uint32_t unit)
{
    put_edge(tree->edges, tree->mask, key, unit);
    tree->edge_count++;
}

/* A new chunk, behind the thread's others. Index + 1, or 0. */
static uint32_t new_chunk(struct vti_thread *self, uint32_t type)
{
    struct vti_tree *tree = self->tree;
    uint32_t at = vti_chunks_pop(self->arena);
    struct vti_chunk *chunk = at == UINT32_MAX ? NULL : vti_arena_chunk(self->arena, at);
    uint32_t *link = &self->slot->chunks;

    if (!chunk)
        return 0;
    chunk->next_free = 0;
    chunk->next = 0;
    chunk->type = type;
    chunk->used = 1;
    if (tree->last_chunk)
        link = &vti_arena_chunk(self->arena, tree->last_chunk - 1)->next;
    tree->last_chunk = at + 1;
    __atomic_store_n(link, at + 1, __ATOMIC_RELEASE);
    return at + 1;
}

/* The chunk with room for `units` more, a new one if need be; NULL if there is none. */
static struct vti_chunk *chunk_with_room(struct vti_thread *self, uint32_t *current, uint32_t type,
                                         uint32_t units)
{
    struct vti_chunk *chunk = *current ? vti_arena_chunk(self->arena, *current - 1) : NULL;

    if (chunk && chunk->used + units <= VTI_CHUNK_UNITS)
        return chunk;
    *current = new_chunk(self, type);
    return *current ? vti_arena_chunk(self->arena, *current - 1) : NULL;
}

/* Where the durations of a function are counted on this thread; 0 if there is no place for them. */
static uint32_t durations_of(struct vti_thread *self, uint32_t site)
{
    struct vti_tree *tree = self->tree;
    uint64_t key = edge_key(DURATIONS_PARENT, site);
    uint32_t unit = find_unit(tree, key);
    struct vti_chunk *chunk;

    if (unit || !edge_room(tree))
        return unit;
    chunk = chunk_with_room(self, &tree->duration_chunk, VTI_CHUNK_DURATIONS, VTI_DURATION_UNITS);
    if (!chunk)
        return 0;
    unit = (tree->duration_chunk - 1) * VTI_CHUNK_UNITS + chunk->used;
    chunk->sites[(chunk->used - 1) / VTI_DURATION_UNITS] = site;
    __atomic_store_n(&chunk->used, chunk->used + VTI_DURATION_UNITS, __ATOMIC_RELEASE);
    add_edge(tree, key, unit);
    return unit;
}

/* A new node in a chunk of its type; NULL if there is no place. */
static struct vti_node *new_node(struct vti_thread *self, uint32_t *current, uint32_t type,
                                 uint64_t key, uint32_t durations)
{
    struct vti_tree *tree = self->tree;
    struct vti_chunk *chunk;
    struct vti_node *node;
    uint32_t unit;

    if (!edge_room(tree))
        return NULL;
    chunk = chunk_with_room(self, current, type, 1);
    if (!chunk)
        return NULL;
    unit = (*current - 1) * VTI_CHUNK_UNITS + chunk->used;
    node = vti_tree_node(tree, unit);
    node->parent = (uint32_t)(key >> 32) & ~SAMPLES_PARENT;
    node->site = (uint32_t)key;
    node->durations = durations;
    __atomic_store_n(&chunk->used, chunk->used + 1, __ATOMIC_RELEASE);
    if (node->site)
        add_edge(tree, key, unit);
    return node;
}

struct vti_node *vti_tree_add(struct vti_thread *self, struct vti_node *parent, uint32_t site)
{
    uint32_t parent_unit = parent ? vti_tree_unit(self->tree, parent) : 0;
    uint32_t durations = site ? durations_of(self, site) : 0;

    return new_node(self, &self->tree->node_chunk, VTI_CHUNK_NODES, edge_key(parent_unit, site),
                    durations);
}

struct vti_node *vti_tree_sample(struct vti_thread *self, struct vti_node *parent, uint32_t site)
{
    struct vti_tree *tree = self->tree;
    uint64_t key = edge_key(vti_tree_unit(tree, parent) | SAMPLES_PARENT, site);
    uint32_t unit = find_unit(tree, key);

    if (unit)
        return vti_tree_node(tree, unit);
    return new_node(self, &tree->sample_chunk, VTI_CHUNK_SAMPLES, key, 0);
}

struct vti_tree *vti_tree_start(struct vti_thread *self)
{
    struct vti_tree *tree = self->tree;
    struct vti_node *root;

    if (!tree)
        tree = vti_private_map(sizeof *tree);
    if (!tree)
        return NULL;
    self->tree = tree;
    tree->arena = self->arena;
    tree->units = vti_arena_units(self->arena);
    tree->node_chunk = tree->duration_chunk = tree->sample_chunk = tree->last_chunk = 0;
    tree->stack = tree->stack_count = tree->free_stack = 0;
    tree->unplaced = 0;
    tree->edge_count = 0;
    tree->full.site = UINT32_MAX;
    if (!tree->edges) {
        tree->edges = vti_private_map(FIRST_EDGES * sizeof *tree->edges);
        tree->mask = FIRST_EDGES - 1;
    } else {
        madvise(tree->edges, ((size_t)tree->mask + 1) * sizeof *tree->edges, MADV_DONTNEED);
    }
    root = tree->edges ? vti_tree_add(self, NULL, 0) : NULL;
    if (!root) {
        tree->arena = NULL;
        return NULL;
    }
    tree->root = vti_tree_unit(tree, root);
    return tree;
}
