/*
 * stack.c - stacks that take turns on one thread: greenlets, fibres (venturi/hook.h).
 *
 * Each has a root of its own in the thread's tree; one that was closed is used again, so that the
 * tree does not grow with the number of stacks that ever were. Calls on a stack that does not run keep what they
 * had: they have no begin then, and `elapsed` instead.
 */
#include "core/call.h"
#include "core/clock.h"
#include "core/runtime.h"
#include "core/tree.h"

#include <string.h>
#include <sys/mman.h>
#include <venturi/hook.h>

#define FIRST_STACKS 512

static bool stack_room(struct vti_tree *tree)
{
    uint32_t room = tree->stack_room ? 2 * tree->stack_room : FIRST_STACKS;
    struct vti_stack *grown;

    if (tree->stack_count < tree->stack_room)
        return true;
    grown = room <= VTI_STACKS_MAX ? vti_private_map(room * sizeof *grown) : NULL;
    if (!grown)
        return false;
    if (tree->stack_count)
        memcpy(grown, tree->stacks, tree->stack_count * sizeof *grown);
    if (tree->stacks)
        munmap(tree->stacks, tree->stack_room * sizeof *grown);
    tree->stacks = grown;
    tree->stack_room = room;
    return true;
}

/* Stack 0 is there as soon as there is another one. */
static bool has_stacks(struct vti_tree *tree)
{
    if (!stack_room(tree))
        return false;
    if (!tree->stack_count)
        tree->stacks[tree->stack_count++] = (struct vti_stack){.root = tree->root};
    return stack_room(tree);
}

/* The calls of the running stack stop ageing. */
static void suspend(struct vti_thread *self, uint64_t now)
{
    struct vti_tree *tree = self->tree;
    struct vti_stack *stack = &tree->stacks[tree->stack];

    stack->unplaced = tree->unplaced;
    stack->node = vti_tree_unit(tree, tree->unplaced ? tree->above : self->node);
    tree->unplaced = 0;
    for (struct vti_node *node = vti_tree_node(tree, stack->node); node->site;
         node = vti_tree_node(tree, node->parent)) {
        node->elapsed = now - node->begin + 1;
        node->begin = 0;
    }
}

static void go_on(struct vti_thread *self, uint32_t to, uint64_t now)
{
    struct vti_tree *tree = self->tree;
    struct vti_stack *stack = &tree->stacks[to];
    struct vti_node *node = vti_tree_node(tree, stack->node ? stack->node : stack->root);

    tree->stack = to;
    tree->unplaced = stack->unplaced;
    tree->above = node;
    self->node = stack->unplaced ? &tree->full : node;
    for (; node->site; node = vti_tree_node(tree, node->parent)) {
        node->begin = now - (node->elapsed - 1);
        node->elapsed = 0;
    }
}

/* The thread, if it has a tree. While recording is off stacks come and go all the same: whoever has their
 * numbers goes on using them when it is on again. */
static struct vti_thread *enter(struct vti_slow *slow)
{
    struct vti_thread *self = vti_slow_enter(slow, 0);

    self = self ? self : vti_self;
    if (!self || !self->tree || !self->tree->arena || !self->slot)
        return NULL;
    vti_calls_look(self);
    return self->tree->arena ? self : NULL;
}

struct vti_node *vti_stack_root(const struct vti_tree *tree)
{
    return vti_tree_node(tree, tree->stack ? tree->stacks[tree->stack].root : tree->root);
}

/* Another stack runs now. */
static void change(struct vti_thread *self, uint32_t to)
{
    uint64_t now = vti_clock_read(self->clock);

    if (!self->node) { /* off: all are empty */
        self->tree->stack = to;
        return;
    }
    suspend(self, now);
    go_on(self, to, now);
}

uint32_t vt_stack_open(void)
{
    struct vti_slow slow;
    struct vti_thread *self = enter(&slow);
    struct vti_tree *tree;
    struct vti_node *root;
    uint32_t stack = 0;

    if (!self)
        goto out;
    tree = self->tree;
    if (!has_stacks(tree))
        goto out;
    stack = tree->free_stack;
    if (stack) {
        tree->free_stack = tree->stacks[stack].next_free;
        tree->stacks[stack] = (struct vti_stack){.root = tree->stacks[stack].root};
        goto out;
    }
    root = vti_tree_add(self, NULL, 0);
    if (root) {
        stack = tree->stack_count++;
        tree->stacks[stack] = (struct vti_stack){.root = vti_tree_unit(tree, root)};
    }
out:
    vti_slow_leave(&slow);
    return stack;
}

void vt_stack_switch(uint32_t to)
{
    struct vti_slow slow;
    struct vti_thread *self = enter(&slow);

    if (self && to < self->tree->stack_count && to != self->tree->stack &&
        !self->tree->stacks[to].is_closed)
        change(self, to);
    vti_slow_leave(&slow);
}

/* Ends the calls of a stack: brings it back for a moment. */
static void end_stack(struct vti_thread *self, uint32_t at)
{
    uint32_t back = self->tree->stack;

    if (at != back)
        change(self, at);
    vti_calls_end(self);
    if (at != back)
        change(self, back);
}

void vt_stack_close(uint32_t at)
{
    struct vti_slow slow;
    struct vti_thread *self = enter(&slow);
    struct vti_tree *tree;

    if (!self || !at || at >= self->tree->stack_count || self->tree->stacks[at].is_closed)
        goto out;
    tree = self->tree;
    if (self->node)
        end_stack(self, at);
    if (tree->stack == at)
        change(self, 0);
    tree->stacks[at].is_closed = true;
    tree->stacks[at].next_free = tree->free_stack;
    tree->free_stack = at;
out:
    vti_slow_leave(&slow);
}

void vti_stacks_end(struct vti_thread *self)
{
    struct vti_tree *tree = self->tree;

    for (uint32_t i = 0; i < tree->stack_count; i++)
        if (!tree->stacks[i].is_closed && i != tree->stack)
            end_stack(self, i);
    vti_calls_end(self);
}
