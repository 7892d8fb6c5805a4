/* times.c - durations of one kind of thing, counted. */
#include "live/times.h"

#include <string.h>

#define US 1000LL
#define MS 1000000LL
#define S 1000000000LL

const int64_t vti_live_bounds[VTI_LIVE_BUCKETS - 1] = {
    US,       25 * US / 10, 5 * US,   10 * US,      25 * US, 50 * US,     100 * US,
    250 * US, 500 * US,     MS,       25 * MS / 10, 5 * MS,  10 * MS,     25 * MS,
    50 * MS,  100 * MS,     250 * MS, 500 * MS,     S,       25 * S / 10, 5 * S,
    10 * S,   25 * S,       50 * S,   100 * S,      250 * S, 500 * S,     1000 * S};

/* Where to begin for each power of two: the first bound that is not below it. */
static unsigned first_for(unsigned bits)
{
    static const uint8_t first[] = {0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  1,  1,  2,  3,
                                    4,  5,  6,  7,  8,  9,  10, 10, 11, 12, 13, 14, 15, 16,
                                    17, 18, 19, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28};

    return bits < sizeof first ? first[bits] : VTI_LIVE_BUCKETS - 1;
}

unsigned vti_times_bucket(int64_t ns)
{
    unsigned at = ns > 0 ? first_for(63 - (unsigned)__builtin_clzll((uint64_t)ns)) : 0;

    while (at < VTI_LIVE_BUCKETS - 1 && ns > vti_live_bounds[at])
        at++;
    return at;
}

int vti_times_add(struct vti_times *times, int64_t ns, bool is_recent)
{
    struct vti_live_times *shown = &times->shown;
    int code;

    ns = ns > 0 ? ns : 0;
    shown->min_ns = !shown->count || ns < shown->min_ns ? ns : shown->min_ns;
    shown->max_ns = ns > shown->max_ns ? ns : shown->max_ns;
    shown->count++;
    if (__builtin_add_overflow(shown->sum_ns, ns, &shown->sum_ns))
        shown->sum_ns = INT64_MAX;
    shown->buckets[vti_times_bucket(ns)]++;
    code = vti_histogram_add(&times->all, ns);
    for (unsigned i = 0; i < 2 && is_recent && !code; i++)
        code = vti_histogram_add(&times->recent[i], ns);
    return code;
}

/* Buckets are within 1 %: what comes out may lie a little outside of what went in. */
static int64_t quantile(const struct vti_live_times *shown, struct vti_histogram *histogram,
                        double share)
{
    int64_t value = vti_histogram_quantile(histogram, share);

    if (value <= 0)
        return 0;
    return value < shown->min_ns ? shown->min_ns : value > shown->max_ns ? shown->max_ns : value;
}

void vti_times_show(struct vti_times *times, unsigned older)
{
    struct vti_live_times *shown = &times->shown;

    if (times->shown_count != shown->count) {
        shown->p50_ns = quantile(shown, &times->all, 0.5);
        shown->p90_ns = quantile(shown, &times->all, 0.9);
        shown->p99_ns = quantile(shown, &times->all, 0.99);
        shown->recent_p50_ns = quantile(shown, &times->recent[older], 0.5);
        shown->recent_p99_ns = quantile(shown, &times->recent[older], 0.99);
    }
    times->shown_count = shown->count;
}

void vti_times_turn(struct vti_times *times, unsigned older)
{
    vti_histogram_fini(&times->recent[older]);
    memset(&times->recent[older], 0, sizeof times->recent[older]);
    times->shown_count = UINT64_MAX;
}

void vti_times_clear(struct vti_times *times)
{
    vti_histogram_fini(&times->all);
    vti_histogram_fini(&times->recent[0]);
    vti_histogram_fini(&times->recent[1]);
    memset(times, 0, sizeof *times);
}
