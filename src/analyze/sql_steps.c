/* sql_steps.c - table steps: messages that steps of a pipeline have dealt with. */
#include "analyze/sql_table.h"
#include "base/error.h"
#include "model/step_log.h"

#include <stdlib.h>

struct state {
    struct vti_step_log log;
    struct vti_step step;
};

enum {
    SOURCE,
    PREFIX,
    SURVEY,
    PROCESS,
    PID,
    NUMBER,
    KIND,
    BEGIN,
    TIME,
    RECEIVED,
    SENT,
    FAILED,
    MESSAGES,
    EXECUTE,
    PRE,
    POST,
    PRODUCE,
    LAG,
    EXTRA
};

static const struct vti_sql_column columns[] = {
    [SOURCE] = {"source", "TEXT"},
    [PREFIX] = {"prefix", "TEXT"},
    [SURVEY] = {"survey", "TEXT"},
    [PROCESS] = {"process", "INTEGER"},
    [PID] = {"pid", "INTEGER"},
    [NUMBER] = {"number", "INTEGER"},
    [KIND] = {"kind", "TEXT"},
    [BEGIN] = {"begin_ns", "INTEGER"},
    [TIME] = {"time_ns", "INTEGER"},
    [RECEIVED] = {"received_ns", "INTEGER"},
    [SENT] = {"sent_ns", "INTEGER"},
    [FAILED] = {"failed", "INTEGER"},
    [MESSAGES] = {"messages", "INTEGER"},
    [EXECUTE] = {"execute_ns", "INTEGER"},
    [PRE] = {"pre_ns", "INTEGER"},
    [POST] = {"post_ns", "INTEGER"},
    [PRODUCE] = {"produce_ns", "INTEGER"},
    [LAG] = {"lag_ns", "INTEGER"},
    [EXTRA] = {"extra", "TEXT"},
    [EXTRA + 1] = {0},
};

static int open_steps(void **result, const struct vti_sql_scan *scan)
{
    struct state *state = calloc(1, sizeof *state);

    if (!state)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    *result = state;
    vti_step_log_init(&state->log, scan->recording, NULL);
    return 0;
}

static void close_steps(void *arg)
{
    struct state *state = arg;

    if (state)
        vti_step_log_fini(&state->log);
    free(state);
}

static int next_step(void *arg)
{
    struct state *state = arg;

    return vti_step_log_next(&state->log, &state->step);
}

static void result_known(struct sqlite3_context *context, uint64_t value)
{
    if (value != VTI_STEP_UNKNOWN)
        vti_sql_result_uint(context, value);
    else
        vti_sql_result_text(context, NULL);
}

static void result_lag(struct sqlite3_context *context, int64_t value)
{
    if (value != VTI_STEP_LAG_UNKNOWN)
        vti_sql_result_int(context, value);
    else
        vti_sql_result_text(context, NULL);
}

/* Who, and which. */
static void name_column(const struct vti_step *step, unsigned at, struct sqlite3_context *context)
{
    if (at == SOURCE)
        vti_sql_result_text(context, step->source);
    else if (at == PREFIX)
        vti_sql_result_text(context, step->prefix);
    else if (at == SURVEY)
        vti_sql_result_text(context, *step->survey ? step->survey : NULL);
    else if (at == PROCESS)
        vti_sql_result_id(context, step->process);
    else if (at == PID)
        vti_sql_result_uint(context, step->pid);
    else if (at == NUMBER)
        vti_sql_result_uint(context, step->number);
    else
        vti_sql_result_text(context, step->is_metrics ? "metrics" : "step");
}

static void column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct state *state = arg;
    const struct vti_step *step = &state->step;

    switch (at) {
    case BEGIN:
        vti_sql_result_int(context, step->begin_ns);
        break;
    case TIME:
        vti_sql_result_int(context, step->time_ns);
        break;
    case RECEIVED:
        vti_sql_result_int(context, step->received_ns);
        break;
    case SENT:
        vti_sql_result_int(context, step->sent_ns);
        break;
    case FAILED:
        vti_sql_result_int(context, step->is_failed);
        break;
    case MESSAGES:
        result_known(context, step->is_metrics ? VTI_STEP_UNKNOWN : step->messages);
        break;
    case EXECUTE:
        result_known(context, step->execute_ns);
        break;
    case PRE:
        result_known(context, step->pre_ns);
        break;
    case POST:
        result_known(context, step->post_ns);
        break;
    case PRODUCE:
        result_known(context, step->produce_ns);
        break;
    case LAG:
        result_lag(context, step->lag_ns);
        break;
    case EXTRA:
        vti_sql_result_bytes(context, step->extra.len ? step->extra.data : NULL, step->extra.len);
        break;
    default:
        name_column(step, at, context);
    }
}

const struct vti_sql_table vti_sql_steps = {
    .name = "steps",
    .about = "messages that steps dealt with; extra: members of a JSON object",
    .columns = columns,
    .track_column = VTI_SQL_NO_COLUMN,
    .begin_column = VTI_SQL_NO_COLUMN,
    .site_column = VTI_SQL_NO_COLUMN,
    .open = open_steps,
    .next = next_step,
    .column = column,
    .close = close_steps,
};
