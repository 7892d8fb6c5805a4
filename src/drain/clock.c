/* clock.c - which clock the programs of this host read, and what it says in real time. */
#include "drain/clock.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ANCHOR_TRIES 8

enum vti_clock_type vti_clock_choose(void)
{
#if defined(__aarch64__)
    return VTI_CLOCK_ARM; /* constant rate by the architecture */
#elif defined(__x86_64__)
    static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    char name[32] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        ssize_t got = read(fd, name, sizeof name - 1);

        close(fd);
        if (got > 0 && !strncmp(name, "tsc\n", 4))
            return VTI_CLOCK_TSC;
    }
    return VTI_CLOCK_MONOTONIC_NS;
#else
    return VTI_CLOCK_MONOTONIC_NS;
#endif
}

static uint64_t read_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t vti_clock_now_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

uint64_t vti_clock_ticks(enum vti_clock_type type)
{
#if defined(__x86_64__)
    if (type == VTI_CLOCK_TSC)
        return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    if (type == VTI_CLOCK_ARM) {
        uint64_t ticks;

        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
#endif
    (void)type;
    return vti_clock_now_ns();
}

void vti_anchor_take(enum vti_clock_type type, struct vti_anchor *anchor)
{
    uint64_t narrowest = UINT64_MAX;

    for (int i = 0; i < ANCHOR_TRIES; i++) {
        uint64_t before = read_ns(CLOCK_MONOTONIC);
        uint64_t realtime = read_ns(CLOCK_REALTIME);
        uint64_t ticks = vti_clock_ticks(type);
        uint64_t width = read_ns(CLOCK_MONOTONIC) - before;

        if (width >= narrowest)
            continue;
        narrowest = width;
        anchor->ticks = ticks;
        anchor->monotonic_ns = before + width / 2;
        anchor->realtime_ns = realtime;
        anchor->error_ns = (uint32_t)(width < UINT32_MAX ? (width + 1) / 2 : UINT32_MAX);
    }
}
