/* clock.c - the clock where there is no usable counter. */
#include "core/clock.h"

#include <time.h>

uint64_t vti_clock_monotonic(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
