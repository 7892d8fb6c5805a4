/* tasks_json.c - the task graphs of a recording as JSON. docs/commands/tasks.md names the keys. Times are seconds. */
#include "base/error.h"
#include "cli/render.h"
#include "cli/tasks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NS_OF_S 1e9

static void add_seconds(struct vti_json *json, const char *key, int64_t ns)
{
    vti_json_add_double(json, key, (double)ns / NS_OF_S);
}

static void add_seconds_if(struct vti_json *json, const char *key, double ns, bool is_known)
{
    vti_json_add_double(json, key, is_known ? ns / NS_OF_S : NAN);
}

/* A moment: since 1970, and since the begin of the recording. */
static void add_moment(struct vti_json *json, const struct vti_tasks_view *view, const char *name,
                       int64_t ns, bool is_known)
{
    char key[32];
    int64_t since_ns;

    if (__builtin_sub_overflow(ns, view->zero_ns, &since_ns))
        is_known = false;
    snprintf(key, sizeof key, "%s_epoch_s", name);
    add_seconds_if(json, key, (double)ns, is_known);
    snprintf(key, sizeof key, "%s_s", name);
    add_seconds_if(json, key, (double)since_ns, is_known);
}

static void add_times(struct vti_json *json, const struct vti_worker_times *times)
{
    add_seconds(json, "compute_s", times->compute_ns);
    add_seconds(json, "moving_s", times->moving_ns);
    vti_json_key(json, "idle_s");
    vti_json_object(json);
    for (enum vti_idle i = 0; i < VTI_IDLE_REASONS; i++)
        add_seconds(json, vti_idle_word(i), times->idle_ns[i]);
    vti_json_object_end(json);
}

static void add_states(struct vti_json *json, const uint64_t states[VTI_TASK_OUTCOMES])
{
    vti_json_key(json, "states");
    vti_json_object(json);
    for (uint8_t i = 0; i < VTI_TASK_OUTCOMES; i++)
        if (states[i])
            vti_json_add_uint(json, vti_task_state_text(i), states[i]);
    vti_json_object_end(json);
}

