/* test_rank_tests.c - the tests of src/stats: against every outcome counted one by one, and against figures of SciPy 1.17. */
#include "base/error.h"
#include "stats/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void is_near(double found, double wanted)
{
    if (!(fabs(found - wanted) <= 1e-9 * fmax(1e-3, fabs(wanted))))
        fail_msg("%.17g is not %.17g", found, wanted);
}

/* A generator of our own: the same values everywhere. Few different ones, so that there are ties and zeros. */
static double next_value(uint64_t *state, int different)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 33) / (double)(UINT64_C(1) << 31) * different;
}

/* ---- every outcome, one by one ------------------------------------------------------------------ */

static double middle_rank(const double *sizes, size_t count, size_t at)
{
    double rank = 0.5;

    for (size_t i = 0; i < count; i++)
        rank += sizes[i] < sizes[at] ? 1 : sizes[i] == sizes[at] ? 0.5 : 0;
    return rank;
}

static void count_signs(const double *differences, size_t count, double *greater, double *less)
{
    double sizes[16];
    double ranks[16];
    double above = 0;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (differences[i] != 0)
            sizes[kept++] = fabs(differences[i]);
    for (size_t i = 0; i < kept; i++)
        ranks[i] = middle_rank(sizes, kept, i);
    kept = 0;
    for (size_t i = 0; i < count; i++)
        if (differences[i] != 0)
            above += differences[i] > 0 ? ranks[kept++] : (kept++, 0);
    *greater = *less = 0;
    for (uint32_t signs = 0; signs < 1u << kept; signs++) {
        double sum = 0;

        for (size_t i = 0; i < kept; i++)
            sum += signs >> i & 1 ? ranks[i] : 0;
        *greater += sum >= above;
        *less += sum <= above;
    }
    *greater /= 1u << kept;
    *less /= 1u << kept;
}

static void signed_rank_counts_every_outcome(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int round = 0; round < 300; round++) {
        double values[12];
        size_t count = 1 + (size_t)round % COUNT(values);
        struct vti_rank_test test;
        double greater;
        double less;

        for (size_t i = 0; i < count; i++) {
            values[i] = next_value(&seed, round % 2 ? 7 : 1) - (round % 2 ? 3 : 0.4);
            if (round % 2)
                values[i] = floor(values[i]);
        }
        assert_int_equal(vti_signed_rank(values, count, &test), 0);
        count_signs(values, count, &greater, &less);
        is_near(test.greater, greater);
        is_near(test.less, less);
        is_near(test.two_sided, fmin(1, 2 * fmin(greater, less)));
        assert_true(test.is_exact);
    }
}

static void count_choices(const double *values, size_t count, size_t base_count, double *greater,
                          double *less)
{
    double ranks[16];
    double found = 0;
    double all = 0;

    *greater = *less = 0;
    for (size_t i = 0; i < count; i++) {
        ranks[i] = middle_rank(values, count, i);
        found += i >= base_count ? ranks[i] : 0;
    }
    for (uint32_t choice = 0; choice < 1u << count; choice++) {
        double sum = 0;

        if ((size_t)__builtin_popcount(choice) != count - base_count)
            continue;
        for (size_t i = 0; i < count; i++)
            sum += choice >> i & 1 ? ranks[i] : 0;
        all++;
        *greater += sum >= found;
        *less += sum <= found;
    }
    *greater /= all;
    *less /= all;
}

static void mann_whitney_counts_every_outcome(void **state)
{
    uint64_t seed = 2;

    (void)state;
    for (int round = 0; round < 200; round++) {
        double values[12];
        size_t base_count = 1 + (size_t)round % 6;
        size_t count = base_count + 1 + (size_t)round / 6 % 6;
        struct vti_rank_test test;
        double greater;
        double less;

        for (size_t i = 0; i < count; i++)
            values[i] = round % 2 ? floor(next_value(&seed, 4)) : next_value(&seed, 4);
        assert_int_equal(
            vti_mann_whitney(values, base_count, values + base_count, count - base_count, &test),
            0);
        count_choices(values, count, base_count, &greater, &less);
        is_near(test.greater, greater);
        is_near(test.less, less);
    }
}

/* ---- figures of SciPy --------------------------------------------------------------------------- */

