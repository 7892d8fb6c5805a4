/*
 * test_calls_spans.c - calls from the spans of a recording: the tree, times, our own cost, other spans in between, spans
 * left open, twins, one track or all together.
 */
#include "calls_kit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define FIRST_TICK 1000

enum { MAIN = 1, LOAD, READ, OTHER, TWIN };

static void add_facts(uint64_t pair_millis, uint64_t inner_millis)
{
    kit_clock(&kit, 1);
    kit_process(&kit, &(struct vti_process_fact){.process = 0,
                                                 .pid = 10,
                                                 .start = FIRST_TICK,
                                                 .pair_millis = pair_millis,
                                                 .inner_millis = inner_millis});
    kit_track(&kit, 0, 0, "main");
    kit_track(&kit, 1, 0, "worker");
    kit_function(&kit, MAIN, "main", 1, "python");
    kit_function(&kit, LOAD, "load", 2, "python");
    kit_function(&kit, READ, "read", 3, "python");
    kit_function(&kit, TWIN, "load", 2, "python");
    kit_site(&kit, OTHER, "not a function");
}

/* main calls load twice, once from within another span; the second load calls read, which calls load. */
static void add_spans(uint32_t track, uint64_t at)
{
    kit_begin(&kit, track, at, MAIN);
    kit_begin(&kit, track, at + 10, LOAD);
    kit_end(&kit, track, at + 30);
    kit_begin(&kit, track, at + 40, OTHER);
    kit_begin(&kit, track, at + 50, LOAD);
    kit_begin(&kit, track, at + 55, READ);
    kit_begin(&kit, track, at + 60, LOAD);
    kit_end(&kit, track, at + 65);
    kit_end(&kit, track, at + 80);
    kit_end(&kit, track, at + 90);
    kit_end(&kit, track, at + 95);
    kit_end(&kit, track, at + 200);
}

static struct vti_calls load(struct vti_calls_options options)
{
    struct vti_calls calls;

    kit_calls_load(&kit, &options, &calls);
    return calls;
}

static void check(const struct vti_calls *calls, uint32_t at, const char *name, uint32_t parent,
                  uint64_t count, double total, double self)
{
    const struct vti_call *call = &calls->calls[at];

    assert_true(at < calls->call_count);
    assert_string_equal(calls->functions[call->function].name, name);
    assert_int_equal(call->parent, parent);
    assert_int_equal(call->calls, count);
    assert_true(fabs(call->total_ns - total) < 1e-6);
    assert_true(fabs(call->self_ns - self) < 1e-6);
}

static void test_tree(void **state)
{
    struct vti_calls calls;

    (void)state;
    add_facts(0, 0);
    add_spans(0, FIRST_TICK);
    kit_close(&kit);
    calls = load(kit_all_calls);
    assert_int_equal(calls.call_count, 4);
    assert_int_equal(calls.function_count, 3);
    check(&calls, 0, "main", VT_NONE, 1, 200, 140);
    check(&calls, 1, "load", 0, 2, 60, 35);
    check(&calls, 2, "read", 1, 1, 25, 20);
    check(&calls, 3, "load", 2, 1, 5, 5);
    assert_true(calls.calls[1].shortest_ns == 20 && calls.calls[1].longest_ns == 40);
    assert_int_equal(vti_durations_count(calls.durations[calls.calls[1].function]), 3);
    vti_calls_fini(&calls);
}

static void test_own_cost_comes_off(void **state)
{
    struct vti_calls_options raw = kit_all_calls;
    struct vti_calls calls;

    (void)state;
    add_facts(2000, 1000); /* 2 ns around a span, 1 ns in it */
    add_spans(0, FIRST_TICK);
    kit_close(&kit);
    calls = load(kit_all_calls);
    check(&calls, 0, "main", VT_NONE, 1, 200 - 1 - 5 * 2, 189 - (60 - 2 - 2 * 2));
    check(&calls, 3, "load", 2, 1, 4, 4);
    assert_true(fabs(calls.cost_ns - 11) < 1e-6);
    vti_calls_fini(&calls);
    raw.is_raw = true;
    calls = load(raw);
    check(&calls, 0, "main", VT_NONE, 1, 200, 140);
    assert_true(calls.cost_ns == 0);
    vti_calls_fini(&calls);
}

