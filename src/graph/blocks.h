/* blocks.h - a graph cut into blocks, inside: which node is where, and what goes from one block to another. */
#ifndef VENTURI_GRAPH_BLOCKS_H
#define VENTURI_GRAPH_BLOCKS_H

#include "graph/graph.h"

#include <venturi/blocks.h>

struct vti_block {
    uint32_t first, count; /* in `order` */
    size_t first_input, input_count, first_output, output_count;
    double seconds;
};

struct vt_blocks {
    vt_graph *graph;       /* held */
    struct vti_plan *plan; /* held */
    uint32_t *wanted;      /* owned, as all that follow; each once */
    size_t wanted_count;
    uint32_t *order; /* tasks, each after what it needs; a block is a part of it */
    uint32_t order_count;
    uint32_t *where; /* for each node its block, or VT_NO_TASK */
    struct vti_block *blocks;
    uint32_t count;
    uint32_t *inputs, *outputs; /* of all blocks */
};

/* What the wanted ones need, depth first: what belongs together is close together. 0 or a negative code. */
int vti_blocks_sort(struct vt_blocks *blocks);

/* Cuts the order into blocks. */
int vti_blocks_cut(struct vt_blocks *blocks, const struct vt_blocks_options *options);

/* Finds inputs and outputs. */
int vti_blocks_join(struct vt_blocks *blocks);

#endif