static void signed_rank_is_that_of_scipy(void **state)
{
    static const double eight[] = {0.12, 0.21, 0.038, -0.147, -0.016, -0.177, 0.138, 0.522};
    static const double more[] = {-0.174, -0.123, 0.438,  -0.122, 0.11,  0.385, -0.055,
                                  0.086,  0.153,  0.139,  -0.248, 0.143, 0.528, -0.344,
                                  0.378,  0.156,  -0.072, 0.72,   0.349, -0.24, 0.142,
                                  0.293,  0.063,  0.325,  0.1};
    struct vti_rank_test test;

    (void)state;
    assert_int_equal(vti_signed_rank(eight, COUNT(eight), &test), 0);
    is_near(test.greater, 0.23046875);
    is_near(test.less, 0.80859375);
    is_near(test.two_sided, 0.4609375);
    assert_int_equal(vti_signed_rank(more, COUNT(more), &test), 0);
    is_near(test.greater, 0.01590391993522644);
    is_near(test.less, 0.9852107763290405);
    is_near(test.two_sided, 0.03180783987045288);
}

static void many_pairs_are_those_of_scipy(void **state)
{
    static const double values[] = {
        0.22,  0.45,  -0.18, 0.08,  -0.12, 0.06,  -0.34, -0.15, -0.04, 0.29,  0.36, -0.38,
        -0.22, 0.21,  -0.58, -0.12, -0.01, 0.4,   0.23,  -0.08, -0.09, -0.06, 0.48, -0.11,
        -0.07, 0.13,  -0.02, -0.04, -0.31, 0.02,  -0.11, 0.37,  0.22,  0.01,  0.22, -0.08,
        0.34,  0.02,  0.2,   -0.37, 0.12,  -0.49, -0.59, -0.07, -0.25, 0.07,  0.69, -0.23,
        -0.17, 0.08,  0.17,  -0.03, -0.04, 0.23,  0.18,  -0.29, -0.0,  0.03,  -0.3, 0.1,
        -0.24, 0.31,  0.08,  0.05,  -0.16, -0.02, -0.58, -0.32, 0.13,  -0.62, 0.27, -0.5,
        0.25,  -0.23, 0.25,  0.06,  -0.44, 0.39,  0.45,  0.0};
    struct vti_rank_test test;

    (void)state;
    assert_int_equal(vti_signed_rank(values, COUNT(values), &test), 0);
    assert_false(test.is_exact);
    assert_int_equal(test.count, 78); /* two are zero */
    is_near(test.less, 0.423955956796802);
    is_near(test.two_sided, 0.847911913593604);
}

static void mann_whitney_is_that_of_scipy(void **state)
{
    static const double base[] = {1.0143, 0.8495, 1.091,  0.8921, 0.9714, 0.7783,
                                  0.7568, 1.2671, 0.8986, 1.0583, 0.9932, 0.9118};
    static const double now[] = {1.0484, 1.276,  1.0896, 1.1197, 1.1544, 1.3853, 1.2861,
                                 1.2265, 1.0373, 0.8736, 1.3399, 1.3433, 1.1219, 1.2584,
                                 1.3063, 1.3162, 1.3343, 1.0589, 1.453,  0.9007};
    struct vti_rank_test test;

    (void)state;
    assert_int_equal(vti_mann_whitney(base, COUNT(base), now, COUNT(now), &test), 0);
    is_near(test.greater, 0.00012800671624485524);
    is_near(test.less, 0.9998946822228729);
    is_near(test.two_sided, 0.00025601343248971047);
}

