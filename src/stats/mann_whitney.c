/* mann_whitney.c - the test of two lots of values: do those of one rank above those of the other? */
#include "base/error.h"
#include "stats/ranks.h"
#include "stats/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EXACT 100 /* both together */

struct lots {
    size_t base_count, now_count;
    uint32_t *doubled; /* base, then new */
    double ties;
    size_t now_sum; /* of the doubled ranks */
};

static void add_up(struct lots *lots)
{
    for (size_t i = 0; i < lots->now_count; i++)
        lots->now_sum += lots->doubled[lots->base_count + i];
}

static int exact(const struct lots *lots, struct vti_rank_test *test)
{
    double *chance;
    size_t sum;
    int code = vti_ranks_of_size(lots->doubled, lots->base_count + lots->now_count, lots->now_count,
                                 &chance, &sum);

    test->greater = test->less = 0;
    for (size_t at = 0; at <= sum && !code; at++) {
        if (at >= lots->now_sum)
            test->greater += chance[at];
        if (at <= lots->now_sum)
            test->less += chance[at];
    }
    free(chance);
    return code;
}

static void approximate(const struct lots *lots, struct vti_rank_test *test)
{
    double m = (double)lots->base_count;
    double n = (double)lots->now_count;
    double all = m + n;
    double u = (double)lots->now_sum / 2 - n * (n + 1) / 2;
    double sigma = sqrt(m * n / 12 * (all + 1 - lots->ties / (all * (all - 1))));

    if (sigma <= 0) /* all are the same */
        return;
    test->greater = vti_normal_above((u - m * n / 2 - 0.5) / sigma);
    test->less = vti_normal_above((m * n / 2 - u - 0.5) / sigma);
}

int vti_mann_whitney(const double *base, size_t base_count, const double *now, size_t now_count,
                     struct vti_rank_test *test)
{
    size_t all = base_count + now_count;
    struct lots lots = {.base_count = base_count, .now_count = now_count};
    double *values = malloc((all + 1) * sizeof *values);
    int code = vti_values_check(base, base_count);

    *test = (struct vti_rank_test){1, 1, 1, all, true};
    lots.doubled = calloc(all + 1, sizeof *lots.doubled);
    if (!code)
        code = vti_values_check(now, now_count);
    if (!code && (!values || !lots.doubled))
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    if (code || !base_count || !now_count)
        goto out;
    memcpy(values, base, base_count * sizeof *values);
    memcpy(values + base_count, now, now_count * sizeof *values);
    code = vti_ranks(values, all, lots.doubled, &lots.ties);
    if (code)
        goto out;
    add_up(&lots);
    test->is_exact = all <= MOST_EXACT;
    if (test->is_exact)
        code = exact(&lots, test);
    else
        approximate(&lots, test);
    test->two_sided = fmin(1, 2 * fmin(test->greater, test->less));
out:
    free(values);
    free(lots.doubled);
    return code;
}
