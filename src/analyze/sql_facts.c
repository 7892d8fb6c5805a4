/* sql_facts.c - tables of what does not change over time: sites, threads, processes, hosts. */
#include "analyze/sql_table.h"
#include "analyze/values.h"
#include "base/error.h"

#include <stdlib.h>

struct state {
    const vt_recording *recording;
    uint32_t next; /* row */
    union {
        struct vt_site_info site;
        struct vt_track_info track;
        struct vt_process_info process;
        struct vt_host_info host;
    };
};

static int open_state(void **result, const struct vti_sql_scan *scan)
{
    struct state *state = calloc(1, sizeof *state);

    if (!state)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    state->recording = scan->recording;
    *result = state;
    return 0;
}

#define NO_NARROWING                                                                               \
    .track_column = VTI_SQL_NO_COLUMN, .begin_column = VTI_SQL_NO_COLUMN,                          \
    .site_column = VTI_SQL_NO_COLUMN

/* ---- sites ----------------------------------------------------------------------------------- */

static const struct vti_sql_column site_columns[] = {
    {"id", "INTEGER"}, {"kind", "TEXT"},    {"name", "TEXT"}, {"function", "TEXT"},
    {"file", "TEXT"},  {"line", "INTEGER"}, {"unit", "TEXT"}, {0},
};

static int next_site(void *arg)
{
    struct state *state = arg;

    return vt_recording_site(state->recording, state->next++, &state->site);
}

static void site_column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct vt_site_info *site = &((struct state *)arg)->site;

    switch (at) {
    case 0:
        vti_sql_result_id(context, site->id);
        break;
    case 1:
        vti_sql_result_text(context, vti_site_kind_text(site->type));
        break;
    case 2:
        vti_sql_result_text(context, site->name);
        break;
    case 3:
        vti_sql_result_text(context, site->function);
        break;
    case 4:
        vti_sql_result_text(context, site->file);
        break;
    case 5:
        vti_sql_result_int(context, site->line);
        break;
    case 6:
        vti_sql_result_text(context, site->unit);
        break;
    }
}

const struct vti_sql_table vti_sql_sites = {
    .name = "sites",
    .about = "places in the source: spans, counters, marks, attribute keys",
    .columns = site_columns,
    NO_NARROWING,
    .open = open_state,
    .next = next_site,
    .column = site_column,
    .close = free,
};

/* ---- threads --------------------------------------------------------------------------------- */

static const struct vti_sql_column track_columns[] = {
    {"id", "INTEGER"},
    {"process", "INTEGER"},
    {"tid", "INTEGER"},
    {"name", "TEXT"},
    {"start_ns", "INTEGER"},
    {"end_ns", "INTEGER"},
    {"events", "INTEGER"},
    {"spans", "INTEGER"},
    {"lost_events", "INTEGER"},
    {"deepest", "INTEGER"},
    {0},
};

static int next_track(void *arg)
{
    struct state *state = arg;

    return vt_recording_track(state->recording, state->next++, &state->track);
}

static void track_column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct vt_track_info *track = &((struct state *)arg)->track;

    switch (at) {
    case 0:
        vti_sql_result_id(context, track->id);
        break;
    case 1:
        vti_sql_result_id(context, track->process);
        break;
    case 2:
        vti_sql_result_int(context, track->tid);
        break;
    case 3:
        vti_sql_result_text(context, track->name);
        break;
    case 4:
        vti_sql_result_int(context, track->start_ns);
        break;
    case 5:
        vti_sql_result_int(context, track->end_ns);
        break;
    case 6:
        vti_sql_result_uint(context, track->event_count);
        break;
    case 7:
        vti_sql_result_uint(context, track->span_count);
        break;
    case 8:
        vti_sql_result_uint(context, track->lost_events);
        break;
    case 9:
        vti_sql_result_int(context, track->deepest);
        break;
    }
}

