/* show_tasks.c - the lists of tasks, made from the sums: names, runs, workers. */
#include "base/error.h"
#include "live/state.h"
#include "venturi/task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_time(const void *a, const void *b)
{
    const struct vti_live_task_group *left = a;
    const struct vti_live_task_group *right = b;

    if (left->times.sum_ns != right->times.sum_ns)
        return left->times.sum_ns < right->times.sum_ns ? 1 : -1;
    return strcmp(left->name, right->name);
}

static int show_groups(struct vti_live *live)
{
    struct vti_live_task_group *group;

    for (size_t i = 0; i < live->task_count; i++) {
        struct vti_live_tasks *tasks = &live->tasks[i];

        group = vti_live_list_add(&live->task_groups, sizeof *group);
        if (!group)
            return VTI_E_NOMEM;
        vti_times_show(&tasks->times, live->older);
        *group = (struct vti_live_task_group){
            .name = tasks->name,
            .retried = tasks->retried,
            .waiting = tasks->waiting,
            .ready = tasks->ready,
            .running = tasks->running,
            .per_s = vti_rate_of(&tasks->rate, &live->beat, tasks->ended),
            .bytes = tasks->bytes,
            .times = tasks->times.shown};
        memcpy(group->states, tasks->states, sizeof group->states);
    }
    if (live->task_groups.count)
        qsort(live->task_groups.items, live->task_groups.count, sizeof *group, by_time);
    return 0;
}

/* ---- runs -------------------------------------------------------------------------------------- */

static const struct vti_source *source_of(const struct vti_live *live, uint32_t number)
{
    for (size_t i = 0; i < live->source_count; i++)
        if (live->sources[i]->number == number)
            return live->sources[i];
    return NULL;
}

static uint32_t process_of(const struct vti_live *live, const struct vti_live_run *run)
{
    const struct vti_live_process *processes = live->processes.items;

    for (size_t i = 0; i < live->processes.count; i++)
        if (processes[i].id == run->process && processes[i].recording == run->source)
            return (uint32_t)i;
    return VTI_LIVE_NONE;
}

static uint32_t workers_of(const struct vti_live *live, const struct vti_live_run *run)
{
    uint64_t owner = (uint64_t)run->source << 32 | run->process;
    uint32_t count = 0;

    for (size_t i = 0; i < live->seat_count; i++)
        count += live->seats[i].owner == owner;
    return count;
}

static bool is_running(const struct vti_live *live, const struct vti_live_run *run)
{
    const struct vti_source *source = source_of(live, run->source);
    const struct vti_live_process *processes = live->processes.items;
    uint32_t process = process_of(live, run);

    return !run->has_ended && source && source->is_growing &&
           (process == VTI_LIVE_NONE || processes[process].is_running);
}

static int show_runs(struct vti_live *live)
{
    for (size_t i = 0; i < live->run_count; i++) {
        const struct vti_live_run *run = &live->runs[i];
        struct vti_live_task_run *shown = vti_live_list_add(&live->task_runs, sizeof *shown);

        if (!shown)
            return VTI_E_NOMEM;
        *shown = (struct vti_live_task_run){.scheduler = run->scheduler,
                                            .error = run->error,
                                            .process = process_of(live, run),
                                            .planned = run->planned,
                                            .ended = run->ended,
                                            .failed = run->failed,
                                            .lost = run->lost,
                                            .workers = workers_of(live, run),
                                            .is_running = is_running(live, run),
                                            .begin_unix_ns = run->begin_unix_ns,
                                            .end_unix_ns = run->end_unix_ns};
    }
    return 0;
}

/* ---- workers ----------------------------------------------------------------------------------- */

static int by_running(const void *a, const void *b)
{
    const struct vti_live_worker *left = a;
    const struct vti_live_worker *right = b;

    if (left->is_running != right->is_running)
        return left->is_running ? -1 : 1;
    return (left->seen_order > right->seen_order) - (left->seen_order < right->seen_order);
}

static int show_worker(struct vti_live *live, uint32_t at)
{
    const struct vti_live_seat *seat = &live->seats[at];
    struct vti_live_worker *worker = vti_live_list_add(&live->workers, sizeof *worker);
    uint32_t run = seat->run - live->first_run;
    bool has_run = seat->run >= live->first_run && run < live->run_count;
    double busy = vti_rate_of(&seat->busy_rate, &live->beat, seat->busy_ns) / 1e9;

    if (!worker)
        return VTI_E_NOMEM;
    *worker = (struct vti_live_worker){
        .label = seat->label,
        .host = seat->host,
        .run = has_run && !live->dask ? run : VTI_LIVE_NONE,
        .seen_order = at,
        .pid = seat->pid,
        .tid = seat->tid,
        .slots = seat->slots,
        .is_running = live->dask ? seat->is_there : has_run && is_running(live, &live->runs[run]),
        .ended = seat->ended,
        .failed = seat->failed,
        .running = seat->running,
        .ready = seat->ready,
        .busy = seat->slots > 1 ? busy / seat->slots : busy,
        .memory_bytes = seat->memory_bytes,
        .memory_limit_bytes = seat->memory_limit_bytes,
        .managed_bytes = seat->managed_bytes,
        .spilled_bytes = seat->spilled_bytes,
        .cpu = seat->cpu,
        .seen_unix_ns = seat->seen_unix_ns};
    /* A task counts when it has ended: a long one makes more of a second than there is in it. */
    worker->busy = worker->busy > 1 ? 1 : worker->busy;
    return 0;
}

int vti_live_show_tasks(struct vti_live *live)
{
    int code;

    live->task_groups.count = live->task_runs.count = live->workers.count = 0;
    code = show_groups(live);
    if (!code)
        code = show_runs(live);
    for (uint32_t i = 0; i < live->seat_count && !code; i++)
        if (!live->seats[i].lane[0])
            code = show_worker(live, i);
    if (live->workers.count)
        qsort(live->workers.items, live->workers.count, sizeof(struct vti_live_worker), by_running);
    return code;
}
