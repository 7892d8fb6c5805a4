/*
 * task_clock.c - the clock of tasks, and what it says in real time, with and without a recording.
 *
 * It is the clock that a recording would have: the same on the whole machine. Its rate is found between the moment in which this library
 * was loaded and later ones; nothing here waits or allocates.
 */
#include "base/realtime.h"
#include "core/clock.h"

#include <stdbool.h>
#include <time.h>
#include <venturi/task.h>

#define ANCHOR_TRIES 4
#define LONGEST_NS                                                                                 \
    10000000000u /* after which an anchor is taken anew: real time may have been set */

/* One moment on all clocks. */
struct anchor {
    uint64_t ticks, monotonic_ns;
    int64_t realtime_ns;
};

/* The last anchor and the rate up to it. Its words are read after the first look at `sequence` and before the second, and written the other
 * way round: readers see one scale, or know that they did not. */
struct scale {
    uint32_t sequence; /* odd while it is being written */
    uint64_t ticks;
    int64_t realtime_ns;
    uint64_t until; /* ticks from which on a new one is wanted */
    double ns_per_tick;
};

static uint32_t the_clock; /* 0: not chosen yet */
static uint64_t loaded_ticks, loaded_ns;
static struct scale the_scale;

/* The counter is read whether it will be used or not: to find that out takes longer. The first reading of a clock may take as long as
 * twenty microseconds, and a rate that is found soon after would be wrong by that much: the narrowest of some counts. */
__attribute__((constructor)) static void start(void)
{
    uint64_t narrowest = UINT64_MAX;

    for (int i = 0; i < ANCHOR_TRIES; i++) {
        uint64_t before = vti_clock_quick();
        uint64_t ns = vti_clock_monotonic();
        uint64_t width = vti_clock_quick() - before;

        if (width >= narrowest)
            continue;
        narrowest = width;
        loaded_ticks = before + width / 2;
        loaded_ns = ns;
    }
}

__attribute__((noinline, cold)) static uint32_t choose(void)
{
    uint32_t clock = vti_ticks_choose();

    __atomic_store_n(&the_clock, clock, __ATOMIC_RELAXED);
    return clock;
}

uint64_t vt_task_clock(void)
{
    uint32_t clock = __atomic_load_n(&the_clock, __ATOMIC_RELAXED);

    return vti_clock_read(vti_likely(clock) ? clock : choose());
}

static void take_anchor(struct anchor *anchor)
{
    uint64_t narrowest = UINT64_MAX;

    for (int i = 0; i < ANCHOR_TRIES; i++) {
        uint64_t before = vti_clock_monotonic();
        uint64_t ticks = vt_task_clock();
        int64_t realtime_ns = vti_realtime_ns();
        uint64_t width = vti_clock_monotonic() - before;

        if (width >= narrowest)
            continue;
        narrowest = width;
        *anchor = (struct anchor){ticks, before + width / 2, realtime_ns};
    }
}

static double rate(const struct anchor *now)
{
    uint64_t ticks = now->ticks - loaded_ticks;
    uint64_t ns = now->monotonic_ns - loaded_ns;

    if (the_clock == VTI_TICKS_MONOTONIC || !ticks || !ns)
        return 1;
    return (double)ns / (double)ticks;
}

/* Good for as long again as the library has been loaded: the error of an anchor is then at most doubled. */
__attribute__((noinline)) static void make_scale(struct scale *to)
{
    struct anchor now = {0};
    double ns_per_tick;
    double age;

    take_anchor(&now);
    ns_per_tick = rate(&now);
    age = (double)(now.monotonic_ns - loaded_ns);
    if (age > LONGEST_NS)
        age = LONGEST_NS;
    *to = (struct scale){.ticks = now.ticks,
                         .realtime_ns = now.realtime_ns,
                         .until = now.ticks + (uint64_t)(age / ns_per_tick),
                         .ns_per_tick = ns_per_tick};
}

static bool read_scale(struct scale *to)
{
    uint32_t before = __atomic_load_n(&the_scale.sequence, __ATOMIC_ACQUIRE);

    to->ticks = __atomic_load_n(&the_scale.ticks, __ATOMIC_ACQUIRE);
    to->realtime_ns = __atomic_load_n(&the_scale.realtime_ns, __ATOMIC_ACQUIRE);
    to->until = __atomic_load_n(&the_scale.until, __ATOMIC_ACQUIRE);
    __atomic_load(&the_scale.ns_per_tick, &to->ns_per_tick, __ATOMIC_ACQUIRE);
    return before && !(before & 1) &&
           before == __atomic_load_n(&the_scale.sequence, __ATOMIC_RELAXED);
}

/* Whoever is second goes without. */
static void write_scale(struct scale *from)
{
    uint32_t sequence = __atomic_load_n(&the_scale.sequence, __ATOMIC_RELAXED);

    if ((sequence & 1) || !__atomic_compare_exchange_n(&the_scale.sequence, &sequence, sequence + 1,
                                                       false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&the_scale.ticks, from->ticks, __ATOMIC_RELEASE);
    __atomic_store_n(&the_scale.realtime_ns, from->realtime_ns, __ATOMIC_RELEASE);
    __atomic_store_n(&the_scale.until, from->until, __ATOMIC_RELEASE);
    __atomic_store(&the_scale.ns_per_tick, &from->ns_per_tick, __ATOMIC_RELEASE);
    __atomic_store_n(&the_scale.sequence, sequence + 2, __ATOMIC_RELEASE);
}

static void current_scale(struct scale *scale)
{
    if (read_scale(scale) && vt_task_clock() < scale->until)
        return;
    make_scale(scale);
    write_scale(scale);
}

uint64_t vt_task_clock_at(int64_t realtime_ns)
{
    struct scale scale;
    double ticks;

    current_scale(&scale);
    ticks = (double)(realtime_ns - scale.realtime_ns) / scale.ns_per_tick;
    if (ticks < 0 && -ticks >= (double)scale.ticks)
        return 1; /* before the machine was started; 0 would be unknown */
    return scale.ticks + (uint64_t)(int64_t)ticks;
}

int64_t vt_task_realtime(uint64_t clock)
{
    struct scale scale;

    current_scale(&scale);
    return scale.realtime_ns +
           (int64_t)((double)(int64_t)(clock - scale.ticks) * scale.ns_per_tick);
}

double vt_task_tick_ns(void)
{
    struct scale scale;

    current_scale(&scale);
    return scale.ns_per_tick;
}
