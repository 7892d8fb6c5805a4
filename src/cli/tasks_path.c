/*
 * tasks_path.c - the critical path of a run in the terminal: how long it is, what that means, and its tasks.
 *
 * Of a long one the tasks that took most are shown, in their order; those between are one line.
 */
#include "base/bytes.h"
#include "base/error.h"
#include "cli/prose.h"
#include "cli/render.h"
#include "cli/tasks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASK_LEAST 16   /* columns for a key */
#define WORKER_WIDTH 90 /* columns of the terminal from which on there is room for the worker */

/* ---- in words -------------------------------------------------------------------------------- */

static void say_length(const struct vti_tasks_view *view, uint32_t run)
{
    const struct vti_run_times *times = &view->times.runs[run];
    const struct vti_task_path *path = &view->paths.runs[run];
    int64_t wall_ns = times->end_ns - times->begin_ns;
    char length[VTI_NUMBER_BYTES], wall[VTI_NUMBER_BYTES], share[VTI_NUMBER_BYTES];
    char text[256];

    vti_text_share(share, wall_ns > 0 ? fmin((double)path->length_ns / (double)wall_ns, 1) : 0);
    snprintf(text, sizeof text,
             "critical path of run %u: %u task%s, %s of %s (%s). With any number of workers the "
             "run takes at least that long",
             (unsigned)run + 1, (unsigned)path->count, path->count == 1 ? "" : "s",
             vti_text_duration(length, (double)path->length_ns),
             vti_text_duration(wall, (double)wall_ns), share);
    fputs("\n", stdout);
    vti_prose_print(text, 0);
}

static int say_bounds(const struct vti_tasks_view *view, uint32_t run)
{
    uint32_t workers = view->times.runs[run].at_once;
    int64_t slack = vti_tasks_middle_slack(view, run);
    char number[VTI_NUMBER_BYTES];
    char text[256];

    if (slack == -2)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (workers) {
        snprintf(text, sizeof text, "with its %u worker%s: at least %s", (unsigned)workers,
                 workers == 1 ? "" : "s",
                 vti_text_duration(number, (double)vti_tasks_bound(view, run)));
        vti_prose_print(text, 0);
    }
    if (slack >= 0) {
        snprintf(text, sizeof text,
                 "slack: half of the tasks beside it could take %s longer, or more, without "
                 "making it longer",
                 vti_text_duration(number, (double)slack));
        vti_prose_print(text, 0);
    }
    return 0;
}

/* ---- its tasks ------------------------------------------------------------------------------- */

struct steps {
    const struct vti_tasks_view *view;
    const struct vti_task_path *path;
    const struct vti_run_times *times;
    struct vti_table *table;
    bool has_worker;
};

/* The end of the step before, or the begin of the run. */
static int64_t gap_begin(const struct steps *steps, uint32_t at)
{
    const struct vti_task *tasks = steps->view->tasks.tasks;
    const struct vti_task *before = at ? &tasks[steps->path->steps[at - 1]] : NULL;

    return before && vti_task_ran(before) ? before->end_ns : steps->times->begin_ns;
}

static int64_t gap_before(const struct steps *steps, uint32_t at)
{
    const struct vti_task *task = &steps->view->tasks.tasks[steps->path->steps[at]];
    int64_t end_ns = gap_begin(steps, at);

    return vti_task_ran(task) && task->start_ns > end_ns ? task->start_ns - end_ns : 0;
}

static void add_step(const struct steps *steps, uint32_t at)
{
    const struct vti_tasks *tasks = &steps->view->tasks;
    uint32_t index = steps->path->steps[at];
    const struct vti_task *task = &tasks->tasks[index];
    uint32_t worker = vti_task_worker(tasks, index);
    bool ran = vti_task_ran(task);

    if (ran)
        vti_table_time(steps->table, (double)(task->start_ns - steps->times->begin_ns));
    else
        vti_table_text(steps->table, "-");
    vti_table_time(steps->table, (double)gap_before(steps, at));
    vti_table_time(steps->table, (double)vti_task_queued(tasks, index, gap_begin(steps, at)));
    vti_table_time(steps->table, (double)vti_task_length(task));
    vti_tasks_add_share(steps->table, vti_task_length(task), steps->path->length_ns);
    if (steps->has_worker)
        vti_table_text(steps->table, worker == VTI_NO_TASK ? "-" : tasks->workers[worker].label);
    if (*task->key)
        vti_table_text(steps->table, task->key);
    else
        vti_table_printf(steps->table, "%s %u", task->name, (unsigned)task->number);
}

