/*
 * realtime.h - the time of day as nanoseconds since 1970, whatever a clock says.
 *
 * A clock before 1970 or after 2261 does not fit into what a recording holds. It is then taken for the nearest that does: what happened
 * is kept, only its date is wrong. No allocation, libc only: also for the measured process.
 */
#ifndef VENTURI_BASE_REALTIME_H
#define VENTURI_BASE_REALTIME_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* 2262-01-01: a hundred days before 64 bits end, so that what is added to it fits too. */
#define VTI_REALTIME_MOST_S INT64_C(9214646400)

/* Nanoseconds, from 0 to that. */
int64_t vti_realtime_of(const struct timespec *time);
int64_t vti_realtime_ns(void);

bool vti_realtime_fits(int64_t seconds);

#endif
