/*
 * tree.c - how the tree of a thread grows: which node a call belongs to, and where new ones come from.
 *
 * No malloc, no locks. All but the search runs with signals blocked.
 */
#include "core/tree.h"

#include "core/clock.h"
#include "core/runtime.h"

#define DURATIONS_PARENT UINT32_MAX /* no unit: the edges from here lead to durations */
#define SAMPLES_PARENT 0x80000000u  /* added to a unit: the edges from there lead to samples */

static uint64_t edge_key(uint32_t parent, uint32_t site)
{
    return (uint64_t)parent << 32 | site;
}

struct vti_node *vti_tree_find(const struct vti_tree *tree, uint32_t parent, uint32_t site)
{
    uint32_t unit = vti_edges_find(&tree->edges, edge_key(parent, site));

    return unit ? vti_tree_node(tree, unit) : NULL;
}

/* Where the durations of a function are counted on this thread; 0 if there is no place for them. */
static uint32_t durations_of(struct vti_thread *self, uint32_t site)
{
    struct vti_tree *tree = self->tree;
    uint64_t key = edge_key(DURATIONS_PARENT, site);
    uint32_t unit = vti_edges_find(&tree->edges, key);
    struct vti_chunk *chunk;

    if (unit || vti_chunks_are_scarce(self->arena) || !vti_edges_room(&tree->edges))
        return unit;
    chunk = vti_chunk_room(self, &tree->duration_chunk, VTI_CHUNK_DURATIONS, VTI_DURATION_UNITS);
    if (!chunk)
        return 0;
    unit = vti_chunk_unit(chunk, tree->duration_chunk);
    chunk->sites[(chunk->used - 1) / VTI_DURATION_UNITS] = site;
    vti_chunk_publish(chunk, VTI_DURATION_UNITS);
    vti_edges_add(&tree->edges, key, unit);
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

    if (!vti_edges_room(&tree->edges))
        return NULL;
    chunk = vti_chunk_room(self, current, type, 1);
    if (!chunk)
        return NULL;
    unit = vti_chunk_unit(chunk, *current);
    node = vti_tree_node(tree, unit);
    node->parent = (uint32_t)(key >> 32) & ~SAMPLES_PARENT;
    node->site = (uint32_t)key;
    node->durations = durations;
    vti_chunk_publish(chunk, 1);
    if (node->site)
        vti_edges_add(&tree->edges, key, unit);
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
    uint32_t unit = vti_edges_find(&tree->edges, key);

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
    tree->node_chunk = tree->duration_chunk = tree->sample_chunk = 0;
    tree->stack = tree->stack_count = tree->free_stack = 0;
    tree->unplaced = 0;
    tree->full.site = UINT32_MAX;
    root = vti_edges_start(&tree->edges) ? vti_tree_add(self, NULL, 0) : NULL;
    if (!root) {
        tree->arena = NULL;
        return NULL;
    }
    tree->root = vti_tree_unit(tree, root);
    return tree;
}
