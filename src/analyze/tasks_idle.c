/*
 * tasks_idle.c - what workers did with their time.
 *
 * The reason for which a worker is idle is the same for all workers at a time: it follows from how many tasks of the run are ready,
 * to come, and running. So a run has one list of moments at which it changes, and each gap between what a worker did is looked up there.
 */
#include "analyze/tasks_idle.h"

#include "analyze/tasks_seats.h"
#include "base/bytes.h"
#include "base/error.h"
#include "model/model.h"
#include "venturi/task.h"

#include <stdlib.h>
#include <string.h>

/* From here on a worker that is idle is so for this reason; sums are of the time before. */
struct change {
    int64_t at_ns;
    enum vti_idle reason;
    int64_t before_ns[VTI_IDLE_REASONS];
};

struct moments {
    int64_t *ready, *start;     /* of tasks; sorted */
    int64_t *begins, *ends;     /* of all that was done; sorted */
    uint32_t count, done_count; /* of tasks, and of all */
};

struct maker {
    const struct vti_tasks *tasks;
    struct vti_task_times *times;
    struct moments moments;
    struct change *changes;
    size_t change_count, change_capacity;
    struct vti_task_seat *seats; /* of each worker of the run */
    int64_t *until;              /* of each worker: the end of what it did so far, … */
    int64_t *computing;
    bool *is_dead; /* … and whether that killed it */
};

/* ---- runs ------------------------------------------------------------------------------------ */

static void count_task(struct maker *maker, uint32_t at)
{
    const struct vti_tasks *tasks = maker->tasks;
    const struct vti_task *task = &tasks->tasks[at];
    struct vti_run_times *run = &maker->times->runs[task->run];
    uint32_t worker = vti_task_worker(tasks, at);

    if (task->action != VT_ACTION_COMPUTE) {
        run->actions++;
        return;
    }
    run->tasks++;
    run->states[vti_task_outcome(task)]++;
    run->retries += task->retries;
    if (worker != VTI_NO_TASK) {
        maker->times->workers[worker].tasks++;
        maker->times->workers[worker].failed += vti_task_has_failed(task);
    }
    if (!vti_task_ran(task))
        return;
    run->ran++;
    run->task_ns = vti_ns_add(run->task_ns, vti_task_length(task));
    run->wait_ns = vti_ns_add(run->wait_ns, task->start_ns - vti_task_ready(tasks, at));
}

/* From its begin to its end, and so that all of its tasks are inside. */
static void find_window(struct maker *maker, uint32_t at)
{
    const struct vti_task_run *run = &maker->tasks->runs[at];
    struct vti_run_times *times = &maker->times->runs[at];
    int64_t begin = run->begin_ns > 0 ? run->begin_ns : INT64_MAX;
    int64_t end = run->end_ns > 0 ? run->end_ns : 0;

    for (uint32_t i = 0; i < run->task_count; i++) {
        const struct vti_task *task = &maker->tasks->tasks[run->first_task + i];

        if (!vti_task_ran(task))
            continue;
        if (task->start_ns < begin)
            begin = task->start_ns;
        if (task->end_ns > end)
            end = task->end_ns;
    }
    if (begin == INT64_MAX)
        begin = end;
    times->begin_ns = begin;
    times->end_ns = end > begin ? end : begin;
}

/* ---- reasons --------------------------------------------------------------------------------- */