static void large_lots_are_those_of_scipy(void **state)
{
    static const double base[] = {
        1.17, 1.1,  1.17, 1.38, 1.3,  0.77, 0.66, 1.16, 0.8,  1.0,  1.17, 0.67, 0.58, 1.05, 1.01,
        0.95, 1.01, 0.83, 0.7,  0.97, 0.81, 0.67, 1.1,  0.99, 1.08, 0.8,  0.87, 0.8,  0.82, 1.04,
        0.84, 1.07, 1.07, 1.41, 0.72, 1.18, 0.98, 1.0,  0.71, 0.91, 1.15, 0.98, 1.02, 0.94, 1.23,
        1.0,  0.56, 0.86, 0.61, 0.35, 0.89, 1.27, 1.01, 0.77, 0.81, 1.23, 1.03, 1.01, 0.99, 1.01};
    static const double now[] = {1.21, 1.16, 1.09, 0.84, 1.15, 0.91, 1.27, 0.8,  1.02, 1.05, 0.79,
                                 1.39, 1.34, 0.96, 1.2,  1.13, 0.53, 1.1,  1.04, 1.07, 0.83, 1.0,
                                 1.01, 1.29, 1.12, 1.05, 1.36, 0.94, 0.97, 0.69, 1.36, 1.24, 1.23,
                                 1.18, 1.07, 1.09, 1.0,  1.01, 1.06, 1.35, 1.16, 1.04, 0.93, 0.92,
                                 1.37, 1.15, 1.06, 0.98, 0.83, 1.04, 1.22, 0.97, 1.0,  1.01, 1.07};
    struct vti_rank_test test;

    (void)state;
    assert_int_equal(vti_mann_whitney(base, COUNT(base), now, COUNT(now), &test), 0);
    assert_false(test.is_exact);
    is_near(test.greater, 0.0013276571081263023);
    is_near(test.less, 0.9986965878782292);
    is_near(test.two_sided, 0.0026553142162526046);
}

/* ---- shift -------------------------------------------------------------------------------------- */

/* The interval holds what the test does not refuse: by trying every shift between the values. */
static void interval_is_what_the_test_does_not_refuse(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int round = 0; round < 40; round++) {
        double values[20];
        double moved[20];
        size_t count = 8 + (size_t)round % 12;
        struct vti_shift shift;
        struct vti_rank_test test;

        for (size_t i = 0; i < count; i++)
            values[i] = next_value(&seed, 1) + next_value(&seed, 1);
        assert_int_equal(vti_shift_paired(values, count, 0.01, &shift), 0);
        for (int side = 0; side < 2; side++)
            for (int outside = 0; outside < 2; outside++) {
                double step = (side == outside ? 1 : -1) * 1e-9;
                double p;

                for (size_t i = 0; i < count; i++)
                    moved[i] = values[i] - (side ? shift.high : shift.low) - step;
                assert_int_equal(vti_signed_rank(moved, count, &test), 0);
                p = side ? test.less : test.greater;
                assert_true(outside ? p <= 0.01 : p > 0.01);
            }
        assert_true(shift.low < shift.estimate && shift.estimate < shift.high);
    }
}

static void interval_between_is_what_the_test_does_not_refuse(void **state)
{
    uint64_t seed = 4;

    (void)state;
    for (int round = 0; round < 40; round++) {
        double base[12];
        double now[12];
        double moved[12];
        size_t count = 6 + (size_t)round % 7;
        struct vti_shift shift;
        struct vti_rank_test test;

        for (size_t i = 0; i < COUNT(base); i++)
            base[i] = next_value(&seed, 1);
        for (size_t i = 0; i < count; i++)
            now[i] = next_value(&seed, 1) + 0.3;
        assert_int_equal(vti_shift_between(base, COUNT(base), now, count, 0.01, &shift), 0);
        for (int side = 0; side < 2; side++)
            for (int outside = 0; outside < 2; outside++) {
                double step = (side == outside ? 1 : -1) * 1e-9;
                double p;

                for (size_t i = 0; i < count; i++)
                    moved[i] = now[i] - (side ? shift.high : shift.low) - step;
                assert_int_equal(vti_mann_whitney(base, COUNT(base), moved, count, &test), 0);
                p = side ? test.less : test.greater;
                assert_true(outside ? p <= 0.01 : p > 0.01);
            }
    }
}

static void estimates_by_hand(void **state)
{
    static const double pairs[] = {1, 2, 6};                /* means: 1 1.5 2 3.5 4 6 */
    static const double base[] = {1, 2}, now[] = {4, 8, 3}; /* 3 7 2 2 6 1 */
    struct vti_shift shift;

    (void)state;
    assert_int_equal(vti_shift_paired(pairs, 3, 0.01, &shift), 0);
    is_near(shift.estimate, 2.75);
    assert_true(isinf(shift.low) && isinf(shift.high)); /* three pairs prove nothing at 1 % */
    assert_int_equal(vti_shift_between(base, 2, now, 3, 0.01, &shift), 0);
    is_near(shift.estimate, 2.5);
    assert_true(isinf(shift.low) && isinf(shift.high));
    is_near(vti_median(pairs, 3), 2);
    is_near(vti_median(now, 2), 6);
    assert_true(isnan(vti_median(now, 0)));
}

