/* compare_test.c - one quantity of two benches: its test, its interval, its verdict. */
#include "base/error.h"
#include "perf/compare.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_VALUE 1e-15 /* of a whole run: a ratio needs something to divide by */

/* What run i did in items; what is known of one run holds for all. */
static double items_of(const struct vti_quantity *items, size_t run)
{
    double count = items ? items->values[run < items->count ? run : items->count - 1] : 1;

    return count > 0 ? count : 1;
}

/* Values for one item, and their logarithms: a ratio of runs is a difference of these. */
static int prepare(const struct vti_quantity *quantity, const struct vti_quantity *items,
                   double **values, double **logs)
{
    *values = malloc((quantity->count + 1) * sizeof **values);
    *logs = malloc((quantity->count + 1) * sizeof **logs);
    if (!*values || !*logs)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; i < quantity->count; i++) {
        double value = quantity->values[i];

        (*values)[i] = value / items_of(items, i);
        (*logs)[i] = isfinite(value) ? log(fmax(value, LEAST_VALUE)) - log(items_of(items, i))
                                     : NAN;
    }
    return 0;
}

static int test_pairs(struct vti_compared *row, const double *base, const double *now, double alpha)
{
    size_t count = row->base_count < row->now_count ? row->base_count : row->now_count;
    double *differences = malloc((count + 1) * sizeof *differences);
    struct vti_rank_test test;
    struct vti_shift shift;
    int code = differences ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");

    for (size_t i = 0; i < count && !code; i++)
        differences[i] = now[i] - base[i];
    if (!code)
        code = vti_signed_rank(differences, count, &test);
    if (!code)
        code = vti_shift_paired(differences, count, alpha, &shift);
    if (!code) {
        row->p = test.greater;
        row->p_less = test.less;
        row->is_exact = test.is_exact;
        row->ratio = exp(shift.estimate);
        row->low = exp(shift.low);
        row->high = exp(shift.high);
    }
    free(differences);
    return code;
}

static int test_apart(struct vti_compared *row, const double *base, const double *now, double alpha)
{
    struct vti_rank_test test;
    struct vti_shift shift;
    int code = vti_mann_whitney(base, row->base_count, now, row->now_count, &test);

    if (!code)
        code = vti_shift_between(base, row->base_count, now, row->now_count, alpha, &shift);
    if (!code) {
        row->p = test.greater;
        row->p_less = test.less;
        row->is_exact = test.is_exact;
        row->ratio = exp(shift.estimate);
        row->low = exp(shift.low);
        row->high = exp(shift.high);
    }
    return code;
}

static double threshold_of(const struct vti_compared *row, const struct vti_rules *rules)
{
    double least = row->kind == VTI_QUANTITY_TIME ? rules->part : rules->slower;

    return row->is_paired ? least : fmax(least, rules->apart);
}

int vti_compare_times(struct vti_compared *row, const struct vti_quantity *base,
                      const struct vti_quantity *now, const struct vti_quantity *base_items,
                      const struct vti_quantity *now_items,
                      const struct vti_compare_options *options)
{
    double *values[2] = {NULL, NULL};
    double *logs[2] = {NULL, NULL};
    int code = prepare(base, base_items, &values[0], &logs[0]);

    if (!code)
        code = prepare(now, now_items, &values[1], &logs[1]);
    if (!code) {
        row->base = vti_median(values[0], base->count);
        row->now = vti_median(values[1], now->count);
        row->base_count = base->count;
        row->now_count = now->count;
        row->is_per_item = base_items != NULL;
        row->items = items_of(base_items, 0);
        row->is_paired = options->is_paired && base->count == now->count;
        row->need = row->is_paired ? options->rules.least : options->rules.least_apart;
        row->threshold = threshold_of(row, &options->rules);
        code = row->is_paired ? test_pairs(row, logs[0], logs[1], options->rules.alpha)
                              : test_apart(row, logs[0], logs[1], options->rules.alpha);
    }
    for (int i = 0; i < 2; i++) {
        free(values[i]);
        free(logs[i]);
    }
    return code;
}

static bool has_too_few(const struct vti_compared *row)
{
    size_t least = row->base_count < row->now_count ? row->base_count : row->now_count;

    return least < row->need || isinf(row->high); /* without an end: too few for any interval */
}

void vti_compare_decide(struct vti_compared *row, const struct vti_rules *rules)
{
    bool is_time = row->kind != VTI_QUANTITY_MEMORY && row->kind != VTI_QUANTITY_ENERGY;
    double floor = rules->floor * row->base * row->items; /* of a whole run, as the loss */
    double loss = (row->now - row->base) * row->items;

    if (is_time && !row->is_iteration && floor < rules->floor_s)
        floor = rules->floor_s;
    if (has_too_few(row))
        row->verdict = VTI_VERDICT_TOO_FEW;
    else if (row->adjusted < rules->alpha && row->low > 1 + row->threshold)
        row->verdict = loss > floor ? VTI_VERDICT_WORSE : VTI_VERDICT_SAME;
    else if (row->p_less < rules->alpha && row->high < 1 / (1 + row->threshold))
        row->verdict = VTI_VERDICT_BETTER;
    else if (row->high < 1 + row->threshold || (row->high - 1) * row->base * row->items <= floor)
        row->verdict = VTI_VERDICT_SAME;
    else
        row->verdict = VTI_VERDICT_UNDECIDED;
}
