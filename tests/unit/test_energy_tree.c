/* test_energy_tree.c - readings of a recording become shares: what the tool says is what a meter says of the same. */
#include "energy_kit.h"

#include "analyze/energy_impl.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define READINGS_MOST 512
#define TICK_NS 100000000
#define MEMORY 1000000u

/* A recording's readings, made by hand. */
static struct vti_energy_log_tree log_tree;
static struct vti_energy_log_source sources[VTI_ENERGY_SOURCES_MAX];
static struct vti_energy_log_reading readings[READINGS_MOST];
static uint64_t values[READINGS_MOST * 8];
static struct vti_resource_point points[READINGS_MOST];
static struct vti_resource_tree processes;
static struct vti_resources resources;
static struct vti_energy_tree tree;

static int begin(void **state)
{
    (void)state;
    memset(sources, 0, sizeof sources);
    log_tree = (struct vti_energy_log_tree){.sources = sources,
                                            .readings = readings,
                                            .values = values,
                                            .cpus = 4,
                                            .memory_bytes = MEMORY};
    processes = (struct vti_resource_tree){.series = {.points = points}};
    resources = (struct vti_resources){.trees = &processes, .tree_count = 1};
    memset(&tree, 0, sizeof tree);
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(tree.intervals);
    tree.intervals = NULL;
    return 0;
}

static void source(uint32_t part, uint32_t how, uint32_t inside)
{
    sources[log_tree.source_count++] = (struct vti_energy_log_source){.is_defined = true,
                                                                      .part = part,
                                                                      .how = how,
                                                                      .inside = inside,
                                                                      .name = (char *)"",
                                                                      .from = (char *)"",
                                                                      .note = (char *)""};
}

/* A reading `at` tenths of a second after the first, of all sources that are not negative. */
static void reading(double at, double own_s, double busy_s, ...)
{
    struct vti_energy_log_reading *to = &readings[log_tree.reading_count];
    struct vti_resource_point *point = &points[log_tree.reading_count++];
    va_list joules;

    *to = (struct vti_energy_log_reading){.time_ns = (int64_t)(at * TICK_NS),
                                          .first = log_tree.value_count};
    va_start(joules, busy_s);
    for (uint32_t i = 0; i < log_tree.source_count; i++) {
        double value = va_arg(joules, double);

        if (value < 0)
            continue;
        to->known |= UINT64_C(1) << i;
        values[log_tree.value_count++] = (uint64_t)(value * 1e6 + 0.5);
    }
    va_end(joules);
    *point = (struct vti_resource_point){.time_ns = to->time_ns};
    point->known = (own_s >= 0) << VTI_RESOURCE_CPU_NS | (busy_s >= 0) << VTI_RESOURCE_MACHINE_NS |
                   1u << VTI_RESOURCE_MEMORY_BYTES;
    point->values[VTI_RESOURCE_CPU_NS] = (uint64_t)(fmax(own_s, 0) * 1e9 + 0.5);
    point->values[VTI_RESOURCE_MACHINE_NS] = (uint64_t)(fmax(busy_s, 0) * 1e9 + 0.5);
    point->values[VTI_RESOURCE_MEMORY_BYTES] = MEMORY / 4;
    processes.series.count = log_tree.reading_count;
}

static void make(void)
{
    assert_int_equal(vti_energy_tree_make(&tree, &log_tree, &resources), 0);
}

/* ---- what is known --------------------------------------------------------------------------- */

/* Half of what the machine did at 50 W. */
static void test_half(void **state)
{
    (void)state;
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, VT_NONE);
    for (int i = 0; i <= 20; i++)
        reading(i, 0.1 * i, 0.2 * i, 5.0 * i);
    make();
    assert_int_equal(tree.interval_count, 20);
    assert_near(tree.all.gross_j, 100, 1e-9);
    assert_near(tree.all.full_j, 50, 1e-9);
    assert_true(isnan(tree.all.dynamic_j)); /* it never rested, and nobody measured it */
    assert_true(isnan(tree.rest_watts));
    assert_near(tree.wall_s, 2, 1e-9);
    assert_near(tree.own_s, 2, 1e-9);
    assert_near(tree.busy_s, 4, 1e-9);
    assert_near(tree.unknown_s, 0, 0);
    /* 50 W for two CPUs. */
    assert_near(vti_energy_price(&tree, 0, 2000000000).full, 25, 1e-9);
    assert_near(vti_energy_price(&tree, 450000000, 450000000).full, 25, 1e-9);
    assert_true(isnan(vti_energy_price(&tree, 3000000000, 4000000000).full));
    assert_true(isnan(vti_energy_price(&tree, -10, 0).full));
}

