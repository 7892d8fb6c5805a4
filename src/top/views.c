/* views.c - what can be looked at: spans, functions, threads, tasks, workers, steps, processes. */
#include "top/views.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static double known(int64_t ns, uint64_t count)
{
    return count ? (double)ns : NAN;
}

/* ---- spans ----------------------------------------------------------------------------------- */

static const struct vti_top_column spans_columns[] = {{"Busy", 6}, {"/s", 7},     {"Count", 7},
                                                      {"Run", 4},  {"Errors", 6}, {"Total", 8},
                                                      {"p50", 8},  {"Name", 0}};

static void fill_spans(struct vti_top_rows *rows, struct vti_live *live)
{
    size_t count;
    const struct vti_live_span *spans = vti_live_spans(live, &count);

    for (size_t i = 0; i < count; i++) {
        const struct vti_live_span *span = &spans[i];
        struct vti_top_row *row = vti_top_row_add(rows, "%s", span->name);

        vti_top_cell_share(row, span->busy);
        vti_top_cell_number(row, span->per_s);
        vti_top_cell_count(row, span->count);
        vti_top_cell_count(row, span->running);
        vti_top_cell_count(row, span->errors);
        vti_top_cell_duration(row, (double)span->times.sum_ns);
        vti_top_cell_duration(row, known(span->times.p50_ns, span->times.count));
        if (row) {
            row->is_running = span->running > 0;
            row->is_bad = span->errors > 0;
        }
    }
}

/* ---- functions ------------------------------------------------------------------------------- */

static const struct vti_top_column functions_columns[] = {
    {"Own/s", 7}, {"Calls/s", 8}, {"Calls", 8}, {"Own", 8}, {"Total", 8}, {"Function", 0}};

