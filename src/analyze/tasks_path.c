/*
 * tasks_path.c - the longest chain of dependent tasks of each run, and how much room the others have.
 *
 * Dependencies are a file's to choose: chains of any length, so there is no recursion, and circles, of which the dependency that
 * closes one is left out.
 */
#include "analyze/tasks_path.h"

#include "base/bytes.h"
#include "base/error.h"
#include "venturi/task.h"

#include <stdlib.h>
#include <string.h>

enum { NEW, OPEN, DONE };

struct maker {
    const struct vti_tasks *tasks;
    struct vti_task_paths *paths;
    int64_t *longest;  /* chain up to and with each task … */
    int64_t *from;     /* … and from it on, with it; both beside the tasks */
    uint32_t *before;  /* the dependency that the longest chain comes from */
    uint32_t *order;   /* dependencies first */
    uint32_t *stack;   /* tasks whose dependencies are being looked at … */
    uint32_t *looked;  /* … and how many of them were; beside the tasks */
    uint8_t *progress; /* beside the tasks */
    uint32_t order_count;
    uint32_t step_count;
};

/* A dependency of a task that is part of its path; VTI_NO_TASK: it is of another run, or nothing that is computed. */
static uint32_t dependency(const struct vti_tasks *tasks, const struct vti_task *task, uint32_t at)
{
    uint32_t other = tasks->edges[task->first_edge + at];

    return other < tasks->task_count && tasks->tasks[other].run == task->run &&
                   tasks->tasks[other].action == VT_ACTION_COMPUTE
               ? other
               : VTI_NO_TASK;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* The next dependency that nobody looked at, or VTI_NO_TASK. */
static uint32_t next_new(struct maker *maker, struct vti_task_path *path, uint32_t at)
{
    const struct vti_task *task = &maker->tasks->tasks[at];

    while (maker->looked[at] < task->edge_count) {
        uint32_t other = dependency(maker->tasks, task, maker->looked[at]++);

        if (other == VTI_NO_TASK)
            continue;
        if (maker->progress[other] == NEW)
            return other;
        path->circular += maker->progress[other] == OPEN;
    }
    return VTI_NO_TASK;
}

static void put_behind_dependencies(struct maker *maker, struct vti_task_path *path, uint32_t first)
{
    uint32_t depth = 0;

    maker->stack[depth++] = first;
    maker->progress[first] = OPEN;
    while (depth) {
        uint32_t at = maker->stack[depth - 1];
        uint32_t other = next_new(maker, path, at);

        if (other != VTI_NO_TASK) {
            maker->progress[other] = OPEN;
            maker->stack[depth++] = other;
            continue;
        }
        maker->progress[at] = DONE;
        maker->order[maker->order_count++] = at;
        depth--;
    }
}

/* ---- lengths --------------------------------------------------------------------------------- */

/* In `order` a dependency that closes a circle stands behind its dependent: it has no place yet. */
static void find_longest(struct maker *maker, uint32_t at)
{
    const struct vti_task *task = &maker->tasks->tasks[at];
    int64_t most = -1;

    maker->before[at] = VTI_NO_TASK;
    for (uint32_t i = 0; i < task->edge_count; i++) {
        uint32_t other = dependency(maker->tasks, task, i);

        if (other == VTI_NO_TASK || maker->longest[other] < 0)
            continue;
        if (maker->longest[other] > most ||
            (maker->longest[other] == most &&
             maker->tasks->tasks[other].end_ns > maker->tasks->tasks[maker->before[at]].end_ns)) {
            most = maker->longest[other];
            maker->before[at] = other;
        }
    }
    maker->longest[at] = vti_ns_add(vti_task_length(task), most > 0 ? most : 0);
}

/* From the last to the first: what depends on a task has said so when it is its turn. From then on it is done, and what closes a
 * circle is not taken. */
static void tell_dependencies(struct maker *maker, uint32_t at)
{
    const struct vti_task *task = &maker->tasks->tasks[at];

    maker->progress[at] = NEW;
    for (uint32_t i = 0; i < task->edge_count; i++) {
        uint32_t other = dependency(maker->tasks, task, i);
        int64_t from;

        if (other == VTI_NO_TASK || maker->progress[other] == NEW)
            continue;
        from = vti_ns_add(vti_task_length(&maker->tasks->tasks[other]), maker->from[at]);
        if (from > maker->from[other])
            maker->from[other] = from;
    }
}

/* ---- paths ----------------------------------------------------------------------------------- */

static void walk_back(struct maker *maker, struct vti_task_path *path, uint32_t last)
{
    uint32_t *steps = maker->paths->steps + maker->step_count;
    uint32_t count = 0;

    for (uint32_t at = last; at != VTI_NO_TASK; at = maker->before[at])
        count++;
    path->steps = steps;
    path->count = count;
    path->length_ns = maker->longest[last];
    for (uint32_t at = last; at != VTI_NO_TASK; at = maker->before[at])
        steps[--count] = at;
    maker->step_count += path->count;
}

static void follow_run(struct maker *maker, uint32_t number)
{
    const struct vti_task_run *run = &maker->tasks->runs[number];
    struct vti_task_path *path = &maker->paths->runs[number];
    uint32_t first = run->first_task, end = first + run->task_count;
    uint32_t last = VTI_NO_TASK;

    maker->order_count = 0;
    for (uint32_t i = first; i < end; i++)
        if (maker->tasks->tasks[i].action == VT_ACTION_COMPUTE && maker->progress[i] == NEW)
            put_behind_dependencies(maker, path, i);
    for (uint32_t i = 0; i < maker->order_count; i++) {
        uint32_t at = maker->order[i];

        find_longest(maker, at);
        if (last == VTI_NO_TASK || maker->longest[at] > maker->longest[last])
            last = at;
    }
    if (last == VTI_NO_TASK)
        return;
    walk_back(maker, path, last);
    for (uint32_t i = maker->order_count; i-- > 0;)
        maker->from[maker->order[i]] = vti_task_length(&maker->tasks->tasks[maker->order[i]]);
    for (uint32_t i = maker->order_count; i-- > 0;)
        tell_dependencies(maker, maker->order[i]);
    for (uint32_t i = 0; i < maker->order_count; i++) {
        uint32_t at = maker->order[i];
        int64_t through = vti_ns_add(maker->longest[at] - vti_task_length(&maker->tasks->tasks[at]),
                                     maker->from[at]);

        maker->paths->slack_ns[at] = path->length_ns > through ? path->length_ns - through : 0;
    }
}

static bool allocate(struct maker *maker)
{
    size_t count = (size_t)maker->tasks->task_count + 1;
    struct vti_task_paths *paths = maker->paths;

    paths->runs = calloc((size_t)maker->tasks->run_count + 1, sizeof *paths->runs);
    paths->steps = malloc(count * sizeof *paths->steps);
    paths->slack_ns = calloc(count, sizeof *paths->slack_ns);
    maker->longest = malloc(count * sizeof *maker->longest);
    maker->from = malloc(count * sizeof *maker->from);
    maker->before = malloc(count * sizeof *maker->before);
    maker->order = malloc(count * sizeof *maker->order);
    maker->stack = malloc(count * sizeof *maker->stack);
    maker->looked = calloc(count, sizeof *maker->looked);
    maker->progress = calloc(count, sizeof *maker->progress);
    if (maker->longest)
        memset(maker->longest, 0xff, count * sizeof *maker->longest); /* -1: not known yet */
    return paths->runs && paths->steps && paths->slack_ns && maker->longest && maker->from &&
           maker->before && maker->order && maker->stack && maker->looked && maker->progress;
}

int vti_task_paths_make(struct vti_task_paths *paths, const struct vti_tasks *tasks)
{
    struct maker maker = {.tasks = tasks, .paths = paths};
    int code;

    *paths = (struct vti_task_paths){0};
    code = allocate(&maker) ? 0 : VTI_E_NOMEM;
    for (uint32_t i = 0; i < tasks->run_count && !code; i++)
        follow_run(&maker, i);
    free(maker.longest);
    free(maker.from);
    free(maker.before);
    free(maker.order);
    free(maker.stack);
    free(maker.looked);
    free(maker.progress);
    return code ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}

void vti_task_paths_fini(struct vti_task_paths *paths)
{
    free(paths->runs);
    free(paths->steps);
    free(paths->slack_ns);
    *paths = (struct vti_task_paths){0};
}

int64_t vti_task_queued(const struct vti_tasks *tasks, uint32_t at, int64_t gap_begin_ns)
{
    const struct vti_task *task = &tasks->tasks[at];
    int64_t from_ns;

    if (!vti_task_ran(task))
        return 0;
    from_ns = vti_task_ready(tasks, at);
    if (from_ns < gap_begin_ns) /* clocks of two machines, or a scheduler that said it too early */
        from_ns = gap_begin_ns;
    return task->start_ns > from_ns ? task->start_ns - from_ns : 0;
}
