/*
 * energy_functions.c - joules of functions and of lines: what was open when a thread was seen running.
 *
 * The callers of a function are the path that its node hangs on; a function that is on it twice counts once. Lines of C that
 * are sampled are never seen open: what a thread used beside other lines is theirs in the proportion of their samples.
 */
#include "analyze/calls_sites.h"
#include "analyze/energy_impl.h"
#include "base/error.h"
#include "model/call_tree.h"
#include "model/line_table.h"

#include <math.h>
#include <stdlib.h>

#define DEEPEST 100000 /* a path that is longer leads in a circle */

struct charging {
    struct vti_energy *energy;
    vt_recording *recording;
    struct vti_energy_table *table;
    struct vti_call_sites sites;
    struct vti_map *known; /* (function, line) to a row */
    uint64_t *stamps;      /* of each row: the charge that it was last part of; owned */
    size_t stamp_room;
    uint64_t serial;
    struct vti_joules missed; /* lines: of the track, while none was seen open */
};

/* The row of a function, or of a line of it; negative: it is none, or there is no memory (*code). */
static int64_t row_of(struct charging *charging, uint32_t site, uint32_t line, int *code)
{
    int64_t function = vti_call_sites_find(&charging->sites, site);
    uint32_t key[2] = {(uint32_t)function, line};
    struct vti_energy_row *row;
    int is_new;
    int64_t at;

    if (function == VTI_E_NOT_FOUND)
        return -1;
    if (function < 0 || vti_grow(&charging->stamps, charging->table->count, &charging->stamp_room,
                                 sizeof *charging->stamps))
        goto no_memory;
    at = vti_map_add(charging->known, key, sizeof key, &is_new);
    if (at < 0)
        goto no_memory;
    if (is_new) {
        row = vti_energy_table_add(charging->table);
        if (!row)
            goto no_memory;
        row->name = charging->energy->calls.functions[function].name;
        row->file = charging->energy->calls.functions[function].file;
        row->line = line ? line : charging->energy->calls.functions[function].line;
        row->id = (uint32_t)function;
        charging->stamps[at] = 0;
    }
    return at;
no_memory:
    *code = vti_fail(VTI_E_NOMEM, "out of memory");
    return -1;
}

static void charge_row(struct charging *charging, int64_t at, const struct vti_joules *cost,
                       bool is_innermost)
{
    struct vti_energy_row *row = &charging->table->rows[at];

    if (is_innermost) {
        vti_joules_add(&row->self, cost);
        row->seen++;
    }
    if (charging->stamps[at] == charging->serial)
        return;
    charging->stamps[at] = charging->serial;
    vti_joules_add(&row->total, cost);
}

/* From a node up to its root: functions only; what is none is stepped over. */
static int charge_path(struct charging *charging, const struct vti_call_tree *tree, uint32_t node,
                       const struct vti_joules *cost)
{
    int64_t next = tree ? vti_ids_find(&tree->node_ids, node) : -1;
    bool is_innermost = true;
    int code = 0;

    charging->serial++;
    for (unsigned depth = 0; next >= 0 && depth < DEEPEST && !code; depth++) {
        const struct vti_call_fact *fact = &tree->nodes[next];
        int64_t at = row_of(charging, fact->site, 0, &code);

        if (at >= 0) {
            charge_row(charging, at, cost, is_innermost);
            is_innermost = false;
        }
        next = fact->parent ? vti_ids_find(&tree->node_ids, fact->parent) : -1;
    }
    if (is_innermost)
        vti_joules_add(&charging->table->elsewhere, cost);
    return code;
}

static int charge_line(struct charging *charging, const struct vti_line_track *lines, uint32_t node,
                       const struct vti_joules *cost)
{
    int64_t found = lines && node ? vti_ids_find(&lines->node_ids, node) : -1;
    int64_t at = -1;
    int code = 0;

    charging->serial++;
    if (found >= 0 && lines->lines[found].line) {
        const struct vti_line_fact *fact = &lines->lines[found];

        at = row_of(charging, fact->site, fact->statement ? fact->statement : fact->line, &code);
    }
    if (at >= 0)
        charge_row(charging, at, cost, true);
    else
        vti_joules_add(&charging->missed, cost);
    return code;
}

/* ---- lines of C ------------------------------------------------------------------------------ */

static bool is_sampled(const struct vti_line_fact *fact)
{
    return fact->time == VTI_LINE_SAMPLED && fact->line && fact->total &&
           fact->longest <= fact->total;
}

static struct vti_joules part_of(const struct vti_joules *whole, double part)
{
    return (struct vti_joules){whole->full * part, whole->dynamic * part, whole->cpu_s * part};
}

