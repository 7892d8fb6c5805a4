/* test_energy_shares.c - what part of a machine's energy is a program's: nothing twice, nothing lost, rest apart. */
#include "energy_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define WATTS 50.0
#define TICK 0.1
#define GIB_PAGES 262144u

static vt_energy *open_cpu(pid_t pid)
{
    struct vt_energy_options options = {.pid = pid, .flags = VT_ENERGY_NO_MEMORY};

    return kit_open_with(&options);
}

static void test_idle_program(void **state)
{
    struct vt_energy_sum sum = {.takes = 0};
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_process(100, 1, 0, 5, 0, 100);
    meter = open_cpu(100);
    for (int i = 0; i <= 10; i++) {
        kit_energy("intel-rapl:0", 5 * i);
        kit_busy(0.2 * i);
        sum = kit_take(meter);
        kit_pass(TICK);
    }
    assert_near(sum.all.gross_j, 50, 1e-6);
    assert_near(sum.all.share_j, 0, 0);
    assert_near(sum.all.dynamic_j, 0, 0);
    vt_energy_close(meter);
}

/* Nobody else does anything, and it wakes up now and then: the machine's rest is not its own. */
static void test_idle_program_alone(void **state)
{
    struct vt_energy_sum sum = {.takes = 0};
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_process(100, 1, 0, 5, 0, 100);
    meter = open_cpu(100);
    for (int i = 0; i <= 300; i++) {
        kit_energy("intel-rapl:0", 5 * i);
        kit_process(100, 1, 0, 5 + 0.0001 * i, 0, 100);
        kit_busy(0.0001 * i);
        sum = kit_take(meter);
        kit_pass(TICK);
    }
    assert_near(sum.all.gross_j, 1500, 1e-6);
    assert_true(sum.all.share_j > 0 && sum.all.share_j <= 0.011 * sum.all.gross_j);
    vt_energy_close(meter);
}

/* Of a program that measures itself, the readings are the meter's work and stated as such; what it does itself is its own. */
static void test_readings_are_not_charged(void **state)
{
    struct vt_energy_options options = {.procfs = "/proc", .flags = VT_ENERGY_NO_MEMORY};
    struct vt_energy_sum sum = {.takes = 0};
    double cost_s;
    double cost_j;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    meter = kit_open_with(&options);
    kit_reading_cost_s = 0.02;
    for (int i = 0; i <= 5; i++) {
        kit_energy("intel-rapl:0", 5 * i);
        sum = kit_take(meter);
        kit_pass(TICK);
    }
    vt_energy_cost(meter, &cost_s, &cost_j);
    assert_true(cost_s >= 0.12); /* six of them */
    assert_true(cost_j > 0 && cost_j <= sum.all.gross_j);
    assert_true(sum.own_cpu_s < 0.02);
    kit_burn(0.05);
    sum = kit_take(meter);
    assert_true(sum.own_cpu_s >= 0.05 && sum.own_cpu_s < 0.07);
    vt_energy_close(meter);
}

/* Two meters of one program: what either reads is no work of the program's, and each states its own. */
static void test_nor_are_those_of_another_meter(void **state)
{
    struct vt_energy_options options = {.procfs = "/proc", .flags = VT_ENERGY_NO_MEMORY};
    vt_energy *meters[2];
    double cost_s;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    meters[0] = kit_open_with(&options);
    meters[1] = kit_open_with(&options);
    kit_reading_cost_s = 0.02;
    kit_take(meters[0]);
    for (int i = 1; i <= 5; i++) {
        kit_pass(TICK);
        kit_energy("intel-rapl:0", 5 * i);
        kit_take(meters[1]);
        kit_take(meters[0]);
    }
    for (int i = 0; i < 2; i++) {
        assert_true(kit_take(meters[i]).own_cpu_s < 0.02);
        vt_energy_cost(meters[i], &cost_s, NULL);
        assert_true(cost_s >= 0.12 && cost_s < 0.24);
    }
    kit_burn(0.05);
    for (int i = 0; i < 2; i++) {
        double own_s = kit_take(meters[i]).own_cpu_s;

        assert_true(own_s >= 0.05 && own_s < 0.07);
        vt_energy_close(meters[i]);
    }
}

static void test_all_of_a_busy_machine(void **state)
{
    struct vt_energy_sum sum = {.takes = 0};
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_process(100, 1, 0, 0, 0, 100);
    meter = open_cpu(100);
    for (int i = 0; i <= 40; i++) {
        kit_energy("intel-rapl:0", 5 * i);
        kit_process(100, 1, 0, TICK * i, 0, 100);
        kit_busy(TICK * i);
        sum = kit_take(meter);
        kit_pass(TICK);
    }
    assert_near(sum.all.share_j, 200, 0.2);
    assert_near(sum.own_cpu_s, 4, 1e-6);
    assert_near(sum.busy_cpu_s, 4, 1e-6);
    vt_energy_close(meter);
}

