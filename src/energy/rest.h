/* rest.h - what a source uses at rest, from what it used while the machine had little to do. */
#ifndef VENTURI_ENERGY_REST_H
#define VENTURI_ENERGY_REST_H

#include <stdbool.h>

#define VTI_REST_BINS 320

/* Intervals of little load by their power; all zero: none yet. */
struct vti_rest {
    double joules[VTI_REST_BINS], seconds[VTI_REST_BINS];
    double open_j, open_s, open_busy; /* gathered until it is long enough to say something */
    double quiet_s;
    double lowest_watts, highest_watts; /* of all intervals, also of those with load; 0: none yet */
};

/* An interval; `load` 0 to 1, the busy part of the machine, negative if unknown. */
void vti_rest_add(struct vti_rest *rest, double joules, double seconds, double load);

/* The mean of the tenth of quiet time with the least power; false if there was too little. */
bool vti_rest_watts(const struct vti_rest *rest, double *watts);

#endif
