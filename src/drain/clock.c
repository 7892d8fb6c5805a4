/* clock.c - which clock the programs of this host read, and what it says in real time. */
#include "drain/clock.h"

#include "base/realtime.h"
#include "share/ticks.h"

#include <time.h>

#define ANCHOR_TRIES 8

enum vti_clock_type vti_clock_choose(void)
{
    return (enum vti_clock_type)vti_ticks_choose();
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
        uint64_t realtime = (uint64_t)vti_realtime_ns();
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

void vti_clock_look(struct vti_clock_doubts *doubts)
{
    struct timespec real, up;
    int64_t offset_s;

    clock_gettime(CLOCK_BOOTTIME, &up);
    clock_gettime(CLOCK_REALTIME, &real);
    offset_s = (int64_t)real.tv_sec - (int64_t)up.tv_sec;
    if (!vti_realtime_fits(real.tv_sec)) {
        doubts->is_out_of_bounds = true;
        doubts->said_s = real.tv_sec;
    }
    /* Two readings of whole seconds differ by up to one without any reason. */
    if (doubts->has_looked &&
        (offset_s > doubts->offset_s + 1 || offset_s < doubts->offset_s - 1)) {
        doubts->times_set++;
        doubts->set_by_s = offset_s - doubts->offset_s;
    }
    doubts->has_looked = true;
    doubts->offset_s = offset_s;
}
