/*
 * central.c - the central loop: begins what is ready, gives it to an executor, finishes what comes back, looks at time limits.
 *
 * All in the thread that called vt_run_go(), so that callbacks see a state that nobody else changes.
 */
#include "base/error.h"
#include "graph/callbacks.h"
#include "graph/failure.h"
#include "graph/progress.h"
#include "graph/record.h"
#include "graph/schedulers.h"
#include "graph/state.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 64
#define LOOK_MS 20 /* how often time limits and the bar are looked at */

struct loop {
    vt_run *run;
    struct vti_executor *executor;
    const struct vti_executor_ops *ops;
    struct vti_job jobs[BATCH]; /* begun, but not taken by the executor yet */
    size_t job_count;
    uint32_t *running; /* tasks that the executor has; only kept if there are time limits */
    size_t running_room;
    size_t running_count;
    bool has_times;
    struct vti_progress progress;
};

static bool is_cancelled(const struct loop *loop)
{
    return __atomic_load_n(&loop->run->is_cancelled, __ATOMIC_RELAXED) != 0;
}

static int keep_running(struct loop *loop, uint32_t task)
{
    if (loop->has_times && loop->running_count == loop->running_room) {
        size_t room = loop->running_room == 0 ? 64 : loop->running_room * 2;
        uint32_t *moved = realloc(loop->running, room * sizeof *moved);

        if (moved == NULL)
            return -1;
        loop->running = moved;
        loop->running_room = room;
    }
    if (loop->has_times)
        loop->running[loop->running_count] = task;
    loop->running_count++;
    return 0;
}

static void forget_running(struct loop *loop, uint32_t task)
{
    size_t i;

    loop->running_count--;
    for (i = 0; loop->has_times && i <= loop->running_count; i++)
        if (loop->running[i] == task) {
            loop->running[i] = loop->running[loop->running_count];
            return;
        }
}

/* Begins as many as the executor takes; negative: it takes none any more. */
static int submit(struct loop *loop)
{
    size_t room = loop->ops->room(loop->executor);
    int taken, i;

    if (room > BATCH)
        room = BATCH;
    while (loop->job_count < room) {
        uint32_t task = vti_state_begin(loop->run);

        if (task == VT_NO_TASK)
            break;
        loop->jobs[loop->job_count++] = (struct vti_job){task, loop->run->items[task].tries};
    }
    if (loop->job_count == 0)
        return 0;
    taken = loop->ops->submit(loop->executor, loop->jobs, loop->job_count);
    for (i = 0; i < taken; i++)
        if (keep_running(loop, loop->jobs[i].task) != 0)
            return vti_fail(VTI_E_NOMEM, "no memory to run %u tasks", loop->run->total);
    if (taken > 0) {
        loop->job_count -= (size_t)taken;
        memmove(loop->jobs, loop->jobs + taken, loop->job_count * sizeof loop->jobs[0]);
    }
    return taken;
}

/* What was begun and not taken when the run is given up was not begun. */
static void take_back(struct loop *loop)
{
    while (loop->job_count > 0)
        vti_state_unbegin(loop->run, loop->jobs[--loop->job_count].task);
}

static int collect(struct loop *loop)
{
    const struct vt_run_options *options = &loop->run->options;
    bool is_looking = loop->has_times || loop->progress.is_shown || loop->ops->wake == NULL;
    struct vti_done done[BATCH];
    int count = loop->ops->collect(loop->executor, done, BATCH, 0);
    int i;

    if (count == 0) {
        if (options->before_wait != NULL)
            options->before_wait(options->thread_user);
        count = loop->ops->collect(loop->executor, done, BATCH, is_looking ? LOOK_MS : -1);
        if (options->after_wait != NULL)
            options->after_wait(options->thread_user);
    }
    for (i = 0; i < count; i++) {
        forget_running(loop, done[i].task);
        vti_state_finish(loop->run, &done[i]);
    }
    return count;
}

static void expire(struct loop *loop)
{
    bool is_left = __atomic_load_n(&loop->run->is_left, __ATOMIC_RELAXED) != 0;
    uint64_t now = vt_task_clock();
    size_t i;

    for (i = 0; i < loop->running_count; i++) {
        uint32_t task = loop->running[i];
        double seconds = vti_run_timeout(loop->run, task);
        uint64_t began = seconds > 0 ? loop->ops->began(loop->executor, task) : 0;

        if (began != 0 && now > began &&
            (is_left || (double)(now - began) > seconds * (double)loop->run->ticks_per_second))
            loop->ops->expire(loop->executor, task);
    }
}

static int turn(struct loop *loop)
{
    int code;

    if (is_cancelled(loop))
        take_back(loop);
    else if ((code = submit(loop)) < 0)
        return code;
    if (loop->running_count == 0)
        return loop->job_count > 0 ? 1 : 0;
    code = collect(loop);
    if (code < 0)
        return code;
    if (loop->has_times)
        expire(loop);
    vti_progress_show(&loop->progress, loop->run, vt_task_clock());
    return 1;
}

void vti_central_go(vt_run *run, const struct vti_executor_ops *ops, unsigned workers)
{
    struct loop loop = {.run = run, .ops = ops};
    int code = ops->open(run, workers, &loop.executor);

    if (code != 0) {
        vti_failure_say(run, VT_NO_TASK, "%s: %s", ops->name, vti_error_message(code));
        return;
    }
    loop.has_times = run->options.timeout > 0 || run->graph->has_timeouts;
    vti_progress_open(&loop.progress, run);
    vti_run_set_executor(run, loop.executor);
    do {
        code = turn(&loop);
    } while (code > 0);
    if (code < 0)
        vti_failure_say(run, VT_NO_TASK, "%s: %s", ops->name, vti_error_message(code));
    vti_run_set_executor(run, NULL);
    take_back(&loop);
    ops->close(loop.executor);
    vti_progress_close(&loop.progress, run);
    free(loop.running);
}
