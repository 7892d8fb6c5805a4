/* realtime.c - the time of day as nanoseconds since 1970, whatever a clock says. */
#include "base/realtime.h"

bool vti_realtime_fits(int64_t seconds)
{
    return seconds >= 0 && seconds < VTI_REALTIME_MOST_S;
}

int64_t vti_realtime_of(const struct timespec *time)
{
    if (vti_realtime_fits(time->tv_sec))
        return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
    return time->tv_sec < 0 ? 0 : VTI_REALTIME_MOST_S * 1000000000;
}

int64_t vti_realtime_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return vti_realtime_of(&now);
}
