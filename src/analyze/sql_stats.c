/* sql_stats.c - table stats: the same figures per site as `venturi report` shows. */
#include "analyze/sql_table.h"
#include "base/error.h"

#include <stdlib.h>

static const struct vti_sql_column columns[] = {
    {"site", "INTEGER"},        {"name", "TEXT"},
    {"count", "INTEGER"},       {"unfinished", "INTEGER"},
    {"errors", "INTEGER"},      {"total_ns", "INTEGER"},
    {"self_ns", "INTEGER"},     {"min_ns", "INTEGER"},
    {"avg_ns", "INTEGER"},      {"max_ns", "INTEGER"},
    {"p50_ns", "INTEGER"},      {"p90_ns", "INTEGER"},
    {"p99_ns", "INTEGER"},      {"raw_total_ns", "INTEGER"},
    {"raw_self_ns", "INTEGER"}, {0},
};

struct state {
    const vt_recording *recording;
    struct vt_stats stats;
    size_t next;
};

static void close_state(void *arg)
{
    struct state *state = arg;

    if (!state)
        return;
    vt_stats_free(&state->stats);
    free(state);
}

static int open_state(void **result, const struct vti_sql_scan *scan)
{
    struct state *state = calloc(1, sizeof *state);

    if (!state)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    state->recording = scan->recording;
    *result = state;
    return vt_stats_query(scan->recording, &scan->filter, &state->stats);
}

static int next(void *arg)
{
    struct state *state = arg;

    return state->next++ < state->stats.site_count;
}

static void column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct state *state = arg;
    const struct vt_site_stats *site = &state->stats.sites[state->next - 1];
    const int64_t times[] = {site->total_ns,     site->self_ns,    site->min_ns, site->avg_ns,
                             site->max_ns,       site->p50_ns,     site->p90_ns, site->p99_ns,
                             site->raw_total_ns, site->raw_self_ns};

    switch (at) {
    case 0:
        vti_sql_result_id(context, site->site);
        break;
    case 1:
        vti_sql_result_site_name(context, state->recording, site->site);
        break;
    case 2:
        vti_sql_result_uint(context, site->count);
        break;
    case 3:
        vti_sql_result_uint(context, site->unfinished);
        break;
    case 4:
        vti_sql_result_uint(context, site->errors);
        break;
    default:
        vti_sql_result_int(context, times[at - 5]);
    }
}

const struct vti_sql_table vti_sql_stats = {
    .name = "stats",
    .about = "figures per site, without our own cost; raw_* as measured",
    .columns = columns,
    .track_column = VTI_SQL_NO_COLUMN,
    .begin_column = VTI_SQL_NO_COLUMN,
    .site_column = VTI_SQL_NO_COLUMN,
    .open = open_state,
    .next = next,
    .column = column,
    .close = close_state,
};
