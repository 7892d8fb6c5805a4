/* sql_spans.c - table spans: one row for each span, in the order in which they end, track by
 * track. */
#include "analyze/sql_table.h"
#include "analyze/traces_self.h"
#include "analyze/values.h"
#include "base/error.h"
#include "base/uuid.h"
#include "model/span_walk.h"

#include <stdlib.h>

enum {
    ID,
    PARENT_ID,
    NAME,
    SITE,
    TRACK,
    PROCESS,
    DEPTH,
    BEGIN_NS,
    END_NS,
    DURATION_NS,
    SELF_NS,
    CORRECTED_NS,
    CORRECTED_SELF_NS,
    PARENT,
    ERROR,
    FINISHED,
    ASYNC,
    ASYNC_ID,
    ATTRIBUTES,
    BASE_ID,
    TRACE_ID,
    PARENT_TRACE_ID,
};

static const struct vti_sql_column columns[] = {
    [ID] = {"id", "INTEGER"},
    [PARENT_ID] = {"parent_id", "INTEGER"},
    [NAME] = {"name", "TEXT"},
    [SITE] = {"site", "INTEGER"},
    [TRACK] = {"track", "INTEGER"},
    [PROCESS] = {"process", "INTEGER"},
    [DEPTH] = {"depth", "INTEGER"},
    [BEGIN_NS] = {"begin_ns", "INTEGER"},
    [END_NS] = {"end_ns", "INTEGER"},
    [DURATION_NS] = {"duration_ns", "INTEGER"},
    [SELF_NS] = {"self_ns", "INTEGER"},
    [CORRECTED_NS] = {"corrected_ns", "INTEGER"},
    [CORRECTED_SELF_NS] = {"corrected_self_ns", "INTEGER"},
    [PARENT] = {"parent", "TEXT"},
    [ERROR] = {"error", "TEXT"},
    [FINISHED] = {"finished", "INTEGER"},
    [ASYNC] = {"async", "INTEGER"},
    [ASYNC_ID] = {"async_id", "INTEGER"},
    [ATTRIBUTES] = {"attributes", "TEXT"},
    [BASE_ID] = {"base_id", "TEXT"},
    [TRACE_ID] = {"trace_id", "TEXT"},
    [PARENT_TRACE_ID] = {"parent_trace_id", "TEXT"},
    {0},
};

struct state {
    struct vti_sql_scan scan;
    struct vti_span_walk *walk; /* owned */
    struct vt_span span;
    struct vti_buf text; /* scratch */
};

static void close_state(void *arg)
{
    struct state *state = arg;

    if (!state)
        return;
    vti_span_walk_close(state->walk);
    vti_buf_fini(&state->text);
    free(state);
}

static int open_state(void **result, const struct vti_sql_scan *scan)
{
    struct state *state = calloc(1, sizeof *state);
    int code;

    if (!state)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    state->scan = *scan;
    *result = state;
    code = vti_span_walk_open(&state->walk, scan->recording, &scan->filter);
    if (!code)
        vti_span_walk_begins_only(state->walk);
    return code;
}

static int next(void *arg)
{
    struct state *state = arg;
    int got;

    do
        got = vti_span_walk_next(state->walk, &state->span);
    while (got > 0 && state->scan.site != VT_NONE && state->span.site != state->scan.site &&
           !*state->scan.is_interrupted);
    return got;
}

static void result_number(struct state *state, bool is_parent, struct sqlite3_context *context)
{
    uint64_t parent;
    uint64_t number = vti_span_walk_number(state->walk, &parent);

    if (!is_parent)
        vti_sql_result_uint(context, number);
    else if (parent)
        vti_sql_result_uint(context, parent);
}

static void result_error(struct state *state, struct sqlite3_context *context)
{
    if (!state->span.has_error)
        return;
    vti_buf_clear(&state->text);
    vti_error_text(&state->text, &state->span);
    vti_sql_result_bytes(context, (const char *)state->text.data, state->text.len);
}

