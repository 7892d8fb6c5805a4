/* tasks_json.c - the tasks of a live state as JSON: names, runs, workers, and the stream. */
#include "serve/serve.h"

#include "venturi/task.h"

#include <stdio.h>

#define GROUPS_MOST 200
#define RUNS_MOST 20
#define WORKERS_MOST 256

static uint64_t failed_of(const struct vti_live_task_group *group)
{
    return group->states[VT_TASK_FAILED] + group->states[VT_TASK_TIMED_OUT] +
           group->states[VT_TASK_LOST];
}

static uint64_t ended_of(const struct vti_live_task_group *group)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < VTI_LIVE_TASK_STATES; i++)
        sum += group->states[i];
    return sum;
}

static void add_known(uint64_t *sum, uint64_t value)
{
    if (value != VTI_LIVE_UNKNOWN)
        *sum = *sum == VTI_LIVE_UNKNOWN ? value : *sum + value;
}

static void add_group(struct vti_json *json, const struct vti_live_task_group *group)
{
    uint64_t total = VTI_LIVE_UNKNOWN;

    add_known(&total, group->waiting);
    add_known(&total, group->ready);
    add_known(&total, group->running);
    vti_json_object(json);
    vti_json_add_string(json, "name", group->name);
    vti_json_add_uint(json, "ended", ended_of(group));
    vti_json_add_uint(json, "done", group->states[VT_TASK_DONE]);
    vti_json_add_uint(json, "failed", group->states[VT_TASK_FAILED]);
    vti_json_add_uint(json, "skipped", group->states[VT_TASK_SKIPPED]);
    vti_json_add_uint(json, "cancelled", group->states[VT_TASK_CANCELLED]);
    vti_json_add_uint(json, "timed_out", group->states[VT_TASK_TIMED_OUT]);
    vti_json_add_uint(json, "lost", group->states[VT_TASK_LOST]);
    vti_json_add_uint(json, "retried", group->retried);
    vti_json_add_known(json, "waiting", group->waiting);
    vti_json_add_known(json, "ready", group->ready);
    vti_json_add_known(json, "running", group->running);
    vti_json_add_known(json, "total", total == VTI_LIVE_UNKNOWN ? total : total + ended_of(group));
    vti_json_add_rate(json, "per_s", group->per_s);
    vti_json_add_uint(json, "result_bytes", group->bytes);
    vti_json_add_uint(json, "count", group->times.count);
    vti_json_add_times(json, &group->times);
    vti_json_object_end(json);
}

static void add_groups(struct vti_json *json, const struct vti_live_task_group *groups,
                       size_t count)
{
    vti_json_begin_list(json, "groups", count, GROUPS_MOST);
    for (size_t i = 0; i < count && i < GROUPS_MOST; i++)
        add_group(json, &groups[i]);
    vti_json_end_list(json);
}