/* 20 children of 0.2 s, one after the other, each between two readings: seen in what their parent waited for. */
static void test_short_children(void **state)
{
    struct vt_energy_sum sum = {.takes = 0};
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_process(100, 1, 0, 0, 0, 100);
    kit_busy(0);
    meter = open_cpu(100);
    kit_take(meter);
    for (int i = 1; i <= 20; i++) {
        kit_pass(0.2);
        kit_energy("intel-rapl:0", 10 * i);
        kit_process(100, 1, 0, 0, 0.2 * i, 100);
        kit_busy(0.2 * i);
        sum = kit_take(meter);
    }
    assert_near(sum.all.gross_j, 200, 1e-6);
    assert_near(sum.all.share_j, 200, 0.2);
    vt_energy_close(meter);
}

/* The same with each child seen while it runs, and gone at the next reading. */
static void test_children_that_are_seen(void **state)
{
    struct vt_energy_sum sum = {.takes = 0};
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_process(100, 1, 0, 0, 0, 100);
    meter = open_cpu(100);
    kit_take(meter);
    for (int i = 1; i <= 20; i++) {
        kit_pass(1.1); /* all processes of the machine are looked at once a second */
        kit_energy("intel-rapl:0", 20 * i - 10);
        kit_process(1000 + i, 100, KIT_NEW, 0.4, 0, 100);
        kit_busy(0.8 * i - 0.4);
        kit_take(meter);
        kit_pass(0.4);
        kit_energy("intel-rapl:0", 20 * i);
        kit_remove("proc/1001");
        if (i != 1) {
            char path[32] = "proc/1000";

            path[8] = (char)('0' + i % 10);
            path[7] = (char)('0' + i / 10);
            kit_remove(path);
        }
        kit_process(100, 1, 0, 0, 0.8 * i, 100);
        kit_busy(0.8 * i);
        sum = kit_take(meter);
    }
    assert_near(sum.own_cpu_s, 16, 0.01);
    assert_near(sum.all.share_j, sum.all.gross_j, 0.001 * sum.all.gross_j);
    vt_energy_close(meter);
}

/* Three programs and what nobody did: together they are all, whatever each of them does. */
static void test_shares_and_rest_are_all(void **state)
{
    double cpu[3] = {0, 0, 0};
    struct vt_energy_sum sums[3];
    vt_energy *meters[3];
    double joules = 0;
    double busy = 0;
    double resting = 0;
    uint32_t random = 1;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    for (int k = 0; k < 3; k++)
        kit_process(100 + k, 1, 0, 0, 0, 100);
    for (int k = 0; k < 3; k++)
        meters[k] = open_cpu(100 + k);
    for (int i = 0; i < 400; i++) {
        for (int k = 0; k < 3; k++)
            sums[k] = kit_take(meters[k]);
        kit_pass(TICK);
        random = random * 1664525u + 1013904223u;
        joules += 2 + (random >> 24) / 64.0;
        resting += i / 10 % 4 == 3 ? 2 + (random >> 24) / 64.0
                                   : 0; /* a second of every four: nobody */
        kit_energy("intel-rapl:0", joules);
        for (int k = 0; k < 3; k++) {
            random = random * 1664525u + 1013904223u;
            cpu[k] += i / 10 % 4 == 3 ? 0 : (double)(random >> 28) / 100;
            kit_process(100 + k, 1, 0, cpu[k], 0, 100);
        }
        busy = cpu[0] + cpu[1] + cpu[2];
        kit_busy(busy);
    }
    for (int k = 0; k < 3; k++)
        sums[k] = kit_take(meters[k]);
    assert_near(sums[0].all.gross_j, joules, 1e-3);
    assert_near(sums[0].all.share_j + sums[1].all.share_j + sums[2].all.share_j + resting, joules,
                0.001 * joules);
    assert_true(resting > 0.2 * joules);
    for (int k = 0; k < 3; k++) {
        assert_true(sums[k].all.dynamic_j >= 0 && sums[k].all.dynamic_j <= sums[k].all.share_j);
        vt_energy_close(meters[k]);
    }
}

/* What another one did in the same second, at another power, is not spread over both. */
static void test_each_reading_for_itself(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_process(100, 1, 0, 0, 0, 100);
    meter = open_cpu(100);
    kit_take(meter);
    kit_pass(TICK);
    kit_energy("intel-rapl:0", 5);
    kit_process(100, 1, 0, 0.2, 0, 100);
    kit_busy(0.2);
    kit_take(meter);
    kit_pass(TICK);
    kit_energy("intel-rapl:0", 55);
    kit_busy(0.4);
    sum = kit_take(meter);
    assert_near(sum.all.share_j, 5, 1e-6);
    vt_energy_close(meter);
}

