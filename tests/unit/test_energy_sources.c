/* test_energy_sources.c - perf events, sensors, cards, estimates and models: what is found, added up, and said of it. */
#include "energy_kit.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define POWER "sys/bus/event_source/devices/power/"

/* ---- perf ---------------------------------------------------------------------------------------- */

static void put_events(void)
{
    kit_put(POWER "type", "21\n");
    kit_put(POWER "cpumask", "0,8\n");
    kit_put(POWER "events/energy-pkg", "event=0x02\n");
    kit_put(POWER "events/energy-pkg.scale", "2.3283064365386962890625e-10\n");
    kit_put(POWER "events/energy-ram", "event=0x03\n");
    kit_put(POWER "events/energy-ram.scale", "2.3283064365386962890625e-10\n");
}

static void test_perf(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    put_events();
    kit_event_error = 0;
    meter = kit_open(-1);
    assert_int_equal(vt_energy_source_count(meter), 4); /* two packages, memory of two */
    for (size_t i = 0; i < 4; i++)
        kit_event(i, 5ull << 32);
    kit_take(meter);
    kit_pass(1);
    kit_event(0, 25ull << 32);
    kit_event(1, 35ull << 32);
    kit_event(2, 6ull << 32);
    kit_event(3, 7ull << 32);
    sum = kit_take(meter);
    assert_near(sum.parts[VT_ENERGY_CPU].gross_j, 50, 1e-6);
    assert_near(sum.parts[VT_ENERGY_MEMORY].gross_j, 3, 1e-6);
    assert_string_equal(kit_source(meter, "package-1")->from, "perf");
    kit_pass(1); /* nothing to be read */
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 53, 1e-6);
    assert_near(sum.unknown_s, 1, 1e-9);
    vt_energy_close(meter);
}

static void test_perf_not_permitted(void **state)
{
    vt_energy *meter;

    (void)state;
    put_events();
    kit_event_error = EACCES;
    meter = kit_open(-1);
    assert_int_equal(kit_source(meter, "processors")->how, VT_ENERGY_ESTIMATED);
    assert_non_null(strstr(vt_energy_advice(meter, 0), "cap_perfmon"));
    assert_non_null(strstr(vt_energy_advice(meter, 0), "perf_event_paranoid=0"));
    vt_energy_close(meter);
}

static void test_perf_not_beside_powercap(void **state)
{
    vt_energy *meter;

    (void)state;
    put_events();
    kit_event_error = 0;
    kit_zone("intel-rapl:0", "package-0", 1);
    meter = kit_open(-1);
    for (size_t i = 0; i < vt_energy_source_count(meter); i++)
        assert_string_not_equal(vt_energy_source_get(meter, i)->from, "perf");
    vt_energy_close(meter);
}

/* Zones that come when events are counted already would be the same once more. */
static void test_powercap_after_perf(void **state)
{
    vt_energy *meter;

    (void)state;
    put_events();
    kit_event_error = 0;
    meter = kit_open(-1);
    kit_take(meter);
    kit_zone("intel-rapl:0", "package-0", 1);
    kit_pass(6);
    kit_take(meter);
    for (size_t i = 0; i < vt_energy_source_count(meter); i++)
        assert_string_not_equal(vt_energy_source_get(meter, i)->from, "powercap");
    vt_energy_close(meter);
}

static void test_perf_nonsense(void **state)
{
    static const char *const configs[] = {"", "event=", "x", "event=zz"};
    vt_energy *meter;

    (void)state;
    kit_event_error = 0;
    for (size_t i = 0; i < 4; i++) {
        put_events();
        kit_put(POWER "events/energy-pkg", "%s", configs[i]);
        kit_put(POWER "events/energy-ram.scale", "-3");
        kit_put(POWER "cpumask", "%s", i % 2 ? "9-1,,x" : "0-99999999999");
        meter = kit_open(-1);
        assert_int_equal(kit_source(meter, "processors")->how, VT_ENERGY_ESTIMATED);
        vt_energy_close(meter);
    }
}

/* ---- hwmon --------------------------------------------------------------------------------------- */

