/*
 * items.h - work that a program counted (VT_ITEMS, venturi.items), and how quickly it was done.
 */
#ifndef VENTURI_ANALYZE_ITEMS_H
#define VENTURI_ANALYZE_ITEMS_H

#include "venturi/read.h"

#include <stdbool.h>

struct vti_items {
    bool is_counted, has_effective;
    double raw;       /* items */
    double effective; /* those that ran to the end; the same as raw where nobody said */
    double wall_s; /* of the whole run, as CPU time and energy are: between readings, else events */
    double cpu_s;  /* of the program, all its processes; negative: unknown */
    double cores;  /* that it was given; 0: unknown */
};

/* None at all is no error. 0 or a negative code. */
int vti_items_load(struct vti_items *items, vt_recording *recording);

#endif
