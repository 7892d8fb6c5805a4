/* test_perf_files.c - files of benches, budgets and names of processors, good and bad. */
#include "base/error.h"
#include "format/host.h"
#include "perf/budget.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf_kit.h"

/* ---- files --------------------------------------------------------------------------------------- */

static int read_text(struct vti_bench *bench, const char *text)
{
    char path[] = "/tmp/venturi-perf-XXXXXX";
    int file = mkstemp(path);
    int code;

    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    code = vti_bench_read(bench, path);
    unlink(path);
    return code;
}

static void a_file_is_what_was_written(void **state)
{
    struct vti_bench bench = {0};
    struct vti_bench again = {0};
    struct vti_buf first = {0};
    struct vti_buf second = {0};

    (void)state;
    perf_kit_runs(&bench, 0.1, 0.01, 3);
    perf_kit_count(&bench, "calls:\"f\"\n x.py", 3, 4);
    vti_bench_quantity(&bench.entries[0], "calls:\"f\"\n x.py", VTI_QUANTITY_COUNT)->share = 0.25;
    vti_bench_budget(&bench, "cpu<1s");
    bench.cores = 4;
    bench.is_paired = true;
    vti_bench_write(&bench, &first);
    vti_buf_add_u8(&first, 0);
    assert_int_equal(read_text(&again, (char *)first.data), 0);
    assert_true(again.entries[0].quantities[2].share == 0.25);
    assert_true(again.cores == 4 && again.is_paired && again.budget_count == 1);
    vti_bench_write(&again, &second);
    vti_buf_add_u8(&second, 0);
    assert_string_equal((char *)second.data, (char *)first.data);
    vti_buf_fini(&first);
    vti_buf_fini(&second);
    vti_bench_fini(&bench);
    vti_bench_fini(&again);
}

static void files_of_other_tools(void **state)
{
    static const char *const texts[] = {
        "{\"results\":[{\"command\":\"sleep "
        "1\",\"mean\":1,\"times\":[1.0,1.1,0.9],\"exit_codes\":[0]}]}",
        "{\"benchmarks\":[{\"metadata\":{\"name\":\"sleep 1\"},\"runs\":[{\"warmups\":[[1,2.0]]},"
        "{\"values\":[1.0,1.1]},{\"metadata\":{},\"values\":[0.9]}]}],\"version\":\"1.0\"}",
        "{\"context\":{\"num_cpus\":2},\"benchmarks\":["
        "{\"name\":\"sleep "
        "1\",\"run_type\":\"iteration\",\"real_time\":1000,\"cpu_time\":5,\"time_unit\":\"ms\"},"
        "{\"name\":\"sleep "
        "1\",\"run_type\":\"iteration\",\"real_time\":1100,\"cpu_time\":5,\"time_unit\":\"ms\"},"
        "{\"name\":\"sleep "
        "1\",\"run_type\":\"iteration\",\"real_time\":900,\"cpu_time\":5,\"time_unit\":\"ms\"},"
        "{\"name\":\"sleep "
        "1_mean\",\"run_type\":\"aggregate\",\"real_time\":1,\"time_unit\":\"ms\"}]}"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct vti_bench bench = {0};
        const struct vti_quantity *wall;

        assert_int_equal(read_text(&bench, texts[i]), 0);
        assert_int_equal(bench.count, 1);
        assert_string_equal(bench.entries[0].name, "sleep 1");
        wall = vti_bench_find(&bench.entries[0], "wall");
        assert_int_equal(wall->count, 3);
        assert_true(wall->values[1] == 1.1);
        if (i == 2)
            assert_true(vti_bench_find(&bench.entries[0], "cpu")->values[0] == 0.005);
        vti_bench_fini(&bench);
    }
}

static void bad_files_are_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{}",
        "null",
        "{\"format\":\"venturi bench\"",
        "{\"format\":\"venturi bench\",\"benches\":[",
        "{\"format\":\"venturi bench\",\"version\":2}",
        "{\"format\":\"venturi bench\",\"benches\":[3]}",
        "{\"format\":\"venturi "
        "bench\",\"benches\":[{\"quantities\":[{\"name\":\"cpu\",\"values\":[\"x\"]}]}]}",
        "{\"format\":\"venturi "
        "bench\",\"benches\":[{\"quantities\":[{\"name\":\"cpu\",\"values\":[1e]}]}]}",
        "{\"results\":[{\"times\":[1,}]}",
        "{\"benchmarks\":{}}",
        "{\"format\":\"venturi bench\",\"version\":1,\"benches\":[]} x",
        "{\"format\":\"venturi bench\",\"version\":1,\"benches\":[]}{}",
        "{\"results\":[{\"command\":\"x\",\"times\":[1]}]}]",
        "{\"format\":\"venturi bench\",\"version\":null,\"benches\":[]}",
        "{\"format\":\"venturi "
        "bench\",\"benches\":[{\"quantities\":[{\"name\":\"cpu\",\"kind\":\"cpu\",\"values\":[-1]}]"
        "}]}",
        "{\"format\":\"venturi "
        "bench\",\"benches\":[{\"quantities\":[{\"name\":\"f\",\"kind\":\"count\",\"values\":[null]"
        "}]}]}"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct vti_bench bench = {0};

        if (!(read_text(&bench, texts[i]) < 0))
            fail_msg("taken for a bench: %s", texts[i]);
        vti_bench_fini(&bench);
    }
}

