/*
 * lines_load.c - the lines of a recording.
 *
 * Our own cost is subtracted here: what line events cost inside of a line's time. A statement over several lines is
 * shown by its own entry, because the times of its lines overlap where the function calls itself.
 */
#include "analyze/lines.h"
#include "base/bytes.h"
#include "base/error.h"
#include "model/line_table.h"
#include "venturi/hook.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loading {
    struct vti_lines *lines;
    vt_recording *recording;
    const struct vti_lines_options *options;
    struct vti_line_tables tables;
    const struct vti_line_track *table;
    const struct vti_track *track;
    struct vti_map *statements; /* of the track: (site, line) that have an entry of their own */
    double ns_per_tick;
};

static const struct vti_site *site_of(const struct loading *loading, uint32_t id)
{
    int64_t at = vti_ids_find(&loading->recording->facts.site_ids, id);

    return at < 0 ? NULL : &loading->recording->facts.sites[at];
}

/* ---- functions ------------------------------------------------------------------------------- */

static void name_thread(const struct loading *loading, char *to, size_t room)
{
    struct vt_process_info process;
    const char *name = loading->track->name;
    uint32_t tid = loading->track->tid;

    vt_recording_process_by_id(loading->recording, loading->track->process, &process);
    if (*name)
        snprintf(to, room, "%.100s (%u) of process %u", name, tid, process.pid);
    else
        snprintf(to, room, "%u of process %u", tid, process.pid);
}

/* The function of a site on this track; NULL and *code 0: it is none. */
static struct vti_lines_function *function_of(const struct loading *loading, uint32_t id, int *code)
{
    const struct vti_site *site = site_of(loading, id);
    struct vti_lines_function function = {.process = VT_NONE, .track = VT_NONE};
    char thread[160] = "";
    int64_t at;

    *code = 0;
    if (!site || site->type != VTI_SITE_FUNCTION)
        return NULL;
    function.name = site->name;
    function.file = site->file;
    function.language = site->unit;
    function.plain = strcmp(site->unit, "c") ? "" : site->function;
    function.line = site->line;
    if (!loading->options->is_plain && strcmp(site->unit, "c") != 0)
        function.twin = site->twin; /* of C they are addresses, not functions */
    if (loading->options->is_apart) {
        function.process = loading->track->process;
        function.track = loading->track->id;
        name_thread(loading, thread, sizeof thread);
    }
    function.thread = thread;
    at = vti_lines_function(loading->lines, &function);
    *code = at < 0 ? (int)at : 0;
    return at < 0 ? NULL : &loading->lines->functions[at];
}

/* Ticks that one line event costs in the language of a function. */
static double cost_of(const struct loading *loading, const struct vti_lines_function *function)
{
    uint32_t language = !strcmp(function->language, "c") ? VT_LANGUAGE_C_LINE
                                                         : VT_LANGUAGE_PYTHON_LINE;

    if (loading->options->is_raw)
        return 0;
    return (double)vti_line_cost(&loading->tables, loading->track->process, language).pair_millis /
           1000;
}

/* Nanoseconds of a line or function, with our own cost. */
static double measured_time(const struct loading *loading, const struct vti_line_fact *fact)
{
    double ticks = (double)fact->total +
                   (fact->open_plus_one ? (double)(fact->open_plus_one - 1) : 0);

    return fact->time == VTI_LINE_SAMPLED ? (double)fact->total : ticks * loading->ns_per_tick;
}

/* The same without our own cost. */
static double time_of(const struct loading *loading, const struct vti_line_fact *fact, double cost)
{
    double own = (double)fact->inner * cost * loading->ns_per_tick;

    if (fact->time == VTI_LINE_SAMPLED)
        return (double)fact->total;
    return fmax(measured_time(loading, fact) - own, 0);
}

/* What was subtracted for the events of a line itself: no more than its time was. */
static double own_cost(const struct loading *loading, const struct vti_line_fact *fact, double cost)
{
    return fmin((double)fact->events * cost * loading->ns_per_tick,
                measured_time(loading, fact) - time_of(loading, fact, cost));
}

