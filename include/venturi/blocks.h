/*
 * venturi/blocks.h - task graphs for other machines: saved as bytes, and cut into blocks that are worth sending.
 *
 *     vt_blocks *blocks = vt_graph_blocks(graph, wanted, 1, NULL);
 *     for (uint32_t i = 0; i < vt_blocks_count(blocks); i++) {
 *         vt_graph *block = vt_blocks_graph(blocks, i);
 *         vt_graph_save(block, &bytes, &size);
 *         ...
 *     }
 *
 * Wherever the bytes go, vt_graph_load() makes a graph of them, vt_graph_fill() puts in what other blocks made, and a run of it makes its
 * outputs. Only flat values, and functions that have a name (vt_function_register()), can travel. Bytes that are loaded may be damaged,
 * but who sends them is trusted: they say which functions are called. libventuri-graph.
 */
#ifndef VENTURI_BLOCKS_H
#define VENTURI_BLOCKS_H

#include <venturi/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- graphs and values as bytes --------------------------------------------------------------- */

/* The caller frees *bytes. Negative: see vt_graph_error(). */
VT_API int vt_graph_save(vt_graph *graph, void **bytes, size_t *size);

/* NULL: *why is a line about it, valid until this thread's next call. `why` may be NULL. */
VT_API vt_graph *vt_graph_load(const void *bytes, size_t size, const char **why);

/* One flat value; the caller frees *bytes. Negative: it is an object, or there is no memory. */
VT_API int vt_datum_save(const struct vt_datum *value, void **bytes, size_t *size);

/* Negative: those are no value. Its own copy of bytes is freed when it is destroyed. */
VT_API int vt_datum_load(struct vt_datum *value, const void *bytes, size_t size);

/* Gives a literal another value, which is the graph's from then on. Negative: there is no such literal; the value is still the caller's. */
VT_API int vt_graph_fill(vt_graph *graph, const char *key, struct vt_datum value);

/* ---- blocks ----------------------------------------------------------------------------------- */

typedef struct vt_blocks vt_blocks;

struct vt_blocks_options {
    size_t size;            /* sizeof this struct, so that it can grow */
    double seconds;         /* that a block shall take at least; 0: 0.05 */
    double cost;            /* seconds of a task of which nothing is known; 0: 0.001 */
    const double *costs;    /* seconds of each node by number, or NULL; negative: unknown */
    const vt_run *measured; /* an earlier run of this graph that is over, or NULL */
};

/* Everything that the wanted ones need (none: what nothing depends on), each task in one block. Blocks do not depend on each other in a
 * circle: each only on those before it. NULL: see vt_graph_error(). The graph must not change as long as the blocks are in use. */
VT_API vt_blocks *vt_graph_blocks(vt_graph *graph, const uint32_t *wanted, size_t wanted_count,
                                  const struct vt_blocks_options *options);
VT_API void vt_blocks_free(vt_blocks *blocks);

struct vt_block {
    uint32_t tasks;
    double seconds;         /* as far as known */
    const uint32_t *inputs; /* nodes of other blocks that it needs */
    const uint32_t
        *outputs; /* nodes of its own that others need, or that are wanted; aliases too */
    size_t input_count, output_count;
};

VT_API uint32_t vt_blocks_count(const vt_blocks *blocks);
VT_API int vt_blocks_get(const vt_blocks *blocks, uint32_t block, struct vt_block *known);
VT_API uint32_t vt_blocks_of(const vt_blocks *blocks,
                             uint32_t task); /* its block, VT_NO_TASK: none */

/* A graph of its own: the tasks of the block, under the same keys ("#17" for those without), and its inputs as empty literals. NULL: no memory,
 * or an argument cannot travel; see vt_graph_error() of the graph. */
VT_API vt_graph *vt_blocks_graph(vt_blocks *blocks, uint32_t block);

#ifdef __cplusplus
}
#endif
#endif