/* ---- the rest ----------------------------------------------------------------------------------- */

static void least_p_there_is(void **state)
{
    double up[40];
    double low[7] = {1, 2, 3, 4, 5, 6, 7};
    struct vti_rank_test test;

    (void)state;
    for (size_t i = 0; i < COUNT(up); i++)
        up[i] = (double)i + 10;
    for (size_t n = 1; n <= COUNT(up); n++) {
        assert_int_equal(vti_signed_rank(up, n, &test), 0);
        is_near(test.greater, ldexp(1, -(int)n));
    }
    assert_int_equal(vti_mann_whitney(low, 5, up, 5, &test), 0);
    is_near(test.two_sided, 2.0 / 252);
    assert_int_equal(vti_mann_whitney(low, 7, up, 7, &test), 0);
    is_near(test.two_sided, 2.0 / 3432);
}

static void nothing_to_compare(void **state)
{
    static const double zeros[] = {0, 0, 0};
    double many[200] = {0};
    struct vti_rank_test test;

    (void)state;
    assert_int_equal(vti_signed_rank(zeros, 3, &test), 0);
    is_near(test.two_sided, 1);
    assert_int_equal(vti_signed_rank(NULL, 0, &test), 0);
    is_near(test.greater, 1);
    assert_int_equal(vti_mann_whitney(zeros, 3, zeros, 0, &test), 0);
    is_near(test.greater, 1);
    assert_int_equal(vti_mann_whitney(many, 100, many + 100, 100, &test), 0);
    is_near(test.two_sided, 1);
}

static void what_is_no_number_is_refused(void **state)
{
    double values[] = {1, NAN};
    double *many = calloc(VTI_STATS_MOST + 1, sizeof *many);
    struct vti_rank_test test;
    struct vti_shift shift;

    (void)state;
    assert_int_equal(vti_signed_rank(values, 2, &test), VTI_E_USAGE);
    values[1] = INFINITY;
    assert_int_equal(vti_mann_whitney(values, 1, values, 2, &test), VTI_E_USAGE);
    assert_int_equal(vti_shift_paired(values, 2, 0.01, &shift), VTI_E_USAGE);
    assert_int_equal(vti_shift_between(values, 2, values, 1, 0.01, &shift), VTI_E_USAGE);
    assert_int_equal(vti_signed_rank(many, VTI_STATS_MOST + 1, &test), VTI_E_LIMIT);
    assert_int_equal(vti_shift_between(many, VTI_STATS_MOST + 1, values, 1, 0.01, &shift),
                     VTI_E_LIMIT);
    free(many);
}

static void several_tests_at_once(void **state)
{
    static const double p[] = {0.01, 0.04, 0.03, 0.005, 0.2, 0.5};
    static const double holm[] = {0.05, 0.12, 0.12, 0.03, 0.4, 0.5}; /* by hand */
    static const double bh[] = {0.03, 0.06, 0.06, 0.03, 0.24, 0.5};  /* SciPy */
    double found[COUNT(p)];

    (void)state;
    assert_int_equal(vti_adjust_holm(p, found, COUNT(p)), 0);
    for (size_t i = 0; i < COUNT(p); i++)
        is_near(found[i], holm[i]);
    assert_int_equal(vti_adjust_benjamini_hochberg(p, found, COUNT(p)), 0);
    for (size_t i = 0; i < COUNT(p); i++)
        is_near(found[i], bh[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signed_rank_counts_every_outcome),
        cmocka_unit_test(mann_whitney_counts_every_outcome),
        cmocka_unit_test(signed_rank_is_that_of_scipy),
        cmocka_unit_test(many_pairs_are_those_of_scipy),
        cmocka_unit_test(mann_whitney_is_that_of_scipy),
        cmocka_unit_test(large_lots_are_those_of_scipy),
        cmocka_unit_test(interval_is_what_the_test_does_not_refuse),
        cmocka_unit_test(interval_between_is_what_the_test_does_not_refuse),
        cmocka_unit_test(estimates_by_hand),
        cmocka_unit_test(least_p_there_is),
        cmocka_unit_test(nothing_to_compare),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(several_tests_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
