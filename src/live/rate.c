/* rate.c - how quickly counters grow, over about the last second. */
#include "live/rate.h"

#define SECOND_NS 1000000000
#define STEP_NS (SECOND_NS / VTI_RATE_SLOTS)

bool vti_beat_move(struct vti_beat *beat, int64_t now_ns)
{
    beat->now_ns = now_ns;
    if (beat->count && now_ns - beat->times_ns[beat->at] < STEP_NS)
        return false;
    if (beat->count)
        beat->at = (beat->at + 1) % VTI_RATE_SLOTS;
    beat->count += beat->count < VTI_RATE_SLOTS;
    beat->times_ns[beat->at] = now_ns;
    return true;
}

void vti_rate_keep(struct vti_rate *rate, const struct vti_beat *beat, uint64_t value)
{
    rate->past[beat->at] = value;
}

void vti_rate_settle(struct vti_rate *rate, uint64_t value)
{
    for (unsigned i = 0; i < VTI_RATE_SLOTS; i++)
        rate->past[i] = value;
}

double vti_rate_of(const struct vti_rate *rate, const struct vti_beat *beat, uint64_t value)
{
    unsigned found = beat->at;
    int64_t age_ns;

    /* Back to the first that is a second old, or the oldest there is. */
    for (unsigned back = 0; back < beat->count; back++) {
        found = (beat->at + VTI_RATE_SLOTS - back) % VTI_RATE_SLOTS;
        if (beat->now_ns - beat->times_ns[found] >= SECOND_NS)
            break;
    }
    if (!beat->count || beat->now_ns <= beat->times_ns[found] || value <= rate->past[found])
        return 0;
    /* What came in the first moment, a block of much at once, came in a second of which most is not known. */
    age_ns = beat->now_ns - beat->times_ns[found];
    if (beat->count < VTI_RATE_SLOTS && age_ns < SECOND_NS)
        age_ns = SECOND_NS;
    return (double)(value - rate->past[found]) * SECOND_NS / (double)age_ns;
}