/* ---- budgets ------------------------------------------------------------------------------------- */

static void budgets(void **state)
{
    static const struct {
        const char *text;
        double value;
        bool is_kept;
    } cases[] = {{"cpu<200ms", 0.1, true},
                 {"cpu <= 0.1", 0.1, true},
                 {"cpu<0.1s", 0.1, false},
                 {"cpu>1min", 0.1, false},
                 {"step:p99<50ms", 0.04, true},
                 {"step:count<=3", 3, true},
                 {"load:max<1s", 2, false},
                 {"parse:calls<10", 7, true},
                 {"throughput>=500/s", 500, true},
                 {"throughput/core>=250/s", 250, true},
                 {"throughput/cpu>1000", 1000, false},
                 {"effective>499", 500, true},
                 {"cpu/item<2ms", 0.001, true},
                 {"rss<2G", 1 << 30, true},
                 {"memory<1000M", 1 << 30, false},
                 {"<module>:calls<=1", 1, true},
                 {"std::vector<int>::push:calls<8", 7, true}};
    struct vti_bench bench = {.cores = 2};
    struct vti_bench_entry *entry;

    (void)state;
    perf_kit_runs(&bench, 0.1, 0, 3);
    entry = &bench.entries[0];
    vti_bench_note(entry, "items", VTI_QUANTITY_ITEMS, 100);
    vti_bench_note(entry, "rss", VTI_QUANTITY_MEMORY, 1 << 30);
    vti_bench_note(entry, "span:step:p99", VTI_QUANTITY_VALUE, 0.04);
    vti_bench_note(entry, "spans:step", VTI_QUANTITY_COUNT, 3);
    vti_bench_note(entry, "task:load:max", VTI_QUANTITY_VALUE, 2);
    vti_bench_note(entry, "calls:parse a.py", VTI_QUANTITY_COUNT, 5);
    vti_bench_note(entry, "calls:parse b.py", VTI_QUANTITY_COUNT, 2);
    vti_bench_note(entry, "calls:parser b.py", VTI_QUANTITY_COUNT, 100);
    vti_bench_note(entry, "calls:<module> a.py", VTI_QUANTITY_COUNT, 1);
    vti_bench_note(entry, "calls:std::vector<int>::push a.cc", VTI_QUANTITY_COUNT, 7);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vti_budget budget;
        double value;

        assert_int_equal(vti_budget_parse(&budget, cases[i].text), 0);
        value = vti_budget_value(&budget, &bench, entry);
        if (!(fabs(value - cases[i].value) < 1e-9) ||
            vti_budget_is_kept(&budget, value) != cases[i].is_kept)
            fail_msg("%s: %g", cases[i].text, value);
    }
    vti_bench_fini(&bench);
}

static void bad_budgets(void **state)
{
    static const char *const texts[] = {"",
                                        "cpu",
                                        "<3",
                                        "cpu<",
                                        "cpu<x",
                                        "cpu<3parsec",
                                        "cpu<nan",
                                        "cpu<1e999",
                                        "cpu<2G",
                                        "cpu<50J",
                                        "rss<2s",
                                        "energy<2s",
                                        "throughput>1ms",
                                        "step:p99<2M",
                                        "f:calls<3s",
                                        "cpu/item<1k",
                                        "cpu<2%",
                                        "cpu<<2s",
                                        "cpu=<2s"};
    struct vti_budget budget;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(vti_budget_parse(&budget, texts[i]), VTI_E_USAGE);
}

/* For one item of none, or of less, there is no figure; nor are more items done than were begun. */
static void budgets_of_no_items(void **state)
{
    static const char *const texts[] = {"cpu/item<3ms", "effective>1/s"};
    struct vti_bench bench = {.cores = 2};

    (void)state;
    perf_kit_runs(&bench, 0.1, 0, 3);
    vti_bench_note(&bench.entries[0], "items", VTI_QUANTITY_ITEMS, -1);
    vti_bench_note(&bench.entries[0], "effective", VTI_QUANTITY_ITEMS, 5);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct vti_budget budget;

        assert_int_equal(vti_budget_parse(&budget, texts[i]), 0);
        assert_true(isnan(vti_budget_value(&budget, &bench, &bench.entries[0])));
    }
    vti_bench_fini(&bench);
}

/* ---- processors ---------------------------------------------------------------------------------- */

static void names_of_processors(void **state)
{
    static const struct {
        const char *text, *model;
    } cases[] = {
        {"processor\t: 0\ncpu family\t: 23\nmodel\t\t: 49\nmodel name\t: AMD EPYC\n", "AMD EPYC"},
        {"processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\nprocessor\t: 1\n"
         "CPU implementer\t: 0x41\nCPU part\t: 0xd05\n",
         "0x41 0xd0c 0xd05"},
        {"processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported"},
        {"model name\nmodel name\t:\n", ""}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *file = fmemopen((void *)cases[i].text, strlen(cases[i].text), "r");
        char model[VTI_CPU_MODEL_BYTES];

        assert_non_null(file);
        vti_host_cpu_model_read(model, file);
        fclose(file);
        assert_string_equal(model, cases[i].model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_what_was_written),
        cmocka_unit_test(files_of_other_tools),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(budgets),
        cmocka_unit_test(bad_budgets),
        cmocka_unit_test(budgets_of_no_items),
        cmocka_unit_test(names_of_processors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
