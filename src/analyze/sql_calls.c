/* sql_calls.c - table calls: the places of the trees of calls, one row each, parents before children. */
#include "analyze/calls.h"
#include "analyze/sql_table.h"
#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>

static const struct vti_sql_column columns[] = {
    {"id", "INTEGER"},      {"parent", "INTEGER"},   {"track", "INTEGER"},
    {"process", "INTEGER"}, {"name", "TEXT"},        {"function", "TEXT"},
    {"file", "TEXT"},       {"line", "INTEGER"},     {"twin", "INTEGER"},
    {"language", "TEXT"},   {"calls", "INTEGER"},    {"resumes", "INTEGER"},
    {"open", "INTEGER"},    {"total_ns", "INTEGER"}, {"self_ns", "INTEGER"},
    {"min_ns", "INTEGER"},  {"max_ns", "INTEGER"},   {"suspended_ns", "INTEGER"},
    {"samples", "INTEGER"}, {"error_ns", "INTEGER"}, {0},
};

struct state {
    const vt_recording *recording;
    struct vti_calls calls;
    size_t next;
};

static void close_state(void *arg)
{
    struct state *state = arg;

    if (!state)
        return;
    vti_calls_fini(&state->calls);
    free(state);
}

static int open_state(void **result, const struct vti_sql_scan *scan)
{
    const struct vti_calls_options options = {.track = scan->filter.track, .process = VT_NONE};
    struct state *state = calloc(1, sizeof *state);

    if (!state)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    state->recording = scan->recording;
    *result = state;
    return vti_calls_load(&state->calls, scan->recording, &options);
}

static int next(void *arg)
{
    struct state *state = arg;

    return state->next++ < state->calls.call_count;
}

static void function_column(const struct vti_function *function, unsigned at,
                            struct sqlite3_context *context)
{
    const char *const texts[] = {function->name, function->function, function->file};

    if (at < 3)
        vti_sql_result_text(context, texts[at]);
    else if (at == 5)
        vti_sql_result_text(context, function->language);
    else
        vti_sql_result_uint(context, at == 3 ? function->line : function->twin);
}

static void time_column(double ns, struct sqlite3_context *context)
{
    if (ns >= 0) /* not of NaN: null then */
        vti_sql_result_int(context, ns < 9e18 ? (int64_t)(ns + 0.5) : INT64_MAX);
}

static void column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct state *state = arg;
    const struct vti_call *call = &state->calls.calls[state->next - 1];
    const double times[] = {call->total_ns, call->self_ns, call->shortest_ns, call->longest_ns,
                            call->suspended_ns};
    const uint64_t counts[] = {call->calls, call->resumes, call->is_open};
    uint32_t track = state->recording->facts.tracks[call->track]->id;

    if (at == 0)
        vti_sql_result_uint(context, state->next - 1);
    else if (at == 1)
        vti_sql_result_id(context, call->parent);
    else if (at == 2)
        vti_sql_result_id(context, track);
    else if (at == 3)
        vti_sql_result_process(context, state->recording, track);
    else if (at < 10)
        function_column(&state->calls.functions[call->function], at - 4, context);
    else if (at < 13)
        vti_sql_result_uint(context, counts[at - 10]);
    else if (at < 18)
        time_column(times[at - 13], context);
    else if (call->is_estimated && at == 18) /* null where it is exact */
        vti_sql_result_uint(context, call->samples);
    else if (call->is_estimated)
        time_column(vti_calls_error(&state->calls, call->total_ns), context);
}

const struct vti_sql_table vti_sql_calls = {
    .name = "calls",
    .about = "functions along the paths they were called on, without our own cost",
    .columns = columns,
    .track_column = 2,
    .begin_column = VTI_SQL_NO_COLUMN,
    .site_column = VTI_SQL_NO_COLUMN,
    .open = open_state,
    .next = next,
    .column = column,
    .close = close_state,
};
