/*
 * fuzz_notes.c - libFuzzer target: any bytes as the notes of a compiler, with counters made up from them. Whatever is read
 * must be solved within bounds, for both compilers' ways to count.
 */
#include "symbols/flow.h"

#include <stdlib.h>
#include <string.h>

#define COUNTERS_MOST 4096

static void require(int condition)
{
    if (!condition)
        abort();
}

static size_t counted_arcs(const struct vti_notes_graph *graph)
{
    size_t count = 0;

    for (size_t i = 0; i < graph->arc_count; i++) {
        require(graph->arcs[i].from < graph->block_count && graph->arcs[i].to < graph->block_count);
        count += !(graph->arcs[i].flags & VTI_ARC_ON_TREE);
    }
    return count;
}

static void solve(const struct vti_notes *notes, const struct vti_notes_function *function,
                  const uint8_t *data, size_t size)
{
    static uint64_t counters[COUNTERS_MOST];
    struct vti_notes_graph graph;
    struct vti_flow flow;
    size_t count;

    if (!vti_notes_graph(notes, function, &graph))
        return;
    count = counted_arcs(&graph);
    if (count <= COUNTERS_MOST) {
        for (size_t i = 0; i < count; i++)
            counters[i] = data[(i * 7 + function->ident) % size] % 17;
        require(!vti_flow_solve(&flow, &graph, counters, count + 1, true));
        vti_flow_free(&flow);
        require(vti_flow_solve(&flow, &graph, counters, count, notes->version >= 80));
        require(flow.line_count <= graph.line_count);
        vti_flow_free(&flow);
    }
    vti_notes_graph_free(&graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vti_notes notes;

    if (!size || !vti_notes_open(&notes, data, size))
        return 0;
    for (size_t i = 0; i < notes.function_count; i++) {
        const struct vti_notes_function *function = &notes.functions[i];

        require(function->at <= function->end && function->end <= size);
        require(vti_notes_find(&notes, function->ident) != NULL);
        solve(&notes, function, data, size);
    }
    vti_notes_close(&notes);
    return 0;
}
