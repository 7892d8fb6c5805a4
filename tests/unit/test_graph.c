/* test_graph.c - graphs as they are built and checked: keys, arguments, aliases, what is missing, cycles. */
#include "graph_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int64_t result_of(vt_graph *graph, const char *key)
{
    vt_run *run = vt_run_new(graph, NULL);
    int64_t number;

    assert_int_equal(vt_run_want(run, key), 0);
    assert_int_equal(vt_run_go(run), 0);
    assert_null(vt_run_error(run));
    number = kit_number(vt_run_result(run, 0));
    vt_run_free(run);
    return number;
}

static void arguments_of_all_kinds(void **state)
{
    vt_graph *graph = vt_graph_new();
    uint32_t first;

    (void)state;
    kit_begin();
    first = vt_graph_literal(graph, "x", kit_value(10));
    assert_int_equal(first, 0);
    vt_graph_task(graph, "y", "sum", kit_sum, NULL,
                  (struct vt_arg[]){VT_ARG_KEY("x"),
                                    VT_ARG_KEY("later"),
                                    VT_ARG_INT(100),
                                    VT_ARG_TASK(first),
                                    VT_ARG_KEY("x"),
                                    {VT_ARG_IS_VALUE, NULL, 0, kit_value(1000)}},
                  6);
    vt_graph_alias(graph, "later", "other");
    vt_graph_alias(graph, "other", "z");
    vt_graph_task(graph, "z", "sum", kit_sum, NULL, NULL, 0);
    assert_int_equal(result_of(graph, "y"), 1 + 10 + 1 + 100 + 10 + 10 + 1000);
    assert_int_equal(result_of(graph, "later"), 1);
    assert_int_equal(result_of(graph, "x"), 10);
    vt_graph_free(graph);
    kit_end();
}

static void keys_and_names(void **state)
{
    vt_graph *graph = vt_graph_new();
    char text[32];
    uint32_t i;

    (void)state;
    for (i = 0; i < 10000; i++) {
        snprintf(text, sizeof text, "key %u", i);
        assert_int_equal(vt_graph_task(graph, i % 2 ? text : NULL, i % 3 ? "three" : "none",
                                       kit_sum, NULL, NULL, 0),
                         i);
    }
    assert_int_equal(vt_graph_find(graph, "key 9999"), 9999);
    assert_int_equal(vt_graph_find(graph, "key 9998"), VT_NO_TASK);
    assert_string_equal(vt_graph_key(graph, 9999), "key 9999");
    assert_string_equal(vt_graph_key(graph, 9998), "#9998");
    assert_string_equal(vt_graph_name(graph, 9998), "three");
    assert_string_equal(vt_graph_name(graph, 0), "none");
    assert_int_equal(vt_graph_count(graph), 10000);
    assert_int_equal(vt_graph_task(graph, "key 7", "", kit_sum, NULL, NULL, 0), VT_NO_TASK);
    assert_string_equal(vt_graph_error(graph), "key 'key 7' is there already");
    assert_int_equal(vt_graph_count(graph), 10000);
    vt_graph_free(graph);
}

static void what_is_refused_is_destroyed(void **state)
{
    vt_graph *graph = vt_graph_new();

    (void)state;
    kit_begin();
    vt_graph_literal(graph, "x", kit_value(1));
    assert_int_equal(vt_graph_literal(graph, "x", kit_value(2)), VT_NO_TASK);
    assert_int_equal(vt_graph_task(graph, "x", "", kit_sum, NULL,
                                   (struct vt_arg[]){{VT_ARG_IS_VALUE, NULL, 0, kit_value(3)}}, 1),
                     VT_NO_TASK);
    assert_int_equal(kit_made, 3);
    assert_int_equal(kit_destroyed, 2);
    vt_graph_free(graph);
    kit_end();
}

