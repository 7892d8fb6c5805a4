/*
 * test_graph_blocks.c - graphs cut into blocks: every task in one, none waits for a later one, none is too small; run one by one, each from
 * its saved bytes, they give what the whole graph gives.
 */
#include "graph_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <venturi/blocks.h>

#include <cmocka.h>

static vt_graph *random_graph(unsigned seed, unsigned count)
{
    vt_graph *graph = vt_graph_new();

    vt_graph_literal(graph, "seven", vt_datum_int(7));
    for (unsigned i = 0; i < count; i++) {
        struct vt_arg args[4] = {VT_ARG_KEY("seven")};
        unsigned arg_count = 1;
        char key[16];

        for (unsigned j = 0; j < 3 && i; j++) {
            seed = seed * 1103515245 + 12345;
            if (seed >> 16 & 1)
                args[arg_count++] = (struct vt_arg){.type = VT_ARG_IS_TASK,
                                                    .task = i - (seed >> 17) % (i < 30 ? i : 30)};
        }
        snprintf(key, sizeof key, "key-%u", i);
        vt_graph_task(graph, i % 3 ? key : NULL, "add", kit_mix, NULL, args, arg_count);
    }
    return graph;
}

/* Everything that the blocks gave so far, by node of the whole graph. */
static void run_block(vt_graph *graph, vt_blocks *blocks, uint32_t number, int64_t *values)
{
    vt_graph *block = vt_blocks_graph(blocks, number), *loaded;
    struct vt_block known;
    void *bytes;
    size_t size;
    vt_run *run;

    assert_non_null(block);
    assert_int_equal(vt_graph_save(block, &bytes, &size), 0);
    loaded = vt_graph_load(bytes, size, NULL);
    assert_non_null(loaded);
    free(bytes);
    vt_graph_free(block);
    assert_int_equal(vt_blocks_get(blocks, number, &known), 0);
    for (size_t i = 0; i < known.input_count; i++) {
        assert_true(vt_blocks_of(blocks, known.inputs[i]) < number);
        assert_int_equal(vt_graph_fill(loaded, vt_graph_key(graph, known.inputs[i]),
                                       vt_datum_int(values[known.inputs[i]])),
                         0);
    }
    run = vt_run_new(loaded, NULL);
    for (size_t i = 0; i < known.output_count; i++)
        assert_int_equal(vt_run_want(run, vt_graph_key(graph, known.outputs[i])), 0);
    assert_int_equal(vt_run_go(run), 0);
    for (size_t i = 0; i < known.output_count; i++)
        values[known.outputs[i]] = vt_run_result(run, i)->as.number;
    vt_run_free(run);
    vt_graph_free(loaded);
}

static void check_all(vt_graph *graph, const uint32_t *wanted, size_t count,
                      const struct vt_blocks_options *options, double least)
{
    vt_blocks *blocks = vt_graph_blocks(graph, wanted, count, options);
    int64_t *values = calloc(vt_graph_count(graph), sizeof *values);
    vt_run *whole = vt_run_new(graph, NULL);
    uint32_t tasks = 0;

    assert_non_null(blocks);
    assert_true(vt_blocks_count(blocks) >= 1);
    for (uint32_t i = 0; i < vt_blocks_count(blocks); i++) {
        struct vt_block known;

        run_block(graph, blocks, i, values);
        vt_blocks_get(blocks, i, &known);
        tasks += known.tasks;
        if (vt_blocks_count(blocks) > 1)
            assert_true(known.seconds >= least);
    }
    for (size_t i = 0; i < count; i++)
        vt_run_want_task(whole, wanted[i]);
    assert_int_equal(vt_run_go(whole), 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(values[wanted[i]], vt_run_result(whole, i)->as.number);
    for (uint32_t i = 0; i < vt_graph_count(graph); i++)
        tasks -= vt_blocks_of(blocks, i) != VT_NO_TASK;
    assert_int_equal(tasks, 0);
    vt_run_free(whole);
    vt_blocks_free(blocks);
    free(values);
}

static void test_random(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed < 30; seed++) {
        vt_graph *graph = random_graph(seed, seed * 13);
        struct vt_blocks_options options = {
            .size = sizeof options, .seconds = seed % 7 * 0.01, .cost = 0.002};
        uint32_t wanted[] = {vt_graph_count(graph) - 1, vt_graph_count(graph) / 2,
                             vt_graph_count(graph) - 1, 0};

        check_all(graph, wanted, 4, &options, options.seconds ? options.seconds : 0.05);
        vt_graph_free(graph);
    }
}

