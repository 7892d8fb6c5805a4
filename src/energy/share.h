/*
 * share.h - the part of a machine's energy that belongs to a program, by CPU time.
 *
 * One rule for the meter and for who reads a recording: share = own / busy. A machine of which less than a tenth of one
 * CPU is busy is at rest, and what it uses then belongs to nobody: an idle program that is alone is not charged for it.
 */
#ifndef VENTURI_ENERGY_SHARE_H
#define VENTURI_ENERGY_SHARE_H

#include <stdbool.h>

#define VTI_SHARE_REST_CPUS 0.1

/* Busy time comes in steps of 10 ms and own time does not: what is too much in an interval is left for the next. */
struct vti_share {
    double carry_s;
};

/* Of an interval, 0 to 1. Never negative; nothing of what is not known (negative). */
double vti_share_take(struct vti_share *share, double own_s, double busy_s, double wall_s);

/* The same of what is neither the program's nor leaves anything for the next interval: the meter's own readings. */
double vti_share_apart(double apart_s, double busy_s, double wall_s);

/* Shares are settled over windows: whether these seconds are rest, which is never in one window with work, and whether a
 * window is long enough for steps of 10 ms not to matter. */
bool vti_share_is_rest(double busy_s, double wall_s);
bool vti_share_is_settled(double busy_s, double wall_s);

/* The part of it beyond rest: never below zero, nor more than all. `share_s`: the sum of shares times their seconds. */
double vti_share_dynamic(double share_j, double share_s, double rest_watts);

#endif
