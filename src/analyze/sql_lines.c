/* sql_lines.c - tables lines and sources: the lines of functions as threads counted them, and the texts that they are of. */
#include "analyze/sql_table.h"
#include "base/error.h"
#include "model/line_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <venturi/hook.h>

static const struct vti_sql_column line_columns[] = {
    {"track", "INTEGER"},        {"process", "INTEGER"},  {"name", "TEXT"},
    {"function", "TEXT"},        {"file", "TEXT"},        {"twin", "INTEGER"},
    {"language", "TEXT"},        {"kind", "TEXT"},        {"line", "INTEGER"},
    {"statement", "INTEGER"},    {"events", "INTEGER"},   {"hits", "INTEGER"},
    {"resumes", "INTEGER"},      {"total_ns", "INTEGER"}, {"self_ns", "INTEGER"},
    {"suspended_ns", "INTEGER"}, {"min_ns", "INTEGER"},   {"max_ns", "INTEGER"},
    {"open", "INTEGER"},         {"samples", "INTEGER"},  {0},
};

enum { TRACK, PROCESS, NAME, FUNCTION, SOURCE_FILE, TWIN, LANGUAGE, KIND, LINE, STATEMENT };
enum { EVENTS = STATEMENT + 1, HITS, RESUMES, TOTAL, SELF, SUSPENDED, SHORTEST, LONGEST, OPEN };

struct state {
    const vt_recording *recording;
    struct vti_line_tables tables;
    uint32_t wanted;           /* id of a track, or VT_NONE */
    uint32_t track;            /* of the row, and … */
    uint32_t next;             /* … the one after it */
    uint32_t callee_track;     /* which track's sums these are; VT_NONE: none */
    struct vti_ids callee_ids; /* by node, … */
    double *callee_ticks;      /* … what its callees took; owned */
    size_t callee_room;
};

static void close_state(void *arg)
{
    struct state *state = arg;

    if (!state)
        return;
    vti_line_tables_fini(&state->tables);
    vti_ids_fini(&state->callee_ids);
    free(state->callee_ticks);
    free(state);
}

static int open_state(void **result, const struct vti_sql_scan *scan)
{
    struct state *state = calloc(1, sizeof *state);

    if (!state)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    state->recording = scan->recording;
    state->wanted = scan->filter.track;
    state->callee_track = VT_NONE;
    *result = state;
    return vti_line_tables_load(&state->tables, scan->recording);
}

static uint32_t track_id(const struct state *state)
{
    return state->recording->facts.tracks[state->tables.tracks[state->track].track]->id;
}

/* What the callees of each line took, for self_ns. */
static int sum_callees(struct state *state)
{
    const struct vti_line_track *track = &state->tables.tracks[state->track];

    vti_ids_fini(&state->callee_ids);
    state->callee_track = state->track;
    for (size_t i = 0; i < track->callee_count; i++) {
        const struct vti_line_callee_fact *callee = &track->callees[i];
        uint32_t known = state->callee_ids.count;
        int64_t at;

        if (vti_grow(&state->callee_ticks, known, &state->callee_room, sizeof(double)))
            return VTI_E_NOMEM;
        at = vti_ids_add(&state->callee_ids, (uint32_t)callee->node);
        if (at < 0)
            return (int)at;
        state->callee_ticks[at] = (at == known ? 0 : state->callee_ticks[at]) +
                                  (double)callee->total;
    }
    return 0;
}

static bool is_row(const struct vti_line_fact *line)
{
    return line->events || line->hits || line->resumes || line->time == VTI_LINE_SAMPLED;
}

static int next(void *arg)
{
    struct state *state = arg;

    for (; state->track < state->tables.track_ids.count; state->track++, state->next = 0) {
        const struct vti_line_track *track = &state->tables.tracks[state->track];

        if (state->wanted != VT_NONE && state->wanted != track_id(state))
            continue;
        while (state->next < track->node_ids.count)
            if (is_row(&track->lines[state->next++]))
                return state->callee_track == state->track || !sum_callees(state) ? 1 : VTI_E_NOMEM;
    }
    return 0;
}

static double cost_ticks(const struct state *state, const struct vti_track *track,
                         const struct vti_site *site)
{
    uint32_t language = site && !strcmp(site->unit, "c") ? VT_LANGUAGE_C_LINE
                                                         : VT_LANGUAGE_PYTHON_LINE;

    return (double)vti_line_cost(&state->tables, track->process, language).pair_millis / 1000;
}

/* Without our own cost; of one that was sampled as it was estimated. */
static double total_ns(const struct state *state, const struct vti_line_fact *line,
                       const struct vti_site *site, double scale, const struct vti_track *track)
{
    double ticks = (double)line->total;

    if (line->time == VTI_LINE_UNTIMED || line->time == VTI_LINE_SAMPLED)
        return line->time == VTI_LINE_SAMPLED ? ticks : NAN;
    if (line->open_plus_one)
        ticks += (double)(line->open_plus_one - 1);
    ticks -= (double)line->inner * cost_ticks(state, track, site);
    return ticks > 0 ? ticks * scale : 0;
}