#define TRACK_TABLE(named, said)                                                                   \
    {                                                                                              \
        .name = named, .about = said, .columns = track_columns, NO_NARROWING, .open = open_state,  \
        .next = next_track, .column = track_column, .close = free                                  \
    }

const struct vti_sql_table vti_sql_threads = TRACK_TABLE(
    "threads", "threads; their id is the track of other tables");
const struct vti_sql_table vti_sql_tracks = TRACK_TABLE("tracks", "the same by its other name");

/* ---- processes ------------------------------------------------------------------------------- */

static const struct vti_sql_column process_columns[] = {
    {"id", "INTEGER"},     {"host", "INTEGER"},
    {"pid", "INTEGER"},    {"parent_pid", "INTEGER"},
    {"parent", "INTEGER"}, {"name", "TEXT"},
    {"command", "TEXT"},   {"start_ns", "INTEGER"},
    {"end_ns", "INTEGER"}, {"ended", "TEXT"},
    {"status", "INTEGER"}, {"pair_ns", "REAL"},
    {"inner_ns", "REAL"},  {0},
};

static int next_process(void *arg)
{
    struct state *state = arg;

    return vt_recording_process(state->recording, state->next++, &state->process);
}

static void process_column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct vt_process_info *process = &((struct state *)arg)->process;

    switch (at) {
    case 0:
        vti_sql_result_id(context, process->id);
        break;
    case 1:
        vti_sql_result_id(context, process->host);
        break;
    case 2:
        vti_sql_result_int(context, process->pid);
        break;
    case 3:
        vti_sql_result_int(context, process->parent_pid);
        break;
    case 4:
        vti_sql_result_id(context, process->parent);
        break;
    case 5:
        vti_sql_result_text(context, process->name);
        break;
    case 6:
        vti_sql_result_text(context, process->command);
        break;
    case 7:
        vti_sql_result_int(context, process->start_ns);
        break;
    case 8:
        vti_sql_result_int(context, process->end_ns);
        break;
    case 9:
        vti_sql_result_text(context, process->how ? vti_end_text(process->how) : NULL);
        break;
    case 10:
        if (process->how)
            vti_sql_result_int(context, process->status);
        break;
    case 11:
        vti_sql_result_double(context, process->pair_ns);
        break;
    case 12:
        vti_sql_result_double(context, process->inner_ns);
        break;
    }
}

const struct vti_sql_table vti_sql_processes = {
    .name = "processes",
    .about = "processes, how they ended, and what a span costs in them",
    .columns = process_columns,
    NO_NARROWING,
    .open = open_state,
    .next = next_process,
    .column = process_column,
    .close = free,
};

/* ---- hosts ----------------------------------------------------------------------------------- */

static const struct vti_sql_column host_columns[] = {
    {"id", "INTEGER"},        {"name", "TEXT"},         {"os", "TEXT"},          {"cpu", "TEXT"},
    {"cpu_count", "INTEGER"}, {"offset_ns", "INTEGER"}, {"error_ns", "INTEGER"}, {0},
};

static int next_host(void *arg)
{
    struct state *state = arg;

    return vt_recording_host(state->recording, state->next++, &state->host);
}

static void host_column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct vt_host_info *host = &((struct state *)arg)->host;

    switch (at) {
    case 0:
        vti_sql_result_id(context, host->id);
        break;
    case 1:
        vti_sql_result_text(context, host->name);
        break;
    case 2:
        vti_sql_result_text(context, host->os);
        break;
    case 3:
        vti_sql_result_text(context, host->cpu);
        break;
    case 4:
        vti_sql_result_int(context, host->cpu_count);
        break;
    case 5:
        vti_sql_result_int(context, host->offset_ns);
        break;
    case 6:
        vti_sql_result_int(context, host->error_ns);
        break;
    }
}

const struct vti_sql_table vti_sql_hosts = {
    .name = "hosts",
    .about = "machines; offset_ns is what clock links add to their wall clock",
    .columns = host_columns,
    NO_NARROWING,
    .open = open_state,
    .next = next_host,
    .column = host_column,
    .close = free,
};