static void nothing_may_be_missing(void **state)
{
    vt_graph *graph = vt_graph_new();

    (void)state;
    kit_begin();
    assert_int_equal(vt_graph_task(graph, "x", "", NULL, NULL,
                                   (struct vt_arg[]){{VT_ARG_IS_VALUE, NULL, 0, kit_value(3)}}, 1),
                     VT_NO_TASK);
    assert_string_equal(vt_graph_error(graph), "task 'x' has no function");
    assert_int_equal(kit_destroyed, 1);
    assert_int_equal(vt_graph_call(graph, "", NULL, NULL, NULL, 0), VT_NO_TASK);
    assert_string_equal(vt_graph_error(graph), "task '#0' has no function");
    assert_int_equal(
        vt_graph_task(graph, "x", "", kit_sum, NULL, (struct vt_arg[]){VT_ARG_KEY(NULL)}, 1),
        VT_NO_TASK);
    assert_string_equal(vt_graph_error(graph), "argument 0 of 'x' names no key");
    assert_int_equal(vt_graph_alias(graph, "x", NULL), VT_NO_TASK);
    assert_string_equal(vt_graph_error(graph), "alias 'x' names no key");
    assert_int_equal(vt_graph_count(graph), 0);
    assert_int_equal(vt_graph_find(graph, NULL), VT_NO_TASK);
    vt_graph_free(graph);
    kit_end();
}

static void errors_are_one_line(void **state)
{
    vt_graph *graph = vt_graph_new();

    (void)state;
    vt_graph_alias(graph, "a\nb\x1b[31m", "a\nb\x1b[31m");
    assert_true(vt_graph_check(graph) < 0);
    assert_string_equal(vt_graph_error(graph), "cycle: a b [31m -> a b [31m");
    vt_graph_free(graph);
}

static void missing_keys_are_named(void **state)
{
    vt_graph *graph = vt_graph_new();
    vt_run *run;

    (void)state;
    vt_graph_task(graph, "y", "", kit_sum, NULL, (struct vt_arg[]){VT_ARG_KEY("nowhere")}, 1);
    vt_graph_alias(graph, "z", "also nowhere");
    vt_graph_call(graph, "", kit_sum, NULL, (uint32_t[]){77}, 1);
    assert_true(vt_graph_check(graph) < 0);
    assert_string_equal(vt_graph_error(graph),
                        "missing: key 'nowhere', needed by 'y', key 'also nowhere', needed by 'z', "
                        "task #77, needed by '#2'");
    run = vt_run_new(graph, NULL);
    assert_true(vt_run_go(run) < 0);
    assert_string_equal(vt_run_error(run)->message, vt_graph_error(graph));
    assert_null(vt_run_result(run, 0));
    vt_run_free(run);
    vt_graph_task(graph, "nowhere", "", kit_sum, NULL, NULL, 0);
    assert_true(vt_graph_check(graph) < 0);
    assert_non_null(strstr(vt_graph_error(graph), "missing: key 'also nowhere'"));
    vt_graph_free(graph);
}

static void cycles_are_named_in_full(void **state)
{
    vt_graph *graph = vt_graph_new();

    (void)state;
    vt_graph_task(graph, "before", "", kit_sum, NULL, (struct vt_arg[]){VT_ARG_KEY("a")}, 1);
    vt_graph_task(graph, "a", "", kit_sum, NULL, (struct vt_arg[]){VT_ARG_KEY("b")}, 1);
    vt_graph_alias(graph, "b", "c");
    vt_graph_task(graph, "c", "", kit_sum, NULL, (struct vt_arg[]){VT_ARG_INT(1), VT_ARG_KEY("a")},
                  2);
    assert_true(vt_graph_check(graph) < 0);
    assert_string_equal(vt_graph_error(graph), "cycle: a -> b -> c -> a");
    vt_graph_free(graph);

    graph = vt_graph_new();
    vt_graph_alias(graph, "a", "b");
    vt_graph_alias(graph, "b", "a");
    assert_true(vt_graph_check(graph) < 0);
    assert_string_equal(vt_graph_error(graph), "cycle: a -> b -> a");
    vt_graph_free(graph);

    graph = vt_graph_new();
    vt_graph_task(graph, "self", "", kit_sum, NULL, (struct vt_arg[]){VT_ARG_KEY("self")}, 1);
    assert_true(vt_graph_check(graph) < 0);
    assert_string_equal(vt_graph_error(graph), "cycle: self -> self");
    vt_graph_free(graph);
}

