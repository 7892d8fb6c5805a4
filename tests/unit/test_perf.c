/* test_perf.c - benches, comparisons and budgets on runs that are made up, so that every answer is known. */
#include "base/error.h"
#include "perf/budget.h"
#include "perf/compare.h"

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

static const struct vti_compare_options defaults = {.rules = VTI_RULES};

/* Runs of one command whose CPU time is `middle` seconds, more or less by `spread` of it. */
static void add_runs(struct vti_bench *bench, double middle, double spread, size_t count)
{
    struct vti_bench_entry *entry = bench->count ? &bench->entries[0]
                                                 : vti_bench_add(bench, "", "work");

    if (!bench->cpu)
        vti_bench_text(&bench->cpu, "Test CPU");
    for (size_t i = 0; i < count; i++) {
        double off = spread * ((double)((i * 7 + 3) % 11) / 5 - 1);

        assert_int_equal(vti_bench_note(entry, "cpu", VTI_QUANTITY_CPU, middle * (1 + off)), 0);
        assert_int_equal(vti_bench_note(entry, "wall", VTI_QUANTITY_WALL, 2 * middle), 0);
    }
}

static void add_count(struct vti_bench *bench, const char *name, double one, double other)
{
    vti_bench_note(&bench->entries[0], name, VTI_QUANTITY_COUNT, one);
    vti_bench_note(&bench->entries[0], name, VTI_QUANTITY_COUNT, other);
}

static enum vti_verdict verdict_of(const struct vti_bench *base, const struct vti_bench *now,
                                   const struct vti_compare_options *options,
                                   struct vti_compared *cpu)
{
    struct vti_comparison comparison;
    enum vti_verdict verdict;

    assert_int_equal(vti_compare(&comparison, base, now, options), 0);
    verdict = vti_comparison_verdict(&comparison);
    for (size_t i = 0; i < comparison.count && cpu; i++)
        if (!strcmp(comparison.rows[i].name, "cpu"))
            *cpu = comparison.rows[i];
    vti_comparison_fini(&comparison);
    return verdict;
}

static void times_in_pairs(void **state)
{
    struct vti_compare_options options = defaults;
    static const struct {
        double factor;
        enum vti_verdict verdict;
    } cases[] = {{1, VTI_VERDICT_SAME},
                 {1.03, VTI_VERDICT_SAME},
                 {1.2, VTI_VERDICT_WORSE},
                 {0.5, VTI_VERDICT_SAME}};

    (void)state;
    options.is_paired = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vti_bench base = {0};
        struct vti_bench now = {0};
        struct vti_compared cpu = {0};

        add_runs(&base, 0.1, 0.02, 10);
        add_runs(&now, 0.1 * cases[i].factor, 0.02, 10);
        assert_int_equal(verdict_of(&base, &now, &options, &cpu), cases[i].verdict);
        assert_true(cpu.gates && cpu.is_paired);
        assert_true(fabs(cpu.ratio - cases[i].factor) < 0.001);
        vti_bench_fini(&base);
        vti_bench_fini(&now);
    }
}

static void few_runs_are_no_verdict(void **state)
{
    struct vti_bench base = {0};
    struct vti_bench now = {0};
    struct vti_compared cpu = {0};

    (void)state;
    add_runs(&base, 0.1, 0.01, 10);
    add_runs(&now, 0.2, 0.01, 5);
    assert_int_equal(verdict_of(&base, &now, &defaults, &cpu), VTI_VERDICT_TOO_FEW);
    assert_int_equal(cpu.need, 6);
    add_runs(&now, 0.2, 0.01, 1);
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_WORSE);
    vti_bench_fini(&base);
    vti_bench_fini(&now);
}

/* 7 %: more than pairs need, less than runs that were not made in turn do. */
static void runs_apart_need_more(void **state)
{
    struct vti_compare_options options = defaults;
    struct vti_bench base = {0};
    struct vti_bench now = {0};

    (void)state;
    add_runs(&base, 0.1, 0.001, 12);
    add_runs(&now, 0.107, 0.001, 12);
    assert_int_equal(verdict_of(&base, &now, &options, NULL), VTI_VERDICT_SAME);
    options.is_paired = true;
    assert_int_equal(verdict_of(&base, &now, &options, NULL), VTI_VERDICT_WORSE);
    vti_bench_fini(&base);
    vti_bench_fini(&now);
}

static void noise_is_undecided(void **state)
{
    struct vti_compare_options options = defaults;
    struct vti_bench base = {0};
    struct vti_bench now = {0};

    (void)state;
    options.is_paired = true;
    add_runs(&base, 0.1, 0, 8);
    add_runs(&now, 0.105, 0.2, 8);
    assert_int_equal(verdict_of(&base, &now, &options, NULL), VTI_VERDICT_UNDECIDED);
    vti_bench_fini(&base);
    vti_bench_fini(&now);
}

