/* sql_tasks.c - tables tasks, task_edges and task_runs: what was computed, by whom, and what it waited for. */
#include "analyze/sql_table.h"
#include "analyze/tasks_stats.h"
#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>

struct state {
    struct vti_tasks all; /* owned */
    int64_t start_ns;     /* of the recording, since 1970: times are told from there */
    uint64_t row;         /* counted from 1 */
    uint32_t task;        /* of task_edges */
};

static int open_tasks(void **result, const struct vti_sql_scan *scan)
{
    struct state *state = calloc(1, sizeof *state);

    if (!state)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    *result = state;
    state->start_ns = scan->recording->facts.clocks.start_realtime_ns;
    return vti_tasks_load(scan->recording, &state->all);
}

static void close_tasks(void *arg)
{
    struct state *state = arg;

    if (state)
        vti_tasks_free(&state->all);
    free(state);
}

static void result_time(const struct state *state, struct sqlite3_context *context, int64_t ns)
{
    if (ns)
        vti_sql_result_int(context, ns - state->start_ns);
    else
        vti_sql_result_text(context, NULL);
}

static void result_known(struct sqlite3_context *context, uint64_t value)
{
    if (value != VTI_TASK_UNKNOWN)
        vti_sql_result_uint(context, value);
    else
        vti_sql_result_text(context, NULL);
}

/* ---- tasks ------------------------------------------------------------------------------------- */

enum {
    TASK,
    RUN,
    NUMBER,
    KEY,
    NAME,
    ACTION,
    STATE,
    WORKER,
    READY,
    BEGIN,
    END,
    DURATION,
    FREED,
    CPU,
    CPU_IS_ESTIMATED,
    BYTES,
    RETRIES,
    DEPENDENCIES
};

static const struct vti_sql_column task_columns[] = {
    [TASK] = {"task", "INTEGER"},
    [RUN] = {"run", "INTEGER"},
    [NUMBER] = {"number", "INTEGER"},
    [KEY] = {"key", "TEXT"},
    [NAME] = {"name", "TEXT"},
    [ACTION] = {"action", "TEXT"},
    [STATE] = {"state", "TEXT"},
    [WORKER] = {"worker", "TEXT"},
    [READY] = {"ready_ns", "INTEGER"},
    [BEGIN] = {"begin_ns", "INTEGER"},
    [END] = {"end_ns", "INTEGER"},
    [DURATION] = {"duration_ns", "INTEGER"},
    [FREED] = {"freed_ns", "INTEGER"},
    [CPU] = {"cpu_ns", "INTEGER"},
    [CPU_IS_ESTIMATED] = {"cpu_is_estimated", "INTEGER"},
    [BYTES] = {"bytes", "INTEGER"},
    [RETRIES] = {"retries", "INTEGER"},
    [DEPENDENCIES] = {"dependencies", "INTEGER"},
    [DEPENDENCIES + 1] = {0},
};

static int next_task(void *arg)
{
    struct state *state = arg;

    return state->row++ < state->all.task_count;
}

/* When, and how long. */
static void time_column(const struct state *state, const struct vti_task *task, unsigned at,
                        struct sqlite3_context *context)
{
    if (at == READY)
        result_time(state, context, task->ready_ns);
    else if (at == BEGIN)
        result_time(state, context, task->start_ns);
    else if (at == END)
        result_time(state, context, task->end_ns);
    else if (at == FREED)
        result_time(state, context, task->freed_ns);
    else if (task->start_ns)
        vti_sql_result_int(context, task->end_ns - task->start_ns);
    else
        vti_sql_result_text(context, NULL);
}

