/* clock.h - which clock the programs of this host read, and what it says in real time. */
#ifndef VENTURI_DRAIN_CLOCK_H
#define VENTURI_DRAIN_CLOCK_H

#include "format/facts.h"

#include <stdbool.h>
#include <stdint.h>

/* The CPU's counter if the kernel itself keeps time by it, else CLOCK_MONOTONIC. */
enum vti_clock_type vti_clock_choose(void);
uint64_t vti_clock_ticks(enum vti_clock_type type);
uint64_t vti_clock_now_ns(void); /* CLOCK_MONOTONIC */

/* Ticks, monotonic and real time of one instant; the narrowest of a few tries. */
void vti_anchor_take(enum vti_clock_type type, struct vti_anchor *anchor);

/* What was wrong with the time of day while we looked. Zeroed: nothing yet. */
struct vti_clock_doubts {
    uint32_t times_set; /* by two seconds or more */
    int64_t set_by_s;   /* the last time: forward, or back */
    bool
        is_out_of_bounds; /* it did not fit into a recording, and was taken for the nearest that does … */
    int64_t said_s; /* … seconds since 1970, as it said */
    bool has_looked;
    int64_t offset_s; /* to the time since the machine was started, sleep included */
};

/* Looks again; what is found stays. */
void vti_clock_look(struct vti_clock_doubts *doubts);

#endif
