/* tick.c - the clock that work is bounded by. */
#include "live/tick.h"

#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t vti_tick_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t vti_tick_unix(void)
{
    return read_clock(CLOCK_REALTIME);
}

bool vti_tick_is_over(int64_t until_ns)
{
    return until_ns != INT64_MAX && vti_tick_now() >= until_ns;
}
