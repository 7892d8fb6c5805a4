/* test_perf.c - comparisons of benches on runs that are made up, so that every answer is known. */
#include "base/error.h"
#include "perf/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf_kit.h"

static const struct vti_compare_options defaults = {.rules = VTI_RULES};

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

        perf_kit_runs(&base, 0.1, 0.02, 10);
        perf_kit_runs(&now, 0.1 * cases[i].factor, 0.02, 10);
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
    struct vti_compare_options fewer = defaults;

    (void)state;
    perf_kit_runs(&base, 0.1, 0.01, 10);
    perf_kit_runs(&now, 0.2, 0.01, 2);
    fewer.rules.least_apart = 2; /* whatever is asked for: of so few there is no interval */
    assert_int_equal(verdict_of(&base, &now, &fewer, NULL), VTI_VERDICT_TOO_FEW);
    perf_kit_runs(&now, 0.2, 0.01, 3);
    assert_int_equal(verdict_of(&base, &now, &defaults, &cpu), VTI_VERDICT_TOO_FEW);
    assert_int_equal(cpu.need, 6);
    perf_kit_runs(&now, 0.2, 0.01, 1);
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
    perf_kit_runs(&base, 0.1, 0.001, 12);
    perf_kit_runs(&now, 0.107, 0.001, 12);
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
    perf_kit_runs(&base, 0.1, 0, 8);
    perf_kit_runs(&now, 0.105, 0.2, 8);
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
    perf_kit_runs(&base, 0.001, 0.01, 10);
    perf_kit_runs(&now, 0.0015, 0.01, 10);
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
    perf_kit_runs(&base, 0.1, 0.01, 10);
    perf_kit_runs(&now, 0.1, 0.01, 10);
    perf_kit_count(&base, "calls:f x.py", 30, 30);
    perf_kit_count(&now, "calls:f x.py", 30, 30);
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_SAME);
    perf_kit_count(&base, "calls:g x.py", 5, 6); /* not the same in two runs: no count */
    perf_kit_count(&now, "calls:g x.py", 9, 9);
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_SAME);
    perf_kit_count(&base, "calls:h x.py", 30, 30);
    perf_kit_count(&now, "calls:h x.py", 31, 31);
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_WORSE);
    vti_bench_quantity(&base.entries[0], "calls:h x.py", VTI_QUANTITY_COUNT)->share = 0.001;
    vti_bench_quantity(&now.entries[0], "calls:h x.py", VTI_QUANTITY_COUNT)->share = 0.002;
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_SAME);
    vti_bench_fini(&base);
    vti_bench_fini(&now);
}

/* A span that took nothing to speak of, and takes a third of the new runs: CPU time says nothing of one that waits. */
static void what_has_grown_from_little_decides(void **state)
{
    struct vti_bench base = {0};
    struct vti_bench now = {0};

    (void)state;
    perf_kit_runs(&base, 0.1, 0.01, 10);
    perf_kit_runs(&now, 0.1, 0.01, 10);
    for (int i = 0; i < 10; i++) {
        vti_bench_note(&base.entries[0], "span:commit", VTI_QUANTITY_TIME, 0.001 + 1e-6 * i);
        vti_bench_note(&now.entries[0], "span:commit", VTI_QUANTITY_TIME, 0.1 + 1e-6 * i);
    }
    vti_bench_quantity(&base.entries[0], "span:commit", VTI_QUANTITY_TIME)->share = 0.005;
    vti_bench_quantity(&now.entries[0], "span:commit", VTI_QUANTITY_TIME)->share = 0.3;
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_WORSE);
    vti_bench_quantity(&now.entries[0], "span:commit", VTI_QUANTITY_TIME)->share = 0.009;
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
    perf_kit_runs(&base, 0.1, 0.01, 10);
    perf_kit_runs(&now, 0.2, 0.01, 10);
    perf_kit_count(&base, "calls:f x.py", 30, 30);
    perf_kit_count(&now, "calls:f x.py", 60, 60);
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
    perf_kit_runs(&base, 0.1, 0.01, 10);
    perf_kit_runs(&now, 0.1, 0.01, 10);
    perf_kit_count(&base, "calls:f x.py", 30, 30);
    perf_kit_count(&now, "calls:f x.py", 30, 30);
    vti_bench_text(&now.cpu, "Other CPU");
    assert_int_equal(verdict_of(&base, &now, &options, NULL), VTI_VERDICT_UNKNOWN);
    options.is_baseline = true; /* counts alone are enough there */
    assert_int_equal(verdict_of(&base, &now, &options, NULL), VTI_VERDICT_SAME);
    perf_kit_count(&base, "calls:g x.py", 1, 1);
    perf_kit_count(&now, "calls:g x.py", 2, 2);
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
        char name[20];

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

/* 0.2 ns, then 0.6: as a turn of a loop it counts, and so it does for one item of many in a long run. */
static void no_time_is_too_short(void **state)
{
    struct vti_bench base = {0};
    struct vti_bench now = {0};
    struct vti_compared cpu = {0};

    (void)state;
    perf_kit_runs(&base, 0.2e-9, 0.01, 10);
    perf_kit_runs(&now, 0.6e-9, 0.01, 10);
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_SAME);
    vti_bench_text(&base.entries[0].mode, VTI_MODE_ITERATIONS);
    vti_bench_text(&now.entries[0].mode, VTI_MODE_ITERATIONS);
    assert_int_equal(verdict_of(&base, &now, &defaults, &cpu), VTI_VERDICT_WORSE);
    assert_true(fabs(cpu.ratio - 3) < 0.1);
    vti_bench_fini(&base);
    vti_bench_fini(&now);
    perf_kit_runs(&base, 0.2, 0.01, 10);
    perf_kit_runs(&now, 0.6, 0.01, 10);
    vti_bench_note(&base.entries[0], "items", VTI_QUANTITY_ITEMS, 1e9);
    vti_bench_note(&now.entries[0], "items", VTI_QUANTITY_ITEMS, 1e9);
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_WORSE);
    vti_bench_fini(&base);
    vti_bench_fini(&now);
}

