/*
 * histogram.h - how durations are distributed, within 1 %, in little memory.
 *
 * Values gather in a small array first. When it is full they are counted in 64 buckets for each
 * power of two, of which only those that occur take memory. So a site with few spans is small and
 * its percentiles are exact, and counting, whose cost is finding the bucket in memory, is done for
 * many values in one go.
 */
#ifndef VENTURI_ANALYZE_HISTOGRAM_H
#define VENTURI_ANALYZE_HISTOGRAM_H

#include <stdint.h>

#define VTI_HISTOGRAM_FEW 16

struct vti_octave {
    uint32_t counts[64];
    uint32_t *carries; /* owned; how often each went over, NULL if none did */
};

/* A zeroed struct is an empty histogram. */
struct vti_histogram {
    uint32_t waiting; /* values in `few` */
    int64_t few[VTI_HISTOGRAM_FEW];
    uint64_t counted; /* values in the buckets */
    struct vti_octave *
        *octaves; /* owned, as are those it points at; NULL before the first are counted */
};

/* Values below zero count as zero. 0 or VTI_E_NOMEM. */
int vti_histogram_add(struct vti_histogram *histogram, int64_t value);

/* The value that `share` (above 0, up to 1) of all values do not exceed; 0 if there are none,
 * VTI_E_NOMEM if they cannot be counted. */
int64_t vti_histogram_quantile(struct vti_histogram *histogram, double share);

void vti_histogram_fini(struct vti_histogram *histogram);

#endif
