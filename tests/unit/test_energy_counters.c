/* test_energy_counters.c - counters that wrap, fail, lie, mirror each other, come and go; joules must stay right or unknown. */
#include "energy_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ENERGY "sys/class/powercap/intel-rapl:0/energy_uj"

static vt_energy *open_cpu(void)
{
    struct vt_energy_options options = {.pid = -1, .flags = VT_ENERGY_NO_MEMORY};

    return kit_open_with(&options);
}

static void test_constant_power(void **state)
{
    struct vt_energy_sum sum = {.takes = 0};
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 1000);
    meter = open_cpu();
    for (int i = 0; i <= 100; i++) {
        kit_energy("intel-rapl:0", 1000 + 5 * i);
        sum = kit_take(meter);
        assert_near(sum.all.gross_j, 5 * i, 1e-6);
        kit_pass(0.1);
    }
    assert_near(sum.wall_s, 10, 1e-9);
    assert_int_equal(sum.all.how, VT_ENERGY_MEASURED);
    assert_near(sum.unknown_s, 0, 0);
    assert_near(sum.parts[VT_ENERGY_CPU].gross_j, 500, 1e-6);
    assert_true(sum.parts[VT_ENERGY_MEMORY].gross_j < 0 && sum.all.share_j < 0); /* not known */
    vt_energy_close(meter);
}

static void test_wraps(void **state)
{
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", KIT_RANGE / 1e6 - 3);
    meter = open_cpu();
    kit_take(meter);
    kit_energy("intel-rapl:0", 2);
    kit_pass(0.1);
    assert_near(kit_take(meter).all.gross_j, 5, 1e-5);
    assert_int_equal(kit_source(meter, "package-0")->wraps, 1);
    assert_int_equal(kit_source(meter, "package-0")->gaps, 0);
    kit_pass(0.1);
    kit_energy("intel-rapl:0", 7);
    assert_near(kit_take(meter).all.gross_j, 10, 1e-5);
    vt_energy_close(meter);
}

/* Three hours without a reading: it may have wrapped any number of times. */
static void test_wraps_twice(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 100);
    meter = open_cpu();
    kit_take(meter);
    kit_pass(10800);
    kit_energy("intel-rapl:0", 150);
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 0, 0);
    assert_near(sum.unknown_s, 10800, 1e-6);
    assert_int_equal(kit_source(meter, "package-0")->gaps, 1);
    kit_pass(1);
    kit_energy("intel-rapl:0", 200); /* and goes on from there */
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 50, 1e-6);
    assert_near(sum.unknown_s, 10800, 1e-6);
    vt_energy_close(meter);
}

/* A step back that would be 2.6 MW is no wrap, and one without a known range neither. */
static void test_steps_back(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 100);
    kit_zone("intel-rapl:1", "package-1", 100);
    kit_put("sys/class/powercap/intel-rapl:1/max_energy_range_uj", "what\n");
    meter = open_cpu();
    kit_take(meter);
    kit_pass(0.1);
    kit_energy("intel-rapl:0", 90);
    kit_energy("intel-rapl:1", 0.5);
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 0, 0);
    assert_near(sum.unknown_s, 0.1, 1e-9);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(vt_energy_source_get(meter, (size_t)i)->wraps, 0);
        assert_int_equal(vt_energy_source_get(meter, (size_t)i)->gaps, 1);
    }
    vt_energy_close(meter);
}

static void test_jumps(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 100);
    meter = open_cpu();
    kit_take(meter);
    kit_pass(0.1);
    kit_energy("intel-rapl:0", 100000);
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 0, 0);
    assert_near(sum.unknown_s, 0.1, 1e-9);
    vt_energy_close(meter);
}

