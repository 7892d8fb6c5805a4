/* ticks.h - which clock the programs of this host should read. */
#ifndef VENTURI_SHARE_TICKS_H
#define VENTURI_SHARE_TICKS_H

#include <stdint.h>

/* Values of vti_arena_control.clock, and of enum vti_clock_type in format/facts.h. */
enum { VTI_TICKS_TSC = 1, VTI_TICKS_MONOTONIC = 2, VTI_TICKS_ARM = 3 };

/* The CPU's counter if the kernel itself keeps time by it, else CLOCK_MONOTONIC. Allocates nothing. */
uint32_t vti_ticks_choose(void);

#endif
