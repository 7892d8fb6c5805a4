/* ranks.c - middle ranks, and how often sums of ranks occur by chance. */
#include "stats/ranks.h"

#include "base/error.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

struct place {
    double value;
    size_t at;
};

int vti_compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;

    return (a > b) - (a < b);
}

static int by_value(const void *left, const void *right)
{
    return vti_compare_doubles(&((const struct place *)left)->value,
                               &((const struct place *)right)->value);
}

int vti_values_check(const double *values, size_t count)
{
    if (count > VTI_STATS_MOST)
        return vti_fail(VTI_E_LIMIT, "%zu values: at most %d are compared", count, VTI_STATS_MOST);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return vti_fail(VTI_E_USAGE, "value %zu is no number", i + 1);
    return 0;
}

int vti_ranks(const double *values, size_t count, uint32_t *doubled, double *ties)
{
    struct place *places = malloc((count + 1) * sizeof *places);
    size_t end;

    *ties = 0;
    if (!places)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; i < count; i++)
        places[i] = (struct place){values[i], i};
    qsort(places, count, sizeof *places, by_value);
    for (size_t begin = 0; begin < count; begin = end) {
        double size;

        for (end = begin + 1; end < count && places[end].value == places[begin].value;)
            end++;
        size = (double)(end - begin);
        *ties += size * size * size - size;
        for (size_t i = begin; i < end; i++)
            doubled[places[i].at] = (uint32_t)(begin + end + 1);
    }
    free(places);
    return 0;
}

static size_t add_up(const uint32_t *values, size_t count)
{
    size_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

int vti_ranks_any(const uint32_t *values, size_t count, double **chance, size_t *sum)
{
    size_t most = add_up(values, count);
    double *table = calloc(most + 1, sizeof *table);

    *chance = table;
    *sum = most;
    if (!table)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    table[0] = 1;
    for (size_t i = 0; i < count; i++)
        for (size_t at = most + 1; at-- > 0;)
            table[at] = (table[at] + (at >= values[i] ? table[at - values[i]] : 0)) / 2;
    return 0;
}

/* Row k of the table: in how many ways k of the values seen so far have each sum. Up to 1e29 of them: a double is exact
 * enough, and never too small. */
int vti_ranks_of_size(const uint32_t *values, size_t count, size_t size, double **chance,
                      size_t *sum)
{
    size_t most = add_up(values, count);
    size_t width = most + 1;
    double *table = calloc((size + 1) * width, sizeof *table);
    double all = 0;

    *chance = calloc(width, sizeof **chance);
    *sum = most;
    if (!table || !*chance) {
        free(table);
        return vti_fail(VTI_E_NOMEM, "out of memory");
    }
    table[0] = 1;
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1 < size ? i + 1 : size; k > 0; k--) {
            double *to = table + k * width;
            const double *from = to - width;

            for (size_t at = values[i]; at <= most; at++)
                to[at] += from[at - values[i]];
        }
    for (size_t at = 0; at <= most; at++)
        all += table[size * width + at];
    for (size_t at = 0; at <= most; at++)
        (*chance)[at] = table[size * width + at] / all;
    free(table);
    return 0;
}

size_t vti_ranks_below(const double *chance, size_t sum, double alpha)
{
    double below = 0;
    size_t count = 0;

    while (count <= sum && below + chance[count] <= alpha)
        below += chance[count++];
    return count;
}

double vti_normal_above(double z)
{
    return erfc(z / sqrt(2)) / 2;
}
