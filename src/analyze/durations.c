/* durations.c - how the durations of one function spread. Knows nothing of functions. */
#include "analyze/durations.h"

#include <math.h>

/* The shortest duration that a bucket counts, in ticks; that of bucket 128 is where the last one ends. */
static double bucket_floor(int bucket)
{
    return ldexp(4 + bucket % 4, bucket / 4 + 3);
}

static int bucket_of(double ticks)
{
    int exponent;
    double fraction = frexp(ticks,
                            &exponent); /* ticks = fraction * 2^exponent, fraction from 0.5 */
    int bucket = 4 * (exponent - 6) + (int)(fraction * 8) - 4;

    if (!(ticks >= bucket_floor(0)))
        return 0;
    return bucket < VTI_DURATIONS_BUCKETS ? bucket : VTI_DURATIONS_BUCKETS - 1;
}

void vti_durations_note(struct vti_durations *durations, double ns)
{
    durations->counts[bucket_of(ns / durations->ns_per_tick)]++;
}

/* Clocks of two hosts: what is in a bucket goes where its middle belongs. */
static void add_scaled(struct vti_durations *to, const struct vti_durations *from)
{
    double scale = from->ns_per_tick / to->ns_per_tick;

    for (int i = 0; i < VTI_DURATIONS_BUCKETS; i++) {
        double middle = (bucket_floor(i) + bucket_floor(i + 1)) / 2;

        if (from->counts[i])
            to->counts[bucket_of(middle * scale)] += from->counts[i];
    }
}

void vti_durations_add(struct vti_durations *to, const struct vti_durations *from)
{
    if (!to->ns_per_tick)
        to->ns_per_tick = from->ns_per_tick;
    if (fabs(to->ns_per_tick - from->ns_per_tick) > to->ns_per_tick / 100) {
        add_scaled(to, from);
        return;
    }
    for (int i = 0; i < VTI_DURATIONS_BUCKETS; i++)
        to->counts[i] += from->counts[i];
}

uint64_t vti_durations_count(const struct vti_durations *durations)
{
    uint64_t count = 0;

    for (int i = 0; i < VTI_DURATIONS_BUCKETS; i++)
        count += durations->counts[i];
    return count;
}

/* Where a bucket begins when our cost is taken off. */
static double corrected_floor(const struct vti_durations *durations, int bucket)
{
    double ns = (bucket ? bucket_floor(bucket) : 0) * durations->ns_per_tick;

    return (ns - durations->cost_ns) * (durations->remainder > 0 ? durations->remainder : 1);
}

static double bounded(double ns, double shortest_ns, double longest_ns)
{
    if (ns > longest_ns)
        ns = longest_ns;
    if (ns < shortest_ns)
        ns = shortest_ns;
    return ns < 0 ? 0 : ns;
}

double vti_durations_percentile(const struct vti_durations *durations, double share,
                                double shortest_ns, double longest_ns)
{
    uint64_t count = vti_durations_count(durations);
    double wanted = share * (double)count;
    double below = 0;
    double ns = NAN;

    if (!count)
        return NAN;
    for (int i = 0; i < VTI_DURATIONS_BUCKETS; i++) {
        double here = (double)durations->counts[i];

        if (here && below + here >= wanted) {
            double part = wanted > below ? (wanted - below) / here : 0;
            double floor = corrected_floor(durations, i);

            ns = floor + part * (corrected_floor(durations, i + 1) - floor);
            break;
        }
        below += here;
    }
    return bounded(ns, shortest_ns, longest_ns);
}

/* How many took no longer, those in one bucket being evenly spread. */
static double count_up_to(const struct vti_durations *durations, double ns)
{
    double sum = 0;

    for (int i = 0; i < VTI_DURATIONS_BUCKETS; i++) {
        double floor = corrected_floor(durations, i);
        double part = (ns - floor) / (corrected_floor(durations, i + 1) - floor);

        if (!(part > 0))
            break;
        sum += (double)durations->counts[i] * (part < 1 ? part : 1);
    }
    return sum;
}

double vti_durations_percentile_of(const struct vti_durations *parts, size_t count, double share,
                                   double shortest_ns, double longest_ns)
{
    double all = 0;
    double low = 0;
    double high = 0;

    for (size_t i = 0; i < count; i++) {
        all += (double)vti_durations_count(&parts[i]);
        high = fmax(high, corrected_floor(&parts[i], VTI_DURATIONS_BUCKETS));
    }
    if (!(all > 0))
        return NAN;
    for (int i = 0; i < 100 && high - low > low * 1e-9; i++) { /* halved until it is found */
        double middle = (low + high) / 2;
        double sum = 0;

        for (size_t k = 0; k < count; k++)
            sum += count_up_to(&parts[k], middle);
        if (sum < share * all)
            low = middle;
        else
            high = middle;
    }
    return bounded(high, shortest_ns, longest_ns);
}
