/*
 * tree.h - how the tree of a thread grows: which node a call belongs to, and where new ones come from.
 *
 * The numbers are in shared memory (share/tree.h); the way from a node to its children is in private memory,
 * which is never given back while the thread lives: a signal handler may have been about to read it.
 */
#ifndef VENTURI_CORE_TREE_H
#define VENTURI_CORE_TREE_H

#include "core/chunk.h"
#include "core/thread.h"

#define VTI_STACKS_MAX 65536u

/* One of several stacks of a thread. */
struct vti_stack {
    uint32_t root;
    uint32_t node; /* the innermost open one while it does not run; 0: the root */
    uint32_t next_free;
    bool is_closed;
    uint64_t unplaced; /* calls above the node that have no place */
};

struct vti_tree {
    uint8_t *units;
    struct vti_edges edges; /* by parent << 32 | site */
    const struct vti_arena_control *arena;
    uint32_t node_chunk, duration_chunk; /* index + 1 of those that still have room; 0: none */
    uint32_t sample_chunk;
    uint32_t root;            /* of stack 0 */
    struct vti_node full;     /* stands for calls that found no place … */
    struct vti_node *above;   /* … above this node … */
    uint64_t unplaced;        /* … so deep */
    struct vti_stack *stacks; /* [0] is the thread's own; none as long as that is all */
    uint32_t stack_count, stack_room;
    uint32_t stack;      /* the one that runs */
    uint32_t free_stack; /* a closed one; 0: none */
};

static inline struct vti_node *vti_tree_node(const struct vti_tree *tree, uint32_t unit)
{
    return (struct vti_node *)(tree->units + (uintptr_t)unit * VTI_UNIT_BYTES);
}

static inline uint32_t vti_tree_unit(const struct vti_tree *tree, const struct vti_node *node)
{
    return (uint32_t)(((uintptr_t)node - (uintptr_t)tree->units) / VTI_UNIT_BYTES);
}

/* The child of `parent` for a function, NULL if there is none yet. */
struct vti_node *vti_tree_find(const struct vti_tree *tree, uint32_t parent, uint32_t site);

/* The rest is slow path only. */

/* Begins a tree for a registered thread; NULL without memory. */
struct vti_tree *vti_tree_start(struct vti_thread *self);

/* Adds a child; NULL if there is no place. `site` 0: the root of a stack. */
struct vti_node *vti_tree_add(struct vti_thread *self, struct vti_node *parent, uint32_t site);

/* The child of `parent` for samples of a function, added if need be; NULL if there is no place. */
struct vti_node *vti_tree_sample(struct vti_thread *self, struct vti_node *parent, uint32_t site);

#endif