static void test_hwmon(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_put("sys/class/hwmon/hwmon0/name", "amdgpu\n");
    kit_put("sys/class/hwmon/hwmon0/power1_average", "10000000\n");
    kit_put("sys/class/hwmon/hwmon0/power1_input", "77000000\n");
    kit_put("sys/class/hwmon/hwmon1/name", "coretemp\n"); /* says nothing of power */
    kit_put("sys/class/hwmon/hwmon1/power1_input", "5000000\n");
    kit_put("sys/class/hwmon/hwmon2/name", "zenergy\n"); /* counted already */
    kit_put("sys/class/hwmon/hwmon2/energy1_input", "5000000\n");
    kit_put("sys/class/hwmon/hwmon2/energy1_label", "Esocket0\n");
    meter = kit_open(-1);
    assert_int_equal(vt_energy_source_count(meter), 3); /* package, card, memory */
    kit_take(meter);
    kit_put("sys/class/hwmon/hwmon0/power1_average", "30000000\n");
    kit_pass(2);
    sum = kit_take(meter);
    assert_near(sum.parts[VT_ENERGY_GPU].gross_j, 40, 1e-6);
    assert_int_equal(sum.parts[VT_ENERGY_GPU].how, VT_ENERGY_MODELLED);
    assert_true(sum.parts[VT_ENERGY_GPU].share_j < 0);
    kit_put("sys/class/hwmon/hwmon0/power1_average", "off\n");
    kit_pass(2);
    sum = kit_take(meter);
    kit_put("sys/class/hwmon/hwmon0/power1_average", "30000000\n");
    kit_pass(2);
    sum = kit_take(meter);
    assert_near(sum.parts[VT_ENERGY_GPU].gross_j, 40, 1e-6); /* power says nothing of before */
    kit_pass(1);
    sum = kit_take(meter);
    assert_near(sum.parts[VT_ENERGY_GPU].gross_j, 70, 1e-6);
    assert_near(sum.unknown_s, 4, 1e-6);
    vt_energy_close(meter);
}

static void test_hwmon_processors(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_put("sys/class/hwmon/hwmon0/name", "zenergy\n");
    kit_put("sys/class/hwmon/hwmon0/energy1_input", "5000000\n");
    kit_put("sys/class/hwmon/hwmon0/energy1_label", "Ecore000\n");
    kit_put("sys/class/hwmon/hwmon0/energy2_input", "7000000\n");
    kit_put("sys/class/hwmon/hwmon0/energy2_label", "Esocket0\n");
    meter = kit_open(-1);
    kit_take(meter);
    kit_put("sys/class/hwmon/hwmon0/energy1_input", "9000000\n");
    kit_put("sys/class/hwmon/hwmon0/energy2_input", "57000000\n");
    kit_pass(1);
    sum = kit_take(meter);
    assert_near(sum.parts[VT_ENERGY_CPU].gross_j, 50, 1e-6);
    assert_int_equal(sum.parts[VT_ENERGY_CPU].how, VT_ENERGY_MEASURED);
    vt_energy_close(meter);
}

static void test_meter_of_the_board(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_zone("intel-rapl:1", "psys", 1);
    kit_put("sys/class/hwmon/hwmon0/name", "power_meter\n");
    kit_put("sys/class/hwmon/hwmon0/power1_average", "200000000\n");
    meter = kit_open(-1);
    kit_take(meter);
    kit_energy("intel-rapl:0", 50);
    kit_energy("intel-rapl:1", 81);
    kit_pass(1);
    sum = kit_take(meter);
    assert_near(sum.all.gross_j, 200, 1e-6);
    assert_near(sum.parts[VT_ENERGY_CPU].gross_j, 50, 1e-6);
    assert_near(sum.parts[VT_ENERGY_PLATFORM].gross_j, 200, 1e-6);
    vt_energy_close(meter);
}

/* ---- cards --------------------------------------------------------------------------------------- */

static char nvml_folder[64];

static vt_energy *open_cards(pid_t pid)
{
    struct vt_energy_options options = {
        .pid = pid, .nvml = getenv("FAKE_NVML_LIBRARY"), .flags = VT_ENERGY_NO_MEMORY};

    return kit_open_with(&options);
}

static void put_card(const char *name, const char *text)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", nvml_folder, name);
    if (!text) {
        remove(path);
        return;
    }
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int set_up_cards(void **state)
{
    snprintf(nvml_folder, sizeof nvml_folder, "/tmp/venturi-nvml-XXXXXX");
    assert_non_null(mkdtemp(nvml_folder));
    setenv("FAKE_NVML", nvml_folder, 1);
    put_card("cards", "1");
    return kit_set_up(state);
}

static int tear_down_cards(void **state)
{
    static const char *const names[] = {"cards", "energy", "power", "samples"};

    for (size_t i = 0; i < 4; i++)
        put_card(names[i], NULL);
    remove(nvml_folder);
    return kit_tear_down(state);
}

