/* sql_resources.c - tables resources and watched: what the processes of the program used, and who they were. */
#include "analyze/resources.h"
#include "analyze/sql_table.h"
#include "base/error.h"

#include <stdlib.h>

struct state {
    struct vti_resources all; /* owned */
    size_t series;            /* row: of the trees first, then of the processes; … */
    size_t point;             /* … and the point in it, counted from 1 */
    size_t process;           /* row of the other table, counted from 1 */
};

static int open_resources(void **result, const struct vti_sql_scan *scan)
{
    struct state *state = calloc(1, sizeof *state);

    if (!state)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    *result = state;
    return vti_resources_load(&state->all, scan->recording);
}

static void close_resources(void *arg)
{
    struct state *state = arg;

    if (state)
        vti_resources_fini(&state->all);
    free(state);
}

/* ---- resources --------------------------------------------------------------------------------- */

enum { TREE, PROCESS, PID, NAME, TIME, VALUES };

static const struct vti_sql_column reading_columns[] = {
    [TREE] = {"tree", "INTEGER"},
    [PROCESS] = {"process", "INTEGER"},
    [PID] = {"pid", "INTEGER"},
    [NAME] = {"name", "TEXT"},
    [TIME] = {"time_ns", "INTEGER"},
    [VALUES + VTI_RESOURCE_CPU_NS] = {"cpu_ns", "INTEGER"},
    [VALUES + VTI_RESOURCE_USER_NS] = {"user_ns", "INTEGER"},
    [VALUES + VTI_RESOURCE_MEMORY_BYTES] = {"memory_bytes", "INTEGER"},
    [VALUES + VTI_RESOURCE_PEAK_BYTES] = {"peak_bytes", "INTEGER"},
    [VALUES + VTI_RESOURCE_THREADS] = {"threads", "INTEGER"},
    [VALUES + VTI_RESOURCE_READ_BYTES] = {"read_bytes", "INTEGER"},
    [VALUES + VTI_RESOURCE_WRITTEN_BYTES] = {"written_bytes", "INTEGER"},
    [VALUES + VTI_RESOURCE_DISK_READ_BYTES] = {"disk_read_bytes", "INTEGER"},
    [VALUES + VTI_RESOURCE_DISK_WRITTEN_BYTES] = {"disk_written_bytes", "INTEGER"},
    [VALUES + VTI_RESOURCE_PROCESSES] = {"processes", "INTEGER"},
    [VALUES + VTI_RESOURCE_MACHINE_NS] = {"machine_busy_ns", "INTEGER"},
    [VALUES + VTI_RESOURCE_AVAILABLE_BYTES] = {"machine_available_bytes", "INTEGER"},
    [VALUES + VTI_RESOURCE_COUNT] = {0},
};

/* The process of a row, NULL if it is of a whole tree. */
static const struct vti_resource_process *process_of(const struct state *state)
{
    return state->series < state->all.tree_count
               ? NULL
               : &state->all.processes[state->series - state->all.tree_count];
}

static const struct vti_resource_series *series_of(const struct state *state)
{
    const struct vti_resource_process *process = process_of(state);

    return process ? &process->series : &state->all.trees[state->series].series;
}

static int next_reading(void *arg)
{
    struct state *state = arg;

    while (state->series < state->all.tree_count + state->all.process_count) {
        if (state->point < series_of(state)->count) {
            state->point++;
            return 1;
        }
        state->series++;
        state->point = 0;
    }
    return 0;
}

static void reading_column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct state *state = arg;
    const struct vti_resource_process *process = process_of(state);
    const struct vti_resource_point *point = &series_of(state)->points[state->point - 1];

    if (at == TREE)
        vti_sql_result_id(context, process ? process->tree : (uint32_t)state->series);
    else if (at == PROCESS)
        vti_sql_result_id(context, process ? process->process : VT_NONE);
    else if (at == PID)
        vti_sql_result_id(context, process ? process->pid : VT_NONE);
    else if (at == NAME)
        vti_sql_result_text(context, process ? process->name : NULL);
    else if (at == TIME)
        vti_sql_result_int(context, point->time_ns);
    else if (point->known & 1u << (at - VALUES))
        vti_sql_result_uint(context, point->values[at - VALUES]);
    else
        vti_sql_result_text(context, NULL);
}

const struct vti_sql_table vti_sql_resources = {
    .name = "resources",
    .about = "CPU, memory, I/O over time, of each process; pid null: of all",
    .columns = reading_columns,
    .track_column = VTI_SQL_NO_COLUMN,
    .begin_column = VTI_SQL_NO_COLUMN,
    .site_column = VTI_SQL_NO_COLUMN,
    .open = open_resources,
    .next = next_reading,
    .column = reading_column,
    .close = close_resources,
};

/* ---- watched ----------------------------------------------------------------------------------- */

static const struct vti_sql_column process_columns[] = {
    {"tree", "INTEGER"},
    {"process", "INTEGER"},
    {"pid", "INTEGER"},
    {"parent_pid", "INTEGER"},
    {"name", "TEXT"},
    {"command", "TEXT"},
    {"start_ns", "INTEGER"},
    {"end_ns", "INTEGER"},
    {"cpu_ns", "INTEGER"},
    {"peak_bytes", "INTEGER"},
    {"read_bytes", "INTEGER"},
    {"written_bytes", "INTEGER"},
    {0},
};

static int next_process(void *arg)
{
    struct state *state = arg;

    return state->process++ < state->all.process_count;
}

static void result_last(struct sqlite3_context *context, const struct vti_resource_point *last,
                        enum vti_resource which)
{
    if (last->known & 1u << which)
        vti_sql_result_uint(context, last->values[which]);
    else
        vti_sql_result_text(context, NULL);
}

static void process_column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct state *state = arg;
    const struct vti_resource_process *process = &state->all.processes[state->process - 1];

    switch (at) {
    case 0:
        vti_sql_result_id(context, process->tree);
        break;
    case 1:
        vti_sql_result_id(context, process->process);
        break;
    case 2:
        vti_sql_result_id(context, process->pid);
        break;
    case 3:
        vti_sql_result_id(context, process->parent == VT_NONE
                                       ? VT_NONE
                                       : state->all.processes[process->parent].pid);
        break;
    case 4:
        vti_sql_result_text(context, process->name);
        break;
    case 5:
        vti_sql_result_text(context, process->command);
        break;
    case 6:
        vti_sql_result_int(context, process->start_ns);
        break;
    case 7:
        if (process->end_ns == INT64_MAX)
            vti_sql_result_text(context, NULL);
        else
            vti_sql_result_int(context, process->end_ns);
        break;
    case 8:
        result_last(context, &process->last, VTI_RESOURCE_CPU_NS);
        break;
    case 9:
        if (process->peak_bytes)
            vti_sql_result_uint(context, process->peak_bytes);
        else
            vti_sql_result_text(context, NULL);
        break;
    case 10:
        result_last(context, &process->last, VTI_RESOURCE_READ_BYTES);
        break;
    case 11:
        result_last(context, &process->last, VTI_RESOURCE_WRITTEN_BYTES);
        break;
    }
}

const struct vti_sql_table vti_sql_watched = {
    .name = "watched",
    .about = "processes of the program, recorded or not, and what each used",
    .columns = process_columns,
    .track_column = VTI_SQL_NO_COLUMN,
    .begin_column = VTI_SQL_NO_COLUMN,
    .site_column = VTI_SQL_NO_COLUMN,
    .open = open_resources,
    .next = next_process,
    .column = process_column,
    .close = close_resources,
};
