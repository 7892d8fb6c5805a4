/*
 * tasks_stats.c - tasks by name, and what is known of each: exact percentiles, since all durations are there anyway.
 *
 * Nothing here trusts the times of a file: they are clipped, and sums end at the largest number.
 */
#include "analyze/tasks_stats.h"

#include "base/buf.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "model/model.h"
#include "venturi/task.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST ((int64_t)1 << 60) /* 36 years */

/* ---- one task -------------------------------------------------------------------------------- */

bool vti_task_ran(const struct vti_task *task)
{
    return task->start_ns > 0 && task->end_ns >= task->start_ns;
}

int64_t vti_task_length(const struct vti_task *task)
{
    int64_t ns = vti_task_ran(task) ? task->end_ns - task->start_ns : 0;

    return ns < LONGEST ? ns : LONGEST;
}

int64_t vti_task_ready(const struct vti_tasks *tasks, uint32_t at)
{
    const struct vti_task *task = &tasks->tasks[at];
    int64_t ready = task->ready_ns;

    if (ready <= 0) {
        ready = tasks->runs[task->run].begin_ns;
        for (uint32_t i = 0; i < task->edge_count; i++) {
            const struct vti_task *other = &tasks->tasks[tasks->edges[task->first_edge + i]];

            if (vti_task_ran(other) && other->end_ns > ready)
                ready = other->end_ns;
        }
    }
    return ready > 0 && ready < task->start_ns ? ready : task->start_ns;
}

uint32_t vti_task_worker(const struct vti_tasks *tasks, uint32_t at)
{
    const struct vti_task *task = &tasks->tasks[at];

    return task->worker < tasks->worker_count && tasks->workers[task->worker].run == task->run
               ? task->worker
               : VTI_NO_TASK;
}

uint8_t vti_task_outcome(const struct vti_task *task)
{
    if (task->is_repeated)
        return VTI_TASK_REPEATED;
    return task->state < VTI_TASK_STATES ? task->state : 0;
}

bool vti_task_has_failed(const struct vti_task *task)
{
    uint8_t outcome = vti_task_outcome(task);

    return outcome == VT_TASK_FAILED || outcome == VT_TASK_TIMED_OUT || outcome == VT_TASK_LOST;
}

uint64_t vti_task_states_failed(const uint64_t states[VTI_TASK_OUTCOMES])
{
    return states[VT_TASK_FAILED] + states[VT_TASK_TIMED_OUT] + states[VT_TASK_LOST];
}

const char *vti_task_action_text(uint8_t action)
{
    static const char *const texts[] = {[VT_ACTION_COMPUTE] = "compute",
                                        [VT_ACTION_TRANSFER] = "transfer",
                                        [VT_ACTION_DISK_READ] = "disk-read",
                                        [VT_ACTION_DISK_WRITE] = "disk-write",
                                        [VT_ACTION_DESERIALIZE] = "deserialize"};

    return action < sizeof texts / sizeof *texts ? texts[action] : "other";
}

const char *vti_task_state_text(uint8_t state)
{
    static const char *const texts[VTI_TASK_OUTCOMES] = {
        "unknown",
        [VT_TASK_DONE] = "done",
        [VT_TASK_FAILED] = "failed",
        [VT_TASK_SKIPPED] = "skipped",
        [VT_TASK_CANCELLED] = "cancelled",
        [VT_TASK_TIMED_OUT] = "timed-out",
        [VT_TASK_LOST] = "lost",
        [VTI_TASK_REPEATED] = "retried",
    };

    return texts[state < VTI_TASK_OUTCOMES ? state : 0];
}

/* ---- groups ---------------------------------------------------------------------------------- */

struct maker {
    struct vti_task_groups *groups;
    const struct vti_tasks *tasks;
    struct vti_map *names; /* each begins with a byte for its action and one for its level */
    bool has_levels;
    struct vti_buf key;
    size_t capacity;
    const char *last_name; /* tasks of a name come together, as a rule */
    uint8_t last_action, last_level;
    uint32_t last;
};