static void add_fold(const struct steps *steps, uint32_t first, uint32_t end)
{
    const struct vti_tasks *tasks = &steps->view->tasks;
    int64_t gap_ns = 0, wait_ns = 0, length_ns = 0;

    if (end - first < 2) {
        if (end > first)
            add_step(steps, first);
        return;
    }
    for (uint32_t i = first; i < end; i++) {
        uint32_t index = steps->path->steps[i];
        const struct vti_task *task = &tasks->tasks[index];

        gap_ns = vti_ns_add(gap_ns, gap_before(steps, i));
        length_ns = vti_ns_add(length_ns, vti_task_length(task));
        wait_ns = vti_ns_add(wait_ns, vti_task_queued(tasks, index, gap_begin(steps, i)));
    }
    vti_table_text(steps->table, "");
    vti_table_time(steps->table, (double)gap_ns);
    vti_table_time(steps->table, (double)wait_ns);
    vti_table_time(steps->table, (double)length_ns);
    vti_tasks_add_share(steps->table, length_ns, steps->path->length_ns);
    if (steps->has_worker)
        vti_table_text(steps->table, "");
    vti_table_printf(steps->table, "... %u tasks", (unsigned)(end - first));
}

static int by_length(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    return *a > *b ? -1 : *a < *b;
}

/* What a step must take to be shown: so many of them do. 0: all; negative without memory. */
static int64_t least_length(const struct steps *steps)
{
    size_t limit = steps->view->limit;
    int64_t *lengths;
    int64_t least;

    if (steps->path->count <= limit)
        return 0;
    lengths = malloc(steps->path->count * sizeof *lengths);
    if (!lengths)
        return -1;
    for (uint32_t i = 0; i < steps->path->count; i++)
        lengths[i] = vti_task_length(&steps->view->tasks.tasks[steps->path->steps[i]]);
    qsort(lengths, steps->path->count, sizeof *lengths, by_length);
    least = lengths[limit - 1];
    free(lengths);
    return least;
}

static int add_steps(const struct steps *steps)
{
    int64_t least = least_length(steps);
    uint32_t first = 0; /* of those that were not shown */
    size_t shown = 0;

    if (least < 0)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < steps->path->count; i++) {
        const struct vti_task *task = &steps->view->tasks.tasks[steps->path->steps[i]];

        if (vti_task_length(task) < least || shown == steps->view->limit)
            continue;
        add_fold(steps, first, i);
        add_step(steps, i);
        first = i + 1;
        shown++;
    }
    add_fold(steps, first, steps->path->count);
    return 0;
}

static void say_rest(const struct steps *steps)
{
    const struct vti_task *last = &steps->view->tasks
                                       .tasks[steps->path->steps[steps->path->count - 1]];
    char number[VTI_NUMBER_BYTES];

    if (vti_task_ran(last) && steps->times->end_ns > last->end_ns)
        printf("then %s to the end of the run\n",
               vti_text_duration(number, (double)(steps->times->end_ns - last->end_ns)));
}

int vti_tasks_print_path(const struct vti_tasks_view *view, uint32_t run)
{
    static const struct vti_column columns[] = {
        {"Start", VTI_RIGHT}, {"Gap", VTI_RIGHT},   {"Queued", VTI_RIGHT}, {"Time", VTI_RIGHT},
        {"Share", VTI_RIGHT}, {"Worker", VTI_LEFT}, {"Task", VTI_LEFT}};
    static const struct vti_column narrow[] = {{"Start", VTI_RIGHT},  {"Gap", VTI_RIGHT},
                                               {"Queued", VTI_RIGHT}, {"Time", VTI_RIGHT},
                                               {"Share", VTI_RIGHT},  {"Task", VTI_LEFT}};
    struct steps steps = {.view = view,
                          .path = &view->paths.runs[run],
                          .times = &view->times.runs[run],
                          .has_worker = vti_prose_width() >= WORKER_WIDTH};
    int code;

    if (!steps.path->count) {
        puts("\nNo task ran, so there is no critical path.");
        return 0;
    }
    say_length(view, run);
    code = say_bounds(view, run);
    if (code)
        return code;
    code = vti_table_create(&steps.table, steps.has_worker ? columns : narrow,
                            steps.has_worker ? 7 : 6);
    if (code)
        return code;
    vti_table_keep_last(steps.table, TASK_LEAST);
    code = add_steps(&steps);
    putchar('\n');
    if (!code)
        code = vti_table_print(steps.table, stdout);
    vti_table_free(steps.table);
    if (!code)
        say_rest(&steps);
    if (!code && steps.path->count > view->limit)
        puts("-n 0 shows every task");
    return code;
}
