/* rules.h - every threshold of a check, with its reason. docs/check.md is the same table for people. */
#ifndef VENTURI_PERF_RULES_H
#define VENTURI_PERF_RULES_H

#include <stddef.h>

/* As fractions: 0.05 is 5 %. */
struct vti_rules {
    double slower;      /* CPU time of runs in pairs: less than that is no regression */
    double apart;       /* the same of runs that were not made in turn: machines drift by so much */
    double part;        /* of a span or task */
    double alpha;       /* p, adjusted for the number of tests, and each end of the interval */
    double floor_s;     /* a loss below that never counts … */
    double floor;       /* … nor one below this part of the run */
    double brief_s;     /* a run that takes less is mostly its start: said */
    double counted;     /* counts may grow by so much */
    double share;       /* what takes less of the time than that never decides */
    size_t least;       /* pairs that a decision begins with, … */
    size_t most;        /* … and after which it is given up */
    size_t least_apart; /* runs a side, where they are not pairs */
};

/* clang-format off */
#define VTI_RULES                                                                                  \
    {                                                                                              \
        .slower = 0.05, .apart = 0.10, .part = 0.10, .alpha = 0.01, .floor_s = 0.001,              \
        .floor = 0.01, .brief_s = 0.005, .counted = 0, .share = 0.01, .least = 8, .most = 40,       \
        .least_apart = 6,                                                                          \
    }
/* clang-format on */

#define VTI_RULES_STEP 4 /* pairs that are added while nothing is decided */
#define VTI_RULES_WAITS                                                                            \
    4 /* a short run that lasts so many times `brief_s` waits, and does not only start */

#endif
