/*
 * shift.c - by how much values differ: the median of all means of two differences (pairs), or of all differences
 * between the lots, and the interval that the test by ranks would not refuse.
 */
#include "base/error.h"
#include "stats/ranks.h"
#include "stats/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define MOST_EXACT 60 /* values of either side: beyond, the normal distribution serves */

static double middle(const double *sorted, size_t count)
{
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

double vti_median(const double *values, size_t count)
{
    double *sorted = count ? malloc(count * sizeof *sorted) : NULL;
    double median = NAN;

    if (!sorted)
        return median;
    for (size_t i = 0; i < count; i++)
        sorted[i] = values[i];
    qsort(sorted, count, sizeof *sorted, vti_compare_doubles);
    median = middle(sorted, count);
    free(sorted);
    return median;
}

/* z that a part `alpha` of the normal distribution lies above, by halving. */
static double normal_point(double alpha)
{
    double low = 0;
    double high = 40;

    for (int i = 0; i < 80; i++) {
        double z = (low + high) / 2;

        if (vti_normal_above(z) > alpha)
            low = z;
        else
            high = z;
    }
    return high;
}

static size_t approximate(double mean, double sigma, double alpha)
{
    double count = floor(mean + 0.5 - normal_point(alpha) * sigma);

    return count > 0 ? (size_t)count : 0;
}

/* Ranks without ties, single instead of doubled. */
static uint32_t *plain_ranks(size_t count)
{
    uint32_t *ranks = malloc((count + 1) * sizeof *ranks);

    for (size_t i = 0; i < count && ranks; i++)
        ranks[i] = (uint32_t)i + 1;
    return ranks;
}

/* How many of the sorted means lie outside the interval on each side. */
static int cut_paired(size_t count, double alpha, size_t *cut)
{
    double n = (double)count;
    uint32_t *ranks;
    double *chance = NULL;
    size_t sum;
    int code;

    *cut = approximate(n * (n + 1) / 4, sqrt(n * (n + 1) * (2 * n + 1) / 24), alpha);
    if (count > MOST_EXACT)
        return 0;
    ranks = plain_ranks(count);
    code = ranks ? vti_ranks_any(ranks, count, &chance, &sum)
                 : vti_fail(VTI_E_NOMEM, "out of memory");
    if (!code)
        *cut = vti_ranks_below(chance, sum, alpha);
    free(chance);
    free(ranks);
    return code;
}

static int cut_between(size_t base_count, size_t now_count, double alpha, size_t *cut)
{
    double m = (double)base_count;
    double n = (double)now_count;
    size_t least = now_count * (now_count + 1) / 2; /* the lowest sum of ranks there is */
    uint32_t *ranks;
    double *chance = NULL;
    size_t sum;
    int code;

    *cut = approximate(m * n / 2, sqrt(m * n * (m + n + 1) / 12), alpha);
    if (base_count + now_count > MOST_EXACT)
        return 0;
    ranks = plain_ranks(base_count + now_count);
    code = ranks ? vti_ranks_of_size(ranks, base_count + now_count, now_count, &chance, &sum)
                 : vti_fail(VTI_E_NOMEM, "out of memory");
    if (!code)
        *cut = vti_ranks_below(chance, sum, alpha) - least;
    free(chance);
    free(ranks);
    return code;
}

static void fill(struct vti_shift *shift, double *values, size_t count, size_t cut)
{
    qsort(values, count, sizeof *values, vti_compare_doubles);
    shift->estimate = middle(values, count);
    if (cut && 2 * cut <= count) {
        shift->low = values[cut - 1];
        shift->high = values[count - cut];
    }
}

int vti_shift_paired(const double *differences, size_t count, double alpha, struct vti_shift *shift)
{
    size_t all = count * (count + 1) / 2;
    double *means = NULL;
    size_t cut = 0;
    int code = vti_values_check(differences, count);

    *shift = (struct vti_shift){NAN, -INFINITY, INFINITY};
    if (code || !count)
        return code;
    means = malloc(all * sizeof *means);
    code = means ? cut_paired(count, alpha, &cut) : vti_fail(VTI_E_NOMEM, "out of memory");
    if (!code) {
        size_t at = 0;

        for (size_t i = 0; i < count; i++)
            for (size_t j = i; j < count; j++)
                means[at++] = (differences[i] + differences[j]) / 2;
        fill(shift, means, all, cut);
    }
    free(means);
    return code;
}

int vti_shift_between(const double *base, size_t base_count, const double *now, size_t now_count,
                      double alpha, struct vti_shift *shift)
{
    double *all = NULL;
    size_t cut = 0;
    int code = vti_values_check(base, base_count);

    *shift = (struct vti_shift){NAN, -INFINITY, INFINITY};
    if (!code)
        code = vti_values_check(now, now_count);
    if (code || !base_count || !now_count)
        return code;
    all = malloc(base_count * now_count * sizeof *all);
    code = all ? cut_between(base_count, now_count, alpha, &cut)
               : vti_fail(VTI_E_NOMEM, "out of memory");
    if (!code) {
        for (size_t i = 0; i < base_count; i++)
            for (size_t j = 0; j < now_count; j++)
                all[i * now_count + j] = now[j] - base[i];
        fill(shift, all, base_count * now_count, cut);
    }
    free(all);
    return code;
}