static int spread_to(struct charging *charging, const struct vti_line_fact *fact, double whole_s)
{
    struct vti_joules self = part_of(&charging->missed, (double)fact->longest / 1e9 / whole_s);
    struct vti_joules total = part_of(&charging->missed, (double)fact->total / 1e9 / whole_s);
    struct vti_joules less = part_of(&self, -1);
    struct vti_energy_row *row;
    int code = 0;
    int64_t at = row_of(charging, fact->site, fact->line, &code);

    if (at < 0)
        return code;
    row = &charging->table->rows[at];
    vti_joules_add(&row->self, &self);
    vti_joules_add(&row->total, &total);
    vti_joules_add(&charging->table->elsewhere, &less);
    row->seen += (uint64_t)((double)fact->inner * (double)fact->longest / (double)fact->total);
    charging->table->is_sampled = true;
    return 0;
}

/* What was used while no line was seen open; without samples of any it stays elsewhere. */
static int spread_missed(struct charging *charging, const struct vti_line_track *lines)
{
    uint32_t count = lines ? lines->node_ids.count : 0;
    double sampled_s = 0;
    int code = 0;

    vti_joules_add(&charging->table->elsewhere, &charging->missed);
    for (uint32_t i = 0; i < count; i++)
        if (is_sampled(&lines->lines[i]))
            sampled_s += (double)lines->lines[i].longest / 1e9;
    for (uint32_t i = 0; i < count && sampled_s > 0 && !code; i++)
        if (is_sampled(&lines->lines[i]))
            code = spread_to(charging, &lines->lines[i], fmax(sampled_s, charging->missed.cpu_s));
    charging->missed = (struct vti_joules){0};
    return code;
}

/* ---- tracks ---------------------------------------------------------------------------------- */

static int charging_begin(struct charging *charging, struct vti_energy *energy,
                          vt_recording *recording, enum vti_energy_by by)
{
    *charging = (struct charging){.energy = energy,
                                  .recording = recording,
                                  .table = &energy->tables[by],
                                  .sites = {.calls = &energy->calls, .recording = recording}};
    return vti_map_create(&charging->known) ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}

static void charging_end(struct charging *charging)
{
    vti_call_sites_fini(&charging->sites);
    vti_map_free(charging->known);
    free(charging->stamps);
}

/* Charges all points of a track: to paths of `tree`, or if `is_line` to `lines`. */
static int charge_track(struct charging *charging, const struct vti_cpu_track *track,
                        const struct vti_call_tree *tree, const struct vti_line_track *lines,
                        bool is_line)
{
    const struct vti_energy_tree *meter = vti_energy_tree_of(charging->energy, charging->recording,
                                                             track->track);
    int code = 0;

    for (size_t i = 0; i < track->count && meter && !code; i++) {
        const struct vti_cpu_point *point = &track->points[i];
        struct vti_joules cost = vti_energy_cost(meter, point);
        bool is_seen = point->flags & VTI_CPU_RUNNING;

        if (is_line)
            code = charge_line(charging, lines, is_seen ? point->line : 0, &cost);
        else
            code = charge_path(charging, is_seen ? tree : NULL, point->node, &cost);
    }
    return code || !is_line ? code : spread_missed(charging, lines);
}

int vti_energy_load_functions(struct vti_energy *energy, vt_recording *recording)
{
    struct vti_call_trees trees = {0};
    struct charging charging;
    int code = charging_begin(&charging, energy, recording, VTI_ENERGY_BY_FUNCTION);

    if (!code)
        code = vti_call_trees_load(&trees, recording);
    charging.table->has_any = trees.track_ids.count > 0;
    for (size_t i = 0; i < energy->log.track_ids.count && !code; i++) {
        const struct vti_cpu_track *track = &energy->log.tracks[i];
        int64_t at = vti_ids_find(&trees.track_ids, recording->facts.tracks[track->track]->id);

        code = charge_track(&charging, track, at < 0 ? NULL : &trees.trees[at], NULL, false);
    }
    vti_call_trees_fini(&trees);
    charging_end(&charging);
    return code;
}

int vti_energy_load_lines(struct vti_energy *energy, vt_recording *recording)
{
    struct vti_line_tables tables = {0};
    struct charging charging;
    int code = charging_begin(&charging, energy, recording, VTI_ENERGY_BY_LINE);

    if (!code)
        code = vti_line_tables_load(&tables, recording);
    charging.table->has_any = tables.track_ids.count > 0;
    for (size_t i = 0; i < energy->log.track_ids.count && !code; i++) {
        const struct vti_cpu_track *track = &energy->log.tracks[i];
        int64_t at = vti_ids_find(&tables.track_ids, recording->facts.tracks[track->track]->id);

        code = charge_track(&charging, track, NULL, at < 0 ? NULL : &tables.tracks[at], true);
    }
    vti_line_tables_fini(&tables);
    charging_end(&charging);
    return code;
}
