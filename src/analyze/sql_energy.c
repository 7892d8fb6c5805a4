/* sql_energy.c - tables energy, energy_sources and thread_cpu: what the meter read, of what, and when threads used CPU time. */
#include "analyze/sql_table.h"
#include "base/error.h"
#include "model/call_tree.h"
#include "model/energy_log.h"
#include "model/line_table.h"

#include <stdlib.h>

struct state {
    vt_recording *recording;
    struct vti_energy_log log;    /* owned */
    struct vti_call_trees trees;  /* owned; of thread_cpu only, … */
    struct vti_line_tables lines; /* … likewise */
    size_t at, point,
        source; /* tree or track; and, counted from 1, the reading or point in it; a source of it */
};

static int open_log(void **result, const struct vti_sql_scan *scan)
{
    struct state *state = calloc(1, sizeof *state);

    if (!state)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    state->recording = scan->recording;
    *result = state;
    return vti_energy_log_load(&state->log, scan->recording);
}

static void close_log(void *arg)
{
    struct state *state = arg;

    if (!state)
        return;
    vti_energy_log_fini(&state->log);
    vti_call_trees_fini(&state->trees);
    vti_line_tables_fini(&state->lines);
    free(state);
}

/* ---- energy: a row for each source and reading that is known ----------------------------------- */

enum { TREE, TIME, SOURCE, NAME, PART, HOW, MICROJOULES, LOST };

static const struct vti_sql_column reading_columns[] = {
    [TREE] = {"tree", "INTEGER"},
    [TIME] = {"time_ns", "INTEGER"},
    [SOURCE] = {"source", "INTEGER"},
    [NAME] = {"name", "TEXT"},
    [PART] = {"part", "TEXT"},
    [HOW] = {"how", "TEXT"},
    [MICROJOULES] = {"microjoules", "INTEGER"},
    [LOST] = {"lost", "INTEGER"},
    [LOST + 1] = {0},
};

static const struct vti_energy_log_source *source_of(const struct state *state)
{
    const struct vti_energy_log_tree *tree = &state->log.trees[state->at];

    return state->source < tree->source_count && tree->sources[state->source].is_defined
               ? &tree->sources[state->source]
               : NULL;
}

static int next_reading(void *arg)
{
    struct state *state = arg;

    for (; state->at < state->log.tree_count; state->at++, state->point = 0) {
        const struct vti_energy_log_tree *tree = &state->log.trees[state->at];

        while (state->point <= tree->reading_count) {
            uint64_t known = state->point ? tree->readings[state->point - 1].known : 0;

            while (state->point && ++state->source < VTI_ENERGY_SOURCES_MAX)
                if (known >> state->source & 1)
                    return 1;
            state->point++;
            state->source = SIZE_MAX; /* before the first one */
        }
    }
    return 0;
}

static void reading_column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct state *state = arg;
    const struct vti_energy_log_tree *tree = &state->log.trees[state->at];
    const struct vti_energy_log_reading *reading = &tree->readings[state->point - 1];
    const struct vti_energy_log_source *source = source_of(state);
    uint64_t microjoules = 0;

    if (at == TREE) {
        vti_sql_result_id(context, tree->number);
    } else if (at == TIME) {
        vti_sql_result_int(context, reading->time_ns);
    } else if (at == SOURCE) {
        vti_sql_result_id(context, (uint32_t)state->source);
    } else if (at == MICROJOULES) {
        vti_energy_log_value(tree, reading, (uint32_t)state->source, &microjoules);
        vti_sql_result_uint(context, microjoules);
    } else if (at == LOST) {
        vti_sql_result_int(context, reading->lost >> state->source & 1);
    } else {
        vti_sql_result_text(context, !source      ? NULL
                                     : at == NAME ? source->name
                                     : at == PART ? vti_energy_part_name(source->part)
                                                  : vti_energy_how_name(source->how));
    }
}

const struct vti_sql_table vti_sql_energy = {
    .name = "energy",
    .about = "readings of the meter: microjoules so far, of each source",
    .columns = reading_columns,
    .track_column = VTI_SQL_NO_COLUMN,
    .begin_column = VTI_SQL_NO_COLUMN,
    .site_column = VTI_SQL_NO_COLUMN,
    .open = open_log,
    .next = next_reading,
    .column = reading_column,
    .close = close_log,
};

/* ---- energy_sources ----------------------------------------------------------------------------- */

static const struct vti_sql_column source_columns[] = {
    {"tree", "INTEGER"},
    {"source", "INTEGER"},
    {"name", "TEXT"},
    {"part", "TEXT"},
    {"how", "TEXT"},
    {"origin", "TEXT"},
    {"note", "TEXT"},
    {"inside", "INTEGER"},
    {"watts", "REAL"},
    {"idle_watts", "REAL"},
    {0},
};

static int next_source(void *arg)
{
    struct state *state = arg;

    for (; state->at < state->log.tree_count; state->at++, state->point = 0)
        while (state->point < state->log.trees[state->at].source_count) {
            state->source = state->point++;
            if (source_of(state))
                return 1;
        }
    return 0;
}