static void add_number_or_null(struct vti_json *json, const char *key, uint64_t number,
                               bool is_known)
{
    if (is_known)
        vti_json_add_uint(json, key, number);
    else
        vti_json_add_null(json, key);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void add_run(struct vti_json *json, const struct vti_tasks_view *view, uint32_t at)
{
    const struct vti_task_run *run = &view->tasks.runs[at];
    const struct vti_run_times *times = &view->times.runs[at];

    vti_json_object(json);
    vti_json_add_uint(json, "run", (uint64_t)at + 1);
    vti_json_add_uint(json, "process", run->process);
    vti_json_add_uint(json, "number", run->number);
    add_number_or_null(json, "parent", (uint64_t)run->parent + 1, run->parent != VTI_NO_TASK);
    vti_json_add_string(json, "scheduler", run->scheduler);
    vti_json_add_string(json, "error", *run->error ? run->error : NULL);
    vti_json_add_bool(json, "ended", run->end_ns > 0);
    vti_json_add_uint(json, "planned", run->planned);
    vti_json_add_uint(json, "tasks", times->tasks);
    vti_json_add_uint(json, "actions", times->actions);
    vti_json_add_uint(json, "lost", run->lost);
    add_states(json, times->states);
    vti_json_add_uint(json, "retries", times->retries);
    vti_json_add_uint(json, "workers", run->worker_count);
    vti_json_add_uint(json, "workers_at_once", times->at_once);
    vti_json_add_uint(json, "dead_workers", times->dead_workers);
    add_moment(json, view, "begin", times->begin_ns, true);
    add_moment(json, view, "end", times->end_ns, true);
    add_seconds(json, "wall_s", times->end_ns - times->begin_ns);
    add_seconds(json, "task_s", times->task_ns);
    add_seconds(json, "wait_s", times->wait_ns);
    vti_json_add_double(json, "parallelism", vti_run_times_parallelism(times));
    add_times(json, &times->sums);
    add_seconds(json, "critical_path_s", view->paths.runs[at].length_ns);
    add_seconds(json, "at_least_s", vti_tasks_bound(view, at));
    vti_json_object_end(json);
}

/* ---- names, workers -------------------------------------------------------------------------- */

static void add_group(struct vti_json *json, const struct vti_task_group *group)
{
    bool ran = group->ran != 0;

    vti_json_object(json);
    if (*group->name || !group->action)
        vti_json_add_string(json, "name", group->name);
    else
        vti_json_add_string(json, "action", vti_task_action_text(group->action));
    if (!group->action)
        vti_json_add_uint(json, "level", group->level);
    vti_json_add_uint(json, "count", group->count);
    vti_json_add_uint(json, "ran", group->ran);
    add_states(json, group->states);
    vti_json_add_uint(json, "failed", vti_task_states_failed(group->states));
    vti_json_add_uint(json, "retries", group->retries);
    add_seconds(json, "total_s", group->total_ns);
    add_seconds_if(json, "avg_s", (double)group->total_ns / (double)(ran ? group->ran : 1), ran);
    add_seconds_if(json, "min_s", (double)group->min_ns, ran);
    add_seconds_if(json, "p50_s", (double)group->p50_ns, ran);
    add_seconds_if(json, "p90_s", (double)group->p90_ns, ran);
    add_seconds_if(json, "p99_s", (double)group->p99_ns, ran);
    add_seconds_if(json, "max_s", (double)group->max_ns, ran);
    add_seconds(json, "wait_s", group->wait_ns);
    add_seconds_if(json, "cpu_s", (double)group->cpu_ns, group->cpu_count != 0);
    vti_json_add_bool(json, "cpu_estimated", group->cpu_is_estimated);
    add_number_or_null(json, "bytes", group->bytes, group->bytes_count != 0);
    vti_json_object_end(json);
}

static void add_groups(struct vti_json *json, const struct vti_tasks_view *view, bool computes,
                       uint32_t *rows)
{
    uint32_t count = vti_tasks_sort_names(view, computes, rows);

    vti_json_key(json, computes ? "names" : "actions");
    vti_json_array(json);
    for (uint32_t i = 0; i < count && i < view->limit; i++)
        add_group(json, &view->groups.items[rows[i]]);
    vti_json_array_end(json);
}

static void add_workers(struct vti_json *json, const struct vti_tasks_view *view, uint32_t *rows)
{
    uint32_t count = vti_tasks_sort_workers(view, rows);

    vti_json_key(json, "workers");
    vti_json_array(json);
    for (uint32_t i = 0; i < count && i < view->limit; i++) {
        const struct vti_task_worker *worker = &view->tasks.workers[rows[i]];
        const struct vti_worker_times *times = &view->times.workers[rows[i]];

        vti_json_object(json);
        vti_json_add_uint(json, "run", (uint64_t)worker->run + 1);
        vti_json_add_uint(json, "number", worker->number);
        vti_json_add_string(json, "worker", worker->label);
        add_number_or_null(json, "pid", worker->pid, worker->pid != 0);
        add_number_or_null(json, "tid", worker->tid, worker->tid != 0);
        vti_json_add_uint(json, "tasks", times->tasks);
        vti_json_add_uint(json, "failed", times->failed);
        add_times(json, times);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

/* ---- paths ----------------------------------------------------------------------------------- */

static void add_step(struct vti_json *json, const struct vti_tasks_view *view, uint32_t at,
                     int64_t before_ns)
{
    const struct vti_task *task = &view->tasks.tasks[at];
    uint32_t worker = vti_task_worker(&view->tasks, at);
    bool ran = vti_task_ran(task);

    vti_json_object(json);
    vti_json_add_string(json, "key", task->key);
    vti_json_add_string(json, "name", task->name);
    vti_json_add_uint(json, "number", task->number);
    vti_json_add_string(json, "worker",
                        worker == VTI_NO_TASK ? NULL : view->tasks.workers[worker].label);
    vti_json_add_string(json, "state", vti_task_state_text(task->state));
    add_moment(json, view, "ready", ran ? vti_task_ready(&view->tasks, at) : 0, ran);
    add_moment(json, view, "start", task->start_ns, ran);
    add_moment(json, view, "end", task->end_ns, ran);
    add_seconds(json, "time_s", vti_task_length(task));
    add_seconds_if(json, "gap_s", (double)(ran ? task->start_ns - before_ns : 0), ran);
    add_seconds_if(json, "queued_s", (double)vti_task_queued(&view->tasks, at, before_ns), ran);
    vti_json_object_end(json);
}

static int add_path(struct vti_json *json, const struct vti_tasks_view *view, uint32_t run)
{
    const struct vti_task_path *path = &view->paths.runs[run];
    const struct vti_run_times *times = &view->times.runs[run];
    int64_t wall_ns = times->end_ns - times->begin_ns;
    int64_t slack_ns = vti_tasks_middle_slack(view, run);
    int64_t before_ns = times->begin_ns;

    if (slack_ns == -2)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    vti_json_object(json);
    vti_json_add_uint(json, "run", (uint64_t)run + 1);
    add_seconds(json, "length_s", path->length_ns);
    add_seconds(json, "wall_s", wall_ns);
    vti_json_add_double(json, "share",
                        wall_ns > 0 ? (double)path->length_ns / (double)wall_ns : NAN);
    add_seconds(json, "at_least_s", vti_tasks_bound(view, run));
    add_seconds_if(json, "middle_slack_s", (double)slack_ns, slack_ns >= 0);
    vti_json_add_uint(json, "circular", path->circular);
    vti_json_key(json, "tasks");
    vti_json_array(json);
    for (uint32_t i = 0; i < path->count; i++) {
        const struct vti_task *task = &view->tasks.tasks[path->steps[i]];

        add_step(json, view, path->steps[i], before_ns);
        if (vti_task_ran(task))
            before_ns = task->end_ns;
    }
    vti_json_array_end(json);
    add_seconds(json, "rest_s", times->end_ns - before_ns);
    vti_json_object_end(json);
    return 0;
}

static int add_paths(struct vti_json *json, const struct vti_tasks_view *view)
{
    int code = 0;

    vti_json_key(json, "critical_paths");
    vti_json_array(json);
    for (uint32_t i = 0; i < view->tasks.run_count && !code; i++)
        if (vti_tasks_shows(view, i))
            code = add_path(json, view, i);
    vti_json_array_end(json);
    return code;
}

/* ---- all of it ------------------------------------------------------------------------------- */

int vti_tasks_print_json(const struct vti_tasks_view *view)
{
    uint32_t most = view->groups.count > view->tasks.worker_count ? view->groups.count
                                                                  : view->tasks.worker_count;
    uint32_t *rows = calloc((size_t)most + 1, sizeof *rows);
    struct vti_buf out = {0};
    struct vti_json json;
    int code = 0;

    if (!rows)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    vti_json_init(&json, &out);
    vti_json_object(&json);
    vti_json_add_string(&json, "file", view->file);
    vti_json_add_double(&json, "recording_epoch_s", (double)view->zero_ns / NS_OF_S);
    vti_json_key(&json, "runs");
    vti_json_array(&json);
    for (uint32_t i = 0; i < view->tasks.run_count; i++)
        if (vti_tasks_shows(view, i))
            add_run(&json, view, i);
    vti_json_array_end(&json);
    if (view->by == VTI_TASKS_BY_NAME) {
        add_groups(&json, view, true, rows);
        add_groups(&json, view, false, rows);
    } else if (view->by == VTI_TASKS_BY_WORKER) {
        add_workers(&json, view, rows);
    } else {
        code = add_paths(&json, view);
    }
    vti_json_object_end(&json);
    free(rows);
    if (!code)
        return vti_print_json(&out);
    vti_buf_fini(&out);
    return code;
}