static void test_measured_rest(void **state)
{
    (void)state;
    log_tree.has_baseline = true;
    log_tree.rest_watts = 30;
    log_tree.rest_how = VT_ENERGY_MEASURED;
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, VT_NONE);
    for (int i = 0; i <= 20; i++)
        reading(i, 0.1 * i, 0.2 * i, 5.0 * i);
    make();
    assert_near(tree.all.dynamic_j, 50 - 30, 1e-9); /* its half of 2 s of 30 W is not its own */
    assert_near(tree.rest_watts, 30, 1e-9);
    assert_int_equal(tree.rest_how, VT_ENERGY_MEASURED);
    assert_near(vti_energy_price(&tree, 0, 2000000000).dynamic, 10, 1e-9);
}

/* No better than what it was measured with; what was measured of a source is its own. */
static void test_rest_of_each(void **state)
{
    (void)state;
    log_tree.has_baseline = true;
    log_tree.rest_for_ns = 1000000000;
    log_tree.rest_watts = 40;
    log_tree.rest_how = VT_ENERGY_MEASURED;
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, VT_NONE);
    source(VT_ENERGY_MEMORY, VT_ENERGY_MODELLED, VT_NONE);
    sources[0].idle_watts = 20;
    sources[1].watts = sources[1].idle_watts = 20;
    for (int i = 0; i <= 20; i++) /* stands still from the middle on */
        reading(i, 0.1 * i, 0.1 * i, i > 10 ? -1.0 : 5.0 * i, 2.0 * i);
    make();
    assert_int_equal(tree.rest_how, VT_ENERGY_MODELLED);
    assert_near(tree.parts[VT_ENERGY_CPU].full_j, 50, 1e-9);
    assert_near(tree.parts[VT_ENERGY_CPU].dynamic_j, 50 - 20, 1e-9); /* of what is known, only */
    assert_near(tree.all.dynamic_j, 50 - 20, 1e-9);
    assert_near(tree.unknown_s, 1, 1e-6);
}

/* A reading that comes so soon that nothing was renewed is not missed. */
static void test_cut_off(void **state)
{
    (void)state;
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, VT_NONE);
    for (int i = 0; i <= 20; i++)
        reading(i, 0.1 * i, 0.1 * i, 5.0 * i);
    reading(20.01, 2.001, 2.001, -1.0);
    make();
    assert_near(tree.all.gross_j, 100, 1e-9);
    assert_near(tree.unknown_s, 0, 0);
}

/* More rest than power is no debt. */
static void test_rest_above_power(void **state)
{
    (void)state;
    log_tree.has_baseline = true;
    log_tree.rest_watts = 80;
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, VT_NONE);
    for (int i = 0; i <= 20; i++)
        reading(i, 0.1 * i, 0.2 * i, 5.0 * i);
    make();
    assert_near(tree.all.dynamic_j, 0, 0);
}

static void test_rest_is_found(void **state)
{
    double joules = 0;
    double busy = 0;

    (void)state;
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, VT_NONE);
    for (int i = 0; i <= 40; i++) { /* two seconds of rest at 10 W, then two of 60 W */
        reading(i, busy, busy, joules);
        joules += i < 20 ? 1 : 6;
        busy += i < 20 ? 0 : 0.1;
    }
    make();
    assert_near(tree.rest_watts, 10, 1e-6);
    assert_int_equal(tree.rest_how, VT_ENERGY_MODELLED);
    assert_near(tree.all.gross_j, 140, 1e-6);
    assert_near(tree.all.full_j, 120, 1e-6);
    assert_near(tree.all.dynamic_j, 100, 1e-6);
}

/* ---- what is not ----------------------------------------------------------------------------- */

/* It stays away for three readings and comes back: what it counted is there, and no time is unknown. */
static void test_gap(void **state)
{
    (void)state;
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, VT_NONE);
    for (int i = 0; i <= 20; i++)
        reading(i, 0.1 * i, 0.1 * i, i >= 5 && i < 8 ? -1.0 : 5.0 * i);
    make();
    assert_near(tree.all.gross_j, 100, 1e-9);
    assert_near(tree.unknown_s, 0, 0);
    for (size_t i = 0; i < tree.interval_count; i++)
        assert_near(tree.intervals[i].parts[VT_ENERGY_CPU], 5, 1e-9);
}

/* What was used meanwhile is missing, and that is said. */
static void test_lost(void **state)
{
    (void)state;
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, VT_NONE);
    for (int i = 0; i <= 20; i++)
        reading(i, 0.1 * i, 0.1 * i, i >= 5 && i < 8 ? -1.0 : 5.0 * (i < 8 ? i : i - 4));
    readings[8].lost = 1;
    make();
    assert_near(tree.all.gross_j, 80, 1e-9);
    assert_near(tree.all.full_j, 80, 1e-9);
    assert_near(tree.unknown_s, 0.4, 1e-6);
    assert_true(isnan(tree.intervals[5].parts[VT_ENERGY_CPU]));
    assert_true(isnan(vti_energy_price(&tree, 500000000, 600000000).full));
    assert_near(vti_energy_price(&tree, 1500000000, 1600000000).full, 50, 1e-9);
}

