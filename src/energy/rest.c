/*
 * rest.c - what a source uses at rest, from what it used while the machine had little to do.
 *
 * The lowest tenth of a program that never rests would be its own power: only intervals in which the machine was
 * nearly idle count.
 */
#include "energy/rest.h"

#define SHORTEST_S 0.05
#define QUIET_LOAD 0.25
#define QUIET_LEAST_S 0.5
#define BINS_EACH 16       /* for each doubling of the power … */
#define LOWEST_W 0.0078125 /* … from here on */
#define TENTH 0.1

static int bin_of(double watts)
{
    double edge = LOWEST_W;
    int bin = 0;

    while (watts >= edge * 2 && bin < VTI_REST_BINS - BINS_EACH) {
        edge *= 2;
        bin += BINS_EACH;
    }
    return watts >= edge * 2 ? VTI_REST_BINS - 1
           : watts > edge    ? bin + (int)((watts / edge - 1) * BINS_EACH)
                             : bin;
}

void vti_rest_add(struct vti_rest *rest, double joules, double seconds, double load)
{
    double watts;

    if (seconds <= 0)
        return;
    rest->open_j += joules;
    rest->open_s += seconds;
    rest->open_busy += seconds * (load < 0 ? 1 : load);
    if (rest->open_s < SHORTEST_S || rest->open_j <= 0) /* nothing at all: not renewed yet */
        return;
    watts = rest->open_j / rest->open_s;
    if (rest->lowest_watts == 0 || watts < rest->lowest_watts)
        rest->lowest_watts = watts;
    if (watts > rest->highest_watts)
        rest->highest_watts = watts;
    if (rest->open_busy <= QUIET_LOAD * rest->open_s) {
        rest->joules[bin_of(watts)] += rest->open_j;
        rest->seconds[bin_of(watts)] += rest->open_s;
        rest->quiet_s += rest->open_s;
    }
    rest->open_j = rest->open_s = rest->open_busy = 0;
}

bool vti_rest_watts(const struct vti_rest *rest, double *watts)
{
    double joules = 0;
    double seconds = 0;

    if (rest->quiet_s < QUIET_LEAST_S)
        return false;
    for (int i = 0; i < VTI_REST_BINS && seconds < TENTH * rest->quiet_s; i++) {
        joules += rest->joules[i];
        seconds += rest->seconds[i];
    }
    *watts = joules / seconds;
    return true;
}
