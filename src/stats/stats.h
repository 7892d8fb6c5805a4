/*
 * stats.h - tests by ranks for a few runs of a program, and how large a difference is.
 *
 * Nothing is assumed about how the values are spread, and none is thrown away. NaN and infinite values are refused
 * (VTI_E_USAGE), as are more than VTI_STATS_MOST (VTI_E_LIMIT). All functions return 0 or a negative code.
 */
#ifndef VENTURI_STATS_STATS_H
#define VENTURI_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>

#define VTI_STATS_MOST 2000 /* values a side */

/* How likely such values are, or more extreme ones, if there is no difference. */
struct vti_rank_test {
    double greater;   /* … that speak for "the new ones are greater" */
    double less;      /* … for the opposite */
    double two_sided; /* … for either */
    size_t count;     /* values that count: of signed ranks those that are not zero */
    bool is_exact;
};

/* Differences of pairs, new minus base. Zeros are left out; none left: all three are 1. */
int vti_signed_rank(const double *differences, size_t count, struct vti_rank_test *test);

/* Two lots that have nothing to do with each other. */
int vti_mann_whitney(const double *base, size_t base_count, const double *now, size_t now_count,
                     struct vti_rank_test *test);

/* By how much the new ones are greater. The bounds are infinite where there are too few values for them. */
struct vti_shift {
    double estimate;
    double low, high; /* each is beyond the truth with a probability of at most `alpha` */
};

int vti_shift_paired(const double *differences, size_t count, double alpha,
                     struct vti_shift *shift);
int vti_shift_between(const double *base, size_t base_count, const double *now, size_t now_count,
                      double alpha, struct vti_shift *shift);

/* The middle one, or the mean of the two in the middle; NaN without values or memory. */
double vti_median(const double *values, size_t count);

/* p of several tests made at once become what each is worth: by Holm any error at all is as rare as said, by
 * Benjamini and Hochberg the share of errors among what is found. */
int vti_adjust_holm(const double *p, double *adjusted, size_t count);
int vti_adjust_benjamini_hochberg(const double *p, double *adjusted, size_t count);

#endif
