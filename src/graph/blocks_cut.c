/*
 * blocks_cut.c - from a graph to a row of blocks: tasks depth first from what is wanted, so that what belongs together is close together,
 * then cut where enough work has come together. Because each task comes after what it needs, no two blocks can wait for each other.
 * Linear in nodes and edges, no recursion.
 */
#include "base/error.h"
#include "graph/blocks.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_SECONDS 0.05
#define TASK_SECONDS 0.001
#define MOST_TIMES 2 /* so many times the least are not exceeded for the sake of a better place */

/* Depth first; `next` is how many needs of a node were looked at. */
static void visit(struct vt_blocks *blocks, uint32_t from, uint32_t *next, uint32_t *stack)
{
    const struct vti_plan *plan = blocks->plan;
    uint32_t depth = 0;

    if (blocks->where[from] != VT_NO_TASK)
        return;
    blocks->where[from] = 0;
    stack[depth++] = from;
    while (depth) {
        uint32_t node = stack[depth - 1];

        if (next[node] < plan->task_needs[node]) {
            uint32_t need = plan->needs[plan->first_need[node] + next[node]++];

            if (blocks->where[need] == VT_NO_TASK) {
                blocks->where[need] = 0;
                stack[depth++] = need;
            }
        } else {
            blocks->order[blocks->order_count++] = node;
            depth--;
        }
    }
}

int vti_blocks_sort(struct vt_blocks *blocks)
{
    const vt_graph *graph = blocks->graph;
    uint32_t *next = calloc(graph->count + 1, sizeof *next);
    uint32_t *stack = malloc((graph->count + 1) * sizeof *stack);
    int result = VTI_E_NOMEM;

    blocks->order = malloc((graph->count + 1) * sizeof *blocks->order);
    blocks->where = malloc((graph->count + 1) * sizeof *blocks->where);
    if (next == NULL || stack == NULL || blocks->order == NULL || blocks->where == NULL)
        goto out;
    memset(blocks->where, 0xff, (graph->count + 1) * sizeof *blocks->where);
    for (size_t i = 0; i < blocks->wanted_count; i++) {
        uint32_t node = vti_plan_target(blocks->plan, graph, blocks->wanted[i]);

        if (graph->nodes[node].type == VTI_NODE_TASK)
            visit(blocks, node, next, stack);
    }
    result = 0;
out:
    free(next);
    free(stack);
    return result;
}

static double cost_of(const struct vt_blocks_options *options, uint32_t task)
{
    struct vt_task known;
    int is_estimated;

    if (options->costs != NULL && options->costs[task] >= 0)
        return options->costs[task];
    if (options->measured != NULL &&
        vt_run_task(options->measured, task, &known, &is_estimated) != 0 &&
        known.state == VT_TASK_DONE && known.end >= known.start)
        return (double)(vt_task_realtime(known.end) - vt_task_realtime(known.start)) * 1e-9;
    return options->cost > 0 ? options->cost : TASK_SECONDS;
}

/* Whether it uses what the block that is being made has. */
static bool is_bound(const struct vt_blocks *blocks, uint32_t task)
{
    const struct vti_plan *plan = blocks->plan;

    for (uint32_t i = 0; i < plan->task_needs[task]; i++)
        if (blocks->where[plan->needs[plan->first_need[task] + i]] == blocks->count)
            return true;
    return false;
}

/* What is left at the end and too little for a block goes to the one before it. */
static void end_row(struct vt_blocks *blocks, double least)
{
    struct vti_block *last = &blocks->blocks[blocks->count];

    if (last->count && blocks->count && last->seconds < least) {
        for (uint32_t i = 0; i < last->count; i++)
            blocks->where[blocks->order[last->first + i]] = blocks->count - 1;
        last[-1].count += last->count;
        last[-1].seconds += last->seconds;
    } else if (last->count || !blocks->count) {
        blocks->count++; /* one block at least, for literals that are wanted */
    }
}

int vti_blocks_cut(struct vt_blocks *blocks, const struct vt_blocks_options *options)
{
    double least = options->seconds > 0 ? options->seconds : LEAST_SECONDS;
    struct vti_block *block;

    blocks->blocks = calloc((size_t)blocks->order_count + 1, sizeof *block);
    if (blocks->blocks == NULL)
        return VTI_E_NOMEM;
    for (uint32_t i = 0; i < blocks->order_count; i++)
        blocks->where[blocks->order[i]] = VT_NO_TASK;
    for (uint32_t i = 0; i < blocks->order_count; i++) {
        uint32_t task = blocks->order[i];

        block = &blocks->blocks[blocks->count];
        if (block->seconds >= least &&
            (block->seconds >= MOST_TIMES * least || !is_bound(blocks, task))) {
            block = &blocks->blocks[++blocks->count];
            block->first = i;
        }
        blocks->where[task] = blocks->count;
        block->count++;
        block->seconds += cost_of(options, task);
    }
    end_row(blocks, least);
    return 0;
}
