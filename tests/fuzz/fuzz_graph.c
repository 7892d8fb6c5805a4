/*
 * fuzz_graph.c - libFuzzer target: any bytes as a saved graph, and as a saved value. What can be loaded is checked, saved again (which gives the
 * same graph), cut into blocks, and run in one thread if it is small.
 */
#include <stdlib.h>
#include <string.h>
#include <venturi/blocks.h>

static void require(int condition)
{
    if (!condition)
        abort();
}

static int add(struct vt_call *call)
{
    int64_t sum = (int64_t)call->arg_count;

    for (size_t i = 0; i < call->arg_count; i++)
        sum += call->args[i]->type;
    call->result = vt_datum_int(sum);
    return 0;
}

static void use_value(const uint8_t *data, size_t size)
{
    struct vt_datum value;
    void *bytes;
    size_t count;

    if (vt_datum_load(&value, data, size) != 0)
        return;
    require(vt_datum_save(&value, &bytes, &count) == 0 && count <= size);
    free(bytes);
    if (value.destroy)
        value.destroy(value.as.data, value.with);
}

static void cut(vt_graph *graph)
{
    const struct vt_blocks_options options = {.size = sizeof options, .seconds = 0.003};
    vt_blocks *blocks = vt_graph_blocks(graph, NULL, 0, &options);
    uint32_t tasks = 0;

    require(blocks != NULL);
    for (uint32_t i = 0; i < vt_blocks_count(blocks); i++) {
        struct vt_block known;
        /* NULL: a key like that of a node without one. */
        vt_graph *block = vt_blocks_graph(blocks, i);

        require(vt_blocks_get(blocks, i, &known) == 0);
        for (size_t j = 0; j < known.input_count; j++)
            require(vt_blocks_of(blocks, known.inputs[j]) < i);
        tasks += known.tasks;
        vt_graph_free(block);
    }
    require(tasks <= vt_graph_count(graph));
    vt_blocks_free(blocks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    vt_graph *graph, *again;
    void *bytes;
    size_t count;

    vt_function_register("add", add);
    use_value(data, size);
    graph = vt_graph_load(data, size, NULL);
    if (graph == NULL)
        return 0;
    if (vt_graph_check(graph) == 0) {
        vt_run *run = vt_run_new(graph, NULL);

        require(vt_graph_save(graph, &bytes, &count) == 0);
        again = vt_graph_load(bytes, count, NULL);
        require(again != NULL && vt_graph_count(again) == vt_graph_count(graph));
        free(bytes);
        vt_graph_free(again);
        cut(graph);
        vt_run_go(run);
        vt_run_free(run);
    }
    vt_graph_free(graph);
    return 0;
}