/* Half a millisecond of a run of one is 50 %, and nothing. */
static void small_losses_never_count(void **state)
{
    struct vti_bench base = {0};
    struct vti_bench now = {0};
    struct vti_comparison comparison;

    (void)state;
    add_runs(&base, 0.001, 0.01, 10);
    add_runs(&now, 0.0015, 0.01, 10);
    assert_int_equal(vti_compare(&comparison, &base, &now, &defaults), 0);
    assert_int_equal(vti_comparison_verdict(&comparison), VTI_VERDICT_SAME);
    assert_non_null(strstr((char *)comparison.notes.data, "mostly to start"));
    vti_comparison_fini(&comparison);
    vti_bench_note(&base.entries[0], "items", VTI_QUANTITY_ITEMS, 10); /* nor for one item of ten */
    vti_bench_note(&now.entries[0], "items", VTI_QUANTITY_ITEMS, 10);
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_SAME);
    vti_bench_fini(&base);
    vti_bench_fini(&now);
}

static void counts_decide_first(void **state)
{
    struct vti_bench base = {0};
    struct vti_bench now = {0};

    (void)state;
    add_runs(&base, 0.1, 0.01, 10);
    add_runs(&now, 0.1, 0.01, 10);
    add_count(&base, "calls:f x.py", 30, 30);
    add_count(&now, "calls:f x.py", 30, 30);
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_SAME);
    add_count(&base, "calls:g x.py", 5, 6); /* not the same in two runs: no count */
    add_count(&now, "calls:g x.py", 9, 9);
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_SAME);
    add_count(&base, "calls:h x.py", 30, 30);
    add_count(&now, "calls:h x.py", 31, 31);
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_WORSE);
    vti_bench_quantity(&base.entries[0], "calls:h x.py", VTI_QUANTITY_COUNT)->share = 0.001;
    vti_bench_quantity(&now.entries[0], "calls:h x.py", VTI_QUANTITY_COUNT)->share = 0.002;
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_SAME);
    vti_bench_fini(&base);
    vti_bench_fini(&now);
}

/* Twice the work in twice the time is the same; counts of another amount of work do not decide. */
static void times_are_for_one_item(void **state)
{
    struct vti_bench base = {0};
    struct vti_bench now = {0};
    struct vti_compared cpu = {0};

    (void)state;
    add_runs(&base, 0.1, 0.01, 10);
    add_runs(&now, 0.2, 0.01, 10);
    add_count(&base, "calls:f x.py", 30, 30);
    add_count(&now, "calls:f x.py", 60, 60);
    vti_bench_note(&base.entries[0], "items", VTI_QUANTITY_ITEMS, 100);
    vti_bench_note(&now.entries[0], "items", VTI_QUANTITY_ITEMS, 200);
    assert_int_equal(verdict_of(&base, &now, &defaults, &cpu), VTI_VERDICT_SAME);
    assert_true(cpu.is_per_item);
    assert_true(fabs(cpu.base - 0.001) < 0.0001);
    vti_bench_fini(&base);
    vti_bench_fini(&now);
}

static void what_cannot_be_compared(void **state)
{
    struct vti_compare_options options = defaults;
    struct vti_bench base = {0};
    struct vti_bench now = {0};

    (void)state;
    add_runs(&base, 0.1, 0.01, 10);
    add_runs(&now, 0.1, 0.01, 10);
    add_count(&base, "calls:f x.py", 30, 30);
    add_count(&now, "calls:f x.py", 30, 30);
    vti_bench_text(&now.cpu, "Other CPU");
    assert_int_equal(verdict_of(&base, &now, &options, NULL), VTI_VERDICT_UNKNOWN);
    options.is_baseline = true; /* counts alone are enough there */
    assert_int_equal(verdict_of(&base, &now, &options, NULL), VTI_VERDICT_SAME);
    add_count(&base, "calls:g x.py", 1, 1);
    add_count(&now, "calls:g x.py", 2, 2);
    assert_int_equal(verdict_of(&base, &now, &options, NULL), VTI_VERDICT_WORSE);
    options.is_baseline = false;
    assert_int_equal(verdict_of(&base, &now, &options, NULL), VTI_VERDICT_WORSE);
    vti_bench_text(&now.entries[0].command, "other work");
    assert_int_equal(verdict_of(&base, &now, &options, NULL), VTI_VERDICT_UNKNOWN);
    options.any_command = true;
    assert_int_equal(verdict_of(&base, &now, &options, NULL), VTI_VERDICT_WORSE);
    vti_bench_text(&base.entries[0].mode, "plain");
    vti_bench_text(&now.entries[0].mode, "sampled");
    assert_int_equal(verdict_of(&base, &now, &options, NULL), VTI_VERDICT_UNKNOWN);
    options.is_forced = true;
    assert_int_equal(verdict_of(&base, &now, &options, NULL), VTI_VERDICT_WORSE);
    vti_bench_fini(&base);
    vti_bench_fini(&now);
}

