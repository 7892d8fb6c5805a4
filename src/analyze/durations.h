/*
 * durations.h - how the durations of one function spread, in the buckets that the runtime counts in:
 * four for each power of two of ticks. Percentiles are good to about 10 %.
 */
#ifndef VENTURI_ANALYZE_DURATIONS_H
#define VENTURI_ANALYZE_DURATIONS_H

#include <stddef.h>
#include <stdint.h>

#define VTI_DURATIONS_BUCKETS 128

struct vti_durations {
    uint64_t counts[VTI_DURATIONS_BUCKETS];
    double ns_per_tick;
    double cost_ns;   /* of our own, in each of them, … */
    double remainder; /* … and how much is left when that of calls within comes off; 0: all */
};

/* One more call. `ns_per_tick` must be set. */
void vti_durations_note(struct vti_durations *durations, double ns);
void vti_durations_add(struct vti_durations *to, const struct vti_durations *from);
uint64_t vti_durations_count(const struct vti_durations *durations);

/* The duration that `share` (0 … 1) of the calls do not exceed, between the two bounds (NaN: unknown); NaN: no calls. */
double vti_durations_percentile(const struct vti_durations *durations, double share,
                                double shortest_ns, double longest_ns);

/* The same of several together, whatever was to be taken off each. */
double vti_durations_percentile_of(const struct vti_durations *parts, size_t count, double share,
                                   double shortest_ns, double longest_ns);

#endif
