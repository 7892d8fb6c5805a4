/* calibrate.h - what one pair of trace points costs in this process. */
#ifndef VENTURI_CORE_CALIBRATE_H
#define VENTURI_CORE_CALIBRATE_H

#include <stdint.h>

/* Thousandths of a tick: what a pair adds to the span around it, and what an empty span shows. Takes
 * about 20 microseconds. Slow path only. */
void vti_calibrate(uint32_t clock, uint64_t *pair_millis, uint64_t *inner_millis);

#endif
