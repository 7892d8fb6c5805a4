/* test_samples.c - places that samples met, in a tree of calls: what is exact stays so; and nonsense. */
#include "calls_kit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct vti_calls_options merged = {.is_merged = true,
                                                .track = VT_NONE,
                                                .process = VT_NONE};

/* Sites 3 and 4 are two addresses of one function. */
static void start(struct kit *kit)
{
    kit_calls_start(kit, 1);
    kit_function(kit, 1, "outer", 0, "python");
    kit_function(kit, 2, "inner", 0, "python");
    kit_function(kit, 3, "native", 0, "c");
    kit_function(kit, 4, "native", 0, "c");
    kit_function(kit, 5, "leaf", 0, "c");
}

static void add_calls(struct kit *kit, uint32_t track)
{
    const struct vti_call_fact facts[] = {{1, 0, 1, 1, 0, 1000, 0, 1001, 1000, 0},
                                          {2, 1, 2, 4, 0, 400, 0, 101, 100, 0}};

    kit_calls(kit, track, facts, 2);
}

static void add_samples(struct kit *kit, uint32_t track, const struct vti_sample_fact *facts,
                        uint32_t count)
{
    struct vti_buf payload = {0};

    for (uint32_t i = 0; i < count; i++)
        vti_sample_write(&payload, &facts[i]);
    assert_int_equal(vti_writer_owned(kit->writer, VTI_SAMPLES, track, &payload, count, 90000), 0);
    vti_buf_fini(&payload);
}

static const struct vti_call *find(const struct vti_calls *calls, const char *name,
                                   const char *parent)
{
    for (size_t i = 0; i < calls->call_count; i++) {
        const struct vti_call *call = &calls->calls[i];
        const char *above = call->parent == VT_NONE
                                ? ""
                                : calls->functions[calls->calls[call->parent].function].name;

        if (!strcmp(calls->functions[call->function].name, name) && !strcmp(above, parent))
            return call;
    }
    fail_msg("no %s under '%s'", name, parent);
    return NULL;
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) < 1e-6))
        fail_msg("%f is not %f", a, b);
}

static void test_entries_survive(void **state)
{
    const struct vti_sample_fact sample = {3, 1, 2, 1u << 20, UINT64_MAX};
    const struct vti_sampling_fact sampling = {1, 2, 1, 1000000, 9, 8, 7, 6, UINT64_MAX};
    struct vti_sampling_fact got_sampling;
    struct vti_sample_fact got;
    struct vti_buf bytes = {0};
    struct vti_reader in;

    (void)state;
    vti_sample_write(&bytes, &sample);
    vti_sampling_write(&bytes, &sampling);
    vti_reader_init(&in, bytes.data, bytes.len);
    assert_true(vti_sample_read(&in, &got));
    assert_true(got.node == 3 && got.parent == 1 && got.site == 2);
    assert_true(got.samples == 1u << 20 && got.ns == UINT64_MAX);
    memset(&got_sampling, 0, sizeof got_sampling);
    assert_true(vti_sampling_read(&in, &got_sampling));
    assert_int_equal(got_sampling.period_ns, 1000000);
    assert_true(got_sampling.spent == UINT64_MAX && got_sampling.lost == 6);
    assert_int_equal(vti_reader_left(&in), 0);
    for (size_t len = 0; len < bytes.len; len++) {
        vti_reader_init(&in, bytes.data, len);
        assert_false(vti_sample_read(&in, &got) && vti_sampling_read(&in, &got_sampling));
    }
    vti_buf_fini(&bytes);
}

/* The caller's total and count stay; its own time is split. Addresses of one function are one place. */
static void test_split(void **state)
{
    const struct vti_sample_fact samples[] = {
        {10, 1, 3, 2, 200}, {11, 1, 4, 1, 100}, {12, 11, 5, 1, 100}, {13, 0, 5, 4, 400}};
    const struct vti_call *outer, *native;
    struct vti_calls calls;
    struct kit kit;

    (void)state;
    start(&kit);
    add_calls(&kit, 0);
    add_samples(&kit, 0, samples, 4);
    kit_close(&kit);
    kit_calls_load(&kit, &kit_all_calls, &calls);
    outer = find(&calls, "outer", "");
    native = find(&calls, "native", "outer");
    assert_true(calls.is_estimated);
    assert_near(calls.sample_ns, 100);
    assert_int_equal(calls.call_count, 5);
    assert_int_equal(outer->calls, 1);
    assert_near(outer->total_ns, 1000);
    assert_near(outer->self_ns, 200);
    assert_near(outer->sampled_ns, 400);
    assert_true(native->is_estimated && native->calls == 0 && native->samples == 3);
    assert_near(native->total_ns, 400);
    assert_near(native->self_ns, 300);
    assert_near(vti_calls_error(&calls, native->total_ns), 200);
    assert_near(find(&calls, "leaf", "native")->total_ns, 100);
    assert_near(find(&calls, "leaf", "")->total_ns, 400);
    vti_calls_fini(&calls);
    kit_fini(&kit);
}