static void long_cycles_are_shortened(void **state)
{
    vt_graph *graph = vt_graph_new();
    uint32_t i;

    (void)state;
    for (i = 0; i < 100000; i++)
        vt_graph_call(graph, "", kit_sum, NULL, (uint32_t[]){(i + 1) % 100000}, 1);
    assert_true(vt_graph_check(graph) < 0);
    assert_non_null(strstr(vt_graph_error(graph), "cycle: #0 -> #1 -> "));
    assert_non_null(strstr(vt_graph_error(graph), "(99984 more) -> #99996 -> "));
    assert_non_null(strstr(vt_graph_error(graph), "#99999 -> #0 (100000 keys)"));
    assert_true(strlen(vt_graph_error(graph)) < 1000);
    vt_graph_free(graph);
}

static void long_chains_of_aliases(void **state)
{
    vt_graph *graph = vt_graph_new();
    char key[32], other[32];
    int i;

    (void)state;
    for (i = 0; i < 50000; i++) {
        snprintf(key, sizeof key, "a%d", i);
        snprintf(other, sizeof other, "a%d", i + 1);
        vt_graph_alias(graph, key, other);
    }
    vt_graph_literal(graph, "a50000", vt_datum_int(7));
    assert_int_equal(result_of(graph, "a0"), 7);
    assert_int_equal(result_of(graph, "a25000"), 7);
    vt_graph_free(graph);
}

static void a_graph_may_grow_between_runs(void **state)
{
    vt_graph *graph = vt_graph_new();
    vt_run *run = vt_run_new(graph, NULL);
    struct vt_task known;
    int is_estimated;

    (void)state;
    vt_graph_task(graph, "x", "sum", kit_sum, NULL, NULL, 0);
    vt_graph_task(graph, "y", "sum", kit_sum, NULL, (struct vt_arg[]){VT_ARG_KEY("x")}, 1);
    assert_int_equal(vt_run_go(run), 0);
    vt_graph_task(graph, "z", "sum", kit_sum, NULL, (struct vt_arg[]){VT_ARG_KEY("y")}, 1);
    assert_int_equal(result_of(graph, "z"), 3);
    assert_int_equal(kit_number(vt_run_result(run, 0)), 2);
    assert_int_equal(vt_run_task(run, 1, &known, &is_estimated), 1);
    assert_int_equal(known.dependency_count, 1);
    assert_int_equal(known.dependencies[0], 0);
    assert_string_equal(known.key, "y");
    assert_int_equal(vt_run_task(run, 2, &known, &is_estimated), 0);
    vt_graph_free(graph);
    vt_run_free(run);
}

/* As in messages and recordings. */
static void a_task_without_a_key_is_its_number(void **state)
{
    vt_graph *graph = vt_graph_new();
    vt_run *run = vt_run_new(graph, NULL);
    struct vt_task known;
    int is_estimated;

    (void)state;
    vt_graph_task(graph, "x", "sum", kit_sum, NULL, NULL, 0);
    vt_graph_task(graph, NULL, "sum", kit_sum, NULL, (struct vt_arg[]){VT_ARG_KEY("x")}, 1);
    assert_int_equal(vt_run_go(run), 0);
    assert_int_equal(vt_run_task(run, 1, &known, &is_estimated), 1);
    assert_string_equal(known.key, "#1");
    assert_int_equal(known.key_bytes, 2);
    vt_graph_free(graph);
    vt_run_free(run);
}

static void bytes_of_a_task(void **state)
{
    vt_graph *graph = vt_graph_new();
    uint32_t task = vt_graph_call(graph, "", kit_sum, NULL, NULL, 0);

    (void)state;
    assert_int_equal(vt_graph_user_bytes(graph, task, "abc", 4), 0);
    assert_int_equal(vt_graph_user_bytes(graph, task, "abcdef", 7), 0);
    assert_int_equal(vt_graph_user_bytes(graph, task, NULL, 0), 0);
    assert_true(vt_graph_user_bytes(graph, 5, "abc", 4) < 0);
    vt_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_of_all_kinds),
        cmocka_unit_test(keys_and_names),
        cmocka_unit_test(what_is_refused_is_destroyed),
        cmocka_unit_test(nothing_may_be_missing),
        cmocka_unit_test(errors_are_one_line),
        cmocka_unit_test(missing_keys_are_named),
        cmocka_unit_test(cycles_are_named_in_full),
        cmocka_unit_test(long_cycles_are_shortened),
        cmocka_unit_test(long_chains_of_aliases),
        cmocka_unit_test(a_graph_may_grow_between_runs),
        cmocka_unit_test(a_task_without_a_key_is_its_number),
        cmocka_unit_test(bytes_of_a_task),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
