/* test_graph_starpu.c - graphs on StarPU's workers, where there is StarPU: the same results, failures, cancellation, what it cannot do. */
#include "graph_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int complain(struct vt_call *call)
{
    return vt_call_fail(call, "no");
}

static int cancel(struct vt_call *call)
{
    vt_run_cancel(call->run);
    return kit_mix(call);
}

static struct vt_run_options on_starpu(void)
{
    return (struct vt_run_options){
        .size = sizeof(struct vt_run_options), .scheduler = VT_STARPU, .workers = 2};
}

static vt_graph *lattice(void)
{
    vt_graph *graph = vt_graph_new();

    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t needs[3] = {i - 1, i - (i > 20 ? 20 : 1), i - (i > 7 ? 7 : 1)};

        vt_graph_call(graph, "add", kit_mix, NULL, needs, i ? i % 4 : 0);
    }
    return graph;
}

/* Skips the rest if this machine has no StarPU. */
static int has_starpu(void **state)
{
    struct vt_run_options options = on_starpu();
    vt_graph *graph = vt_graph_new();
    vt_run *run = vt_run_new(graph, &options);

    vt_graph_call(graph, "add", kit_mix, NULL, NULL, 0);
    *state = vt_run_go(run) == 0 ? run : NULL;
    if (*state == NULL) {
        assert_non_null(strstr(vt_run_error(run)->message, "starpu"));
        print_message("skipped: %s\n", vt_run_error(run)->message);
    }
    vt_run_free(run);
    vt_graph_free(graph);
    return 0;
}

static void test_results(void **state)
{
    struct vt_run_options options = on_starpu();
    vt_graph *graph;
    vt_run *expected, *run;

    if (*state == NULL)
        skip();
    graph = lattice();
    expected = vt_run_new(graph, NULL);
    run = vt_run_new(graph, &options);
    assert_int_equal(vt_run_go(expected), 0);
    assert_int_equal(vt_run_go(run), 0);
    for (size_t i = 0; vt_run_result(expected, i) != NULL; i++)
        assert_int_equal(vt_run_result(run, i)->as.number, vt_run_result(expected, i)->as.number);
    vt_run_free(expected);
    vt_run_free(run);
    vt_graph_free(graph);
}

static void test_failures(void **state)
{
    struct vt_run_options options = on_starpu();
    vt_graph *graph;
    vt_run *run;

    if (*state == NULL)
        skip();
    graph = lattice();
    options.retries = 2;
    vt_graph_task(graph, "bad", "complain", complain, NULL, NULL, 0);
    run = vt_run_new(graph, &options);
    assert_true(vt_run_go(run) < 0);
    assert_string_equal(vt_run_error(run)->key, "bad");
    assert_int_equal(vt_run_error(run)->tries, 3);
    vt_run_free(run);
    vt_graph_free(graph);
}

static void test_cancel(void **state)
{
    struct vt_run_options options = on_starpu();
    vt_graph *graph;
    uint32_t last;
    vt_run *run;

    if (*state == NULL)
        skip();
    graph = vt_graph_new();
    last = vt_graph_call(graph, "cancel", cancel, NULL, NULL, 0);
    for (int i = 0; i < 100; i++)
        last = vt_graph_call(graph, "add", kit_mix, NULL, &last, 1);
    run = vt_run_new(graph, &options);
    assert_true(vt_run_go(run) < 0);
    assert_null(vt_run_result(run, 0));
    vt_run_free(run);
    vt_graph_free(graph);
}

static void test_refused(void **state)
{
    struct vt_run_options options = on_starpu();
    vt_graph *graph = lattice();
    vt_run *run;

    (void)state;
    options.timeout = 1;
    run = vt_run_new(graph, &options);
    assert_true(vt_run_go(run) < 0);
    assert_non_null(strstr(vt_run_error(run)->message, "cannot end a task"));
    vt_run_free(run);
    vt_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_results, has_starpu),
        cmocka_unit_test_setup(test_failures, has_starpu),
        cmocka_unit_test_setup(test_cancel, has_starpu),
        cmocka_unit_test(test_refused),
    };

    setenv("STARPU_HOME", "/tmp",
           0); /* what it measures of the machine is not for the user's folder */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
