/* sql_events.c - tables counters, marks and attributes: events of one kind each, in order of
 * time. */
#include "analyze/sql_table.h"
#include "base/error.h"

#include <stdlib.h>

enum { BEGIN_NS, TRACK, PROCESS, SITE, NAME, UNIT, VALUE };

static const struct vti_sql_column counter_columns[] = {
    [BEGIN_NS] = {"begin_ns", "INTEGER"},
    [TRACK] = {"track", "INTEGER"},
    [PROCESS] = {"process", "INTEGER"},
    [SITE] = {"site", "INTEGER"},
    [NAME] = {"name", "TEXT"},
    [UNIT] = {"unit", "TEXT"},
    [VALUE] = {"value", ""},
    {0},
};

static const struct vti_sql_column mark_columns[] = {
    [BEGIN_NS] = {"begin_ns", "INTEGER"},
    [TRACK] = {"track", "INTEGER"},
    [PROCESS] = {"process", "INTEGER"},
    [SITE] = {"site", "INTEGER"},
    [NAME] = {"name", "TEXT"},
    {0},
};

enum { ASYNC_ID = VALUE + 1 };

static const struct vti_sql_column attribute_columns[] = {
    [BEGIN_NS] = {"begin_ns", "INTEGER"},
    [TRACK] = {"track", "INTEGER"},
    [PROCESS] = {"process", "INTEGER"},
    [SITE] = {"site", "INTEGER"},
    [NAME] = {"key", "TEXT"},
    [UNIT] = {"depth", "INTEGER"},
    [VALUE] = {"value", ""},
    [ASYNC_ID] = {"async_id", "INTEGER"},
    {0},
};

struct state {
    struct vti_sql_scan scan;
    enum vt_event_kind kind, other_kind;
    vt_cursor *cursor; /* owned */
    struct vt_event event;
};

static void close_state(void *arg)
{
    struct state *state = arg;

    if (!state)
        return;
    vt_cursor_close(state->cursor);
    free(state);
}

static int open_state(void **result, const struct vti_sql_scan *scan, enum vt_event_kind kind,
                      enum vt_event_kind other_kind)
{
    struct state *state = calloc(1, sizeof *state);

    if (!state)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    state->scan = *scan;
    state->kind = kind;
    state->other_kind = other_kind;
    *result = state;
    return vt_cursor_open(&state->cursor, scan->recording, &scan->filter);
}

static int open_counters(void **state, const struct vti_sql_scan *scan)
{
    return open_state(state, scan, VT_EVENT_COUNTER, VT_EVENT_COUNTER);
}

static int open_marks(void **state, const struct vti_sql_scan *scan)
{
    return open_state(state, scan, VT_EVENT_MARK, VT_EVENT_MARK);
}

static int open_attributes(void **state, const struct vti_sql_scan *scan)
{
    return open_state(state, scan, VT_EVENT_ATTR, VT_EVENT_ASYNC_ATTR);
}

static bool is_wanted(const struct state *state)
{
    const struct vt_event *event = &state->event;

    return (event->kind == state->kind || event->kind == state->other_kind) &&
           (state->scan.site == VT_NONE || state->scan.site == event->site);
}

static int next(void *arg)
{
    struct state *state = arg;
    int got;

    do
        got = vt_cursor_next(state->cursor, &state->event);
    while (got > 0 && !is_wanted(state) && !*state->scan.is_interrupted);
    return got;
}

static void result_unit(const struct state *state, struct sqlite3_context *context)
{
    struct vt_site_info site;

    vt_recording_site_by_id(state->scan.recording, state->event.site, &site);
    vti_sql_result_text(context, site.unit);
}

static void column(void *arg, unsigned at, struct sqlite3_context *context)
{
    struct state *state = arg;
    const struct vt_event *event = &state->event;

    switch (at) {
    case BEGIN_NS:
        vti_sql_result_int(context, event->time_ns);
        break;
    case TRACK:
        vti_sql_result_id(context, event->track);
        break;
    case PROCESS:
        vti_sql_result_process(context, state->scan.recording, event->track);
        break;
    case SITE:
        vti_sql_result_id(context, event->site);
        break;
    case NAME:
        vti_sql_result_site_name(context, state->scan.recording, event->site);
        break;
    case UNIT:
        if (state->kind == VT_EVENT_COUNTER)
            result_unit(state, context);
        else
            vti_sql_result_int(context, event->depth);
        break;
    case VALUE:
        vti_sql_result_value(context, &event->value);
        break;
    case ASYNC_ID:
        if (event->async_id)
            vti_sql_result_uint(context, event->async_id);
        break;
    }
}

#define EVENT_TABLE(named, said, have, opened)                                                     \
    {                                                                                              \
        .name = named, .about = said, .columns = have, .track_column = TRACK,                      \
        .begin_column = BEGIN_NS, .site_column = SITE, .open = opened, .next = next,               \
        .column = column, .close = close_state                                                     \
    }

const struct vti_sql_table vti_sql_counters = EVENT_TABLE(
    "counters", "values of counters over time", counter_columns, open_counters);
const struct vti_sql_table vti_sql_marks = EVENT_TABLE("marks", "moments that the program marked",
                                                       mark_columns, open_marks);
const struct vti_sql_table vti_sql_attributes = EVENT_TABLE(
    "attributes", "attributes of spans; depth: spans open around them", attribute_columns,
    open_attributes);
