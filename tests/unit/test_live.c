/* test_live.c - durations and rates of a live state: buckets, percentiles, the last second. */
#include "live/rate.h"
#include "live/state.h"
#include "live/times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS 1000000LL
#define S 1000000000LL

static void bounds_are_in_order(void **state)
{
    (void)state;
    assert_int_equal(vti_live_bounds[0], 1000);
    assert_int_equal(vti_live_bounds[VTI_LIVE_BUCKETS - 2], 1000 * S);
    for (unsigned i = 1; i < VTI_LIVE_BUCKETS - 1; i++)
        assert_true(vti_live_bounds[i] > vti_live_bounds[i - 1]);
}

/* A duration is in the first bucket whose bound it does not exceed. */
static void buckets(void **state)
{
    (void)state;
    assert_int_equal(vti_times_bucket(-5), 0);
    assert_int_equal(vti_times_bucket(0), 0);
    for (unsigned i = 0; i < VTI_LIVE_BUCKETS - 1; i++) {
        assert_int_equal(vti_times_bucket(vti_live_bounds[i]), i);
        assert_int_equal(vti_times_bucket(vti_live_bounds[i] + 1), i + 1);
        assert_int_equal(vti_times_bucket(vti_live_bounds[i] - 1), i);
    }
    assert_int_equal(vti_times_bucket(INT64_MAX), VTI_LIVE_BUCKETS - 1);
}

static void times(void **state)
{
    struct vti_times times = {0};
    uint64_t sum = 0;

    (void)state;
    for (int64_t i = 1; i <= 1000; i++)
        assert_int_equal(vti_times_add(&times, i * MS, i > 900), 0);
    vti_times_show(&times, 0);
    assert_int_equal(times.shown.count, 1000);
    assert_int_equal(times.shown.sum_ns, 500500 * MS);
    assert_int_equal(times.shown.min_ns, MS);
    assert_int_equal(times.shown.max_ns, 1000 * MS);
    assert_in_range(times.shown.p50_ns, 490 * MS, 510 * MS);
    assert_in_range(times.shown.p99_ns, 980 * MS, 1000 * MS);
    assert_in_range(times.shown.recent_p50_ns, 940 * MS, 960 * MS);
    for (unsigned i = 0; i < VTI_LIVE_BUCKETS; i++)
        sum += times.shown.buckets[i];
    assert_int_equal(sum, 1000);
    /* What is not recent any more: the half that was begun first, then the other. */
    vti_times_turn(&times, 0);
    vti_times_show(&times, 1);
    assert_in_range(times.shown.recent_p50_ns, 940 * MS, 960 * MS);
    vti_times_turn(&times, 1);
    vti_times_show(&times, 0);
    assert_int_equal(times.shown.recent_p50_ns, 0);
    vti_times_add(&times, INT64_MAX, false);
    vti_times_add(&times, INT64_MAX, false);
    assert_int_equal(times.shown.sum_ns, INT64_MAX);
    vti_times_clear(&times);
    assert_int_equal(times.shown.count, 0);
}

static void rates(void **state)
{
    struct vti_beat beat = {0};
    struct vti_rate rate = {0};
    uint64_t value = 0;

    (void)state;
    assert_true(vti_rate_of(&rate, &beat, 5) == 0);
    for (int64_t now = S; now <= 10 * S; now += 100 * MS) {
        value += 10;
        if (vti_beat_move(&beat, now))
            vti_rate_keep(&rate, &beat, value);
        if (now > 3 * S)
            assert_in_range((uint64_t)vti_rate_of(&rate, &beat, value), 95, 105);
    }
    /* It stands still: after a little more than a second that is all that is known. */
    for (int64_t now = 10 * S; now <= 12 * S; now += 250 * MS)
        if (vti_beat_move(&beat, now))
            vti_rate_keep(&rate, &beat, value);
    assert_true(vti_rate_of(&rate, &beat, value) == 0);
    vti_rate_settle(&rate, 1000000);
    assert_true(vti_rate_of(&rate, &beat, 1000000) == 0);
    assert_true(vti_rate_of(&rate, &beat, 5) == 0); /* never negative */
}

/* A block that comes right after the beginning does not make a peak. */
static void first_moment(void **state)
{
    struct vti_beat beat = {0};
    struct vti_rate rate = {0};

    (void)state;
    assert_true(vti_beat_move(&beat, S));
    vti_rate_settle(&rate, 1000);
    vti_beat_move(&beat, S + 100 * MS);
    assert_true(vti_rate_of(&rate, &beat, 1500) <= 500);
    assert_true(vti_rate_of(&rate, &beat, 1500) > 0);
}

/* The share of user time changes: neither part of CPU time goes back, and both are all of it. */
static void parts_of_cpu_time(void **state)
{
    static const uint64_t steps[][2] = {{0, 0},    {100, 0},   {200, 190},
                                        {300, 60}, {310, 310}, {1000, 500}};
    const uint32_t known = 1u << VTI_RESOURCE_CPU_NS | 1u << VTI_RESOURCE_USER_NS;
    struct vti_readings readings = {0};
    struct vti_live_usage usage;
    uint64_t user = 0;
    uint64_t system = 0;

    (void)state;
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        uint64_t values[VTI_RESOURCE_COUNT] = {0};

        values[VTI_RESOURCE_CPU_NS] = steps[i][0];
        values[VTI_RESOURCE_USER_NS] = steps[i][1];
        vti_readings_add(&readings, i * MS, known, values);
        vti_readings_usage(&readings, &readings, false, &usage);
        assert_int_equal(usage.cpu_ns, steps[i][0]);
        assert_true(usage.user_ns >= user && usage.cpu_ns - usage.user_ns >= system);
        user = usage.user_ns;
        system = usage.cpu_ns - usage.user_ns;
    }
    assert_int_equal(user, 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_in_order),
        cmocka_unit_test(buckets),
        cmocka_unit_test(times),
        cmocka_unit_test(rates),
        cmocka_unit_test(first_moment),
        cmocka_unit_test(parts_of_cpu_time),
    };

    return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