/* Something that runs never uses nothing: a counter that moved and stands still says nothing of that time. */
static void test_stands_still(void **state)
{
    struct vt_energy_sum sum = {.takes = 0};
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 100);
    meter = open_cpu();
    for (int i = 0; i <= 10; i++) {
        kit_energy("intel-rapl:0", 100 + i);
        sum = kit_take(meter);
        kit_pass(0.1);
    }
    for (int i = 1; i <= 6; i++) {
        sum = kit_take(meter);
        assert_near(sum.unknown_s, 0.1 * i, 1e-9);
        kit_pass(0.1);
    }
    assert_near(sum.all.gross_j, 10, 1e-6);
    assert_int_equal(kit_source(meter, "package-0")->gaps, 0);
    kit_energy("intel-rapl:0", 117); /* it had only not said so */
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 17, 1e-6);
    assert_near(sum.unknown_s, 0, 1e-9);
    for (int i = 0; i < 6; i++) {
        kit_pass(0.1);
        kit_take(meter);
    }
    kit_pass(0.1);
    kit_energy("intel-rapl:0", 118); /* it had not counted: nobody knows what was used */
    sum = kit_take(meter);
    assert_near(sum.unknown_s, 0.7, 1e-9);
    kit_pass(0.1);
    kit_energy("intel-rapl:0", 119);
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 18, 1e-6);
    assert_near(sum.unknown_s, 0.7, 1e-9);
    kit_pass(0.001); /* not renewed yet */
    assert_near(kit_take(meter).unknown_s, 0.7, 1e-9);
    vt_energy_close(meter);
}

/* The file is not there for one reading: neither nothing nor a range is booked, and what it counted comes after. */
static void test_unreadable_once(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 100);
    meter = open_cpu();
    kit_take(meter);
    kit_pass(1);
    kit_put(ENERGY, "%s", "");
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 0, 0);
    assert_near(sum.unknown_s, 1, 1e-9);
    assert_int_equal(kit_source(meter, "package-0")->is_known, 0);
    kit_pass(1);
    kit_energy("intel-rapl:0", 200);
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 100, 1e-6);
    assert_near(sum.unknown_s, 0, 1e-9);
    assert_int_equal(kit_source(meter, "package-0")->gaps, 1);
    assert_int_equal(kit_source(meter, "package-0")->wraps, 0);
    assert_int_equal(kit_source(meter, "package-0")->is_known, 1);
    vt_energy_close(meter);
}

static void test_garbage(void **state)
{
    static const char *const texts[] = {"",       "x",
                                        "-5\n",   "12x\n",
                                        "0x10\n", "1 2",
                                        "1e6\n",  " 7",
                                        "\n",     "99999999999999999999\n",
                                        "nan",    "18446744073709551616\n"};
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 100);
    meter = open_cpu();
    kit_take(meter);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kit_pass(0.1);
        kit_put(ENERGY, "%s", texts[i]);
        sum = kit_take(meter);
        assert_near(sum.all.gross_j, 0, 0);
        assert_int_equal(kit_source(meter, "package-0")->gaps, i + 1);
    }
    kit_energy("intel-rapl:0", 105);
    assert_near(kit_take(meter).all.gross_j, 5, 1e-6);
    vt_energy_close(meter);
}

/* Unplugged, and back with a counter that begins anew. */
static void test_unplugged(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 262000);
    kit_zone("intel-rapl:1", "package-1", 7);
    meter = open_cpu();
    kit_take(meter);
    kit_pass(1);
    kit_energy("intel-rapl:0", 262010);
    kit_energy("intel-rapl:1", 17);
    assert_near(kit_take(meter).all.gross_j, 20, 1e-6);
    kit_remove("sys/class/powercap/intel-rapl:0");
    for (int i = 0; i < 10; i++) {
        kit_pass(1);
        kit_energy("intel-rapl:1", 27 + 10 * i);
        sum = kit_take(meter);
    }
    assert_near(sum.all.gross_j, 120, 1e-6);
    assert_near(sum.unknown_s, 10, 1e-6);
    kit_zone("intel-rapl:0", "package-0", 1);
    kit_pass(1);
    kit_take(meter);
    kit_energy("intel-rapl:0", 11);
    kit_pass(1);
    sum = kit_take(meter);
    assert_near(kit_source(meter, "package-0")->joules, 20, 1e-6);
    assert_near(kit_source(meter, "package-0")->unknown_s, 11, 1e-6);
    assert_int_equal(kit_source(meter, "package-0")->wraps, 0);
    vt_energy_close(meter);
}