static void test_tracks(void **state)
{
    struct vti_calls_options options = kit_all_calls;
    struct vti_calls calls;

    (void)state;
    add_facts(0, 0);
    add_spans(0, FIRST_TICK);
    add_spans(1, FIRST_TICK + 7);
    kit_close(&kit);
    calls = load(kit_all_calls);
    assert_int_equal(calls.call_count, 8);
    check(&calls, 4, "main", VT_NONE, 1, 200, 140);
    assert_int_equal(calls.calls[4].track, 1);
    vti_calls_fini(&calls);
    options.is_merged = true;
    calls = load(options);
    assert_int_equal(calls.call_count, 4);
    check(&calls, 1, "load", 0, 4, 120, 70);
    assert_int_equal(calls.calls[0].track, VT_NONE);
    vti_calls_fini(&calls);
    options.track = 1;
    calls = load(options);
    check(&calls, 1, "load", 0, 2, 60, 35);
    vti_calls_fini(&calls);
    options.track = VT_NONE;
    options.process = 9;
    calls = load(options);
    assert_int_equal(calls.call_count, 0);
    vti_calls_fini(&calls);
}

static void test_left_open(void **state)
{
    struct vti_calls calls;

    (void)state;
    add_facts(0, 0);
    kit_begin(&kit, 0, FIRST_TICK, MAIN);
    kit_begin(&kit, 0, FIRST_TICK + 10, LOAD);
    kit_end(&kit, 0, FIRST_TICK + 50);
    kit_begin(&kit, 0, FIRST_TICK + 60, READ);
    kit_track_end(&kit, 0, FIRST_TICK + 100);
    kit_abandon(&kit);
    calls = load(kit_all_calls);
    check(&calls, 0, "main", VT_NONE, 1, 100, 20);
    check(&calls, 2, "read", 0, 1, 40, 40);
    assert_true(calls.calls[0].is_open && !calls.calls[1].is_open && calls.calls[2].is_open);
    assert_true(isnan(calls.calls[2].shortest_ns));
    vti_calls_fini(&calls);
}

static void test_twins(void **state)
{
    struct vti_calls calls;

    (void)state;
    add_facts(0, 0);
    kit_begin(&kit, 0, FIRST_TICK, LOAD);
    kit_end(&kit, 0, FIRST_TICK + 10);
    kit_begin(&kit, 0, FIRST_TICK + 20, TWIN);
    kit_end(&kit, 0, FIRST_TICK + 50);
    kit_close(&kit);
    calls = load(kit_all_calls);
    assert_int_equal(calls.call_count, 2);
    assert_int_equal(calls.functions[calls.calls[0].function].twin, 0);
    assert_int_equal(calls.functions[calls.calls[1].function].twin, 1);
    vti_calls_fini(&calls);
}

static void test_no_functions(void **state)
{
    struct vti_calls calls;

    (void)state;
    kit_random(&kit, 2, 200, 5, 4, 100, 10, true);
    kit_close(&kit);
    calls = load(kit_all_calls);
    assert_int_equal(calls.call_count, 0);
    vti_calls_fini(&calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tree, kit_set_up, kit_tear_down),
        cmocka_unit_test_setup_teardown(test_own_cost_comes_off, kit_set_up, kit_tear_down),
        cmocka_unit_test_setup_teardown(test_tracks, kit_set_up, kit_tear_down),
        cmocka_unit_test_setup_teardown(test_left_open, kit_set_up, kit_tear_down),
        cmocka_unit_test_setup_teardown(test_twins, kit_set_up, kit_tear_down),
        cmocka_unit_test_setup_teardown(test_no_functions, kit_set_up, kit_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