static void test_card(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_process(100, 1, 0, 0, 0, 1);
    put_card("energy", "1000000");
    put_card("samples", "100 30\n77 10\n");
    meter = open_cards(100);
    kit_take(meter);
    put_card("energy", "1080000");
    kit_pass(1);
    sum = kit_take(meter);
    assert_near(sum.parts[VT_ENERGY_GPU].gross_j, 80, 1e-6);
    assert_near(sum.parts[VT_ENERGY_GPU].share_j, 60, 1e-6);
    assert_int_equal(sum.parts[VT_ENERGY_GPU].how, VT_ENERGY_MEASURED);
    assert_string_equal(kit_source(meter, "gpu-0")->note, "Fake 9000");
    put_card("samples", ""); /* nobody used it */
    put_card("energy", "1100000");
    kit_pass(1);
    sum = kit_take(meter);
    assert_near(sum.parts[VT_ENERGY_GPU].gross_j, 100, 1e-6);
    assert_near(sum.parts[VT_ENERGY_GPU].share_j, 60, 1e-6);
    put_card("energy", NULL); /* it fell off the bus */
    kit_pass(1);
    sum = kit_take(meter);
    assert_near(sum.unknown_s, 1, 1e-9);
    vt_energy_close(meter);
}

static void test_old_card(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    put_card("power", "70000");
    meter = open_cards(-1);
    kit_take(meter);
    kit_pass(2);
    sum = kit_take(meter);
    assert_near(sum.parts[VT_ENERGY_GPU].gross_j, 140, 1e-6);
    assert_int_equal(sum.parts[VT_ENERGY_GPU].how, VT_ENERGY_MODELLED);
    assert_true(sum.parts[VT_ENERGY_GPU].share_j < 0);
    vt_energy_close(meter);
}

static void test_no_card(void **state)
{
    struct vt_energy_options options = {.pid = -1, .nvml = "/nowhere/libnothing.so"};
    vt_energy *meter;

    (void)state;
    put_card("cards", NULL);
    meter = open_cards(-1);
    assert_non_null(strstr(vt_energy_advice(meter, 0), "NVIDIA"));
    vt_energy_close(meter);
    meter = kit_open_with(&options);
    assert_non_null(strstr(vt_energy_advice(meter, 0), "/nowhere/libnothing.so"));
    vt_energy_close(meter);
    options.flags = VT_ENERGY_NO_GPU | VT_ENERGY_NO_COUNTERS;
    meter = kit_open_with(&options);
    assert_null(vt_energy_advice(meter, 0));
    vt_energy_close(meter);
}

/* ---- estimates and models ------------------------------------------------------------------------ */

static void test_estimate(void **state)
{
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_process(100, 1, 0, 0, 0, 0);
    kit_put("proc/cpuinfo", "processor : 0\nmodel name\t: Intel(R) Xeon(R) CPU E5-2680 v4 @ "
                            "2.40GHz\nphysical id\t: 0\n\n"
                            "processor : 1\nmodel name\t: Intel(R) Xeon(R) CPU E5-2680 v4 @ "
                            "2.40GHz\nphysical id\t: 1\n");
    meter = kit_open(100);
    assert_near(kit_source(meter, "processors")->watts, 240, 1e-9);
    assert_near(kit_source(meter, "processors")->idle_watts, 24, 1e-9);
    assert_non_null(strstr(kit_source(meter, "processors")->note, "120 W x 2"));
    kit_take(meter);
    kit_pass(1);
    kit_busy(2); /* of 4 CPUs */
    kit_process(100, 1, 0, 1, 0, 0);
    sum = kit_take(meter);
    assert_near(sum.parts[VT_ENERGY_CPU].gross_j, 132, 1e-6);
    assert_near(sum.parts[VT_ENERGY_CPU].share_j, 66, 1e-6);
    assert_near(sum.parts[VT_ENERGY_CPU].dynamic_j, 54, 1e-6);
    assert_int_equal(sum.parts[VT_ENERGY_CPU].how, VT_ENERGY_ESTIMATED);
    kit_put("proc/stat", "cpu\n");
    kit_pass(1);
    sum = kit_take(meter);
    assert_near(sum.parts[VT_ENERGY_CPU].gross_j, 132, 1e-6); /* how busy it was is not known */
    assert_near(kit_source(meter, "processors")->unknown_s, 1, 1e-9);
    vt_energy_close(meter);
}

