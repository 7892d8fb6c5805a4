/*
 * fuzz_bench.c - libFuzzer target: any bytes as the file of a bench. What is read is compared with itself, held against its own
 * budgets, written, and read again.
 */
#include "perf/budget.h"
#include "perf/compare.h"

#include <stdlib.h>
#include <string.h>

static void require(int condition)
{
    if (!condition)
        abort();
}

/* A bench is never worse than itself. */
static void compare(const struct vti_bench *bench)
{
    const struct vti_compare_options options = {.rules = VTI_RULES, .is_paired = bench->is_paired};
    struct vti_comparison comparison;

    if (!vti_compare(&comparison, bench, bench, &options))
        require(vti_comparison_verdict(&comparison) != VTI_VERDICT_WORSE);
    vti_comparison_fini(&comparison);
}

static void hold_budgets(const struct vti_bench *bench)
{
    struct vti_budget budget;

    for (size_t i = 0; i < bench->budget_count; i++)
        if (!vti_budget_parse(&budget, bench->budgets[i]))
            for (size_t j = 0; j < bench->count; j++)
                vti_budget_is_kept(&budget, vti_budget_value(&budget, bench, &bench->entries[j]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vti_bench bench = {0};
    struct vti_bench again = {0};
    struct vti_buf text = {0};

    if (!vti_bench_parse(&bench, "fuzz.json", (const char *)data, size)) {
        compare(&bench);
        hold_budgets(&bench);
        vti_bench_write(&bench, &text);
        require(!vti_bench_parse(&again, "again.json", (const char *)text.data, text.len));
        require(again.count == bench.count && again.budget_count == bench.budget_count);
    }
    vti_buf_fini(&text);
    vti_bench_fini(&again);
    vti_bench_fini(&bench);
    return 0;
}