/* A driver that is loaded while the meter runs: the estimate ends, and both count. */
static void test_plugged_in(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    meter = open_cpu();
    kit_take(meter);
    assert_int_equal(kit_source(meter, "processors")->how, VT_ENERGY_ESTIMATED);
    kit_pass(6);
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 12 * 6, 1e-6); /* at rest: a tenth of 120 W */
    kit_zone("intel-rapl:0", "package-0", 100);
    kit_pass(6);
    sum = kit_take(meter);
    assert_near(kit_source(meter, "package-0")->unknown_s, 12, 1e-6);
    assert_int_equal(kit_source(meter, "processors")->is_over, 1);
    assert_near(sum.all.gross_j, 12 * 12, 1e-6); /* up to now there is nothing better */
    assert_near(sum.unknown_s, 0, 1e-9);
    kit_energy("intel-rapl:0", 150);
    kit_pass(1);
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 12 * 12 + 50, 1e-6);
    assert_near(sum.unknown_s, 0, 1e-9);
    vt_energy_close(meter);
}

static void test_replaced_files(void **state)
{
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 100);
    meter = open_cpu();
    kit_take(meter);
    kit_remove(ENERGY);
    kit_energy("intel-rapl:0", 110);
    kit_pass(1);
    assert_near(kit_take(meter).all.gross_j, 10, 1e-6);
    vt_energy_close(meter);
}

/* ---- who is in whom ------------------------------------------------------------------------------ */

static void test_nested(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 100);
    kit_zone("intel-rapl:0:0", "core", 100);
    kit_zone("intel-rapl:0:1", "uncore", 100);
    kit_zone("intel-rapl:0:2", "dram", 100);
    kit_zone("intel-rapl-mmio:0", "package-0", 5000);
    meter = kit_open(-1);
    kit_take(meter);
    kit_energy("intel-rapl:0", 150);
    kit_energy("intel-rapl:0:0", 130);
    kit_energy("intel-rapl:0:1", 105);
    kit_energy("intel-rapl:0:2", 150);
    kit_energy("intel-rapl-mmio:0", 5050);
    kit_pass(1);
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 100, 1e-6);
    assert_near(sum.parts[VT_ENERGY_CPU].gross_j, 50, 1e-6);
    assert_near(sum.parts[VT_ENERGY_MEMORY].gross_j, 50, 1e-6);
    assert_int_equal(kit_source(meter, "core-0")->inside, 0);
    assert_int_equal(vt_energy_source_count(meter), 4);
    assert_non_null(strstr(kit_source(meter, "package-0")->note, "intel-rapl-mmio:0"));
    vt_energy_close(meter);
}

static void test_platform(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 100);
    kit_zone("intel-rapl:0:0", "dram", 100);
    kit_zone("intel-rapl:1", "psys", 100);
    meter = kit_open(-1);
    kit_take(meter);
    kit_energy("intel-rapl:0", 150);
    kit_energy("intel-rapl:0:0", 110);
    kit_energy("intel-rapl:1", 180);
    kit_pass(1);
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 80, 1e-6);
    assert_near(sum.parts[VT_ENERGY_CPU].gross_j, 50, 1e-6);
    assert_near(sum.parts[VT_ENERGY_MEMORY].gross_j, 10, 1e-6);
    assert_near(sum.parts[VT_ENERGY_PLATFORM].gross_j, 80, 1e-6);
    vt_energy_close(meter);
}

/* Boards whose firmware does not fill it in. */
static void test_platform_that_is_less_than_its_parts(void **state)
{
    struct vt_energy_sum sum = {.takes = 0};
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 100);
    kit_zone("intel-rapl:1", "psys", 100);
    meter = open_cpu();
    for (int i = 0; i <= 20; i++) {
        kit_energy("intel-rapl:0", 100 + 5 * i);
        kit_energy("intel-rapl:1", 100 + 0.1 * i);
        sum = kit_take(meter);
        kit_pass(0.1);
    }
    assert_near(sum.all.gross_j, 100, 1e-6);
    assert_true(kit_source(meter, "psys")->inside >= 0);
    assert_non_null(strstr(kit_source(meter, "psys")->note, "less than"));
    vt_energy_close(meter);
}