static void add_runs(struct vti_json *json, const struct vti_live *live)
{
    size_t count;
    size_t process_count;
    const struct vti_live_task_run *runs = vti_live_task_runs(live, &count);
    const struct vti_live_process *processes = vti_live_processes(live, &process_count);

    vti_json_key(json, "runs");
    vti_json_array(json);
    for (size_t i = count > RUNS_MOST ? count - RUNS_MOST : 0; i < count; i++) {
        const struct vti_live_task_run *run = &runs[i];

        vti_json_object(json);
        vti_json_add_string(json, "scheduler", run->scheduler);
        vti_json_add_string(json, "error", run->error);
        vti_json_add_known(json, "pid",
                           run->process < process_count ? processes[run->process].pid
                                                        : VTI_LIVE_UNKNOWN);
        vti_json_add_known(json, "planned", run->planned ? run->planned : VTI_LIVE_UNKNOWN);
        vti_json_add_uint(json, "ended", run->ended);
        vti_json_add_uint(json, "failed", run->failed);
        vti_json_add_uint(json, "lost", run->lost);
        vti_json_add_uint(json, "workers", run->workers);
        vti_json_add_bool(json, "is_running", run->is_running);
        vti_json_add_ms(json, "begin_ms", run->begin_unix_ns);
        vti_json_add_ms(json, "end_ms", run->end_unix_ns);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_worker(struct vti_json *json, const struct vti_live_worker *worker)
{
    vti_json_object(json);
    vti_json_add_string(json, "label", worker->label);
    vti_json_add_string(json, "host", worker->host);
    vti_json_add_known(json, "pid", worker->pid ? worker->pid : VTI_LIVE_UNKNOWN);
    vti_json_add_known(json, "tid", worker->tid ? worker->tid : VTI_LIVE_UNKNOWN);
    vti_json_add_known(json, "slots", worker->slots ? worker->slots : VTI_LIVE_UNKNOWN);
    vti_json_add_bool(json, "is_running", worker->is_running);
    vti_json_add_uint(json, "ended", worker->ended);
    vti_json_add_uint(json, "failed", worker->failed);
    vti_json_add_known(json, "running", worker->running);
    vti_json_add_known(json, "ready", worker->ready);
    vti_json_add_rate(json, "busy", worker->busy);
    vti_json_add_rate(json, "cpu", worker->cpu);
    vti_json_add_known(json, "memory_bytes", worker->memory_bytes);
    vti_json_add_known(json, "memory_limit_bytes", worker->memory_limit_bytes);
    vti_json_add_known(json, "managed_bytes", worker->managed_bytes);
    vti_json_add_known(json, "spilled_bytes", worker->spilled_bytes);
    vti_json_add_ms(json, "seen_ms", worker->seen_unix_ns);
    vti_json_object_end(json);
}

static void add_workers(struct vti_json *json, const struct vti_live *live)
{
    size_t count;
    const struct vti_live_worker *workers = vti_live_workers(live, &count);

    vti_json_begin_list(json, "workers", count, WORKERS_MOST);
    for (size_t i = 0; i < count && i < WORKERS_MOST; i++)
        add_worker(json, &workers[i]);
    vti_json_end_list(json);
}

/* Of the runs that go on; a run that is over has nothing left to do. */
static uint64_t planned_of(const struct vti_live *live)
{
    size_t count;
    const struct vti_live_task_run *runs = vti_live_task_runs(live, &count);
    uint64_t planned = 0;
    bool is_known = count > 0;

    for (size_t i = 0; i < count; i++) {
        is_known &= runs[i].planned > 0;
        planned += runs[i].is_running && runs[i].planned > runs[i].ended ? runs[i].planned
                                                                         : runs[i].ended;
    }
    return is_known ? planned : VTI_LIVE_UNKNOWN;
}

void vti_state_add_tasks(struct vti_json *json, const struct vti_live *live)
{
    size_t count;
    const struct vti_live_task_group *groups = vti_live_task_groups(live, &count);
    uint64_t ended = 0;
    uint64_t failed = 0;
    uint64_t now[3] = {VTI_LIVE_UNKNOWN, VTI_LIVE_UNKNOWN, VTI_LIVE_UNKNOWN};

    for (size_t i = 0; i < count; i++) {
        ended += ended_of(&groups[i]);
        failed += failed_of(&groups[i]);
        add_known(&now[0], groups[i].waiting);
        add_known(&now[1], groups[i].ready);
        add_known(&now[2], groups[i].running);
    }
    vti_json_key(json, "tasks");
    vti_json_object(json);
    vti_json_add_uint(json, "last", vti_live_stream_last(live));
    vti_json_add_uint(json, "ended", ended);
    vti_json_add_uint(json, "failed", failed);
    vti_json_add_known(json, "planned", planned_of(live));
    vti_json_add_known(json, "waiting", now[0]);
    vti_json_add_known(json, "ready", now[1]);
    vti_json_add_known(json, "running", now[2]);
    add_groups(json, groups, count);
    add_runs(json, live);
    add_workers(json, live);
    vti_json_object_end(json);
}

/* ---- the stream ---------------------------------------------------------------------------------- */

static void add_task(struct vti_json *json, const struct vti_live_task *task, bool with_key)
{
    vti_json_array(json);
    vti_json_uint(json, task->number);
    vti_json_uint(json, task->group);
    if (task->worker == VTI_LIVE_NONE)
        vti_json_null(json);
    else
        vti_json_uint(json, task->worker);
    vti_json_uint(json, task->state);
    vti_json_uint(json, task->action);
    vti_json_double(json, (double)(task->start_unix_ns / 1000) / 1e3);
    vti_json_double(json, (double)(task->end_unix_ns / 1000) / 1e3);
    if (task->bytes == VTI_LIVE_UNKNOWN)
        vti_json_null(json);
    else
        vti_json_uint(json, task->bytes);
    if (with_key)
        vti_json_string(json, task->key);
    vti_json_array_end(json);
}

/* Numbers of names go up: all below `told` are known to the client. */
static void add_names(struct vti_json *json, const struct vti_live *live, const char *key,
                      uint32_t *told, uint32_t end,
                      const char *(*name)(const struct vti_live *live, uint32_t at))
{
    char number[16];

    vti_json_key(json, key);
    vti_json_object(json);
    for (uint32_t i = *told; i < end; i++) {
        snprintf(number, sizeof number, "%u", (unsigned)i);
        vti_json_add_string(json, number, name(live, i));
    }
    vti_json_object_end(json);
    if (end > *told)
        *told = end;
}

void vti_tasks_json(const struct vti_live *live, struct vti_json *json, uint64_t after,
                    unsigned most, bool with_keys, struct vti_told *told, uint64_t *last)
{
    uint64_t newest = vti_live_stream_last(live);
    uint64_t from = newest > most && newest - most > after ? newest - most : after;
    const struct vti_live_task *tasks;
    uint32_t names = 0;
    uint32_t workers = 0;
    size_t count;

    /* What the ring has lost is skipped, too. */
    tasks = vti_live_stream(live, from, &count);
    if (tasks)
        from = tasks[0].number - 1;
    vti_json_object(json);
    vti_json_add_uint(json, "first", from + 1);
    vti_json_add_uint(json, "skipped", after ? from - after : 0);
    vti_json_key(json, "tasks");
    vti_json_array(json);
    while (from < newest && (tasks = vti_live_stream(live, from, &count))) {
        for (size_t i = 0; i < count; i++) {
            add_task(json, &tasks[i], with_keys);
            names = tasks[i].group >= names ? tasks[i].group + 1 : names;
            if (tasks[i].worker != VTI_LIVE_NONE)
                workers = tasks[i].worker >= workers ? tasks[i].worker + 1 : workers;
        }
        from = tasks[count - 1].number;
    }
    vti_json_array_end(json);
    add_names(json, live, "names", &told->names, names, vti_live_task_name);
    add_names(json, live, "workers", &told->workers, workers, vti_live_worker_name);
    vti_json_object_end(json);
    *last = newest;
}