static void source_column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct state *state = arg;
    const struct vti_energy_log_source *source = source_of(state);
    const char *const texts[] = {source->name, vti_energy_part_name(source->part),
                                 vti_energy_how_name(source->how), source->from, source->note};

    if (at == 0)
        vti_sql_result_id(context, state->log.trees[state->at].number);
    else if (at == 1)
        vti_sql_result_id(context, (uint32_t)state->source);
    else if (at < 7)
        vti_sql_result_text(context, texts[at - 2]);
    else if (at == 7)
        vti_sql_result_id(context, source->inside);
    else
        vti_sql_result_double(context, at == 8 ? source->watts : source->idle_watts);
}

const struct vti_sql_table vti_sql_energy_sources = {
    .name = "energy_sources",
    .about = "what the meter reads, and how it knows; inside: part of another",
    .columns = source_columns,
    .track_column = VTI_SQL_NO_COLUMN,
    .begin_column = VTI_SQL_NO_COLUMN,
    .site_column = VTI_SQL_NO_COLUMN,
    .open = open_log,
    .next = next_source,
    .column = source_column,
    .close = close_log,
};

/* ---- thread_cpu --------------------------------------------------------------------------------- */

enum {
    CPU_TRACK,
    CPU_PROCESS,
    CPU_BEGIN,
    CPU_TIME,
    CPU_NS,
    CPU_RUNNING,
    CPU_SITE,
    CPU_FUNCTION,
    CPU_LINE
};

static const struct vti_sql_column cpu_columns[] = {
    [CPU_TRACK] = {"track", "INTEGER"},    [CPU_PROCESS] = {"process", "INTEGER"},
    [CPU_BEGIN] = {"begin_ns", "INTEGER"}, [CPU_TIME] = {"time_ns", "INTEGER"},
    [CPU_NS] = {"cpu_ns", "INTEGER"},      [CPU_RUNNING] = {"running", "INTEGER"},
    [CPU_SITE] = {"site", "INTEGER"},      [CPU_FUNCTION] = {"function", "TEXT"},
    [CPU_LINE] = {"line", "INTEGER"},      [CPU_LINE + 1] = {0},
};

static int open_cpu(void **result, const struct vti_sql_scan *scan)
{
    int code = open_log(result, scan);
    struct state *state = *result;

    if (!code)
        code = vti_call_trees_load(&state->trees, scan->recording);
    if (!code)
        code = vti_line_tables_load(&state->lines, scan->recording);
    return code;
}

static int next_cpu(void *arg)
{
    struct state *state = arg;

    for (; state->at < state->log.track_ids.count; state->at++, state->point = 0)
        if (state->point < state->log.tracks[state->at].count) {
            state->point++;
            return 1;
        }
    return 0;
}

static const struct vti_line_fact *line_of(const struct state *state, uint32_t track, uint32_t node)
{
    int64_t at = vti_ids_find(&state->lines.track_ids, track);
    int64_t line = at < 0 ? -1 : vti_ids_find(&state->lines.tracks[at].node_ids, node);

    return line < 0 ? NULL : &state->lines.tracks[at].lines[line];
}

/* The function of the innermost call; where only lines are recorded, that of the line. */
static uint32_t site_of(const struct state *state, uint32_t track,
                        const struct vti_cpu_point *point)
{
    const struct vti_line_fact *line = point->line ? line_of(state, track, point->line) : NULL;
    int64_t at = vti_ids_find(&state->trees.track_ids, track);
    int64_t node = at < 0 ? -1 : vti_ids_find(&state->trees.trees[at].node_ids, point->node);

    if (point->node && node >= 0)
        return state->trees.trees[at].nodes[node].site;
    return line ? line->site : VT_NONE;
}

static void cpu_column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct state *state = arg;
    const struct vti_cpu_track *cpu = &state->log.tracks[state->at];
    const struct vti_cpu_point *point = &cpu->points[state->point - 1];
    uint32_t track = state->recording->facts.tracks[cpu->track]->id;
    const struct vti_line_fact *line;
    uint32_t site;

    switch (at) {
    case CPU_TRACK:
        vti_sql_result_id(context, track);
        break;
    case CPU_PROCESS:
        vti_sql_result_process(context, state->recording, track);
        break;
    case CPU_BEGIN:
        vti_sql_result_int(context, point->begin_ns);
        break;
    case CPU_TIME:
        vti_sql_result_int(context, point->time_ns);
        break;
    case CPU_NS:
        vti_sql_result_uint(context, point->cpu_ns);
        break;
    case CPU_RUNNING:
        vti_sql_result_int(context, point->flags & VTI_CPU_RUNNING);
        break;
    case CPU_LINE:
        line = line_of(state, track, point->line);
        vti_sql_result_id(context, line ? line->line : VT_NONE);
        break;
    default:
        site = site_of(state, track, point);
        if (at == CPU_SITE || site == VT_NONE)
            vti_sql_result_id(context, site);
        else
            vti_sql_result_site_name(context, state->recording, site);
    }
}

const struct vti_sql_table vti_sql_thread_cpu = {
    .name = "thread_cpu",
    .about = "CPU time of threads, and the call and line that were open then",
    .columns = cpu_columns,
    .track_column = VTI_SQL_NO_COLUMN,
    .begin_column = VTI_SQL_NO_COLUMN,
    .site_column = VTI_SQL_NO_COLUMN,
    .open = open_cpu,
    .next = next_cpu,
    .column = cpu_column,
    .close = close_log,
};