static int by_time(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

static void sort(int64_t *times, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (times[i] < times[i - 1]) {
            qsort(times, count, sizeof *times, by_time);
            return;
        }
}

static void find_moments(struct maker *maker, const struct vti_task_run *run)
{
    struct moments *moments = &maker->moments;

    moments->count = moments->done_count = 0;
    for (uint32_t i = run->first_task; i < run->first_task + run->task_count; i++) {
        const struct vti_task *task = &maker->tasks->tasks[i];

        if (!vti_task_ran(task))
            continue;
        moments->begins[moments->done_count] = task->start_ns;
        moments->ends[moments->done_count++] = task->end_ns;
        if (task->action != VT_ACTION_COMPUTE)
            continue;
        moments->ready[moments->count] = vti_task_ready(maker->tasks, i);
        moments->start[moments->count++] = task->start_ns;
    }
    sort(moments->ready, moments->count);
    sort(moments->start, moments->count);
    sort(moments->begins, moments->done_count);
    sort(moments->ends, moments->done_count);
}

static int add_change(struct maker *maker, int64_t at_ns, enum vti_idle reason)
{
    struct change *last = maker->change_count ? &maker->changes[maker->change_count - 1] : NULL;
    struct change *change;

    if (last && last->reason == reason)
        return 0;
    if (vti_grow(&maker->changes, maker->change_count, &maker->change_capacity,
                 sizeof *maker->changes))
        return VTI_E_NOMEM;
    change = &maker->changes[maker->change_count++];
    *change = (struct change){.at_ns = at_ns, .reason = reason};
    if (maker->change_count > 1) {
        last = change - 1;
        memcpy(change->before_ns, last->before_ns, sizeof change->before_ns);
        change->before_ns[last->reason] += at_ns - last->at_ns;
    }
    return 0;
}

static void pass(const int64_t *times, uint32_t count, uint32_t *at, int64_t now_ns, int64_t *next)
{
    while (*at < count && times[*at] <= now_ns)
        ++*at;
    if (*at < count && times[*at] < *next)
        *next = times[*at];
}

static int find_changes(struct maker *maker, const struct vti_run_times *run)
{
    const struct moments *moments = &maker->moments;
    uint32_t ready = 0, start = 0, begin = 0, end = 0;
    int64_t now = run->begin_ns;
    int code = 0;

    maker->change_count = 0;
    do {
        int64_t next = INT64_MAX;
        enum vti_idle reason = VTI_IDLE_FINISHED;

        pass(moments->ready, moments->count, &ready, now, &next);
        pass(moments->start, moments->count, &start, now, &next);
        pass(moments->begins, moments->done_count, &begin, now, &next);
        pass(moments->ends, moments->done_count, &end, now, &next);
        if (ready > start)
            reason = VTI_IDLE_SCHEDULER;
        else if (ready < moments->count)
            reason = begin > end ? VTI_IDLE_DEPENDENCIES : VTI_IDLE_SCHEDULER;
        code = add_change(maker, now, reason);
        now = next;
    } while (!code && now != INT64_MAX);
    return code;
}

/* Time for each reason from the begin of the run to a moment. */
static void sum_until(const struct maker *maker, int64_t at_ns, int64_t sums[VTI_IDLE_REASONS])
{
    size_t low = 0, high = maker->change_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (maker->changes[middle].at_ns <= at_ns)
            low = middle;
        else
            high = middle;
    }
    memcpy(sums, maker->changes[low].before_ns, sizeof maker->changes[low].before_ns);
    sums[maker->changes[low].reason] += at_ns - maker->changes[low].at_ns;
}

/* ---- workers --------------------------------------------------------------------------------- */

static void add_gap(const struct maker *maker, struct vti_worker_times *times, int64_t from_ns,
                    int64_t to_ns)
{
    int64_t before[VTI_IDLE_REASONS], after[VTI_IDLE_REASONS];

    if (to_ns <= from_ns)
        return;
    sum_until(maker, from_ns, before);
    sum_until(maker, to_ns, after);
    for (unsigned i = 0; i < VTI_IDLE_REASONS; i++)
        times->idle_ns[i] += after[i] - before[i];
}

/* Adds what is new of a stretch of time to that which ended at *until. */
static int64_t extend(int64_t *until, const struct vti_task *task)
{
    int64_t from = task->start_ns > *until ? task->start_ns : *until;
    int64_t more = task->end_ns > from ? task->end_ns - from : 0;

    if (task->end_ns > *until)
        *until = task->end_ns;
    return more;
}

/* Tasks are in the order of their starts, so one look at each is enough for all workers. */
static void follow_workers(struct maker *maker, const struct vti_task_run *run)
{
    for (uint32_t i = run->first_task; i < run->first_task + run->task_count; i++) {
        const struct vti_task *task = &maker->tasks->tasks[i];
        uint32_t worker = vti_task_worker(maker->tasks, i);
        struct vti_worker_times *times;

        if (worker == VTI_NO_TASK)
            continue;
        maker->is_dead[worker] = task->state == VT_TASK_LOST;
        if (!vti_task_ran(task))
            continue;
        times = &maker->times->workers[worker];
        add_gap(maker, times, maker->until[worker], task->start_ns);
        times->moving_ns += extend(&maker->until[worker], task);
        if (task->action == VT_ACTION_COMPUTE)
            times->compute_ns += extend(&maker->computing[worker], task);
    }
}

static void add_worker(struct vti_worker_times *sums, const struct vti_worker_times *times)
{
    sums->tasks += times->tasks;
    sums->failed += times->failed;
    sums->compute_ns = vti_ns_add(sums->compute_ns, times->compute_ns);
    sums->moving_ns = vti_ns_add(sums->moving_ns, times->moving_ns);
    for (unsigned i = 0; i < VTI_IDLE_REASONS; i++)
        sums->idle_ns[i] = vti_ns_add(sums->idle_ns[i], times->idle_ns[i]);
}