/* A counter that begins anew says nothing of that step. */
static void test_backwards(void **state)
{
    (void)state;
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, VT_NONE);
    for (int i = 0; i <= 20; i++)
        reading(i, 0.1 * i, 0.1 * i, 5.0 * (i % 10));
    make();
    assert_near(tree.all.gross_j, 90, 1e-9);
    assert_near(tree.unknown_s, 0.2, 1e-6);
}

/* One of two processors is taken out for good: the other one still counts. */
static void test_unplugged(void **state)
{
    (void)state;
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, VT_NONE);
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, VT_NONE);
    for (int i = 0; i <= 20; i++)
        reading(i, 0.1 * i, 0.1 * i, 5.0 * i, i > 10 ? -1.0 : 3.0 * i);
    make();
    assert_near(tree.all.gross_j, 130, 1e-9);
    assert_near(tree.all.full_j, 130, 1e-9);
    assert_near(tree.unknown_s, 1, 1e-6);
    assert_near(vti_energy_price(&tree, 1500000000, 1600000000).full, 50, 1e-9);
}

/* Counters that come take the place of the estimate: it is not missed. */
static void test_plugged(void **state)
{
    (void)state;
    source(VT_ENERGY_CPU, VT_ENERGY_ESTIMATED, VT_NONE);
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, VT_NONE);
    for (int i = 0; i <= 20; i++)
        reading(i, 0.1 * i, 0.1 * i, i > 10 ? -1.0 : 2.0 * i, i < 10 ? -1.0 : 5.0 * i);
    make();
    assert_near(tree.all.gross_j, 20 + 50, 1e-9);
    assert_near(tree.unknown_s, 1, 1e-6);
    assert_int_equal(tree.all.how, VT_ENERGY_ESTIMATED);
}

static void test_no_processes(void **state)
{
    (void)state;
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, VT_NONE);
    reading(0, 0, 0, 0.0);
    reading(10, 1, 1, 50.0);
    resources.tree_count = 0;
    make();
    assert_near(tree.all.gross_j, 50, 1e-9);
    assert_true(isnan(tree.all.full_j) && isnan(tree.own_s));
}

static void test_nothing(void **state)
{
    (void)state;
    make();
    assert_int_equal(tree.interval_count, 0);
    assert_true(isnan(tree.all.gross_j));
    end(NULL);
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, 7); /* in a source that there is none of */
    source(77, 99, 0);
    reading(0, 0, 0, 0.0, 0.0);
    reading(0, 0, 0, 1.0, 1.0); /* at the same time */
    make();
    assert_near(tree.wall_s, 0, 0);
    assert_near(tree.all.gross_j, 1, 1e-9);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* All of the machine, its processors and memory in it, cores in the processors. */
static void test_nested(void **state)
{
    (void)state;
    log_tree.has_baseline = true;
    log_tree.rest_watts = 20;
    source(VT_ENERGY_PLATFORM, VT_ENERGY_MEASURED, VT_NONE);
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, 0);
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, 1);
    source(VT_ENERGY_MEMORY, VT_ENERGY_MODELLED, 0);
    for (int i = 0; i <= 20; i++)
        reading(i, 0.1 * i, 0.2 * i, 10.0 * i, 5.0 * i, 3.0 * i, 1.0 * i);
    make();
    assert_near(tree.all.gross_j, 200, 1e-9); /* nothing twice */
    assert_near(tree.all.full_j, 100, 1e-9);
    assert_near(tree.all.dynamic_j, 100 - 20, 1e-9);
    assert_near(tree.parts[VT_ENERGY_PLATFORM].gross_j, 200, 1e-9);
    assert_near(tree.parts[VT_ENERGY_CPU].gross_j, 100, 1e-9);
    assert_near(tree.parts[VT_ENERGY_CPU].full_j, 50, 1e-9);
    assert_near(tree.parts[VT_ENERGY_MEMORY].gross_j, 20, 1e-9);
    assert_near(tree.parts[VT_ENERGY_MEMORY].full_j, 5, 1e-9); /* a quarter is resident */
    assert_int_equal(tree.all.how, VT_ENERGY_MEASURED);
    assert_false(tree.parts[VT_ENERGY_GPU].has_source);
    assert_near(vti_energy_price(&tree, 0, 2000000000).full, 25, 1e-9);
}