/* Parents of a damaged file may go in a circle. */
static uint8_t level_of(const struct vti_tasks *tasks, uint32_t run)
{
    uint8_t level = 0;

    while (level < VTI_TASK_LEVELS - 1 && (run = tasks->runs[run].parent) < tasks->run_count)
        level++;
    return level;
}

static int64_t find_group(struct maker *maker, const struct vti_task *task)
{
    struct vti_task_groups *groups = maker->groups;
    bool computes = task->action == VT_ACTION_COMPUTE;
    const char *name = computes ? task->name : "";
    uint8_t level = maker->has_levels && computes ? level_of(maker->tasks, task->run) : 0;
    size_t capacity = maker->capacity;
    int is_new = 0;
    int64_t at;

    if (maker->last_name == name && maker->last_action == task->action &&
        maker->last_level == level)
        return maker->last;
    vti_buf_clear(&maker->key);
    vti_buf_add_u8(&maker->key, task->action);
    vti_buf_add_u8(&maker->key, level);
    vti_buf_add_text(&maker->key, name);
    if (maker->key.failed)
        return VTI_E_NOMEM;
    at = vti_map_add(maker->names, maker->key.data, maker->key.len, &is_new);
    if (at < 0)
        return at;
    if (is_new) {
        if (vti_grow(&groups->items, groups->count, &capacity, sizeof *groups->items))
            return VTI_E_NOMEM;
        maker->capacity = capacity;
        groups->items[groups->count++] = (struct vti_task_group){
            .name = name, .action = task->action, .level = level};
    }
    maker->last_name = name;
    maker->last_action = task->action;
    maker->last_level = level;
    maker->last = (uint32_t)at;
    return at;
}

static void count_task(struct vti_task_group *group, const struct vti_tasks *tasks, uint32_t at)
{
    const struct vti_task *task = &tasks->tasks[at];

    group->count++;
    group->states[vti_task_outcome(task)]++;
    group->retries += task->retries;
    if (task->bytes != VTI_TASK_UNKNOWN) {
        group->bytes += task->bytes;
        group->bytes_count++;
    }
    if (task->cpu_ns != VTI_TASK_UNKNOWN) {
        group->cpu_ns += task->cpu_ns;
        group->cpu_count++;
        group->cpu_is_estimated |= task->cpu_is_estimated;
    }
    if (!vti_task_ran(task))
        return;
    group->ran++;
    group->total_ns = vti_ns_add(group->total_ns, vti_task_length(task));
    if (task->action == VT_ACTION_COMPUTE)
        group->wait_ns = vti_ns_add(group->wait_ns, task->start_ns - vti_task_ready(tasks, at));
}

static int gather(struct maker *maker, uint32_t run)
{
    const struct vti_tasks *tasks = maker->tasks;

    for (uint32_t i = 0; i < tasks->task_count; i++) {
        int64_t group;

        maker->groups->of_task[i] = VTI_NO_TASK;
        if (run != VTI_NO_TASK && tasks->tasks[i].run != run)
            continue;
        group = find_group(maker, &tasks->tasks[i]);
        if (group < 0)
            return VTI_E_NOMEM;
        maker->groups->of_task[i] = (uint32_t)group;
        count_task(&maker->groups->items[group], tasks, i);
    }
    return 0;
}

/* ---- percentiles ----------------------------------------------------------------------------- */

