/* sampler.c - what interrupts one thread again and again while it uses the CPU. */
#include "collect/sampler.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <venturi/hook.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Out of the way: the program goes on getting the numbers that it would have got without us. */
static int move_up(int fd)
{
    struct rlimit limit = {0, 0};
    int high;

    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur > 65536)
        limit.rlim_cur = 65536;
    high = fcntl(fd, F_DUPFD_CLOEXEC, (int)(limit.rlim_cur / 2));
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

/* From 1 to the period; another one for each thread. */
static uint64_t some_part(uint64_t period_ns)
{
    struct timespec now;
    uint64_t seed;

    clock_gettime(CLOCK_MONOTONIC, &now);
    seed = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u ^ (uint64_t)gettid() * 0xc2b2ae3d27d4eb4fu;
    seed ^= seed >> 29;
    return 1 + seed * 0xbf58476d1ce4e5b9u % period_ns;
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

/* Only time in user mode: it needs no privilege, and since the kernel never interrupts a system call for it none
 * fails with EINTR because of us. */
static bool start_event(struct vti_sampler *sampler)
{
    struct perf_event_attr wanted = {.type = PERF_TYPE_SOFTWARE,
                                     .size = sizeof wanted,
                                     .config = PERF_COUNT_SW_TASK_CLOCK,
                                     .sample_period = some_part(sampler->period_ns),
                                     .exclude_kernel = 1,
                                     .exclude_hv = 1,
                                     .disabled = 1,
                                     .wakeup_events = 1};
    struct f_owner_ex owner = {F_OWNER_TID, gettid()};
    int fd = (int)syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

    if (fd < 0)
        return false;
    fd = move_up(fd);
    if (fcntl(fd, F_SETSIG, VTI_SAMPLER_SIGNAL) || fcntl(fd, F_SETOWN_EX, &owner) ||
        fcntl(fd, F_SETFL, O_ASYNC) || ioctl(fd, PERF_EVENT_IOC_ID, &sampler->event) ||
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
        close(fd);
        return false;
    }
    sampler->fd = fd;
    sampler->clock = VT_SAMPLE_CLOCK_EVENT;
    return true;
}

static bool start_timer(struct vti_sampler *sampler)
{
    const struct itimerspec times = {timespec_of(sampler->period_ns),
                                     timespec_of(some_part(sampler->period_ns))};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = VTI_SAMPLER_SIGNAL};

    event.sigev_notify_thread_id = gettid();
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &sampler->timer))
        return false;
    if (timer_settime(sampler->timer, 0, &times, NULL)) {
        timer_delete(sampler->timer);
        return false;
    }
    sampler->clock = VT_SAMPLE_CLOCK_TIMER;
    return true;
}

bool vti_sampler_start(struct vti_sampler *sampler, uint64_t period_ns, bool only_timer)
{
    sampler->period_ns = period_ns;
    sampler->is_first = true;
    return (!only_timer && start_event(sampler)) || start_timer(sampler);
}

static bool is_still_ours(const struct vti_sampler *sampler)
{
    uint64_t event;

    return ioctl(sampler->fd, PERF_EVENT_IOC_ID, &event) == 0 && event == sampler->event;
}

void vti_sampler_stop(struct vti_sampler *sampler)
{
    uint32_t clock = __atomic_exchange_n(&sampler->clock, 0, __ATOMIC_ACQ_REL);

    if (clock == VT_SAMPLE_CLOCK_EVENT && is_still_ours(sampler)) {
        ioctl(sampler->fd, PERF_EVENT_IOC_DISABLE, 0);
        close(sampler->fd);
    } else if (clock == VT_SAMPLE_CLOCK_TIMER) {
        timer_delete(sampler->timer);
    }
}

void vti_sampler_leave(struct vti_sampler *sampler)
{
    /* The event is the parent's too, and must go on for it; timers are not inherited. */
    if (sampler->clock == VT_SAMPLE_CLOCK_EVENT && is_still_ours(sampler))
        close(sampler->fd);
    sampler->clock = 0;
}

uint64_t vti_sampler_ns(struct vti_sampler *sampler, const siginfo_t *info)
{
    uint64_t periods = 1;

    if (sampler->is_first && sampler->clock == VT_SAMPLE_CLOCK_EVENT)
        ioctl(sampler->fd, PERF_EVENT_IOC_PERIOD, &sampler->period_ns);
    sampler->is_first = false;
    if (info->si_code == SI_TIMER && info->si_overrun > 0)
        periods += (unsigned)info->si_overrun;
    return periods * sampler->period_ns;
}
