/*
 * steal.c - a run by threads that take work from each other. The thread that called vt_run_go() starts them and then only watches: time
 * limits, the bar, cancellation.
 */
#include "base/error.h"
#include "graph/failure.h"
#include "graph/futex.h"
#include "graph/gang.h"
#include "graph/progress.h"
#include "graph/schedulers.h"

#include <stdlib.h>

#define LOOK_MS 20
#define TAKEN UINT64_MAX

/* The task that a thread is in if it takes too long, taken from it; VT_NO_TASK. */
static uint32_t take_late(vt_run *run, struct vti_gang_thread *thread, uint64_t now,
                          uint64_t *start)
{
    uint64_t claim = __atomic_load_n(&thread->claim, __ATOMIC_ACQUIRE);
    uint32_t task = (uint32_t)claim - 1;
    double seconds;

    if (claim == 0)
        return VT_NO_TASK;
    *start = __atomic_load_n(&thread->start, __ATOMIC_RELAXED);
    seconds = vti_run_timeout(run, task);
    if (__atomic_load_n(&run->is_left, __ATOMIC_RELAXED) == 0 &&
        (seconds <= 0 || now <= *start ||
         (double)(now - *start) <= seconds * (double)run->ticks_per_second))
        return VT_NO_TASK;
    /* The number of the try is in the claim: if it has ended, this is another one. */
    __atomic_add_fetch(&run->abandoned, 1, __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(&thread->claim, &claim, TAKEN, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
        return task;
    __atomic_sub_fetch(&run->abandoned, 1, __ATOMIC_RELAXED);
    return VT_NO_TASK;
}

/* Leaves a thread to itself and puts a new one in its seat. */
static void abandon(struct vti_gang *gang, struct vti_gang_thread *thread, struct vti_done *done)
{
    vt_run *run = gang->run;
    struct vti_seat *seat = thread->seat;
    uint32_t next;
    int code;

    __atomic_store_n(&thread->is_expired, 1, __ATOMIC_RELAXED);
    pthread_detach(thread->id);
    vti_gang_thread_drop(thread);
    next = vti_gang_expired(gang, done);
    code = vti_gang_start(gang, seat, next);
    __atomic_sub_fetch(&gang->live, 1, __ATOMIC_RELEASE);
    if (code != 0)
        vti_failure_say(run, done->task, "%s", vti_error_message(code));
    vti_gang_is_over(gang);
}

static void look_at_times(struct vti_gang *gang)
{
    struct vti_gang_thread **at = &gang->threads;
    uint64_t now = vt_task_clock();

    while (*at != NULL) {
        struct vti_gang_thread *thread = *at;
        struct vti_done done = {
            .worker = thread->worker, .state = VT_TASK_TIMED_OUT, .end = now, .cpu_ns = VT_UNKNOWN};

        done.task = take_late(gang->run, thread, now, &done.start);
        if (done.task == VT_NO_TASK) {
            at = &thread->next;
            continue;
        }
        *at = thread->next;
        abandon(gang, thread, &done);
        at = &gang->threads; /* a new one is there now */
    }
}

static void watch(struct vti_gang *gang)
{
    vt_run *run = gang->run;
    struct vti_progress progress;
    int time;

    vti_progress_open(&progress, run);
    time = gang->has_times || progress.is_shown ? LOOK_MS : -1;
    for (;;) {
        uint32_t event = __atomic_load_n(&run->event, __ATOMIC_ACQUIRE);

        if (__atomic_load_n(&run->is_cancelled, __ATOMIC_RELAXED) != 0)
            vti_futex_tell(&gang->work);
        if (__atomic_load_n(&gang->live, __ATOMIC_ACQUIRE) == 0)
            break;
        vti_run_wait(run, event, time);
        if (gang->has_times)
            look_at_times(gang);
        vti_progress_show(&progress, run, vt_task_clock());
    }
    vti_progress_close(&progress, run);
}

/* Those that wait for nothing, in the static order; they stand at its front then. */
static uint32_t keep_ready(vt_run *run)
{
    uint32_t *order = run->order;
    uint32_t count = 0, i;

    for (i = 0; i < run->total; i++)
        if (run->items[order[i]].missing == 0) {
            run->items[order[i]].ready = run->begin;
            order[count++] = order[i];
        }
    return count;
}

void vti_steal_go(vt_run *run, unsigned workers)
{
    struct vti_gang *gang = vti_gang_new(run, workers);
    int code = 0;
    unsigned i;

    if (gang == NULL) {
        vti_failure_say(run, VT_NO_TASK, "no memory to run %u tasks", run->total);
        return;
    }
    gang->first_count = keep_ready(run);
    __atomic_store_n(&run->gang, gang, __ATOMIC_RELEASE);
    for (i = 0; i < workers && code == 0; i++)
        code = vti_gang_start(gang, &gang->seats[i], VT_NO_TASK);
    if (gang->threads == NULL)
        vti_failure_say(run, VT_NO_TASK, "threads: %s", vti_error_message(code));
    watch(gang);
    while (gang->threads != NULL) {
        struct vti_gang_thread *thread = gang->threads;

        gang->threads = thread->next;
        pthread_join(thread->id, NULL);
        vti_gang_thread_drop(thread);
    }
}