static void result_attributes(struct state *state, struct sqlite3_context *context)
{
    struct vti_json json;

    if (!state->span.attr_count)
        return;
    vti_buf_clear(&state->text);
    vti_json_init(&json, &state->text);
    vti_json_object(&json);
    vti_json_attrs(&json, state->scan.recording, &state->span);
    vti_json_object_end(&json);
    vti_sql_result_bytes(context, (const char *)state->text.data, state->text.len);
}

static void result_trace(const struct vt_span *span, unsigned at, struct sqlite3_context *context)
{
    const uint8_t *const ids[] = {span->trace_base, span->trace_span, span->trace_parent};
    char text[VTI_UUID_TEXT];

    if (!span->has_trace || vti_uuid_is_zero(ids[at - BASE_ID]))
        return;
    vti_uuid_text(ids[at - BASE_ID], text);
    vti_sql_result_text(context, text);
}

static void result_time(const struct vt_span *span, unsigned at, struct sqlite3_context *context)
{
    const int64_t times[] = {[BEGIN_NS - BEGIN_NS] = span->begin_ns,
                             [END_NS - BEGIN_NS] = span->end_ns,
                             [DURATION_NS - BEGIN_NS] = span->end_ns - span->begin_ns,
                             [CORRECTED_NS - BEGIN_NS] = span->corrected_ns};

    vti_sql_result_int(context, times[at - BEGIN_NS]);
}

/* As the statistics have it: of a span of a trace without its children, wherever they ran. */
static void result_self(struct state *state, unsigned at, struct sqlite3_context *context)
{
    struct vti_trace_selves **selves = state->scan.selves;
    struct vt_span span = state->span;

    if (span.has_trace && !*selves && vti_trace_selves_load(selves, state->scan.recording))
        return;
    if (span.has_trace)
        vti_trace_selves_apply(*selves, &span);
    vti_sql_result_int(context, at == SELF_NS ? span.self_ns : span.corrected_self_ns);
}

/* What is not set stays null. */
static void column(void *arg, unsigned at, struct sqlite3_context *context)
{
    struct state *state = arg;
    const struct vt_span *span = &state->span;

    switch (at) {
    case BEGIN_NS:
    case END_NS:
    case DURATION_NS:
    case CORRECTED_NS:
        result_time(span, at, context);
        break;
    case SELF_NS:
    case CORRECTED_SELF_NS:
        result_self(state, at, context);
        break;
    case ID:
    case PARENT_ID:
        result_number(state, at == PARENT_ID, context);
        break;
    case NAME:
        vti_sql_result_site_name(context, state->scan.recording, span->site);
        break;
    case SITE:
        vti_sql_result_id(context, span->site);
        break;
    case TRACK:
        vti_sql_result_id(context, span->track);
        break;
    case PROCESS:
        vti_sql_result_process(context, state->scan.recording, span->track);
        break;
    case DEPTH:
        vti_sql_result_int(context, span->depth);
        break;
    case PARENT:
        vti_sql_result_site_name(context, state->scan.recording, span->parent_site);
        break;
    case ERROR:
        result_error(state, context);
        break;
    case FINISHED:
        vti_sql_result_int(context, span->is_finished);
        break;
    case ASYNC:
        vti_sql_result_int(context, span->async_id != 0);
        break;
    case ASYNC_ID:
        if (span->async_id)
            vti_sql_result_uint(context, span->async_id);
        break;
    case ATTRIBUTES:
        result_attributes(state, context);
        break;
    case BASE_ID:
    case TRACE_ID:
    case PARENT_TRACE_ID:
        result_trace(span, at, context);
        break;
    }
}

const struct vti_sql_table vti_sql_spans = {
    .name = "spans",
    .about = "every span; times in nanoseconds, corrected_* without our own cost",
    .columns = columns,
    .track_column = TRACK,
    .begin_column = BEGIN_NS,
    .site_column = SITE,
    .open = open_state,
    .next = next,
    .column = column,
    .close = close_state,
};
