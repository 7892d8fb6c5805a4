/*
 * tasks.c - task graphs on a page: every task, and what it depends on; task_sums.c has the runs, workers and names.
 *
 * A hundred thousand tasks must not make a large page: times of a run with many are rounded to a small part of what its tasks
 * take, and numbers stand outside of the keys (task_keys.c). Sums are exact.
 */
#include "base/bytes.h"
#include "base/error.h"
#include "page/task_keys.h"
#include "page/tasks_impl.h"
#include "venturi/task.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDED_FROM 10000 /* tasks of a run from which on times are rounded */
#define ROUNDED_PARTS 64   /* the middle one has at least so many units */
#define FREED_PARTS 65536  /* of such a run: results are given up at one of so many moments */
#define CPU_PARTS 250      /* of a task's length */
#define CPU_MOST 1000

/* As docs/page.md has them; below are the states of enum vt_task_state. */
enum { CRITICAL = 8, CPU_ESTIMATED = 16, NEVER_RAN = 32, PLAIN_KEY = 64 };
enum { KEPT_WHILE_NEEDED = 1 };

/* ---- tasks ----------------------------------------------------------------------------------- */

/* A time of a run in its units: what was in order stays in order. */
static uint64_t in_units(const struct vti_task_writer *writer, uint32_t run, int64_t at_ns)
{
    return vti_page_time(at_ns - writer->job->study->task_times.runs[run].begin_ns) /
           (uint64_t)writer->units[run];
}

/* How much of its time it computed, plus 1; 0: unknown. */
static uint64_t cpu_share(const struct vti_task *task)
{
    int64_t length = vti_task_length(task);
    double parts = length > 0 ? (double)task->cpu_ns / (double)length * CPU_PARTS : 0;

    return task->cpu_ns == VTI_TASK_UNKNOWN ? 0 : 1 + (uint64_t)round(fmin(parts, CPU_MOST));
}

/* How long its result was kept, plus 2; 1: until the last that depends on it ended, as near as anybody can see; 0: to the end, or
 * unknown. */
static uint64_t kept(const struct vti_task_writer *writer, uint32_t at)
{
    const struct vti_task *task = &writer->tasks->tasks[at];
    int64_t needed_ns = writer->needed[at];
    int64_t unit = writer->freed[task->run];

    if (!vti_task_ran(task) || task->freed_ns < task->end_ns)
        return 0;
    if (needed_ns && task->freed_ns >= needed_ns && task->freed_ns - needed_ns < unit)
        return KEPT_WHILE_NEEDED;
    return vti_page_time(task->freed_ns - task->end_ns) / (uint64_t)unit + 1 + KEPT_WHILE_NEEDED;
}

static uint64_t flags_of(const struct vti_task_writer *writer, uint32_t at)
{
    const struct vti_task *task = &writer->tasks->tasks[at];

    return (task->state < VTI_TASK_STATES ? task->state : 0u) |
           (writer->is_critical[at] ? CRITICAL : 0u) |
           (task->cpu_is_estimated ? CPU_ESTIMATED : 0u) | (vti_task_ran(task) ? 0u : NEVER_RAN);
}

static int write_task(const struct vti_task_writer *writer, uint32_t at)
{
    const struct vti_task *task = &writer->tasks->tasks[at];
    uint32_t worker = vti_task_worker(writer->tasks, at);
    uint64_t start = 0, end = 0, ready = 0;
    struct vti_task_key key;

    vti_task_key_take(&key, writer->job->page, task);
    if (vti_task_ran(task)) {
        start = in_units(writer, task->run, task->start_ns);
        end = in_units(writer, task->run, task->end_ns);
        ready = in_units(writer, task->run, vti_task_ready(writer->tasks, at));
    }
    return vti_page_row(
        writer->job->page,
        (union vti_page_value[]){{writer->groups.of_task[at]},
                                 {worker == VTI_NO_TASK ? 0 : (uint64_t)worker + 1},
                                 {start},
                                 {end - start},
                                 {start - ready},
                                 {flags_of(writer, at) | (key.is_plain ? PLAIN_KEY : 0u)},
                                 {task->retries},
                                 {cpu_share(task)},
                                 {task->bytes == VTI_TASK_UNKNOWN ? 0 : task->bytes + 1},
                                 {kept(writer, at)},
                                 {key.text},
                                 {key.numbers[0]},
                                 {key.numbers[1]},
                                 {key.numbers[2]},
                                 {key.numbers[3]}});
}