static void fill_functions(struct vti_top_rows *rows, struct vti_live *live)
{
    size_t count;
    const struct vti_live_function *functions = vti_live_functions(live, &count);

    for (size_t i = 0; i < count; i++) {
        const struct vti_live_function *one = &functions[i];
        struct vti_top_row *row = *one->file ? vti_top_row_add(rows, "%s  %s:%u", one->name,
                                                               last_part(one->file), one->line)
                                             : vti_top_row_add(rows, "%s", one->name);

        vti_top_cell_share(row, one->self_share);
        vti_top_cell_number(row, one->calls_per_s);
        vti_top_cell_count(row, one->calls);
        vti_top_cell_duration(row, one->self_ns);
        vti_top_cell_duration(row, one->total_ns);
        if (row)
            row->is_running = one->self_share > 0;
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

static const struct vti_top_column threads_columns[] = {
    {"Tid", 8},  {"CPU", 6},   {"Spans/s", 8}, {"Spans", 8},
    {"Lost", 6}, {"Depth", 5}, {"Since", 8},   {"Thread, inside of", 0}};

static void fill_threads(struct vti_top_rows *rows, struct vti_live *live)
{
    size_t count, span_count;
    const struct vti_live_thread *threads = vti_live_threads(live, &count);
    const struct vti_live_span *spans = vti_live_spans(live, &span_count);

    for (size_t i = 0; i < count; i++) {
        const struct vti_live_thread *one = &threads[i];
        bool is_in = one->open < span_count;
        struct vti_top_row *row = vti_top_row_add(rows, "%s%s%s", *one->name ? one->name : "thread",
                                                  is_in             ? "  in "
                                                  : one->is_running ? ""
                                                                    : "  ended",
                                                  is_in ? spans[one->open].name : "");

        vti_top_cell_id(row, one->tid);
        vti_top_cell_share(row, one->cpu);
        vti_top_cell_number(row, one->spans_per_s);
        vti_top_cell_count(row, one->spans);
        vti_top_cell_count(row, one->lost_events);
        vti_top_cell_count(row, one->depth);
        vti_top_cell_duration(row, is_in ? (double)one->open_since_ns : NAN);
        if (row) {
            row->is_running = one->is_running;
            row->is_bad = one->lost_events > 0;
        }
    }
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static const struct vti_top_column tasks_columns[] = {
    {"/s", 7}, {"Running", 7}, {"Done", 8}, {"Failed", 6}, {"Total", 8}, {"p50", 8}, {"Name", 0}};

static void fill_tasks(struct vti_top_rows *rows, struct vti_live *live)
{
    size_t count;
    const struct vti_live_task_group *groups = vti_live_task_groups(live, &count);

    for (size_t i = 0; i < count; i++) {
        const struct vti_live_task_group *one = &groups[i];
        struct vti_top_row *row = vti_top_row_add(rows, "%s", one->name);
        uint64_t failed = 0;

        for (unsigned state = 2; state < VTI_LIVE_TASK_STATES; state++)
            failed += one->states[state];
        vti_top_cell_number(row, one->per_s);
        vti_top_cell_count(row, one->running);
        vti_top_cell_count(row, one->states[1]);
        vti_top_cell_count(row, failed);
        vti_top_cell_duration(row, (double)one->times.sum_ns);
        vti_top_cell_duration(row, known(one->times.p50_ns, one->times.count));
        if (row) {
            row->is_running = one->running && one->running != VTI_LIVE_UNKNOWN;
            row->is_bad = failed > 0;
        }
    }
}

/* ---- workers --------------------------------------------------------------------------------- */

static const struct vti_top_column workers_columns[] = {{"Busy", 6},  {"CPU", 6},    {"Memory", 8},
                                                        {"Ended", 8}, {"Failed", 6}, {"Worker", 0}};

static void fill_workers(struct vti_top_rows *rows, struct vti_live *live)
{
    size_t count;
    const struct vti_live_worker *workers = vti_live_workers(live, &count);

    for (size_t i = 0; i < count; i++) {
        const struct vti_live_worker *one = &workers[i];
        struct vti_top_row *row = vti_top_row_add(rows, "%s%s%s", one->label,
                                                  *one->host ? "  " : "", one->host);

        vti_top_cell_share(row, one->busy);
        vti_top_cell_share(row, one->cpu);
        vti_top_cell_bytes(row, one->memory_bytes);
        vti_top_cell_count(row, one->ended);
        vti_top_cell_count(row, one->failed);
        if (row) {
            row->is_running = one->is_running;
            row->is_bad = one->failed > 0;
        }
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

static const struct vti_top_column steps_columns[] = {{"Msg/s", 7}, {"Messages", 8}, {"Failed", 6},
                                                      {"p50", 8},   {"p99", 8},      {"Lag", 8},
                                                      {"Batch", 6}, {"Step", 0}};

static void fill_steps(struct vti_top_rows *rows, struct vti_live *live)
{
    size_t count;
    const struct vti_live_step *steps = vti_live_steps(live, &count);

    for (size_t i = 0; i < count; i++) {
        const struct vti_live_step *one = &steps[i];
        struct vti_top_row *row = vti_top_row_add(rows, "%s", one->source);

        vti_top_cell_number(row, one->messages_per_s);
        vti_top_cell_count(row, one->messages);
        vti_top_cell_count(row, one->failed);
        vti_top_cell_duration(row, known(one->execute.p50_ns, one->execute.count));
        vti_top_cell_duration(row, known(one->execute.p99_ns, one->execute.count));
        vti_top_cell_duration(row, one->last_lag_ns == INT64_MIN ? NAN : (double)one->last_lag_ns);
        vti_top_cell_count(row, one->largest_batch);
        if (row) {
            row->is_running = one->per_s > 0;
            row->is_bad = one->failed > 0;
        }
    }
}

/* ---- processes ------------------------------------------------------------------------------- */

static const struct vti_top_column processes_columns[] = {
    {"Pid", 8},    {"CPU", 7},     {"Memory", 8},   {"Threads", 7},
    {"Read/s", 8}, {"Write/s", 8}, {"CPU time", 8}, {"Process", 0}};

static void cell_rate(struct vti_top_row *row, double bytes)
{
    vti_top_cell_bytes(row, isnan(bytes) ? UINT64_MAX : (uint64_t)bytes);
}

/* Without the folder of the program: what comes behind it says more. */
static const char *command_of(const struct vti_live_process *process)
{
    const char *command = *process->command ? process->command : process->name;
    const char *name = command;

    for (const char *at = command; *at && *at != ' '; at++)
        if (*at == '/' && at[1] && at[1] != ' ')
            name = at + 1;
    return name;
}

static void fill_processes(struct vti_top_rows *rows, struct vti_live *live)
{
    size_t count;
    const struct vti_live_process *processes = vti_live_processes(live, &count);

    for (size_t i = 0; i < count; i++) {
        const struct vti_live_process *one = &processes[i];
        struct vti_top_row *row = vti_top_row_add(rows, "%s%s", command_of(one),
                                                  one->is_running ? "" : "  (ended)");

        vti_top_cell_id(row, one->pid);
        vti_top_cell_share(row, one->usage.cpu);
        vti_top_cell_bytes(row, one->usage.memory_bytes);
        vti_top_cell_count(row, one->usage.threads);
        cell_rate(row, one->usage.read_per_s);
        cell_rate(row, one->usage.written_per_s);
        vti_top_cell_duration(
            row, one->usage.cpu_ns == VTI_LIVE_UNKNOWN ? NAN : (double)one->usage.cpu_ns);
        if (row)
            row->is_running = one->is_running;
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const struct vti_top_view views[] = {
    {"spans", '1', spans_columns, COUNT_OF(spans_columns), 5,
     "no spans: VT_SPAN(\"name\") in C, venturi.trace in Python", fill_spans},
    {"functions", '2', functions_columns, COUNT_OF(functions_columns), 3,
     "no functions: record with venturi run, or build with venturi cc", fill_functions},
    {"threads", '3', threads_columns, COUNT_OF(threads_columns), 2,
     "no thread has recorded anything yet", fill_threads},
    {"tasks", '4', tasks_columns, COUNT_OF(tasks_columns), 4,
     "no tasks: run a graph, or dask with venturi.dask", fill_tasks},
    {"workers", '5', workers_columns, COUNT_OF(workers_columns), 3,
     "no workers: run a graph, or give a dask scheduler's address", fill_workers},
    {"steps", '6', steps_columns, COUNT_OF(steps_columns), 1,
     "no steps: venturi new-step NAME writes one", fill_steps},
    {"processes", '7', processes_columns, COUNT_OF(processes_columns), 1, "no processes",
     fill_processes},
};

const struct vti_top_view *vti_top_views(size_t *count)
{
    *count = COUNT_OF(views);
    return views;
}

const struct vti_top_view *vti_top_view_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(views); i++)
        if (*name && !strncmp(views[i].name, name, strlen(name)))
            return &views[i];
    return NULL;
}

const struct vti_top_view *vti_top_view_best(struct vti_live *live)
{
    size_t steps, tasks, spans, functions;

    vti_live_steps(live, &steps);
    vti_live_task_groups(live, &tasks);
    vti_live_spans(live, &spans);
    vti_live_functions(live, &functions);
    return vti_top_view_find(steps       ? "steps"
                             : tasks     ? "tasks"
                             : spans     ? "spans"
                             : functions ? "functions"
                                         : "processes");
}

int vti_top_view_column(const struct vti_top_view *view, const char *title)
{
    for (unsigned i = 0; i < view->column_count; i++)
        if (!strcasecmp(view->columns[i].title, title))
            return (int)i;
    return -1;
}

void vti_top_view_fill(const struct vti_top_view *view, struct vti_top_rows *rows,
                       struct vti_live *live)
{
    vti_top_rows_clear(rows);
    rows->columns = view->columns;
    rows->column_count = view->column_count;
    view->fill(rows, live);
}