/* Rest that ends within a second stays rest. */
static void test_rest_before_work(void **state)
{
    struct vt_energy_sum sum = {.takes = 0};
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_process(100, 1, 0, 0, 0, 100);
    meter = open_cpu(100);
    for (int i = 0; i <= 4; i++) {
        kit_energy("intel-rapl:0", 5 * i);
        kit_process(100, 1, 0, i < 4 ? 0 : 0.1, 0, 100);
        kit_busy(i < 4 ? 0 : 0.1);
        sum = kit_take(meter);
        kit_pass(TICK);
    }
    assert_near(sum.all.share_j, 5, 1e-6);
    vt_energy_close(meter);
}

/* Busy time comes in coarse steps, own time does not: what is left over is not lost. */
static void test_coarse_steps(void **state)
{
    struct vti_share share = {0};
    double joules = 0;

    (void)state;
    for (int i = 0; i < 100; i++)
        joules += 5 * vti_share_take(&share, 0.1, i % 2 ? 0.09 : 0.11, 0.1);
    assert_near(joules, 500, 5);
    assert_near(vti_share_take(&share, -1, 1, 1), 0, 0);
    assert_near(vti_share_take(&share, 1, -1, 1), 0, 0);
    share.carry_s = 0;
    assert_near(vti_share_take(&share, 0.5, 2, 1), 0.25, 1e-12);
    assert_near(vti_share_take(&share, 0.01, 0.01, 1), 0.1, 1e-12); /* at rest */
}

static void test_unknown_load(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_process(100, 1, 0, 0, 0, 100);
    kit_remove("proc/stat");
    meter = open_cpu(100);
    kit_take(meter);
    kit_pass(1);
    kit_energy("intel-rapl:0", 50);
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 50, 1e-6);
    assert_true(sum.all.share_j < 0 && sum.all.dynamic_j < 0 && sum.busy_cpu_s < 0);
    vt_energy_close(meter);
}

/* ---- rest ---------------------------------------------------------------------------------------- */

static void test_baseline(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_process(100, 1, 0, 0, 0, 100);
    meter = open_cpu(100);
    assert_near(vt_energy_baseline_end(meter), -1, 0); /* none was begun */
    vt_energy_baseline_begin(meter);
    kit_pass(10);
    kit_energy("intel-rapl:0", 100);
    assert_near(vt_energy_baseline_end(meter), 10, 1e-6);
    for (int i = 1; i <= 4; i++) {
        kit_pass(1);
        kit_energy("intel-rapl:0", 100 + WATTS * i);
        kit_process(100, 1, 0, i, 0, 100);
        kit_busy(2 * i);
        sum = kit_take(meter);
    }
    assert_near(sum.all.share_j, 100, 0.1);
    assert_near(sum.all.dynamic_j, 80, 0.1); /* half of 4 s of 40 W */
    assert_near(sum.idle_watts, 10, 1e-6);
    assert_int_equal(sum.idle_how, VT_ENERGY_MEASURED);
    vt_energy_close(meter);
}

/* Rest is known no better than what it was measured with, and others who worked meanwhile are named. */
static void test_baseline_of_others(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_process(100, 1, 0, 0, 0, 100);
    kit_busy(0);
    meter = kit_open(100);
    vt_energy_baseline_begin(meter);
    kit_pass(1);
    kit_energy("intel-rapl:0", 10);
    kit_process(100, 1, 0, 1, 0, 100); /* what it does itself is not others' */
    kit_busy(1.1);
    vt_energy_baseline_end(meter);
    assert_null(vt_energy_advice(meter, 0));
    vt_energy_baseline_begin(meter);
    kit_pass(1);
    kit_energy("intel-rapl:0", 40);
    kit_busy(4.98);
    vt_energy_baseline_end(meter);
    assert_non_null(vt_energy_advice(meter, 0));
    assert_non_null(strstr(vt_energy_advice(meter, 0), "kept 97 % of the CPUs busy"));
    sum = kit_take(meter);
    assert_int_equal(sum.idle_how, VT_ENERGY_MODELLED); /* as memory is */
    assert_near(kit_source(meter, "package-0")->idle_watts, 30, 1e-6);
    vt_energy_close(meter);
}

