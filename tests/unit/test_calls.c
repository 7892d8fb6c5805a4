/* test_calls.c - trees of calls in a recording: entries, later ones that replace earlier, cost, and nonsense. */
#include "calls_kit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void start(struct kit *kit)
{
    kit_calls_start(kit, 2);
    kit_function(kit, 1, "outer", 1, "python");
    kit_function(kit, 2, "inner", 5, "python");
}

static void add_cost(struct kit *kit, uint64_t pair_millis, uint64_t inner_millis)
{
    struct vti_cost_fact cost = {0, 1, pair_millis, inner_millis};
    struct vti_buf payload = {0};

    vti_cost_write(&payload, &cost);
    kit_fact(kit, VTI_COSTS, &payload, 1);
    vti_buf_fini(&payload);
}

static void test_entries_survive(void **state)
{
    struct vti_call_fact call = {3, 1, 2, 1u << 20, 7, UINT64_MAX, 5, 1, 1ull << 40, 0};
    struct vti_durations_fact durations = {.site = 9};
    struct vti_durations_fact got_durations;
    struct vti_call_fact got;
    struct vti_buf bytes = {0};
    struct vti_buf again = {0};
    struct vti_reader in;

    (void)state;
    durations.counts[0] = 3;
    durations.counts[127] = UINT64_MAX;
    vti_call_write(&bytes, &call);
    vti_durations_write(&bytes, &durations);
    vti_reader_init(&in, bytes.data, bytes.len);
    assert_true(vti_call_read(&in, &got));
    vti_call_write(&again, &got);
    assert_true(vti_durations_read(&in, &got_durations));
    assert_memory_equal(got_durations.counts, durations.counts, sizeof durations.counts);
    assert_int_equal(vti_reader_left(&in), 0);
    vti_durations_write(&again, &got_durations);
    assert_int_equal(again.len, bytes.len);
    assert_memory_equal(again.data, bytes.data, bytes.len);
    for (size_t len = 0; len < bytes.len; len++) { /* cut off anywhere: no entry */
        vti_reader_init(&in, bytes.data, len);
        assert_false(vti_call_read(&in, &got) && vti_durations_read(&in, &got_durations));
    }
    vti_buf_fini(&again);
    vti_buf_fini(&bytes);
}

static void test_later_numbers_replace(void **state)
{
    const struct vti_call_fact first[] = {{1, 0, 1, 1, 0, 0, 0, 0, 0, 201},
                                          {2, 1, 2, 5, 0, 100, 0, 11, 40, 0}};
    const struct vti_call_fact second[] = {{1, 0, 1, 1, 0, 2000, 0, 2001, 2000, 0},
                                           {2, 1, 2, 9, 0, 600, 0, 11, 400, 0}};
    struct vti_calls calls;
    struct kit kit;

    (void)state;
    start(&kit);
    kit_calls(&kit, 0, first, 2);
    kit_calls(&kit, 0, second, 2);
    kit_close(&kit);
    kit_calls_load(&kit, &kit_all_calls, &calls);
    assert_int_equal(calls.call_count, 2);
    assert_int_equal(calls.calls[1].calls, 9);
    assert_int_equal(calls.calls[1].parent, 0);
    assert_float_equal(calls.calls[0].total_ns, 1000, 1e-9); /* two ticks are a nanosecond */
    assert_float_equal(calls.calls[0].self_ns, 700, 1e-9);
    assert_float_equal(calls.calls[1].shortest_ns, 5, 1e-9);
    assert_false(calls.calls[0].is_open);
    vti_calls_fini(&calls);
    kit_fini(&kit);
}

static void test_open_calls_count_up_to_the_snapshot(void **state)
{
    const struct vti_call_fact nodes[] = {{1, 0, 1, 1, 0, 50, 0, 51, 50, 201}};
    struct vti_calls calls;
    struct kit kit;

    (void)state;
    start(&kit);
    kit_calls(&kit, 0, nodes, 1);
    kit_abandon(&kit); /* as after a crash */
    kit_calls_load(&kit, &kit_all_calls, &calls);
    assert_int_equal(calls.call_count, 1);
    assert_true(calls.calls[0].is_open);
    assert_float_equal(calls.calls[0].total_ns, 125, 1e-9);
    vti_calls_fini(&calls);
    kit_fini(&kit);
}

static void test_cost_is_subtracted(void **state)
{
    const struct vti_call_fact nodes[] = {{1, 0, 1, 1, 0, 20000, 0, 1, 20000, 0},
                                          {2, 1, 2, 100, 0, 12000, 0, 1, 400, 0}};
    struct vti_calls_options raw = kit_all_calls;
    struct vti_calls calls;
    struct kit kit;

    (void)state;
    start(&kit);
    kit_calls(&kit, 0, nodes, 2);
    add_cost(&kit, 60000, 20000); /* 60 ticks around a call, of which it sees 20 */
    kit_close(&kit);
    kit_calls_load(&kit, &kit_all_calls, &calls);
    /* inner: 12,000 - 100 * 20 ticks; outer: 20,000 - 12,000 - 20 - 100 * 40 */
    assert_float_equal(calls.calls[1].self_ns, 5000, 1e-9);
    assert_float_equal(calls.calls[0].self_ns, 1990, 1e-9);
    assert_float_equal(calls.calls[0].total_ns, 6990, 1e-9);
    /* what the outermost call costs outside of itself is in nobody's time */
    assert_float_equal(calls.cost_ns, 101 * 30 - 20, 1e-9);
    vti_calls_fini(&calls);
    raw.is_raw = true;
    kit_calls_load(&kit, &raw, &calls);
    assert_float_equal(calls.calls[0].total_ns, 10000, 1e-9);
    assert_float_equal(calls.cost_ns, 0, 1e-9);
    vti_calls_fini(&calls);
    kit_fini(&kit);
}