static void test_mirrored_dies(void **state)
{
    struct vt_energy_sum sum = {.takes = 0};
    vt_energy *meter;

    (void)state;
    for (int i = 0; i < 4; i++) {
        char id[32];
        char name[32];

        snprintf(id, sizeof id, "intel-rapl:%d", i);
        snprintf(name, sizeof name, "package-0-die-%d", i);
        kit_zone(id, name, 100);
    }
    meter = open_cpu();
    for (int k = 0; k <= 10; k++) {
        for (int i = 0; i < 4; i++) {
            char id[32];

            snprintf(id, sizeof id, "intel-rapl:%d", i);
            kit_energy(id, 100 + 5 * k);
        }
        sum = kit_take(meter);
        assert_near(sum.all.gross_j, 5 * k, 1e-6); /* never twice, not even at first */
        kit_pass(0.1);
    }
    assert_int_equal(kit_source(meter, "package-0-die-3")->inside, 0);
    assert_non_null(strstr(kit_source(meter, "package-0-die-3")->note, "package-0-die-0"));
    vt_energy_close(meter);
}

/* Two that rest show the same, too; and two sockets are two. */
static void test_two_packages(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_zone("intel-rapl:1", "package-1", 0);
    meter = open_cpu();
    for (int i = 0; i < 5; i++) {
        sum = kit_take(meter);
        kit_pass(0.1);
    }
    kit_energy("intel-rapl:0", 10);
    kit_energy("intel-rapl:1", 12);
    kit_take(meter);
    kit_pass(0.1);
    kit_energy("intel-rapl:0", 20);
    kit_energy("intel-rapl:1", 22);
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 42, 1e-6);
    kit_pass(0.1);
    kit_energy("intel-rapl:0", 30);
    kit_energy("intel-rapl:1", 30); /* by chance */
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 60, 1e-6);
    assert_int_equal(kit_source(meter, "package-1")->inside, -1);
    vt_energy_close(meter);
}

/* ---- permissions --------------------------------------------------------------------------------- */

static void test_not_permitted(void **state)
{
    const char *advice;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 100);
    kit_zone("intel-rapl:1", "package-1", 100);
    kit_refuse("energy_uj");
    meter = open_cpu();
    assert_int_equal(vt_energy_source_count(meter), 1);
    assert_int_equal(kit_source(meter, "processors")->how, VT_ENERGY_ESTIMATED);
    assert_int_equal(kit_take(meter).all.how, VT_ENERGY_ESTIMATED);
    advice = vt_energy_advice(meter, 0);
    assert_non_null(advice);
    assert_non_null(strstr(advice, "intel-rapl:0/energy_uj"));
    assert_non_null(strstr(advice, "udevadm"));
    assert_non_null(strstr(advice, "%S%p/energy_uj"));
    assert_null(vt_energy_advice(meter, 1)); /* once */
    kit_refuse(NULL);
    kit_pass(6);
    kit_take(meter); /* and once it is allowed it counts */
    kit_energy("intel-rapl:0", 110);
    kit_pass(1);
    kit_take(meter);
    assert_near(kit_source(meter, "package-0")->joules, 10, 1e-6);
    vt_energy_close(meter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, kit_set_up, kit_tear_down)
        TEST(test_constant_power),  TEST(test_wraps),
        TEST(test_wraps_twice),     TEST(test_steps_back),
        TEST(test_jumps),           TEST(test_stands_still),
        TEST(test_unreadable_once), TEST(test_garbage),
        TEST(test_unplugged),       TEST(test_plugged_in),
        TEST(test_replaced_files),  TEST(test_nested),
        TEST(test_platform),        TEST(test_platform_that_is_less_than_its_parts),
        TEST(test_mirrored_dies),   TEST(test_two_packages),
        TEST(test_not_permitted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
