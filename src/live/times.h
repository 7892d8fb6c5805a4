/*
 * times.h - durations of one kind of thing, counted for percentiles of all and of the last minute, and for the buckets that
 * others show.
 */
#ifndef VENTURI_LIVE_TIMES_H
#define VENTURI_LIVE_TIMES_H

#include "analyze/histogram.h"
#include "live/live.h"

/* Zeroed: empty. */
struct vti_times {
    struct vti_live_times shown; /* percentiles are those of the last vti_times_show() */
    struct vti_histogram all;
    struct vti_histogram
        recent[2]; /* both take everything; each begins anew every minute, half a minute apart */
    uint64_t shown_count;
};

/* 0 or VTI_E_NOMEM. `is_recent`: it ended just now, not in what is caught up with. */
int vti_times_add(struct vti_times *times, int64_t ns, bool is_recent);

/* Brings the percentiles up to date; `older` (0 or 1) is the half of recent ones that was begun first. */
void vti_times_show(struct vti_times *times, unsigned older);

/* The half that was begun first is over. */
void vti_times_turn(struct vti_times *times, unsigned older);
void vti_times_clear(struct vti_times *times);

/* The place of a duration among the buckets. */
unsigned vti_times_bucket(int64_t ns);

#endif