static int write_tasks(const struct vti_task_writer *writer)
{
    static const struct vti_page_column columns[] = {
        {"name", VTI_PAGE_UINT},    {"worker", VTI_PAGE_REF},
        {"start", VTI_PAGE_DELTA},  {"duration", VTI_PAGE_UINT},
        {"wait", VTI_PAGE_UINT},    {"flags", VTI_PAGE_UINT},
        {"retries", VTI_PAGE_UINT}, {"cpu", VTI_PAGE_REF},
        {"bytes", VTI_PAGE_REF},    {"kept", VTI_PAGE_REF},
        {"key", VTI_PAGE_TEXT},     {"key_0", VTI_PAGE_UINT},
        {"key_1", VTI_PAGE_UINT},   {"key_2", VTI_PAGE_UINT},
        {"key_3", VTI_PAGE_UINT},   {0}};
    int code = vti_page_begin(writer->job->page, "tasks", columns);

    for (uint32_t i = 0; i < writer->tasks->task_count && !code; i++)
        if (writer->rows[i])
            code = write_task(writer, i);
    return code ? code : vti_page_end(writer->job->page);
}

/* Where clocks differ, or in a damaged file, a dependency may stand behind what depends on it. */
static int write_edge(struct vti_page *page, uint64_t task, uint64_t other)
{
    return vti_page_row(page, (union vti_page_value[]){{task - 1},
                                                       {task > other ? task - other : 0},
                                                       {other > task ? other - task : 0}});
}

static int write_edges(const struct vti_task_writer *writer)
{
    static const struct vti_page_column columns[] = {
        {"task", VTI_PAGE_DELTA}, {"back", VTI_PAGE_UINT}, {"ahead", VTI_PAGE_UINT}, {0}};
    struct vti_page *page = writer->job->page;
    int code = vti_page_begin(page, "task_edges", columns);

    for (uint32_t i = 0; i < writer->tasks->task_count && !code; i++) {
        const struct vti_task *task = &writer->tasks->tasks[i];

        for (uint32_t j = 0; j < task->edge_count && writer->rows[i] && !code; j++) {
            uint32_t other = writer->rows[writer->tasks->edges[task->first_edge + j]];

            if (other)
                code = write_edge(page, writer->rows[i], other);
        }
    }
    return code ? code : vti_page_end(page);
}

/* ---- what there is room for ------------------------------------------------------------------ */