static int by_length(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* The length that a share of all do not exceed. */
static int64_t quantile(const int64_t *lengths, uint64_t count, unsigned percent)
{
    return lengths[(count * percent + 99) / 100 - 1];
}

static void measure(struct vti_task_group *group, int64_t *lengths)
{
    uint64_t count = group->ran;

    if (!count)
        return;
    qsort(lengths, count, sizeof *lengths, by_length);
    group->min_ns = lengths[0];
    group->p50_ns = quantile(lengths, count, 50);
    group->p90_ns = quantile(lengths, count, 90);
    group->p99_ns = quantile(lengths, count, 99);
    group->max_ns = lengths[count - 1];
}

/* The durations of each group side by side. */
static int measure_all(struct maker *maker)
{
    struct vti_task_groups *groups = maker->groups;
    const struct vti_tasks *tasks = maker->tasks;
    int64_t *lengths = malloc(((size_t)tasks->task_count + 1) * sizeof *lengths);
    uint64_t *next = calloc((size_t)groups->count + 1, sizeof *next);
    uint64_t first = 0;

    for (uint32_t i = 0; next && i < groups->count; i++) {
        next[i] = first;
        first += groups->items[i].ran;
    }
    for (uint32_t i = 0; lengths && next && i < tasks->task_count; i++)
        if (groups->of_task[i] != VTI_NO_TASK && vti_task_ran(&tasks->tasks[i]))
            lengths[next[groups->of_task[i]]++] = vti_task_length(&tasks->tasks[i]);
    for (uint32_t i = 0; lengths && next && i < groups->count; i++)
        measure(&groups->items[i], lengths + next[i] - groups->items[i].ran);
    free(lengths);
    free(next);
    return lengths && next ? 0 : VTI_E_NOMEM;
}

/* ---- order ----------------------------------------------------------------------------------- */

static int by_time(const void *left, const void *right, void *arg)
{
    const struct vti_task_group *items = arg;
    const struct vti_task_group *a = &items[*(const uint32_t *)left];
    const struct vti_task_group *b = &items[*(const uint32_t *)right];

    if ((a->action == VT_ACTION_COMPUTE) != (b->action == VT_ACTION_COMPUTE))
        return a->action == VT_ACTION_COMPUTE ? -1 : 1;
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    if (a->action != b->action)
        return a->action < b->action ? -1 : 1;
    if (a->level != b->level)
        return a->level < b->level ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int put_in_order(struct vti_task_groups *groups, uint32_t task_count)
{
    struct vti_task_group *items = calloc((size_t)groups->count + 1, sizeof *items);
    uint32_t *order = calloc((size_t)groups->count + 1, sizeof *order);
    uint32_t *place = calloc((size_t)groups->count + 1, sizeof *place);
    int code = items && order && place ? 0 : VTI_E_NOMEM;

    for (uint32_t i = 0; !code && i < groups->count; i++)
        order[i] = i;
    if (!code && groups->count)
        qsort_r(order, groups->count, sizeof *order, by_time, groups->items);
    for (uint32_t i = 0; !code && i < groups->count; i++) {
        items[i] = groups->items[order[i]];
        place[order[i]] = i;
    }
    for (uint32_t i = 0; !code && i < task_count; i++)
        if (groups->of_task[i] != VTI_NO_TASK)
            groups->of_task[i] = place[groups->of_task[i]];
    free(order);
    free(place);
    if (code) {
        free(items);
        return code;
    }
    free(groups->items);
    groups->items = items;
    return 0;
}

static int make(struct vti_task_groups *groups, const struct vti_tasks *tasks, uint32_t run,
                bool has_levels)
{
    struct maker maker = {.groups = groups, .tasks = tasks, .has_levels = has_levels};
    int code = vti_map_create(&maker.names);

    *groups = (struct vti_task_groups){0};
    groups->of_task = malloc(((size_t)tasks->task_count + 1) * sizeof *groups->of_task);
    if (!groups->of_task)
        code = VTI_E_NOMEM;
    if (!code)
        code = gather(&maker, run);
    if (!code)
        code = measure_all(&maker);
    if (!code)
        code = put_in_order(groups, tasks->task_count);
    for (uint32_t i = 0; !code && i < groups->count; i++)
        if (groups->items[i].action == VT_ACTION_COMPUTE)
            groups->total_ns = vti_ns_add(groups->total_ns, groups->items[i].total_ns);
    vti_map_free(maker.names);
    vti_buf_fini(&maker.key);
    return code ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}

int vti_task_groups_make(struct vti_task_groups *groups, const struct vti_tasks *tasks,
                         uint32_t run)
{
    return make(groups, tasks, run, false);
}

int vti_task_groups_make_levels(struct vti_task_groups *groups, const struct vti_tasks *tasks)
{
    return make(groups, tasks, VTI_NO_TASK, true);
}

void vti_task_groups_fini(struct vti_task_groups *groups)
{
    free(groups->items);
    free(groups->of_task);
    *groups = (struct vti_task_groups){0};
}
