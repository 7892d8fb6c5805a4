/* signed_rank.c - Wilcoxon's test of pairs: are differences above zero larger, by rank, than those below? */
#include "base/error.h"
#include "stats/ranks.h"
#include "stats/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define MOST_EXACT 60

static int exact(const uint32_t *doubled, size_t count, size_t above, struct vti_rank_test *test)
{
    double *chance;
    size_t sum;
    int code = vti_ranks_any(doubled, count, &chance, &sum);

    test->greater = test->less = 0;
    for (size_t at = 0; at <= sum && !code; at++) {
        if (at >= above)
            test->greater += chance[at];
        if (at <= above)
            test->less += chance[at];
    }
    free(chance);
    return code;
}

/* The half of a step is taken off, as the sum of ranks moves in steps. */
static void approximate(size_t count, double above, double ties, struct vti_rank_test *test)
{
    double n = (double)count;
    double mean = n * (n + 1) / 4;
    double sigma = sqrt(n * (n + 1) * (2 * n + 1) / 24 - ties / 48);

    test->greater = vti_normal_above((above - mean - 0.5) / sigma);
    test->less = vti_normal_above((mean - above - 0.5) / sigma);
}

int vti_signed_rank(const double *differences, size_t count, struct vti_rank_test *test)
{
    double *sizes = malloc((count + 1) * sizeof *sizes);
    uint32_t *doubled = calloc(count + 1, sizeof *doubled);
    double ties;
    size_t above = 0;
    size_t kept = 0;
    int code = sizes && doubled ? vti_values_check(differences, count)
                                : vti_fail(VTI_E_NOMEM, "out of memory");

    *test = (struct vti_rank_test){1, 1, 1, 0, true};
    for (size_t i = 0; i < count && !code; i++)
        if (differences[i] != 0)
            sizes[kept++] = fabs(differences[i]);
    if (code || !kept)
        goto out;
    code = vti_ranks(sizes, kept, doubled, &ties);
    kept = 0;
    for (size_t i = 0; i < count && !code; i++)
        if (differences[i] != 0) {
            above += differences[i] > 0 ? doubled[kept] : 0;
            kept++;
        }
    test->count = kept;
    test->is_exact = kept <= MOST_EXACT;
    if (!code && test->is_exact)
        code = exact(doubled, kept, above, test);
    else if (!code)
        approximate(kept, (double)above / 2, ties, test);
    test->two_sided = fmin(1, 2 * fmin(test->greater, test->less));
out:
    free(sizes);
    free(doubled);
    return code;
}
