/* tasks_order.c - what of a recording's tasks is shown, and in which order. */
#include "cli/tasks.h"

#include "venturi/task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool vti_tasks_shows(const struct vti_tasks_view *view, uint32_t run)
{
    return view->run == VTI_NO_TASK || view->run == run;
}

uint32_t vti_tasks_longest(const struct vti_tasks_view *view)
{
    uint32_t longest = VTI_NO_TASK;
    int64_t most = -1;

    for (uint32_t i = 0; i < view->tasks.run_count; i++) {
        int64_t wall_ns = view->times.runs[i].end_ns - view->times.runs[i].begin_ns;

        if (vti_tasks_shows(view, i) && wall_ns > most) {
            longest = i;
            most = wall_ns;
        }
    }
    return longest;
}

int64_t vti_tasks_bound(const struct vti_tasks_view *view, uint32_t run)
{
    uint32_t workers = view->times.runs[run].at_once;
    int64_t each = workers ? view->times.runs[run].task_ns / workers : 0;
    int64_t path = view->paths.runs[run].length_ns;

    return each > path ? each : path;
}

static int by_number(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

int64_t vti_tasks_middle_slack(const struct vti_tasks_view *view, uint32_t run)
{
    const struct vti_task_run *of = &view->tasks.runs[run];
    int64_t *slacks = malloc(((size_t)of->task_count + 1) * sizeof *slacks);
    uint32_t count = 0;
    int64_t middle = -1;

    if (!slacks)
        return -2;
    for (uint32_t i = of->first_task; i < of->first_task + of->task_count; i++)
        if (view->tasks.tasks[i].action == VT_ACTION_COMPUTE &&
            vti_task_ran(&view->tasks.tasks[i]) && view->paths.slack_ns[i] > 0)
            slacks[count++] = view->paths.slack_ns[i];
    if (count) {
        qsort(slacks, count, sizeof *slacks, by_number);
        middle = slacks[(count - 1) / 2];
    }
    free(slacks);
    return middle;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static bool has_failed(const struct vti_tasks_view *view, uint32_t run)
{
    return *view->tasks.runs[run].error || vti_task_states_failed(view->times.runs[run].states);
}

static int by_failed_and_time(const void *left, const void *right, void *arg)
{
    const struct vti_tasks_view *view = arg;
    uint32_t one = *(const uint32_t *)left, other = *(const uint32_t *)right;
    const struct vti_run_times *a = &view->times.runs[one], *b = &view->times.runs[other];
    int64_t first = a->end_ns - a->begin_ns, second = b->end_ns - b->begin_ns;

    if (has_failed(view, one) != has_failed(view, other))
        return has_failed(view, one) ? -1 : 1;
    if (first != second)
        return first > second ? -1 : 1;
    return one < other ? -1 : 1;
}

uint32_t vti_tasks_sort_runs(const struct vti_tasks_view *view, uint32_t most, uint32_t *rows)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < view->tasks.run_count; i++) {
        bool is_empty = !view->tasks.runs[i].task_count && !view->tasks.runs[i].planned &&
                        !*view->tasks.runs[i].error;

        if (vti_tasks_shows(view, i) && (!is_empty || view->run == i))
            rows[count++] = i;
    }
    if (count > most)
        qsort_r(rows, count, sizeof *rows, by_failed_and_time, (void *)(uintptr_t)view);
    return count;
}

/* ---- names ----------------------------------------------------------------------------------- */

static double column_of(const struct vti_task_group *group, const char *column)
{
    double ran = group->ran ? (double)group->ran : NAN;
    const struct {
        const char *name;
        double value;
    } columns[] = {
        {"total", (double)group->total_ns},
        {"count", (double)group->count},
        {"avg", (double)group->total_ns / ran},
        {"p50", (double)group->p50_ns},
        {"p90", (double)group->p90_ns},
        {"p99", (double)group->p99_ns},
        {"max", (double)group->max_ns},
        {"wait", (double)group->wait_ns / ran},
        {"cpu", group->cpu_count ? (double)group->cpu_ns : NAN},
        {"bytes", group->bytes_count ? (double)group->bytes : NAN},
        {"failed", (double)vti_task_states_failed(group->states)},
        {"retries", (double)group->retries},
    };

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (!strcmp(columns[i].name, column))
            return isnan(columns[i].value) ? -1 : columns[i].value;
    return 0;
}

static int by_column(const void *left, const void *right, void *arg)
{
    const struct vti_tasks_view *view = arg;
    uint32_t one = *(const uint32_t *)left, other = *(const uint32_t *)right;
    const struct vti_task_group *a = &view->groups.items[one];
    const struct vti_task_group *b = &view->groups.items[other];
    double first = column_of(a, view->sort), second = column_of(b, view->sort);

    if (!strcmp(view->sort, "name") && strcmp(a->name, b->name) != 0)
        return strcmp(a->name, b->name);
    if (first != second)
        return first > second ? -1 : 1;
    return one < other ? -1 : 1; /* by time */
}

uint32_t vti_tasks_sort_names(const struct vti_tasks_view *view, bool computes, uint32_t *rows)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < view->groups.count; i++)
        if ((view->groups.items[i].action == VT_ACTION_COMPUTE) == computes)
            rows[count++] = i;
    if (view->sort && count)
        qsort_r(rows, count, sizeof *rows, by_column, (void *)(uintptr_t)view);
    return count;
}

/* ---- workers --------------------------------------------------------------------------------- */

static double worker_column(const struct vti_worker_times *times, const char *column)
{
    if (!strcmp(column, "total"))
        return (double)times->compute_ns;
    if (!strcmp(column, "count"))
        return (double)times->tasks;
    if (!strcmp(column, "idle"))
        return (double)vti_worker_times_idle(times);
    return strcmp(column, "failed") ? 0 : (double)times->failed;
}

static int by_worker(const void *left, const void *right, void *arg)
{
    const struct vti_tasks_view *view = arg;
    uint32_t one = *(const uint32_t *)left, other = *(const uint32_t *)right;
    double first = worker_column(&view->times.workers[one], view->sort);
    double second = worker_column(&view->times.workers[other], view->sort);
    int names = strcmp(view->tasks.workers[one].label, view->tasks.workers[other].label);

    if (!strcmp(view->sort, "name") && names)
        return names;
    if (first != second)
        return first > second ? -1 : 1;
    return one < other ? -1 : 1;
}

uint32_t vti_tasks_sort_workers(const struct vti_tasks_view *view, uint32_t *rows)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < view->tasks.worker_count; i++)
        if (vti_tasks_shows(view, view->tasks.workers[i].run))
            rows[count++] = i;
    if (view->sort && count)
        qsort_r(rows, count, sizeof *rows, by_worker, (void *)(uintptr_t)view);
    return count;
}

bool vti_tasks_can_sort(enum vti_tasks_by by, const char *sort)
{
    static const char *const names[] = {"total",  "count",   "avg",  "p50", "p90",
                                        "p99",    "max",     "wait", "cpu", "bytes",
                                        "failed", "retries", "name", NULL};
    static const char *const workers[] = {"total", "count", "idle", "failed", "name", NULL};
    const char *const *at = by == VTI_TASKS_BY_WORKER ? workers : names;

    while (*at && strcmp(*at, sort) != 0)
        at++;
    return *at;
}