/* A card is stated for the machine, and is in no share. */
static void test_beside(void **state)
{
    (void)state;
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, VT_NONE);
    source(VT_ENERGY_GPU, VT_ENERGY_MEASURED, VT_NONE);
    source(VT_ENERGY_MEMORY, VT_ENERGY_MODELLED, VT_NONE);
    sources[2].watts = sources[2].idle_watts = 10;
    for (int i = 0; i <= 20; i++)
        reading(i, 0.1 * i, 0.2 * i, 5.0 * i, 20.0 * i, 1.0 * i);
    make();
    assert_near(tree.all.gross_j, 100 + 400 + 20, 1e-9);
    assert_near(tree.all.full_j, 50 + 5, 1e-9);
    assert_true(isnan(tree.parts[VT_ENERGY_GPU].full_j));
    assert_near(tree.parts[VT_ENERGY_MEMORY].dynamic_j, 0, 1e-9); /* rest is all of it */
    assert_int_equal(tree.all.how, VT_ENERGY_MODELLED);
}

/* ---- the meter ------------------------------------------------------------------------------- */

static uint32_t random_state = 7;

static double any(double most)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) / 16777216.0 * most;
}

static void copy_reading(const vt_energy *meter, double at)
{
    reading(at, (double)meter->last_own_ns / 1e9, (double)meter->last_busy_ns / 1e9,
            kit_source(meter, "package-0")->joules, kit_source(meter, "dram-0")->joules);
    points[log_tree.reading_count - 1].values[VTI_RESOURCE_MEMORY_BYTES] = meter->resident_bytes;
}

/* Bursts and rest of a program and of others, at irregular times: both say the same. */
static void compare(double work, double others)
{
    double at = 0, own = 0, busy = 0, cpu_j = 0, memory_j = 0;
    struct vt_energy_sum sum = {.takes = 0};
    vt_energy *meter;

    kit_zone("intel-rapl:0", "package-0", 0);
    kit_zone("intel-rapl:0:0", "dram", 0);
    kit_process(100, 1, 0, 0, 0, 4000);
    kit_busy(0);
    meter = kit_open(100);
    source(VT_ENERGY_CPU, VT_ENERGY_MEASURED, VT_NONE);
    source(VT_ENERGY_MEMORY, VT_ENERGY_MEASURED, VT_NONE);
    for (int i = 0; i < 300; i++) {
        double step = 0.02 + any(0.15);
        double mine = i % 40 < 20 ? any(work) * step : 0;
        double theirs = i % 60 < 30 ? any(others) * step : 0;

        sum = kit_take(meter);
        copy_reading(meter, at * 10);
        log_tree.memory_bytes = meter->machine.memory_bytes;
        kit_pass(step);
        at += step;
        own += mine;
        busy += mine + theirs;
        cpu_j += step * 10 + (mine + theirs) * 20;
        memory_j += step * 2 + (mine + theirs);
        kit_energy("intel-rapl:0", cpu_j);
        kit_energy("intel-rapl:0:0", memory_j);
        kit_process(100, 1, 0, own, 0, 4000 + (unsigned)i);
        kit_busy(busy);
    }
    make();
    assert_near(tree.all.gross_j, sum.all.gross_j, 1e-4);
    assert_near(tree.all.full_j, sum.all.share_j, 1e-4 * sum.all.share_j);
    assert_near(tree.parts[VT_ENERGY_MEMORY].full_j, sum.parts[VT_ENERGY_MEMORY].share_j, 1e-4);
    assert_near(tree.unknown_s, sum.unknown_s, 1e-6);
    assert_near(tree.own_s, sum.own_cpu_s, 1e-6);
    assert_near(tree.rest_watts, sum.idle_watts, 0.01);
    assert_int_equal(tree.rest_how, sum.idle_how);
    assert_near(tree.all.dynamic_j, sum.all.dynamic_j, 1e-3 * sum.all.share_j);
    assert_int_equal(tree.all.how, sum.all.how);
    vt_energy_close(meter);
}

static void test_as_the_meter(void **state)
{
    (void)state;
    compare(2, 1);
}

static void test_as_the_meter_with_little_work(void **state)
{
    (void)state;
    compare(0.1, 0.05);
}

static int begin_machine(void **state)
{
    return kit_set_up(state) || begin(state);
}

static int end_machine(void **state)
{
    return end(state) || kit_tear_down(state);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_half),
        CASE(test_measured_rest),
        CASE(test_rest_of_each),
        CASE(test_cut_off),
        CASE(test_rest_above_power),
        CASE(test_rest_is_found),
        CASE(test_gap),
        CASE(test_lost),
        CASE(test_backwards),
        CASE(test_unplugged),
        CASE(test_plugged),
        CASE(test_no_processes),
        CASE(test_nothing),
        CASE(test_nested),
        CASE(test_beside),
        cmocka_unit_test_setup_teardown(test_as_the_meter, begin_machine, end_machine),
        cmocka_unit_test_setup_teardown(test_as_the_meter_with_little_work, begin_machine,
                                        end_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
