/* histogram.c - log-linear buckets: 64 for each power of two, so a bucket's middle is within 0.8
 * %. */
#include "analyze/histogram.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUCKET_BITS 6
#define BUCKETS (1 << BUCKET_BITS)
#define OCTAVES (64 - BUCKET_BITS) /* the first one holds 0 to 63 themselves */

static void locate(uint64_t value, unsigned *octave, unsigned *bucket)
{
    unsigned bits = value < BUCKETS ? BUCKET_BITS : 64 - (unsigned)__builtin_clzll(value);

    if (bits == BUCKET_BITS) {
        *octave = 0;
        *bucket = (unsigned)value;
        return;
    }
    *octave = bits - BUCKET_BITS;
    *bucket = (unsigned)(value >> (*octave - 1)) & (BUCKETS - 1);
}

/* The bucket's middle. Octave k from 1 on holds values from 64 * 2^(k-1) to before 64 * 2^k. */
static int64_t value_of(unsigned octave, unsigned bucket)
{
    uint64_t width;

    if (octave == 0)
        return bucket;
    width = (uint64_t)1 << (octave - 1);
    return (int64_t)((BUCKETS + bucket) * width + width / 2);
}

static int carry(struct vti_octave *octave, unsigned bucket)
{
    if (!octave->carries)
        octave->carries = calloc(BUCKETS, sizeof *octave->carries);
    if (!octave->carries)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    octave->carries[bucket]++;
    return 0;
}

static uint64_t count_of(const struct vti_octave *octave, unsigned bucket)
{
    uint64_t carries = octave->carries ? octave->carries[bucket] : 0;

    return carries << 32 | octave->counts[bucket];
}

static int count_value(struct vti_histogram *histogram, int64_t value)
{
    unsigned octave;
    unsigned bucket;

    locate((uint64_t)value, &octave, &bucket);
    if (!histogram->octaves[octave]) {
        histogram->octaves[octave] = calloc(1, sizeof **histogram->octaves);
        if (!histogram->octaves[octave])
            return vti_fail(VTI_E_NOMEM, "out of memory");
    }
    return ++histogram->octaves[octave]->counts[bucket] ? 0
                                                        : carry(histogram->octaves[octave], bucket);
}

/* Moves what has gathered into the buckets. */
static int flush(struct vti_histogram *histogram)
{
    if (!histogram->octaves) {
        histogram->octaves = calloc(OCTAVES, sizeof *histogram->octaves);
        if (!histogram->octaves)
            return vti_fail(VTI_E_NOMEM, "out of memory");
    }
    for (uint32_t i = 0; i < histogram->waiting; i++)
        if (count_value(histogram, histogram->few[i]))
            return VTI_E_NOMEM;
    histogram->counted += histogram->waiting;
    histogram->waiting = 0;
    return 0;
}

int vti_histogram_add(struct vti_histogram *histogram, int64_t value)
{
    if (histogram->waiting == VTI_HISTOGRAM_FEW && flush(histogram))
        return VTI_E_NOMEM;
    histogram->few[histogram->waiting++] = value > 0 ? value : 0;
    return 0;
}

static int compare_values(const void *left, const void *right)
{
    const int64_t *a = left;
    const int64_t *b = right;

    return *a < *b ? -1 : *a > *b;
}

int64_t vti_histogram_quantile(struct vti_histogram *histogram, double share)
{
    uint64_t count = histogram->counted + histogram->waiting;
    uint64_t rank = (uint64_t)ceil(share * (double)count);
    uint64_t seen = 0;

    if (count == 0)
        return 0;
    rank = rank < 1 ? 1 : rank > count ? count : rank;
    if (!histogram->octaves) {
        qsort(histogram->few, count, sizeof *histogram->few, compare_values);
        return histogram->few[rank - 1];
    }
    if (flush(histogram))
        return VTI_E_NOMEM;
    for (unsigned octave = 0; octave < OCTAVES; octave++) {
        for (unsigned i = 0; histogram->octaves[octave] && i < BUCKETS; i++) {
            seen += count_of(histogram->octaves[octave], i);
            if (seen >= rank)
                return value_of(octave, i);
        }
    }
    return 0;
}

void vti_histogram_fini(struct vti_histogram *histogram)
{
    for (unsigned i = 0; histogram->octaves && i < OCTAVES; i++) {
        if (histogram->octaves[i])
            free(histogram->octaves[i]->carries);
        free(histogram->octaves[i]);
    }
    free(histogram->octaves);
    memset(histogram, 0, sizeof *histogram);
}