static void test_processors_without_a_figure(void **state)
{
    vt_energy *meter;

    (void)state;
    kit_put("proc/cpuinfo", "model name\t: AMD EPYC\nflags\t: fpu hypervisor\n");
    meter = kit_open(-1);
    assert_near(kit_source(meter, "processors")->watts, 16, 1e-9);
    assert_non_null(strstr(kit_source(meter, "processors")->note, "several in the table"));
    assert_non_null(strstr(kit_source(meter, "processors")->note, "4 W a thread, 4 threads"));
    assert_non_null(strstr(vt_energy_advice(meter, 0), "virtual machine"));
    vt_energy_close(meter);
    kit_put("proc/cpuinfo", "model name\t: Zilog Z80\nflags\t: fpu\n");
    meter = kit_open(-1);
    assert_non_null(strstr(kit_source(meter, "processors")->note, "not in the table"));
    assert_non_null(strstr(vt_energy_advice(meter, 0), "modprobe"));
    vt_energy_close(meter);
    kit_remove("proc/cpuinfo");
    meter = kit_open(-1);
    assert_non_null(strstr(kit_source(meter, "processors")->note, "without a name"));
    vt_energy_close(meter);
}

static void test_given_watts(void **state)
{
    struct vt_energy_options options = {.pid = -1, .cpu_watts = 100, .memory_watts = 7};
    struct vt_energy_sum sum;
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0); /* instead of counters */
    kit_zone("intel-rapl:0:0", "dram", 0);
    meter = kit_open_with(&options);
    kit_take(meter);
    kit_busy(4);
    kit_pass(1);
    sum = kit_take(meter);
    assert_near(sum.parts[VT_ENERGY_CPU].gross_j, 100, 1e-6);
    assert_near(sum.parts[VT_ENERGY_MEMORY].gross_j, 7, 1e-6);
    assert_int_equal(sum.all.how, VT_ENERGY_GIVEN);
    kit_pass(6); /* nor are they found later */
    kit_take(meter);
    assert_int_equal(vt_energy_source_count(meter), 2);
    vt_energy_close(meter);
}

static void test_parts_that_nobody_wants(void **state)
{
    struct vt_energy_options options = {.pid = -1, .flags = VT_ENERGY_NO_MEMORY | VT_ENERGY_NO_GPU};
    vt_energy *meter;

    (void)state;
    kit_zone("intel-rapl:0", "package-0", 0);
    kit_zone("intel-rapl:0:0", "dram", 0);
    kit_put("sys/class/hwmon/hwmon0/name", "amdgpu\n");
    kit_put("sys/class/hwmon/hwmon0/power1_average", "10000000\n");
    meter = kit_open_with(&options);
    assert_int_equal(vt_energy_source_count(meter), 1);
    vt_energy_close(meter);
}

static void test_modules(void **state)
{
    static const struct {
        double gib, watts;
    } cases[] = {{1.9, 10}, {15.6, 10}, {31, 20}, {62, 20}, {125, 38}, {251, 38}, {503, 38}};
    vt_energy *meter;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kit_put("proc/meminfo", "MemTotal: %.0f kB\n", cases[i].gib * 1048576);
        meter = kit_open(-1);
        assert_near(kit_source(meter, "memory")->watts, KIT_MODULES * cases[i].watts, 1e-9);
        vt_energy_close(meter);
    }
}

static void test_nothing_at_all(void **state)
{
    struct vt_energy_options options = {
        .size = sizeof options, .sysfs = "/nowhere", .procfs = "/nowhere", .pid = -1, .nvml = ""};
    char why[128] = "";

    (void)state;
    assert_null(vt_energy_open(&options, why, sizeof why));
    assert_non_null(strstr(why, "no counter"));
    options.cpu_watts = -1;
    assert_null(vt_energy_open(&options, why, sizeof why));
    assert_non_null(strstr(why, "watts"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, kit_set_up, kit_tear_down)
#define TEST_CARDS(name) cmocka_unit_test_setup_teardown(name, set_up_cards, tear_down_cards)
        TEST(test_perf),
        TEST(test_perf_not_permitted),
        TEST(test_perf_not_beside_powercap),
        TEST(test_powercap_after_perf),
        TEST(test_perf_nonsense),
        TEST(test_hwmon),
        TEST(test_hwmon_processors),
        TEST(test_meter_of_the_board),
        TEST_CARDS(test_card),
        TEST_CARDS(test_old_card),
        TEST_CARDS(test_no_card),
        TEST(test_estimate),
        TEST(test_processors_without_a_figure),
        TEST(test_given_watts),
        TEST(test_parts_that_nobody_wants),
        TEST(test_modules),
        TEST(test_nothing_at_all),
    };

    if (argc > 1)
        setenv("FAKE_NVML_LIBRARY", argv[1], 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