static void add_whole(const struct loading *loading, struct vti_lines_function *function,
                      const struct vti_line_fact *fact, double cost)
{
    double total = time_of(loading, fact, cost);

    function->calls = vti_add_capped(function->calls, fact->hits);
    if (fact->statement > function->last_line)
        function->last_line = fact->statement;
    function->excess -= measured_time(loading, fact);
    if (fact->time != VTI_LINE_UNTIMED)
        function->total = isnan(function->total) ? total : function->total + total;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool has_own_entry(const struct loading *loading, uint32_t site, uint32_t line)
{
    uint32_t key[2] = {site, line};

    return vti_map_find(loading->statements, key, sizeof key) >= 0;
}

/* The end of a `with` is told as its line reached once more: that part is in the time, but in no single execution. */
static bool has_later_parts(const struct vti_line_fact *fact)
{
    if (fact->statement == fact->line && fact->events > fact->hits)
        return true;
    return (double)fact->longest * (double)fact->hits < (double)fact->total;
}

static int add_durations(const struct loading *loading, struct vti_lines_line *line,
                         const struct vti_line_fact *fact, double cost)
{
    const struct vti_line_durations_fact *counted = vti_line_durations(loading->table, fact->node);
    double own = (double)fact->hits * cost, raw = (double)fact->total;

    if (!fact->shortest_plus_one || has_later_parts(fact))
        return 0;
    line->shortest = fmax((double)(fact->shortest_plus_one - 1) - cost, 0) * loading->ns_per_tick;
    line->longest = fmax((double)fact->longest - cost, 0) * loading->ns_per_tick;
    line->durations = calloc(1, sizeof *line->durations);
    if (!line->durations)
        return VTI_E_NOMEM;
    line->durations->ns_per_tick = loading->ns_per_tick;
    line->durations->cost_ns = cost * loading->ns_per_tick;
    if (counted)
        memcpy(line->durations->counts, counted->durations.counts, sizeof line->durations->counts);
    else /* one that has ended once */
        vti_durations_note(line->durations,
                           (double)(fact->shortest_plus_one - 1) * loading->ns_per_tick);
    if (raw > own && cost > 0)
        line->durations->remainder = fmin(line->time / loading->ns_per_tick / (raw - own), 1);
    return 0;
}

/* How far an estimate may be off: of n samples, its time divided by the root of n. */
static void add_error(struct loading *loading, struct vti_lines_line *line,
                      const struct vti_line_fact *fact)
{
    loading->lines->is_estimated = true;
    line->samples = fact->inner;
    line->error = fact->inner ? line->time / sqrt((double)fact->inner) : 0;
}

static int add_line(struct loading *loading, struct vti_lines_function *function,
                    const struct vti_line_fact *fact, double cost)
{
    bool is_folded = !loading->options->is_compat;
    bool is_own = !fact->statement;
    uint32_t at = is_folded && !is_own ? fact->statement : fact->line;
    struct vti_lines_line *line = is_own && !is_folded ? NULL : vti_lines_line(function, at);

    if (is_own && !is_folded)
        return 0;
    if (!line)
        return VTI_E_NOMEM;
    line->statement = is_own ? fact->line : fact->statement;
    line->events = fact->events;
    line->is_mixed = fact->time == VTI_LINE_MIXED;
    line->how = line->is_mixed ? VTI_LINE_TIMED : fact->time;
    loading->lines->is_timed |= line->how == VTI_LINE_TIMED;
    loading->lines->has_counts |= line->how == VTI_LINE_UNTIMED;
    loading->lines->cost_ns += own_cost(loading, fact, cost);
    if (is_folded && !is_own && has_own_entry(loading, fact->site, fact->statement))
        return 0; /* its numbers are in the statement's own entry */
    line->hits = is_folded ? fact->hits : fact->events;
    line->time = time_of(loading, fact, cost);
    line->measured = measured_time(loading, fact);
    function->excess += measured_time(loading, fact);
    line->suspended = (double)fact->suspended * loading->ns_per_tick;
    line->resumes = fact->resumes;
    if (fact->time == VTI_LINE_SAMPLED)
        add_error(loading, line, fact);
    return add_durations(loading, line, fact, cost);
}

/* Of a function of C that was timed but is known by its address only, without debug info: its file is a program. What
 * was counted or sampled has got its name another way. */
static bool is_nameless(const struct loading *loading, const struct vti_line_fact *fact)
{
    const struct vti_site *site = site_of(loading, fact->site);

    return (fact->time == VTI_LINE_TIMED || fact->time == VTI_LINE_MIXED) && site && !site->line &&
           !strcmp(site->unit, "c");
}

static int add_fact(struct loading *loading, const struct vti_line_fact *fact)
{
    struct vti_lines_function *function;
    double cost;
    int code;

    if (!fact->events && !fact->hits && !fact->resumes && fact->line &&
        fact->time != VTI_LINE_SAMPLED)
        return 0;
    if (is_nameless(loading, fact)) {
        loading->lines->has_nameless = true;
        return 0;
    }
    function = function_of(loading, fact->site, &code);
    if (!function)
        return code;
    cost = cost_of(loading, function);
    if (cost * loading->ns_per_tick > loading->lines->cost_event_ns)
        loading->lines->cost_event_ns = cost * loading->ns_per_tick;
    if (fact->line)
        return add_line(loading, function, fact, cost);
    add_whole(loading, function, fact, cost);
    return 0;
}

static int add_callee(struct loading *loading, const struct vti_line_callee_fact *fact)
{
    int64_t at = vti_ids_find(&loading->table->node_ids, (uint32_t)fact->node);
    const struct vti_line_fact *caller = at < 0 ? NULL : &loading->table->lines[at];
    const struct vti_site *site = site_of(loading, fact->site);
    struct vti_lines_callee callee = {.calls = fact->calls,
                                      .time = (double)fact->total * loading->ns_per_tick};
    struct vti_lines_function *function;
    struct vti_lines_line *line;
    int code;

    if (!caller || !site || !caller->line)
        return 0;
    function = function_of(loading, caller->site, &code);
    if (!function)
        return code;
    line = vti_lines_line(function, loading->options->is_compat || !caller->statement
                                        ? caller->line
                                        : caller->statement);
    callee.name = vti_lines_text(loading->lines, site->name, strlen(site->name));
    callee.file = vti_lines_text(loading->lines, site->file, strlen(site->file));
    callee.line = site->line;
    if (!line || !callee.name || !callee.file)
        return VTI_E_NOMEM;
    return vti_lines_callee(line, &callee);
}

/* ---- tracks and sources ---------------------------------------------------------------------- */

static int find_statements(struct loading *loading)
{
    const struct vti_line_track *table = loading->table;
    int code = vti_map_create(&loading->statements);
    int is_new;

    for (uint32_t i = 0; i < table->node_ids.count && !code; i++) {
        uint32_t key[2] = {table->lines[i].site, table->lines[i].line};

        if (table->lines[i].line && !table->lines[i].statement &&
            vti_map_add(loading->statements, key, sizeof key, &is_new) < 0)
            code = VTI_E_NOMEM;
    }
    return code;
}

/* Of a hook that measured itself, between two snapshots. */
static bool is_taken_back(const struct vti_line_fact *fact)
{
    return (fact->time == VTI_LINE_TIMED || fact->time == VTI_LINE_MIXED) &&
           !(fact->events | fact->hits | fact->total | fact->suspended | fact->open_plus_one);
}

static int add_track(struct loading *loading)
{
    const struct vti_line_track *table = loading->table;
    int code = find_statements(loading);

    for (uint32_t i = 0; i < table->node_ids.count && !code; i++)
        if (!is_taken_back(&table->lines[i]))
            code = add_fact(loading, &table->lines[i]);
    for (size_t i = 0; i < table->callee_count && !code; i++)
        code = add_callee(loading, &table->callees[i]);
    vti_map_free(loading->statements);
    loading->statements = NULL;
    return code;
}

static int add_tracks(struct loading *loading)
{
    const struct vti_facts *facts = &loading->recording->facts;
    int code = 0;

    for (uint32_t i = 0; i < loading->tables.track_ids.count && !code; i++) {
        loading->table = &loading->tables.tracks[i];
        loading->track = facts->tracks[loading->table->track];
        loading->ns_per_tick = facts->clocks.clocks[loading->track->clock].ns_per_tick;
        code = add_track(loading);
    }
    return code;
}

/* Those of single processes first: of several the last one counts, and that is the one for all. */
static int add_sources(const struct loading *loading, bool is_for_all)
{
    int code = 0;

    for (size_t i = 0; i < loading->tables.source_count && !code; i++) {
        const struct vti_source_fact *source = &loading->tables.sources[i];

        if (!source->process_plus_one == is_for_all)
            code = vti_lines_keep_source(loading->lines, source->file, source->file_len,
                                         source->text, source->text_len);
    }
    return code;
}

static void take_facts(const struct loading *loading)
{
    const struct vti_facts *facts = &loading->recording->facts;
    struct vti_lines *lines = loading->lines;
    struct vt_recording_info info;

    vt_recording_info(loading->recording, &info);
    lines->recorded_s = info.start_realtime_ns / 1000000000 + info.duration_ns / 1000000000 + 2;
    for (size_t i = 0; i < facts->loss_count; i++)
        if (facts->losses[i].reason == VTI_LOSS_LINES)
            lines->lost_lines = vti_add_capped(lines->lost_lines, facts->losses[i].events);
    for (size_t i = 0; i < loading->tables.cost_count; i++)
        lines->has_lines_on |= loading->tables.costs[i].language >= VT_LANGUAGE_PYTHON_LINE;
}

/*
 * Subtracting our cost and rounding may have left more of the lines than of the function: it is no less than they are
 * together, or where they overlap than each of them is.
 */
static void settle_totals(struct vti_lines *lines)
{
    for (size_t i = 0; i < lines->function_count; i++) {
        struct vti_lines_function *function = &lines->functions[i];
        double sum = 0, most = 0;

        for (size_t j = 0; j < function->line_count; j++) {
            sum += function->lines[j].time;
            most = fmax(most, function->lines[j].time);
        }
        if (!isnan(function->total))
            function->total = fmax(rint(function->total), function->excess < 1 ? sum : most);
    }
}

int vti_lines_load(struct vti_lines *lines, vt_recording *recording,
                   const struct vti_lines_options *options)
{
    struct loading loading = {.lines = lines, .recording = recording, .options = options};
    int code = vti_lines_init(lines, 1e-9);

    if (!code)
        code = vti_line_tables_load(&loading.tables, recording);
    if (!code)
        code = add_tracks(&loading);
    if (!code)
        code = add_sources(&loading, false);
    if (!code)
        code = add_sources(&loading, true);
    if (!code) {
        take_facts(&loading);
        code = vti_lines_finish(lines);
        settle_totals(lines);
    }
    if (!code)
        code = vti_lines_sort(lines);
    vti_line_tables_fini(&loading.tables);
    if (code)
        vti_lines_fini(lines);
    return code == VTI_E_NOMEM ? vti_fail(code, "out of memory") : code;
}