static int follow_run(struct maker *maker, uint32_t at)
{
    const struct vti_task_run *run = &maker->tasks->runs[at];
    struct vti_run_times *times = &maker->times->runs[at];
    int code;

    find_moments(maker, run);
    code = find_changes(maker, times);
    if (!code)
        code = vti_task_seats_find(maker->tasks, run, times->begin_ns, times->end_ns, maker->seats,
                                   &times->at_once);
    if (code)
        return code;
    for (uint32_t i = 0; i < run->worker_count; i++)
        maker->until[run->first_worker + i] = maker->computing[run->first_worker + i] =
            maker->seats[i].from_ns;
    follow_workers(maker, run);
    for (uint32_t i = run->first_worker; i < run->first_worker + run->worker_count; i++) {
        struct vti_worker_times *worker = &maker->times->workers[i];
        int64_t end_ns = maker->seats[i - run->first_worker].to_ns;

        if (maker->is_dead[i])
            worker->idle_ns[VTI_IDLE_GONE] += end_ns - maker->until[i];
        else
            add_gap(maker, worker, maker->until[i], end_ns);
        worker->moving_ns -= worker->compute_ns; /* until now it was all that the worker did */
        times->dead_workers += maker->is_dead[i];
        add_worker(&times->sums, worker);
    }
    return 0;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static uint32_t largest_run(const struct vti_tasks *tasks)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < tasks->run_count; i++)
        if (tasks->runs[i].task_count > most)
            most = tasks->runs[i].task_count;
    return most;
}

static bool allocate(struct maker *maker)
{
    const struct vti_tasks *tasks = maker->tasks;
    size_t most = (size_t)largest_run(tasks) + 1;
    size_t workers = (size_t)tasks->worker_count + 1;

    maker->times->runs = calloc((size_t)tasks->run_count + 1, sizeof *maker->times->runs);
    maker->times->workers = calloc(workers, sizeof *maker->times->workers);
    maker->moments.ready = malloc(most * sizeof *maker->moments.ready);
    maker->moments.start = malloc(most * sizeof *maker->moments.start);
    maker->moments.begins = malloc(most * sizeof *maker->moments.begins);
    maker->moments.ends = malloc(most * sizeof *maker->moments.ends);
    maker->seats = calloc(workers, sizeof *maker->seats);
    maker->until = calloc(workers, sizeof *maker->until);
    maker->computing = calloc(workers, sizeof *maker->computing);
    maker->is_dead = calloc(workers, sizeof *maker->is_dead);
    return maker->times->runs && maker->times->workers && maker->moments.ready &&
           maker->moments.start && maker->moments.begins && maker->moments.ends && maker->seats &&
           maker->until && maker->computing && maker->is_dead;
}

int vti_task_times_make(struct vti_task_times *times, const struct vti_tasks *tasks)
{
    struct maker maker = {.tasks = tasks, .times = times};
    int code;

    *times = (struct vti_task_times){0};
    code = allocate(&maker) ? 0 : VTI_E_NOMEM;
    for (uint32_t i = 0; i < tasks->task_count && !code; i++)
        count_task(&maker, i);
    for (uint32_t i = 0; i < tasks->run_count && !code; i++) {
        find_window(&maker, i);
        code = follow_run(&maker, i);
    }
    free(maker.moments.ready);
    free(maker.moments.start);
    free(maker.moments.begins);
    free(maker.moments.ends);
    free(maker.changes);
    free(maker.seats);
    free(maker.until);
    free(maker.computing);
    free(maker.is_dead);
    return code ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}

void vti_task_times_fini(struct vti_task_times *times)
{
    free(times->runs);
    free(times->workers);
    *times = (struct vti_task_times){0};
}

int64_t vti_worker_times_idle(const struct vti_worker_times *times)
{
    int64_t ns = 0;

    for (unsigned i = 0; i < VTI_IDLE_REASONS; i++)
        ns = vti_ns_add(ns, times->idle_ns[i]);
    return ns;
}

int64_t vti_worker_times_all(const struct vti_worker_times *times)
{
    return vti_ns_add(vti_ns_add(times->compute_ns, times->moving_ns),
                      vti_worker_times_idle(times));
}

double vti_run_times_parallelism(const struct vti_run_times *run)
{
    int64_t wall_ns = run->end_ns - run->begin_ns;

    return wall_ns > 0 ? (double)run->task_ns / (double)wall_ns : 0;
}

const char *vti_idle_word(enum vti_idle reason)
{
    static const char *const words[] = {"dependencies", "nothing-left", "scheduler", "gone"};

    return words[reason];
}

const char *vti_idle_text(enum vti_idle reason)
{
    static const char *const texts[] = {"waiting for dependencies", "with nothing left to do",
                                        "waiting for the scheduler", "dead"};

    return texts[reason];
}
