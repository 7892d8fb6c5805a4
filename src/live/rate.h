/*
 * rate.h - how quickly counters grow, over about the last second.
 *
 * One beat for all of them: when it moves on, each counter's value is kept. A counter that is new began at 0.
 */
#ifndef VENTURI_LIVE_RATE_H
#define VENTURI_LIVE_RATE_H

#include <stdbool.h>
#include <stdint.h>

#define VTI_RATE_SLOTS 8

/* Zeroed: nothing is known yet. */
struct vti_beat {
    int64_t times_ns[VTI_RATE_SLOTS];
    unsigned at;    /* of the newest */
    unsigned count; /* that are known */
    int64_t now_ns;
};

struct vti_rate {
    uint64_t past[VTI_RATE_SLOTS]; /* beside the beat's times */
};

/* The time is so late now; true if counters are to be kept (vti_rate_keep()), which is at most eight times a second. */
bool vti_beat_move(struct vti_beat *beat, int64_t now_ns);

void vti_rate_keep(struct vti_rate *rate, const struct vti_beat *beat, uint64_t value);

/* As if it had always had this value: what was caught up with happened in the past. */
void vti_rate_settle(struct vti_rate *rate, uint64_t value);

/* For each second; 0 if nothing is known. */
double vti_rate_of(const struct vti_rate *rate, const struct vti_beat *beat, uint64_t value);

#endif
