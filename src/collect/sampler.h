/*
 * sampler.h - what interrupts one thread again and again while it uses the CPU.
 *
 * A perf event that counts the thread's time in user mode where the kernel allows it (one descriptor for each thread,
 * far above those of the program, closed on exec), else a timer on the thread's CPU clock, which ticks no
 * faster than the kernel does (100 to 1,000 times a second) but says how many periods it stands for.
 */
#ifndef VENTURI_COLLECT_SAMPLER_H
#define VENTURI_COLLECT_SAMPLER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * SIGURG: ignored where nobody handles it, so that one that comes late (after an exec, in a child, when the
 * program has put its own handler in our place and taken it away again) does no harm. Hardly any program uses it, and one that
 * does has to expect it at any time.
 */
#define VTI_SAMPLER_SIGNAL SIGURG

struct vti_sampler {
    uint32_t clock; /* enum vt_sample_clock; 0: not running */
    int fd;         /* of the event */
    uint64_t
        event; /* its id: the program may have closed it, and the number may be another's now */
    timer_t timer;
    uint64_t period_ns;
    bool is_first; /* the first signal is still to come, after a part of the period */
};

/*
 * For the calling thread. False if neither can be had. The first signal comes after a random part of the period, so
 * that a thread which lives for a tenth of it is seen in one of ten cases: all of them together count for what they were.
 */
bool vti_sampler_start(struct vti_sampler *sampler, uint64_t period_ns, bool only_timer);

/* From any thread of the process; a sampler that is not running stays so. */
void vti_sampler_stop(struct vti_sampler *sampler);

/* In a forked child: lets go of the parent's. */
void vti_sampler_leave(struct vti_sampler *sampler);

/* The CPU time that a signal stands for; in its handler. */
uint64_t vti_sampler_ns(struct vti_sampler *sampler, const siginfo_t *info);

#endif
