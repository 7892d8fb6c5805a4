/*
 * rank_quantile.c - percentiles of one name's durations in little memory.
 *
 * Values are counted in nanoseconds with the leading seven bits kept: a step is at most 1/64 of the
 * value wide, and its middle is within 0.8 % of every value in it.
 */
#include "analyze/rank_impl.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t to_ns(double seconds)
{
    double ns = seconds * 1e9;

    if (!(ns > 0))
        return 0;
    return ns < 9e18 ? (uint64_t)(ns + 0.5) : (uint64_t)9e18;
}

/* Values below 64 are their own step in block 0; from there each power of two is a block. */
static void find_step(uint64_t ns, unsigned *block, unsigned *step)
{
    unsigned top = ns < VTI_QUANTILE_STEPS ? 0 : 63u - (unsigned)__builtin_clzll(ns);

    *block = top ? top - 5 : 0;
    *step = top ? (unsigned)(ns >> (top - 6)) & (VTI_QUANTILE_STEPS - 1) : (unsigned)ns;
}

static double middle(unsigned block, unsigned step)
{
    double width = block ? ldexp(1, (int)block - 1) : 1;
    double low = block ? (VTI_QUANTILE_STEPS + step) * width : step;

    return (low + (width - 1) / 2) * 1e-9;
}

static int count(struct vti_quantile *quantile, double seconds)
{
    unsigned block;
    unsigned step;

    find_step(to_ns(seconds), &block, &step);
    if (!quantile->blocks[block]) {
        quantile->blocks[block] = calloc(VTI_QUANTILE_STEPS, sizeof **quantile->blocks);
        if (!quantile->blocks[block])
            return VTI_E_NOMEM;
    }
    quantile->blocks[block][step]++;
    return 0;
}

/* Goes over from exact values to counting. */
static int spread(struct vti_quantile *quantile)
{
    quantile->blocks = calloc(VTI_QUANTILE_BLOCKS, sizeof *quantile->blocks);
    if (!quantile->blocks)
        return VTI_E_NOMEM;
    for (uint32_t i = 0; i < quantile->exact_count; i++)
        if (count(quantile, quantile->exact[i]))
            return VTI_E_NOMEM;
    free(quantile->exact);
    quantile->exact = NULL;
    quantile->exact_count = 0;
    return 0;
}

int vti_quantile_add(struct vti_quantile *quantile, double seconds)
{
    if (!quantile->blocks && quantile->exact_count == VTI_QUANTILE_EXACT && spread(quantile))
        return VTI_E_NOMEM;
    if (quantile->blocks)
        return count(quantile, seconds);
    if (quantile->exact_count == quantile->exact_capacity) {
        uint32_t capacity = quantile->exact_capacity ? quantile->exact_capacity * 2 : 4;
        double *exact = realloc(quantile->exact, capacity * sizeof *exact);

        if (!exact)
            return VTI_E_NOMEM;
        quantile->exact = exact;
        quantile->exact_capacity = capacity;
    }
    quantile->exact[quantile->exact_count++] = seconds;
    return 0;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

/* The smallest value that at least `share` of all values do not exceed. */
static uint64_t rank_of(double share, uint64_t values)
{
    uint64_t rank = (uint64_t)ceil(share * (double)values);

    return rank < 1 ? 1 : rank > values ? values : rank;
}

static double get_exact(const struct vti_quantile *quantile, double share)
{
    double sorted[VTI_QUANTILE_EXACT];

    if (!quantile->exact_count)
        return 0;
    memcpy(sorted, quantile->exact, quantile->exact_count * sizeof *sorted);
    qsort(sorted, quantile->exact_count, sizeof *sorted, compare);
    return sorted[rank_of(share, quantile->exact_count) - 1];
}

static double get_counted(const struct vti_quantile *quantile, double share)
{
    uint64_t values = 0;
    uint64_t wanted;

    for (unsigned b = 0; b < VTI_QUANTILE_BLOCKS; b++)
        for (unsigned s = 0; quantile->blocks[b] && s < VTI_QUANTILE_STEPS; s++)
            values += quantile->blocks[b][s];
    wanted = rank_of(share, values);
    for (unsigned b = 0; b < VTI_QUANTILE_BLOCKS; b++)
        for (unsigned s = 0; quantile->blocks[b] && s < VTI_QUANTILE_STEPS; s++) {
            if (wanted <= quantile->blocks[b][s])
                return middle(b, s);
            wanted -= quantile->blocks[b][s];
        }
    return 0;
}

double vti_quantile_get(const struct vti_quantile *quantile, double share, double min, double max)
{
    double value;

    if (!quantile->blocks)
        return get_exact(quantile, share);
    value = get_counted(quantile, share);
    return value < min ? min : value > max ? max : value;
}

void vti_quantile_fini(struct vti_quantile *quantile)
{
    for (unsigned b = 0; quantile->blocks && b < VTI_QUANTILE_BLOCKS; b++)
        free(quantile->blocks[b]);
    free(quantile->blocks);
    free(quantile->exact);
    memset(quantile, 0, sizeof *quantile);
}