static int by_length(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* The lengths of all tasks of a run, or of all runs, sorted. How many there are. */
static uint32_t sort_lengths(const struct vti_tasks *tasks, uint32_t first, uint32_t count,
                             int64_t *lengths)
{
    uint32_t found = 0;

    for (uint32_t i = first; i < first + count; i++)
        if (vti_task_ran(&tasks->tasks[i]))
            lengths[found++] = vti_task_length(&tasks->tasks[i]);
    if (found)
        qsort(lengths, found, sizeof *lengths, by_length);
    return found;
}

static void choose_units(struct vti_task_writer *writer, int64_t *lengths)
{
    int64_t largest = 1;

    for (uint32_t i = 0; i < writer->tasks->run_count; i++) {
        const struct vti_task_run *run = &writer->tasks->runs[i];
        uint32_t count = run->task_count < ROUNDED_FROM
                             ? 0
                             : sort_lengths(writer->tasks, run->first_task, run->task_count,
                                            lengths);
        const struct vti_run_times *times = &writer->job->study->task_times.runs[i];
        int64_t middle = count ? lengths[count / 2] : 0;

        writer->units[i] = 1;
        while (writer->units[i] * 2 * ROUNDED_PARTS <= middle)
            writer->units[i] *= 2;
        writer->freed[i] = writer->units[i];
        while (count && writer->freed[i] < (times->end_ns - times->begin_ns) / FREED_PARTS)
            writer->freed[i] *= 2;
        if (writer->units[i] > largest)
            largest = writer->units[i];
    }
    if (largest > 1)
        vti_page_note(writer->job->page, "estimated",
                      "Times of tasks are shown to %" PRId64 " ns or better; sums are exact.",
                      largest);
}

/* Of more than there may be the shortest are left out. */
static void choose_rows(struct vti_task_writer *writer, uint64_t most, int64_t *lengths)
{
    const struct vti_tasks *tasks = writer->tasks;
    int64_t shortest = 0;
    uint32_t row = 0;
    uint32_t run = 0;

    if (tasks->task_count > most) {
        uint32_t count = sort_lengths(tasks, 0, tasks->task_count, lengths);

        shortest = count > most ? lengths[count - most] : 1;
    }
    for (uint32_t i = 0; i < tasks->task_count; i++) {
        while (run <= tasks->tasks[i].run)
            writer->firsts[run++] = row;
        if (row < most && vti_task_length(&tasks->tasks[i]) >= shortest)
            writer->rows[i] = ++row;
    }
    while (run <= tasks->run_count)
        writer->firsts[run++] = row;
    if (row < tasks->task_count)
        vti_page_note(writer->job->page, "folded",
                      "%" PRIu32 " of %" PRIu32 " tasks are left out, the shortest. venturi report "
                      "--events all writes every one.",
                      tasks->task_count - row, tasks->task_count);
}

static void find_needs(struct vti_task_writer *writer)
{
    for (uint32_t i = 0; i < writer->tasks->task_count; i++) {
        const struct vti_task *task = &writer->tasks->tasks[i];

        for (uint32_t j = 0; j < task->edge_count && vti_task_ran(task); j++) {
            int64_t *needed = &writer->needed[writer->tasks->edges[task->first_edge + j]];

            if (writer->rows[i] && task->end_ns > *needed)
                *needed = task->end_ns;
        }
    }
}

static void mark_paths(struct vti_task_writer *writer)
{
    for (uint32_t i = 0; i < writer->tasks->run_count; i++) {
        const struct vti_task_path *path = &writer->job->study->task_paths.runs[i];

        for (uint32_t j = 0; j < path->count; j++) {
            uint32_t at = path->steps[j];
            uint32_t group = writer->groups.of_task[at];

            writer->is_critical[at] = true;
            writer->in_paths[group]++;
            writer->on_path[group] = vti_ns_add(writer->on_path[group],
                                                vti_task_length(&writer->tasks->tasks[at]));
        }
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int prepare(struct vti_task_writer *writer)
{
    size_t count = (size_t)writer->tasks->task_count + 1;
    size_t runs = (size_t)writer->tasks->run_count + 1;
    int64_t *lengths = malloc(count * sizeof *lengths);
    int code = vti_task_groups_make(&writer->groups, writer->tasks, VTI_NO_TASK);

    if (code) {
        free(lengths);
        return code;
    }
    writer->rows = calloc(count, sizeof *writer->rows);
    writer->needed = calloc(count, sizeof *writer->needed);
    writer->is_critical = calloc(count, sizeof *writer->is_critical);
    writer->firsts = calloc(runs, sizeof *writer->firsts);
    writer->units = calloc(runs, sizeof *writer->units);
    writer->freed = calloc(runs, sizeof *writer->freed);
    writer->on_path = calloc((size_t)writer->groups.count + 1, sizeof *writer->on_path);
    writer->in_paths = calloc((size_t)writer->groups.count + 1, sizeof *writer->in_paths);
    if (!lengths || !writer->rows || !writer->needed || !writer->is_critical || !writer->firsts ||
        !writer->units || !writer->freed || !writer->on_path || !writer->in_paths) {
        free(lengths);
        return vti_fail(VTI_E_NOMEM, "out of memory");
    }
    choose_units(writer, lengths);
    choose_rows(writer, writer->job->options->events, lengths);
    find_needs(writer);
    mark_paths(writer);
    free(lengths);
    return 0;
}

int vti_page_add_tasks(struct vti_page_job *job)
{
    static int (*const parts[])(const struct vti_task_writer *) = {
        vti_task_write_runs, vti_task_write_workers, vti_task_write_names, write_tasks,
        write_edges};
    struct vti_task_writer writer = {.job = job, .tasks = &job->study->tasks};
    int code;

    if (!writer.tasks->run_count)
        return 0;
    code = prepare(&writer);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !code; i++)
        code = parts[i](&writer);
    vti_task_groups_fini(&writer.groups);
    free(writer.rows);
    free(writer.needed);
    free(writer.is_critical);
    free(writer.firsts);
    free(writer.units);
    free(writer.freed);
    free(writer.on_path);
    free(writer.in_paths);
    return code;
}