static void task_column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct state *state = arg;
    const struct vti_task *task = &state->all.tasks[state->row - 1];

    switch (at) {
    case TASK:
        vti_sql_result_uint(context, state->row - 1);
        break;
    case RUN:
        vti_sql_result_id(context, task->run);
        break;
    case NUMBER:
        vti_sql_result_id(context, task->number);
        break;
    case KEY:
        vti_sql_result_text(context, task->key);
        break;
    case NAME:
        vti_sql_result_text(context, task->name);
        break;
    case ACTION:
        vti_sql_result_text(context, vti_task_action_text(task->action));
        break;
    case STATE:
        vti_sql_result_text(context, vti_task_state_text(task->state));
        break;
    case WORKER:
        vti_sql_result_text(
            context, task->worker == VTI_NO_TASK ? NULL : state->all.workers[task->worker].label);
        break;
    case CPU:
        result_known(context, task->cpu_ns);
        break;
    case CPU_IS_ESTIMATED:
        vti_sql_result_int(context, task->cpu_is_estimated);
        break;
    case BYTES:
        result_known(context, task->bytes);
        break;
    case RETRIES:
        vti_sql_result_int(context, task->retries);
        break;
    case DEPENDENCIES:
        vti_sql_result_id(context, task->edge_count);
        break;
    default:
        time_column(state, task, at, context);
    }
}

const struct vti_sql_table vti_sql_tasks = {
    .name = "tasks",
    .about = "tasks of task graphs: when, by which worker, how it ended",
    .columns = task_columns,
    .track_column = VTI_SQL_NO_COLUMN,
    .begin_column = VTI_SQL_NO_COLUMN,
    .site_column = VTI_SQL_NO_COLUMN,
    .open = open_tasks,
    .next = next_task,
    .column = task_column,
    .close = close_tasks,
};

/* ---- task_edges -------------------------------------------------------------------------------- */

static const struct vti_sql_column edge_columns[] = {
    {"task", "INTEGER"},
    {"dependency", "INTEGER"},
    {0},
};

static int next_edge(void *arg)
{
    struct state *state = arg;
    const struct vti_tasks *all = &state->all;

    if (state->row >= all->edge_count)
        return 0;
    while (state->row >=
           (uint64_t)all->tasks[state->task].first_edge + all->tasks[state->task].edge_count)
        state->task++;
    state->row++;
    return 1;
}

static void edge_column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct state *state = arg;

    vti_sql_result_id(context, at ? state->all.edges[state->row - 1] : state->task);
}

const struct vti_sql_table vti_sql_task_edges = {
    .name = "task_edges",
    .about = "which task depends on which, by their numbers in `tasks`",
    .columns = edge_columns,
    .track_column = VTI_SQL_NO_COLUMN,
    .begin_column = VTI_SQL_NO_COLUMN,
    .site_column = VTI_SQL_NO_COLUMN,
    .open = open_tasks,
    .next = next_edge,
    .column = edge_column,
    .close = close_tasks,
};

/* ---- task_runs --------------------------------------------------------------------------------- */

static const struct vti_sql_column run_columns[] = {
    {"run", "INTEGER"},
    {"process", "INTEGER"},
    {"number", "INTEGER"},
    {"parent", "INTEGER"},
    {"scheduler", "TEXT"},
    {"begin_ns", "INTEGER"},
    {"end_ns", "INTEGER"},
    {"workers", "INTEGER"},
    {"planned", "INTEGER"},
    {"tasks", "INTEGER"},
    {"lost", "INTEGER"},
    {"error", "TEXT"},
    {0},
};

static int next_run(void *arg)
{
    struct state *state = arg;

    return state->row++ < state->all.run_count;
}

static void run_column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct state *state = arg;
    const struct vti_task_run *run = &state->all.runs[state->row - 1];
    const uint64_t numbers[] = {
        state->row - 1,    run->process, run->number,     run->parent, 0, 0, 0,
        run->worker_count, run->planned, run->task_count, run->lost};

    if (at == 3)
        vti_sql_result_id(context, run->parent);
    else if (at == 4)
        vti_sql_result_text(context, run->scheduler);
    else if (at == 5)
        result_time(state, context, run->begin_ns);
    else if (at == 6)
        result_time(state, context, run->end_ns);
    else if (at == 11)
        vti_sql_result_text(context, run->error[0] ? run->error : NULL);
    else
        vti_sql_result_uint(context, numbers[at]);
}

const struct vti_sql_table vti_sql_task_runs = {
    .name = "task_runs",
    .about = "runs of task graphs: by which scheduler, how many tasks and workers",
    .columns = run_columns,
    .track_column = VTI_SQL_NO_COLUMN,
    .begin_column = VTI_SQL_NO_COLUMN,
    .site_column = VTI_SQL_NO_COLUMN,
    .open = open_tasks,
    .next = next_run,
    .column = run_column,
    .close = close_tasks,
};