/* Without a baseline: the lowest tenth of the time in which the machine did little. */
static void test_lowest_tenth(void **state)
{
    struct vt_energy_sum sum = {.takes = 0};
    double joules = 0;
    double cpu = 0;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_process(100, 1, 0, 0, 0, 100);
    meter = open_cpu(100);
    for (int i = 0; i < 300; i++) {
        sum = kit_take(meter);
        kit_pass(TICK);
        joules += i < 30 ? 1.2 : i < 150 ? 1.5 : 5; /* 12 W, 15 W at rest; 50 W */
        cpu += i < 150 ? 0 : 0.2;
        kit_energy("intel-rapl:0", joules);
        kit_process(100, 1, 0, cpu, 0, 100);
        kit_busy(cpu);
    }
    assert_near(sum.idle_watts, 12, 0.1);
    assert_int_equal(sum.idle_how, VT_ENERGY_MODELLED);
    vt_energy_close(meter);
}

/* A program that never rests: its own power is no rest; a tenth of what the processor may use is taken, and said. */
static void test_never_at_rest(void **state)
{
    struct vt_energy_sum sum = {.takes = 0};
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_process(100, 1, 0, 0, 0, 100);
    meter = open_cpu(100);
    for (int i = 0; i <= 50; i++) {
        kit_energy("intel-rapl:0", 10 * i);
        kit_process(100, 1, 0, 0.4 * i, 0, 100);
        kit_busy(0.4 * i);
        sum = kit_take(meter);
        kit_pass(TICK);
    }
    assert_near(sum.idle_watts, 12, 1e-6);
    assert_int_equal(sum.idle_how, VT_ENERGY_ESTIMATED);
    assert_near(sum.all.dynamic_j, 440, 1);
    vt_energy_close(meter);
}

static void test_given_rest(void **state)
{
    struct vt_energy_options options = {.pid = 100, .flags = VT_ENERGY_NO_MEMORY, .idle_watts = 20};
    struct vt_energy_sum sum = {.takes = 0};
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_zone("intel-rapl:1", "package-1", 1);
    kit_process(100, 1, 0, 0, 0, 100);
    meter = kit_open_with(&options);
    for (int i = 0; i <= 50; i++) {
        kit_energy("intel-rapl:0", 5 * i);
        kit_energy("intel-rapl:1", 1 + 3 * i);
        kit_process(100, 1, 0, 0.4 * i, 0, 100);
        kit_busy(0.4 * i);
        sum = kit_take(meter);
        kit_pass(TICK);
    }
    assert_near(sum.idle_watts, 20, 1e-9);
    assert_int_equal(sum.idle_how, VT_ENERGY_GIVEN);
    assert_near(sum.all.dynamic_j, 300, 1);
    vt_energy_close(meter);
}

/* ---- memory -------------------------------------------------------------------------------------- */

static void test_memory_by_what_is_resident(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_zone("intel-rapl:0:0", "dram", 0);
    kit_process(100, 1, 0, 0, 0, 4 * GIB_PAGES); /* of 16 GiB */
    meter = kit_open(100);
    kit_take(meter);
    kit_pass(1);
    kit_energy("intel-rapl:0:0", 8);
    sum = kit_take(meter);
    assert_near(sum.parts[VT_ENERGY_MEMORY].gross_j, 8, 1e-6);
    assert_near(sum.parts[VT_ENERGY_MEMORY].share_j, 2, 1e-6);
    assert_int_equal(sum.resident_bytes, 4ull << 30);
    vt_energy_close(meter);
}

/* 80 MB are not charged for two whole modules. */
static void test_memory_by_model(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_process(100, 1, 0, 0, 0, 20480);
    meter = kit_open(100);
    kit_take(meter);
    kit_pass(10);
    sum = kit_take(meter);
    assert_near(sum.parts[VT_ENERGY_MEMORY].gross_j, KIT_MODULES * 100, 1e-6);
    assert_near(sum.parts[VT_ENERGY_MEMORY].share_j, KIT_MODULES * 100 * 80.0 / 16384, 1e-6);
    assert_near(sum.parts[VT_ENERGY_MEMORY].dynamic_j, 0, 1e-9);
    assert_int_equal(sum.parts[VT_ENERGY_MEMORY].how, VT_ENERGY_MODELLED);
    assert_int_equal(sum.all.how, VT_ENERGY_MODELLED);
    vt_energy_close(meter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, kit_set_up, kit_tear_down)
        TEST(test_idle_program),
        TEST(test_idle_program_alone),
        TEST(test_readings_are_not_charged),
        TEST(test_nor_are_those_of_another_meter),
        TEST(test_all_of_a_busy_machine),
        TEST(test_short_children),
        TEST(test_children_that_are_seen),
        TEST(test_shares_and_rest_are_all),
        TEST(test_each_reading_for_itself),
        TEST(test_rest_before_work),
        TEST(test_coarse_steps),
        TEST(test_unknown_load),
        TEST(test_baseline),
        TEST(test_baseline_of_others),
        TEST(test_lowest_tenth),
        TEST(test_never_at_rest),
        TEST(test_given_rest),
        TEST(test_memory_by_what_is_resident),
        TEST(test_memory_by_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
