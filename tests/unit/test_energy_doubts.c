/* test_energy_doubts.c - readings that cannot be, and sources that are taken for what they are not: both must be undone. */
#include "energy_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ENERGY "sys/class/powercap/intel-rapl:0/energy_uj"
#define PLATFORM "sys/class/powercap/intel-rapl:1/energy_uj"

static vt_energy *open_cpu(void)
{
    struct vt_energy_options options = {.pid = -1, .flags = VT_ENERGY_NO_MEMORY};

    return kit_open_with(&options);
}

/* ---- readings ------------------------------------------------------------------------------------ */

/* What would be 12 kW beyond what was ever seen is no wrap; nor is what would be used in a tenth of a second. */
static void test_begins_anew(void **state)
{
    struct vt_energy_sum sum = {.takes = 0};
    vt_energy *meter;

    (void)state;
    for (int is_asleep = 0; is_asleep < 2; is_asleep++) {
        double watts = is_asleep ? 500 : 10;

        kit_zone("intel-rapl:0", "package-0", 200000);
        meter = open_cpu();
        kit_take(meter);
        kit_pass(0.1);
        kit_energy("intel-rapl:0", 200000 + 0.1 * watts);
        kit_take(meter);
        if (is_asleep)
            kit_sleep(50);
        else
            kit_pass(50);
        kit_energy("intel-rapl:0", 1);
        sum = kit_take(meter);
        assert_near(sum.all.gross_j, 0.1 * watts, 1e-6);
        assert_near(sum.unknown_s, 50, 1e-6);
        assert_int_equal(kit_source(meter, "package-0")->wraps, 0);
        kit_pass(0.1);
        kit_energy("intel-rapl:0", 1 + 0.1 * watts);
        sum = kit_take(meter);
        assert_near(sum.all.gross_j, 0.2 * watts, 1e-6);
        assert_near(sum.unknown_s, 50, 1e-6);
        assert_int_equal(kit_source(meter, "package-0")->gaps, 1);
        vt_energy_close(meter);
    }
}

/* A machine that only has not been asked for long. */
static void test_wraps_after_a_while(void **state)
{
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", KIT_RANGE / 1e6 - 100);
    meter = open_cpu();
    kit_take(meter);
    kit_pass(1);
    kit_energy("intel-rapl:0", KIT_RANGE / 1e6 - 90);
    kit_take(meter);
    kit_pass(60);
    kit_energy("intel-rapl:0", 910);
    assert_near(kit_take(meter).all.gross_j, 1010, 1e-4);
    assert_int_equal(kit_source(meter, "package-0")->wraps, 1);
    vt_energy_close(meter);
}

/* One wrong reading among right ones: what was counted meanwhile comes with the next. */
static void test_one_wrong_reading(void **state)
{
    static const char *const wrong[] = {"0\n", "18446744073709551615\n", "99000000000\n"};
    struct vt_energy_sum sum = {.takes = 0};
    vt_energy *meter;

    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        kit_zone("intel-rapl:0", "package-0", 100);
        meter = open_cpu();
        for (int i = 0; i <= 20; i++) {
            kit_energy("intel-rapl:0", 100 + i);
            if (i == 10)
                kit_put(ENERGY, "%s", wrong[k]);
            sum = kit_take(meter);
            assert_near(sum.all.gross_j, i == 10 ? 9 : i, 1e-6);
            assert_near(sum.unknown_s, i == 10 ? 0.1 : 0, 1e-9);
            kit_pass(0.1);
        }
        assert_int_equal(kit_source(meter, "package-0")->gaps, 1);
        vt_energy_close(meter);
    }
}

/* One that stays at the wrong value says nothing, and when it goes on from there that is another count. */
static void test_stays_wrong(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 100000);
    meter = open_cpu();
    kit_take(meter);
    kit_pass(1);
    kit_energy("intel-rapl:0", 100010);
    kit_take(meter);
    kit_energy("intel-rapl:0", 0);
    for (int i = 1; i <= 4; i++) {
        kit_pass(1);
        sum = kit_take(meter);
        assert_near(sum.all.gross_j, 10, 1e-6);
        assert_near(sum.unknown_s, i, 1e-9);
    }
    kit_pass(1);
    kit_energy("intel-rapl:0", 50);
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 60, 1e-6); /* 4 s at 12.5 W since it showed nothing */
    assert_near(sum.unknown_s, 1, 1e-9);
    vt_energy_close(meter);
}

/* ---- sources ------------------------------------------------------------------------------------- */

/* A platform's counter that cannot be read is not less than its parts, nor is one that is renewed less often. */
static void test_platform_that_says_nothing(void **state)
{
    struct vt_energy_sum sum = {.takes = 0};
    vt_energy *meter;

    (void)state;
    for (int is_slow = 0; is_slow < 2; is_slow++) {
        kit_zone("intel-rapl:0", "package-0", 100);
        kit_zone("intel-rapl:1", "psys", 100);
        meter = open_cpu();
        for (int i = 0; i <= 32; i++) {
            kit_energy("intel-rapl:0", 100 + 2 * i);
            kit_energy("intel-rapl:1", 100 + 5 * (is_slow ? i / 8 * 8 : i));
            if (!is_slow && i >= 10 && i < 17)
                kit_put(PLATFORM, "garbage\n");
            sum = kit_take(meter);
            kit_pass(0.1);
        }
        assert_int_equal(kit_source(meter, "psys")->inside, -1);
        assert_near(sum.all.gross_j, 160, 1e-6);
        assert_near(sum.unknown_s, 0, 1e-9);
        vt_energy_close(meter);
    }
}

/* Two sockets that began alike; and dies of one that are read a moment apart. */
static void test_mirror_that_is_none(void **state)
{
    struct vt_energy_sum sum = {.takes = 0};
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 100);
    kit_zone("intel-rapl:1", "package-1", 100);
    kit_zone("intel-rapl:2", "package-2", 100);
    meter = open_cpu();
    for (int i = 0; i <= 10; i++) {
        kit_energy("intel-rapl:0", 100 + i);
        kit_energy("intel-rapl:1", 100 + (i > 1 ? 1 + 3 * (i - 1) : i));
        kit_energy("intel-rapl:2", 100 + i + (i % 4 == 3 ? 0.001 : 0));
        sum = kit_take(meter);
        if (i == 1)
            assert_near(sum.all.gross_j, 1, 1e-6); /* nothing tells them apart yet */
        kit_pass(0.1);
    }
    assert_near(sum.all.gross_j, 10 + 28, 1e-6);
    assert_int_equal(kit_source(meter, "package-1")->inside, -1);
    assert_int_equal(kit_source(meter, "package-2")->inside, 0);
    vt_energy_close(meter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, kit_set_up, kit_tear_down)
        TEST(test_begins_anew),
        TEST(test_wraps_after_a_while),
        TEST(test_one_wrong_reading),
        TEST(test_stays_wrong),
        TEST(test_platform_that_says_nothing),
        TEST(test_mirror_that_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