/* Drops what the first command has under that name. */
static void drop(struct vti_bench *bench, const char *name)
{
    for (size_t i = 0; i < bench->entries[0].count; i++)
        if (!strcmp(bench->entries[0].quantities[i].name, name))
            bench->entries[0].quantities[i].count = 0;
}

static void what_is_on_one_side_only(void **state)
{
    static const struct {
        const char *dropped[2];
        enum vti_verdict of_now, of_base, of_baseline;
    } cases[] = {{{"", ""}, VTI_VERDICT_SAME, VTI_VERDICT_SAME, VTI_VERDICT_SAME},
                 {{"cpu", ""},
                  VTI_VERDICT_SAME,
                  VTI_VERDICT_SAME,
                  VTI_VERDICT_SAME}, /* the wall's decides */
                 {{"cpu", "wall"}, VTI_VERDICT_UNKNOWN, VTI_VERDICT_UNKNOWN, VTI_VERDICT_SAME},
                 {{"calls:f x.py", ""}, VTI_VERDICT_UNKNOWN, VTI_VERDICT_SAME, VTI_VERDICT_SAME}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int side = 0; side < 2; side++) {
            struct vti_compare_options options = defaults;
            struct vti_bench sides[2] = {{0}, {0}};

            for (int j = 0; j < 2; j++) {
                perf_kit_runs(&sides[j], 0.1, 0.01, 10);
                perf_kit_count(&sides[j], "calls:f x.py", 30, 30);
            }
            drop(&sides[side], cases[i].dropped[0]);
            drop(&sides[side], cases[i].dropped[1]);
            assert_int_equal(verdict_of(&sides[0], &sides[1], &options, NULL),
                             side ? cases[i].of_now : cases[i].of_base);
            options.is_baseline = true;
            assert_int_equal(verdict_of(&sides[0], &sides[1], &options, NULL),
                             side ? cases[i].of_now : cases[i].of_baseline);
            options.is_forced = true;
            assert_int_equal(verdict_of(&sides[0], &sides[1], &options, NULL), VTI_VERDICT_SAME);
            vti_bench_fini(&sides[0]);
            vti_bench_fini(&sides[1]);
        }
}

static void processors_without_a_name(void **state)
{
    struct vti_bench base = {0};
    struct vti_bench now = {0};

    (void)state;
    perf_kit_runs(&base, 0.1, 0.01, 10);
    perf_kit_runs(&now, 0.1, 0.01, 10);
    vti_bench_text(&now.cpu, "");
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_SAME);
    base.cores = 2;
    now.cores = 64;
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_UNKNOWN);
    now.cores = 2;
    vti_bench_text(&base.host, "one");
    vti_bench_text(&now.host, "other");
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_UNKNOWN);
    vti_bench_text(&now.host, "one");
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_SAME);
    vti_bench_fini(&base);
    vti_bench_fini(&now);
}

/* A name with a line break is no second sentence; two commands of one name are no pair. */
static void sentences_are_lines(void **state)
{
    struct vti_bench base = {0};
    struct vti_bench now = {0};
    struct vti_comparison comparison;

    (void)state;
    perf_kit_runs(&base, 0.1, 0.01, 10);
    perf_kit_runs(&now, 0.1, 0.01, 10);
    vti_bench_text(&now.entries[0].command, "one\ntwo");
    assert_int_equal(vti_compare(&comparison, &base, &now, &defaults), 0);
    vti_buf_add_u8(&comparison.doubts, 0);
    assert_string_equal((char *)comparison.doubts.data,
                        "the commands differ: work, then one two\n");
    vti_comparison_fini(&comparison);
    vti_bench_text(&now.entries[0].command, "work");
    vti_bench_add(&now, "", "more work");
    assert_int_equal(verdict_of(&base, &now, &defaults, NULL), VTI_VERDICT_UNKNOWN);
    vti_bench_fini(&base);
    vti_bench_fini(&now);
}

static void what_is_no_number_is_no_time(void **state)
{
    struct vti_bench base = {0};
    struct vti_bench now = {0};
    struct vti_comparison comparison;

    (void)state;
    perf_kit_runs(&base, 0.1, 0.01, 10);
    perf_kit_runs(&now, 0.1, 0.01, 9);
    vti_bench_note(&now.entries[0], "cpu", VTI_QUANTITY_CPU, NAN);
    assert_int_equal(vti_compare(&comparison, &base, &now, &defaults), VTI_E_USAGE);
    vti_comparison_fini(&comparison);
    vti_bench_fini(&base);
    vti_bench_fini(&now);
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
        cmocka_unit_test(what_has_grown_from_little_decides),
        cmocka_unit_test(times_are_for_one_item),
        cmocka_unit_test(what_cannot_be_compared),
        cmocka_unit_test(several_commands_are_several_tests),
        cmocka_unit_test(no_time_is_too_short),
        cmocka_unit_test(what_is_on_one_side_only),
        cmocka_unit_test(processors_without_a_name),
        cmocka_unit_test(sentences_are_lines),
        cmocka_unit_test(what_is_no_number_is_no_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