static void time_column(double ns, struct sqlite3_context *context)
{
    if (ns >= 0) /* not of NaN: null then */
        vti_sql_result_int(context, ns < 9e18 ? (int64_t)(ns + 0.5) : INT64_MAX);
}

static void number_column(const struct state *state, const struct vti_line_fact *line,
                          const struct vti_site *site, unsigned at, struct sqlite3_context *context)
{
    const struct vti_line_track *known = &state->tables.tracks[state->track];
    const struct vti_facts *facts = &state->recording->facts;
    const struct vti_track *track = facts->tracks[known->track];
    double scale = facts->clocks.clocks[track->clock].ns_per_tick;
    int64_t callees = vti_ids_find(&state->callee_ids, (uint32_t)line->node);
    double total = total_ns(state, line, site, scale, track);

    if (at == TOTAL)
        time_column(total, context);
    else if (at == SELF && callees >= 0) /* null where callees were not watched */
        time_column(fmax(total - state->callee_ticks[callees] * scale, 0), context);
    else if (at == SUSPENDED)
        time_column((double)line->suspended * scale, context);
    else if (at == SHORTEST && line->shortest_plus_one)
        time_column((double)(line->shortest_plus_one - 1) * scale, context);
    else if (at == LONGEST && line->shortest_plus_one)
        time_column((double)line->longest * scale, context);
    else if (at == OPEN)
        vti_sql_result_int(context, line->open_plus_one != 0);
    else if (at > OPEN && line->time == VTI_LINE_SAMPLED)
        vti_sql_result_uint(context, line->inner);
}

static void column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct state *state = arg;
    const struct vti_line_track *track = &state->tables.tracks[state->track];
    const struct vti_line_fact *line = &track->lines[state->next - 1];
    const struct vti_facts *facts = &state->recording->facts;
    int64_t known = vti_ids_find(&facts->site_ids, line->site);
    const struct vti_site *site = known < 0 ? NULL : &facts->sites[known];
    const uint64_t counts[] = {line->events, line->hits, line->resumes};

    if (at == TRACK)
        vti_sql_result_id(context, track_id(state));
    else if (at == PROCESS)
        vti_sql_result_process(context, state->recording, track_id(state));
    else if (at == NAME)
        vti_sql_result_site_name(context, state->recording, line->site);
    else if (at == FUNCTION || at == SOURCE_FILE || at == LANGUAGE)
        vti_sql_result_text(context, !site               ? NULL
                                     : at == FUNCTION    ? site->function
                                     : at == SOURCE_FILE ? site->file
                                                         : site->unit);
    else if (at == TWIN && site)
        vti_sql_result_uint(context, site->twin);
    else if (at == KIND)
        vti_sql_result_text(context, !line->line        ? "function"
                                     : !line->statement ? "statement"
                                                        : "line");
    else if (at == LINE)
        vti_sql_result_uint(context, line->line ? line->line : site ? site->line : 0);
    else if (at == STATEMENT)
        vti_sql_result_uint(context, line->statement ? line->statement : line->line);
    else if (at >= EVENTS && at <= RESUMES)
        vti_sql_result_uint(context, counts[at - EVENTS]);
    else
        number_column(state, line, site, at, context);
}

const struct vti_sql_table vti_sql_lines = {
    .name = "lines",
    .about = "lines, statements and functions by thread, without our own cost",
    .columns = line_columns,
    .track_column = TRACK,
    .begin_column = VTI_SQL_NO_COLUMN,
    .site_column = VTI_SQL_NO_COLUMN,
    .open = open_state,
    .next = next,
    .column = column,
    .close = close_state,
};

/* ---- sources --------------------------------------------------------------------------------- */

static const struct vti_sql_column source_columns[] = {
    {"process", "INTEGER"}, {"file", "TEXT"}, {"bytes", "INTEGER"}, {"text", "TEXT"}, {0},
};

static int next_source(void *arg)
{
    struct state *state = arg;

    return state->next++ < state->tables.source_count;
}

static void source_column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct state *state = arg;
    const struct vti_source_fact *source = &state->tables.sources[state->next - 1];

    if (at == 0)
        vti_sql_result_id(context,
                          source->process_plus_one ? source->process_plus_one - 1 : VT_NONE);
    else if (at == 1)
        vti_sql_result_bytes(context, source->file, source->file_len);
    else if (at == 2)
        vti_sql_result_uint(context, source->text_len);
    else
        vti_sql_result_bytes(context, source->text, source->text_len);
}

const struct vti_sql_table vti_sql_sources = {
    .name = "sources",
    .about = "source files as they were when the program ran",
    .columns = source_columns,
    .track_column = VTI_SQL_NO_COLUMN,
    .begin_column = VTI_SQL_NO_COLUMN,
    .site_column = VTI_SQL_NO_COLUMN,
    .open = open_state,
    .next = next_source,
    .column = source_column,
    .close = close_state,
};