/* More samples than the caller had time for: they share what there is. */
static void test_no_more_than_there_is(void **state)
{
    const struct vti_sample_fact samples[] = {{10, 2, 3, 6, 600}, {11, 10, 5, 2, 200}};
    struct vti_calls calls;
    struct kit kit;

    (void)state;
    start(&kit);
    add_calls(&kit, 0);
    add_samples(&kit, 0, samples, 2);
    kit_close(&kit);
    kit_calls_load(&kit, &kit_all_calls, &calls);
    assert_near(find(&calls, "inner", "outer")->total_ns, 400);
    assert_near(find(&calls, "inner", "outer")->self_ns, 0);
    assert_near(find(&calls, "native", "inner")->total_ns, 400);
    assert_near(find(&calls, "leaf", "native")->total_ns, 100);
    assert_near(find(&calls, "outer", "")->self_ns, 600);
    assert_near(vti_calls_error(&calls, 400), 200);
    assert_near(vti_calls_error(&calls, 30), 30); /* not 55: no more than there is */
    vti_calls_fini(&calls);
    kit_fini(&kit);
}

/* Time that no sample stands for: nothing is known of how far it is off. */
static void test_time_without_samples(void **state)
{
    const struct vti_sample_fact samples[] = {{10, 0, 3, 0, 600}, {11, 10, 5, 0, 200}};
    struct vti_calls calls;
    struct kit kit;

    (void)state;
    start(&kit);
    add_samples(&kit, 0, samples, 2);
    kit_close(&kit);
    kit_calls_load(&kit, &kit_all_calls, &calls);
    assert_true(calls.is_estimated);
    assert_near(find(&calls, "native", "")->total_ns, 800);
    assert_near(vti_calls_error(&calls, 800), 800);
    assert_near(vti_calls_error(&calls, 0), 0);
    vti_calls_fini(&calls);
    kit_fini(&kit);
}

static void test_tracks(void **state)
{
    const struct vti_sample_fact samples[] = {{10, 1, 3, 1, 100}};
    struct vti_calls calls;
    struct kit kit;

    (void)state;
    start(&kit);
    for (uint32_t track = 0; track < 2; track++) {
        add_calls(&kit, track);
        add_samples(&kit, track, samples, 1);
    }
    kit_close(&kit);
    kit_calls_load(&kit, &kit_all_calls, &calls);
    assert_int_equal(calls.call_count, 6);
    vti_calls_fini(&calls);
    kit_calls_load(&kit, &merged, &calls);
    assert_int_equal(calls.call_count, 3);
    assert_int_equal(find(&calls, "native", "outer")->samples, 2);
    assert_near(find(&calls, "native", "outer")->total_ns, 200);
    vti_calls_fini(&calls);
    kit_fini(&kit);
}

/* A circle, a place above itself, a parent and a site that are not there, numbers beyond all sense. */
static void test_nonsense(void **state)
{
    const struct vti_sample_fact samples[] = {
        {10, 11, 3, 1, 100},        {11, 10, 5, 1, 100}, {12, 12, 3, 1, 100},
        {13, 99, 5, 1, UINT64_MAX}, {14, 1, 77, 1, 100}, {15, 14, 5, UINT64_MAX, 0},
        {16, 15, 5, UINT64_MAX, 1}, {1, 0, 3, 1, 1}};
    struct vti_calls calls;
    struct kit kit;

    (void)state;
    start(&kit);
    add_calls(&kit, 0);
    add_samples(&kit, 0, samples, sizeof samples / sizeof *samples);
    kit_close(&kit);
    kit_calls_load(&kit, &kit_all_calls, &calls);
    assert_near(find(&calls, "outer", "")->total_ns, 1000);
    for (size_t i = 0; i < calls.call_count; i++) {
        assert_true(calls.calls[i].parent == VT_NONE || calls.calls[i].parent < i);
        assert_true(calls.calls[i].total_ns >= 0 && calls.calls[i].self_ns >= 0);
    }
    vti_calls_fini(&calls);
    kit_fini(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_entries_survive),
                                       cmocka_unit_test(test_split),
                                       cmocka_unit_test(test_no_more_than_there_is),
                                       cmocka_unit_test(test_time_without_samples),
                                       cmocka_unit_test(test_tracks),
                                       cmocka_unit_test(test_nonsense)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
