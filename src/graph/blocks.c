/* blocks.c - blocks as their callers see them, and what goes from one to another. Where they are cut: blocks_cut.c. */
#include "graph/blocks.h"

#include "base/error.h"
#include "graph/run.h"
#include "graph/save.h"

#include <stdlib.h>
#include <string.h>

/* Those that were named, or what nothing depends on; each once. */
static int take_wanted(struct vt_blocks *blocks, const uint32_t *wanted, size_t count)
{
    const vt_graph *graph = blocks->graph;
    const struct vti_plan *plan = blocks->plan;
    uint8_t *is_there = calloc(graph->count + 1, 1);
    size_t all = count ? count : graph->count;

    blocks->wanted = malloc((all + 1) * sizeof *blocks->wanted);
    for (size_t i = 0; is_there != NULL && blocks->wanted != NULL && i < all; i++) {
        uint32_t node = count ? wanted[i] : (uint32_t)i;

        if (node >= graph->count) {
            free(is_there);
            return vti_graph_fail(blocks->graph, VTI_E_NOT_FOUND, "there is no task %u", node);
        }
        if (!is_there[node] && (count || (plan->first_user[node] == plan->first_user[node + 1] &&
                                          graph->nodes[node].type == VTI_NODE_TASK)))
            blocks->wanted[blocks->wanted_count++] = node;
        is_there[node] = 1;
    }
    free(is_there);
    return is_there != NULL && blocks->wanted != NULL ? 0 : VTI_E_NOMEM;
}

/* Adds each need from elsewhere once; `seen` is the last block + 1 that a node was an input of. */
static size_t add_inputs(struct vt_blocks *blocks, uint32_t block, size_t at, uint32_t *seen,
                         uint8_t *is_output)
{
    const struct vti_plan *plan = blocks->plan;
    const struct vti_block *own = &blocks->blocks[block];

    for (uint32_t i = 0; i < own->count; i++) {
        uint32_t task = blocks->order[own->first + i];

        for (uint32_t j = 0; j < plan->task_needs[task]; j++) {
            uint32_t need = plan->needs[plan->first_need[task] + j];

            if (blocks->where[need] == block || seen[need] == block + 1)
                continue;
            seen[need] = block + 1;
            is_output[need] = 1;
            blocks->inputs[at++] = need;
        }
    }
    return at;
}

/* A wanted literal is in the first block, an alias where its target is. */
static uint32_t home_of(const struct vt_blocks *blocks, uint32_t node)
{
    uint32_t where = blocks->where[vti_plan_target(blocks->plan, blocks->graph, node)];

    return where == VT_NO_TASK ? 0 : where;
}

/* Outputs by block: counted, then put. */
static void put_outputs(struct vt_blocks *blocks, const uint8_t *is_output)
{
    size_t at = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < blocks->count; i++)
            blocks->blocks[i].output_count = 0;
        for (uint32_t i = 0; i < blocks->graph->count; i++) {
            struct vti_block *block;

            if (!is_output[i])
                continue;
            block = &blocks->blocks[home_of(blocks, i)];
            if (pass)
                blocks->outputs[block->first_output + block->output_count] = i;
            block->output_count++;
        }
        for (uint32_t i = 0; !pass && i < blocks->count; i++) {
            blocks->blocks[i].first_output = at;
            at += blocks->blocks[i].output_count;
        }
    }
}

int vti_blocks_join(struct vt_blocks *blocks)
{
    size_t edges = blocks->plan->first_need[blocks->graph->count], at = 0;
    size_t nodes = (size_t)blocks->graph->count + 1;
    uint32_t *seen = calloc(nodes, sizeof *seen);
    uint8_t *is_output = calloc(nodes, 1);
    int result = VTI_E_NOMEM;

    blocks->inputs = malloc((edges + 1) * sizeof *blocks->inputs);
    blocks->outputs = malloc(nodes * sizeof *blocks->outputs);
    if (seen == NULL || is_output == NULL || blocks->inputs == NULL || blocks->outputs == NULL)
        goto out;
    for (size_t i = 0; i < blocks->wanted_count; i++)
        is_output[blocks->wanted[i]] = 1;
    for (uint32_t i = 0; i < blocks->count; i++) {
        blocks->blocks[i].first_input = at;
        at = add_inputs(blocks, i, at, seen, is_output);
        blocks->blocks[i].input_count = at - blocks->blocks[i].first_input;
    }
    put_outputs(blocks, is_output);
    result = 0;
out:
    free(seen);
    free(is_output);
    return result;
}

void vt_blocks_free(vt_blocks *blocks)
{
    if (blocks == NULL)
        return;
    free(blocks->wanted);
    free(blocks->order);
    free(blocks->where);
    free(blocks->blocks);
    free(blocks->inputs);
    free(blocks->outputs);
    vti_plan_drop(blocks->plan);
    vti_graph_drop(blocks->graph);
    free(blocks);
}

vt_blocks *vt_graph_blocks(vt_graph *graph, const uint32_t *wanted, size_t wanted_count,
                           const struct vt_blocks_options *options)
{
    struct vt_blocks_options own = {0};
    vt_blocks *blocks;
    int result;

    if (vti_graph_plan(graph) != 0)
        return NULL;
    blocks = calloc(1, sizeof *blocks);
    if (blocks == NULL) {
        vti_graph_fail(graph, VTI_E_NOMEM, "no memory for blocks");
        return NULL;
    }
    if (options != NULL)
        memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
    blocks->graph = graph;
    vti_graph_hold(graph);
    blocks->plan = graph->plan;
    __atomic_add_fetch(&blocks->plan->holders, 1, __ATOMIC_RELAXED);
    result = take_wanted(blocks, wanted, wanted_count);
    if (result == 0)
        result = vti_blocks_sort(blocks);
    if (result == 0)
        result = vti_blocks_cut(blocks, &own);
    if (result == 0)
        result = vti_blocks_join(blocks);
    if (result == 0)
        return blocks;
    if (result == VTI_E_NOMEM)
        vti_graph_fail(graph, VTI_E_NOMEM, "no memory for blocks");
    vt_blocks_free(blocks);
    return NULL;
}

uint32_t vt_blocks_count(const vt_blocks *blocks)
{
    return blocks->count;
}

uint32_t vt_blocks_of(const vt_blocks *blocks, uint32_t task)
{
    return task < blocks->graph->count ? blocks->where[task] : VT_NO_TASK;
}

int vt_blocks_get(const vt_blocks *blocks, uint32_t number, struct vt_block *known)
{
    const struct vti_block *block;

    if (number >= blocks->count)
        return VTI_E_NOT_FOUND;
    block = &blocks->blocks[number];
    *known = (struct vt_block){.tasks = block->count, .seconds = block->seconds};
    known->inputs = blocks->inputs + block->first_input;
    known->input_count = block->input_count;
    known->outputs = blocks->outputs + block->first_output;
    known->output_count = block->output_count;
    return 0;
}
