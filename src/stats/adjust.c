/* adjust.c - what p is worth when several tests are made at once. */
#include "base/error.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

struct entry {
    double p;
    size_t at;
};

static int by_p(const void *left, const void *right)
{
    double a = ((const struct entry *)left)->p;
    double b = ((const struct entry *)right)->p;

    return (a > b) - (a < b);
}

static struct entry *sorted(const double *p, size_t count)
{
    struct entry *entries = malloc((count + 1) * sizeof *entries);

    if (!entries) {
        vti_fail(VTI_E_NOMEM, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        entries[i] = (struct entry){p[i], i};
    qsort(entries, count, sizeof *entries, by_p);
    return entries;
}

int vti_adjust_holm(const double *p, double *adjusted, size_t count)
{
    struct entry *entries = sorted(p, count);
    double most = 0;

    if (!entries)
        return VTI_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fmin(1, entries[i].p * (double)(count - i)));
        adjusted[entries[i].at] = most;
    }
    free(entries);
    return 0;
}

int vti_adjust_benjamini_hochberg(const double *p, double *adjusted, size_t count)
{
    struct entry *entries = sorted(p, count);
    double least = 1;

    if (!entries)
        return VTI_E_NOMEM;
    for (size_t i = count; i-- > 0;) {
        least = fmin(least, entries[i].p * (double)count / (double)(i + 1));
        adjusted[entries[i].at] = least;
    }
    free(entries);
    return 0;
}
