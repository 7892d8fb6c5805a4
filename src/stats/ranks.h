/* ranks.h - middle ranks, and how often sums of ranks occur by chance: what the tests share. */
#ifndef VENTURI_STATS_RANKS_H
#define VENTURI_STATS_RANKS_H

#include <stddef.h>
#include <stdint.h>

/* Twice the rank of each value, ties sharing the middle one: whole numbers, whose sums are exact. `ties` is the sum of
 * t^3 - t over all groups of t equal values. 0 or VTI_E_NOMEM. */
int vti_ranks(const double *values, size_t count, uint32_t *doubled, double *ties);

/* How likely each sum of a random part of `values` is, [0 … their sum]; any part, or those of exactly `size` values. The
 * caller frees *chance. 0 or VTI_E_NOMEM. */
int vti_ranks_any(const uint32_t *values, size_t count, double **chance, size_t *sum);
int vti_ranks_of_size(const uint32_t *values, size_t count, size_t size, double **chance,
                      size_t *sum);

/* How many of the lowest outcomes have together at most the probability `alpha`. */
size_t vti_ranks_below(const double *chance, size_t sum, double alpha);

/* The part of the normal distribution above z. */
double vti_normal_above(double z);

/* 0, or a code with a message for values that no test takes. */
int vti_values_check(const double *values, size_t count);

int vti_compare_doubles(const void *left, const void *right); /* for qsort */

#endif