/* A cost that is more than was measured, in a call or around it, takes no more than there is. */
static void test_cost_leaves_nothing_negative(void **state)
{
    const struct vti_call_fact nodes[] = {{1, 0, 1, 1, 0, 20000, 0, 20001, 20000, 0},
                                          {2, 1, 2, 100, 0, 12000, 0, 3, 400, 0},
                                          {3, 2, 1, 1000, 0, 9000, 0, 1, 9, 0},
                                          {4, 3, 2, 3, 5, 8999, 0, 1, 8999, 0}};
    struct vti_calls calls;
    struct kit kit;

    (void)state;
    for (uint64_t inner = 0; inner <= 1u << 20; inner = 2 * inner + 1) {
        start(&kit);
        kit_calls(&kit, 0, nodes, 4);
        add_cost(&kit, 3 * inner, inner);
        kit_close(&kit);
        kit_calls_load(&kit, &kit_all_calls, &calls);
        assert_int_equal(calls.call_count, 4);
        for (size_t i = 0; i < calls.call_count; i++) {
            const struct vti_call *call = &calls.calls[i];

            assert_true(call->self_ns >= 0 && call->self_ns <= call->total_ns);
            assert_true(call->total_ns <= (double)nodes[i].total / 2 + 1e-9);
            assert_true(!(call->shortest_ns < 0) && !(call->longest_ns < call->shortest_ns));
            if (i)
                assert_true(call->total_ns <= calls.calls[i - 1].total_ns);
        }
        /* what is said to be subtracted is what is missing */
        assert_float_equal(calls.calls[0].total_ns + calls.cost_ns, 10000, 1e-6);
        vti_calls_fini(&calls);
        kit_fini(&kit);
    }
}

static void test_tracks_can_be_merged(void **state)
{
    const struct vti_call_fact nodes[] = {{1, 0, 1, 1, 0, 20, 0, 21, 20, 0},
                                          {2, 1, 2, 4, 0, 12, 0, 3, 6, 0}};
    struct vti_calls_options options = kit_all_calls;
    struct vti_calls calls;
    struct kit kit;

    (void)state;
    start(&kit);
    kit_calls(&kit, 0, nodes, 2);
    kit_calls(&kit, 1, nodes, 2);
    kit_close(&kit);
    kit_calls_load(&kit, &options, &calls);
    assert_int_equal(calls.call_count, 4);
    vti_calls_fini(&calls);
    options.is_merged = true;
    kit_calls_load(&kit, &options, &calls);
    assert_int_equal(calls.call_count, 2);
    assert_int_equal(calls.calls[1].calls, 8);
    assert_float_equal(calls.calls[0].total_ns, 20, 1e-9);
    vti_calls_fini(&calls);
    options.track = 1;
    kit_calls_load(&kit, &options, &calls);
    assert_int_equal(calls.calls[1].calls, 4);
    vti_calls_fini(&calls);
    kit_fini(&kit);
}

static void test_nonsense_makes_roots(void **state)
{
    const struct vti_call_fact nodes[] = {{1, 3, 1, 1, 0, 20, 0, 21, 20, 0}, /* 1 -> 3 -> 2 -> 1 */
                                          {2, 1, 2, 4, 0, 12, 0, 3, 6, 0},
                                          {3, 2, 2, 4, 0, 12, 0, 3, 6, 0},
                                          {4, 99, 2, 1, 0, 1, 0, 1, 1, 0}, /* no such parent */
                                          {5, 5, 1, 1, 0, 1, 0, 1, 1, 0},  /* its own parent */
                                          {6, 5, 77, 1, 0, 1, 0, 1, 1, 0}, /* no such function */
                                          {7, 6, 1, 1, 0, 1, 0, 1, 1, 0}};
    struct vti_calls calls;
    struct kit kit;

    (void)state;
    start(&kit);
    kit_calls(&kit, 0, nodes, 7);
    kit_close(&kit);
    kit_calls_load(&kit, &kit_all_calls, &calls);
    for (size_t i = 0; i < calls.call_count; i++) {
        assert_true(calls.calls[i].parent == VT_NONE || calls.calls[i].parent < i);
        assert_true(calls.calls[i].self_ns >= 0);
    }
    vti_calls_fini(&calls);
    kit_fini(&kit);
}

static void test_a_block_that_does_not_parse_is_damage(void **state)
{
    struct vti_buf payload = {0};
    struct vt_recording_info info;
    struct vti_calls calls;
    vt_recording *recording;
    struct kit kit;

    (void)state;
    start(&kit);
    vti_buf_add_varint(&payload, 1);
    assert_int_equal(vti_writer_owned(kit.writer, VTI_CALL_TREE, 0, &payload, 3, 1), 0);
    vti_buf_fini(&payload);
    kit_close(&kit);
    recording = kit_open(&kit);
    assert_int_equal(vti_calls_load(&calls, recording, &kit_all_calls), 0);
    assert_int_equal(calls.call_count, 0);
    vt_recording_info(recording, &info);
    assert_int_equal(info.damage_count, 1);
    vti_calls_fini(&calls);
    vt_recording_close(recording);
    kit_fini(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries_survive),
        cmocka_unit_test(test_later_numbers_replace),
        cmocka_unit_test(test_open_calls_count_up_to_the_snapshot),
        cmocka_unit_test(test_cost_is_subtracted),
        cmocka_unit_test(test_cost_leaves_nothing_negative),
        cmocka_unit_test(test_tracks_can_be_merged),
        cmocka_unit_test(test_nonsense_makes_roots),
        cmocka_unit_test(test_a_block_that_does_not_parse_is_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