/* Chains that have nothing to do with each other are not mixed: nothing is cut but the sum. */
static void test_few_cuts(void **state)
{
    vt_graph *graph = vt_graph_new();
    struct vt_blocks_options options = {.size = sizeof options, .seconds = 0.5, .cost = 0.01};
    uint32_t ends[20], last, cuts = 0;
    vt_blocks *blocks;

    (void)state;
    for (int step = 0; step < 50; step++)
        for (int i = 0; i < 20; i++)
            ends[i] = vt_graph_call(graph, "add", kit_mix, NULL, &ends[i], step ? 1 : 0);
    last = vt_graph_call(graph, "add", kit_mix, NULL, ends, 20);
    blocks = vt_graph_blocks(graph, &last, 1, &options);
    assert_int_equal(vt_blocks_count(blocks), 20);
    for (uint32_t i = 0; i < vt_blocks_count(blocks); i++) {
        struct vt_block known;

        vt_blocks_get(blocks, i, &known);
        cuts += (uint32_t)known.input_count;
    }
    assert_int_equal(cuts, 19);
    vt_blocks_free(blocks);
    check_all(graph, &last, 1, &options, 0.5);
    vt_graph_free(graph);
}

/* What was measured, or said, of some tasks counts. */
static void test_costs(void **state)
{
    vt_graph *graph = vt_graph_new();
    double costs[30];
    struct vt_blocks_options options = {.size = sizeof options, .seconds = 1, .costs = costs};
    uint32_t last = 0;
    vt_blocks *blocks;
    vt_run *run;

    (void)state;
    for (int i = 0; i < 30; i++) {
        last = vt_graph_call(graph, "add", kit_mix, NULL, &last, i ? 1 : 0);
        costs[i] = i < 10 ? 2 : i < 20 ? 0.1 : -1;
    }
    blocks = vt_graph_blocks(graph, NULL, 0, &options);
    assert_true(vt_blocks_of(blocks, 0) != vt_blocks_of(blocks, 1));
    assert_int_equal(vt_blocks_of(blocks, 28), vt_blocks_of(blocks, 29));
    vt_blocks_free(blocks);
    run = vt_run_new(graph, NULL);
    assert_int_equal(vt_run_go(run), 0);
    options.costs = NULL;
    options.measured = run;
    blocks = vt_graph_blocks(graph, NULL, 0, &options);
    assert_int_equal(vt_blocks_count(blocks), 1); /* far less than a second in all */
    vt_blocks_free(blocks);
    vt_run_free(run);
    vt_graph_free(graph);
}

static void test_aliases(void **state)
{
    vt_graph *graph = vt_graph_new();
    uint32_t wanted[3];

    (void)state;
    vt_graph_literal(graph, "two", vt_datum_int(2));
    wanted[0] = vt_graph_alias(graph, "as two", "two");
    vt_graph_task(graph, "x", "add", kit_mix, NULL, (struct vt_arg[]){VT_ARG_KEY("as two")}, 1);
    wanted[1] = vt_graph_alias(graph, "as x", "x");
    wanted[2] = vt_graph_find(graph, "x");
    check_all(graph, wanted, 3, NULL, 0);
    check_all(graph, wanted, 1, NULL, 0);
    vt_graph_free(graph);
}

static void test_wrong(void **state)
{
    vt_graph *graph = vt_graph_new();
    uint32_t wanted = 5;
    vt_blocks *blocks;

    (void)state;
    vt_graph_task(graph, "a", "add", kit_mix, NULL, (struct vt_arg[]){VT_ARG_KEY("b")}, 1);
    vt_graph_task(graph, "b", "add", kit_mix, NULL, (struct vt_arg[]){VT_ARG_KEY("a")}, 1);
    assert_null(vt_graph_blocks(graph, NULL, 0, NULL));
    assert_non_null(strstr(vt_graph_error(graph), "a -> b -> a"));
    vt_graph_free(graph);
    graph = vt_graph_new();
    vt_graph_task(graph, "c", "add", kit_mix, NULL, NULL, 0);
    assert_null(vt_graph_blocks(graph, &wanted, 1, NULL));
    blocks = vt_graph_blocks(graph, NULL, 0, NULL);
    assert_null(vt_blocks_graph(blocks, 1));
    vt_blocks_free(blocks);
    vt_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random), cmocka_unit_test(test_few_cuts),
        cmocka_unit_test(test_costs),  cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_wrong),
    };

    vt_function_register("add", kit_mix);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
