/* clock.h - which clock the programs of this host read, and what it says in real time. */
#ifndef VENTURI_DRAIN_CLOCK_H
#define VENTURI_DRAIN_CLOCK_H

#include "format/facts.h"

#include <stdint.h>

/* The CPU's counter if the kernel itself keeps time by it, else CLOCK_MONOTONIC. */
enum vti_clock_type vti_clock_choose(void);
uint64_t vti_clock_ticks(enum vti_clock_type type);
uint64_t vti_clock_now_ns(void); /* CLOCK_MONOTONIC */

/* Ticks, monotonic and real time of one instant; the narrowest of a few tries. */
void vti_anchor_take(enum vti_clock_type type, struct vti_anchor *anchor);

#endif
