/* ready.c - stacks of ready tasks. Each has room for all tasks of its priority, so that pushing cannot fail. */
#include "graph/ready.h"

#include <stdlib.h>

struct stack {
    int32_t priority;
    uint32_t count;
    uint32_t *tasks; /* room for all that have this priority; part of the run's `ready_room` */
};

struct vti_ready {
    struct stack *stacks; /* highest priority first */
    uint32_t stack_count;
};

static int32_t priority_of(const vt_run *run, uint32_t task)
{
    const struct vti_special *special = vti_graph_special(run->graph, task);

    return special == NULL ? 0 : special->priority;
}

static int compare_down(const void *a, const void *b)
{
    const int32_t *one = a, *other = b;

    return (*one < *other) - (*one > *other);
}

/* All priorities that there are, highest first, each once; 0 is always among them. NULL: no memory. */
static int32_t *priorities(const vt_run *run, uint32_t *count)
{
    const vt_graph *graph = run->graph;
    int32_t *all = calloc(graph->special_count + 1, sizeof *all);
    size_t i, kept = 1;

    if (all == NULL)
        return NULL;
    for (i = 0; i < graph->special_count; i++)
        all[i + 1] = graph->specials[i].priority;
    qsort(all, graph->special_count + 1, sizeof *all, compare_down);
    for (i = 1; i <= graph->special_count; i++)
        if (all[i] != all[kept - 1])
            all[kept++] = all[i];
    *count = (uint32_t)kept;
    return all;
}

static struct stack *stack_of(const struct vti_ready *ready, int32_t priority)
{
    uint32_t low = 0, high = ready->stack_count - 1;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (ready->stacks[middle].priority <= priority)
            high = middle;
        else
            low = middle + 1;
    }
    return &ready->stacks[low];
}

/* Gives each stack its part of the room. */
static void divide_room(const vt_run *run, struct vti_ready *ready)
{
    uint32_t *at = run->ready_room;
    uint32_t i;

    for (i = 0; ready->stack_count > 1 && i < run->plan->count; i++)
        if (run->items[i].phase != 0 && run->graph->nodes[i].type == VTI_NODE_TASK)
            stack_of(ready, priority_of(run, i))->count++;
    for (i = 0; i < ready->stack_count; i++) {
        ready->stacks[i].tasks = at;
        at += ready->stacks[i].count;
        ready->stacks[i].count = 0;
    }
}

struct vti_ready *vti_ready_new(const vt_run *run)
{
    struct vti_ready *ready = calloc(1, sizeof *ready);
    int32_t *levels = NULL;
    uint32_t i;

    if (ready == NULL)
        return NULL;
    levels = priorities(run, &ready->stack_count);
    if (levels == NULL)
        goto out;
    ready->stacks = calloc(ready->stack_count, sizeof *ready->stacks);
    if (ready->stacks == NULL)
        goto out;
    for (i = 0; i < ready->stack_count; i++)
        ready->stacks[i].priority = levels[i];
    divide_room(run, ready);
    free(levels);
    return ready;
out:
    free(levels);
    vti_ready_free(ready);
    return NULL;
}

void vti_ready_free(struct vti_ready *ready)
{
    if (ready == NULL)
        return;
    free(ready->stacks);
    free(ready);
}

static int compare_order(const void *a, const void *b, void *with)
{
    const struct vti_item *items = with;
    uint32_t one = items[*(const uint32_t *)a].order, other = items[*(const uint32_t *)b].order;

    return (one < other) - (one > other);
}

void vti_ready_sort(const vt_run *run, uint32_t *tasks, size_t count)
{
    size_t i, k;

    if (count > 16) {
        qsort_r(tasks, count, sizeof *tasks, compare_order, run->items);
        return;
    }
    for (i = 1; i < count; i++) {
        uint32_t task = tasks[i];

        for (k = i; k > 0 && run->items[tasks[k - 1]].order < run->items[task].order; k--)
            tasks[k] = tasks[k - 1];
        tasks[k] = task;
    }
}

void vti_ready_push(const vt_run *run, uint32_t *tasks, size_t count)
{
    struct vti_ready *ready = run->ready;
    size_t i;

    if (count > 1)
        vti_ready_sort(run, tasks, count);
    for (i = 0; i < count; i++) {
        struct stack *stack = ready->stacks;

        if (ready->stack_count > 1)
            stack = stack_of(ready, priority_of(run, tasks[i]));
        stack->tasks[stack->count++] = tasks[i];
    }
}

uint32_t vti_ready_pop(struct vti_ready *ready)
{
    uint32_t i;

    for (i = 0; i < ready->stack_count; i++) {
        struct stack *stack = &ready->stacks[i];

        if (stack->count > 0)
            return stack->tasks[--stack->count];
    }
    return VT_NO_TASK;
}

uint32_t vti_ready_at(const struct vti_ready *ready, uint32_t place)
{
    uint32_t i;

    for (i = 0; i < ready->stack_count; i++) {
        const struct stack *stack = &ready->stacks[i];

        if (place < stack->count)
            return stack->tasks[stack->count - 1 - place];
        place -= stack->count;
    }
    return VT_NO_TASK;
}