/* Eight tests at once: p of 1/256 each is worth 8/256 by Holm, and proves nothing. */
static void several_commands_are_several_tests(void **state)
{
    struct vti_compare_options options = defaults;
    struct vti_bench base = {0};
    struct vti_bench now = {0};

    (void)state;
    options.is_paired = true;
    vti_bench_text(&base.cpu, "Test CPU");
    vti_bench_text(&now.cpu, "Test CPU");
    for (int i = 0; i < 8; i++) {
        char name[16];

        snprintf(name, sizeof name, "work %d", i);
        for (int side = 0; side < 2; side++) {
            struct vti_bench_entry *entry = vti_bench_add(side ? &now : &base, name, name);

            for (int run = 0; run < 8; run++)
                vti_bench_note(entry, "cpu", VTI_QUANTITY_CPU,
                               0.1 + 0.0001 * run + (side && i == 0 ? 0.03 : 0));
        }
    }
    assert_int_equal(verdict_of(&base, &now, &options, NULL), VTI_VERDICT_UNDECIDED);
    base.count = now.count = 1;
    assert_int_equal(verdict_of(&base, &now, &options, NULL), VTI_VERDICT_WORSE);
    base.count = now.count = 8;
    vti_bench_fini(&base);
    vti_bench_fini(&now);
}

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
    add_runs(&bench, 0.1, 0.01, 3);
    add_count(&bench, "calls:\"f\"\n x.py", 3, 4);
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
        "{\"benchmarks\":{}}"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct vti_bench bench = {0};

        if (!(read_text(&bench, texts[i]) < 0))
            fail_msg("taken for a bench: %s", texts[i]);
        vti_bench_fini(&bench);
    }
}

static void what_is_no_number_is_no_time(void **state)
{
    struct vti_bench base = {0};
    struct vti_bench now = {0};
    struct vti_comparison comparison;

    (void)state;
    add_runs(&base, 0.1, 0.01, 10);
    add_runs(&now, 0.1, 0.01, 9);
    vti_bench_note(&now.entries[0], "cpu", VTI_QUANTITY_CPU, NAN);
    assert_int_equal(vti_compare(&comparison, &base, &now, &defaults), VTI_E_USAGE);
    vti_comparison_fini(&comparison);
    vti_bench_fini(&base);
    vti_bench_fini(&now);
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
                 {"memory<1000M", 1 << 30, false}};
    struct vti_bench bench = {.cores = 2};
    struct vti_bench_entry *entry;

    (void)state;
    add_runs(&bench, 0.1, 0, 3);
    entry = &bench.entries[0];
    vti_bench_note(entry, "items", VTI_QUANTITY_ITEMS, 100);
    vti_bench_note(entry, "rss", VTI_QUANTITY_MEMORY, 1 << 30);
    vti_bench_note(entry, "span:step:p99", VTI_QUANTITY_VALUE, 0.04);
    vti_bench_note(entry, "spans:step", VTI_QUANTITY_COUNT, 3);
    vti_bench_note(entry, "task:load:max", VTI_QUANTITY_VALUE, 2);
    vti_bench_note(entry, "calls:parse a.py", VTI_QUANTITY_COUNT, 5);
    vti_bench_note(entry, "calls:parse b.py", VTI_QUANTITY_COUNT, 2);
    vti_bench_note(entry, "calls:parser b.py", VTI_QUANTITY_COUNT, 100);
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
    static const char *const texts[] = {"",      "cpu",         "<3",      "cpu<",
                                        "cpu<x", "cpu<3parsec", "cpu<nan", "cpu<1e999"};
    struct vti_budget budget;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(vti_budget_parse(&budget, texts[i]), VTI_E_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_in_pairs),
        cmocka_unit_test(few_runs_are_no_verdict),
        cmocka_unit_test(runs_apart_need_more),
        cmocka_unit_test(noise_is_undecided),
        cmocka_unit_test(small_losses_never_count),
        cmocka_unit_test(counts_decide_first),
        cmocka_unit_test(times_are_for_one_item),
        cmocka_unit_test(what_cannot_be_compared),
        cmocka_unit_test(several_commands_are_several_tests),
        cmocka_unit_test(a_file_is_what_was_written),
        cmocka_unit_test(files_of_other_tools),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(what_is_no_number_is_no_time),
        cmocka_unit_test(budgets),
        cmocka_unit_test(bad_budgets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
