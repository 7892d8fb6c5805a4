/*
 * energy_spans.c - joules of spans and of tasks: those of the CPU time that was used while they were open on the thread.
 *
 * Spans come in the order in which they end, so that of all that were open at a moment the first is the innermost.
 */
#include "analyze/energy_impl.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Points [first, end) of a track that are in a row's total already. */
struct covered {
    size_t first, end;
    size_t below; /* index plus one of the one before it of the same row and track; 0: none */
};

/* One track of the log. */
struct lane {
    struct vti_joules *before; /* owned: what was seen before each point, one more than points */
    size_t *next;              /* owned: the first point from there on without an innermost one */
};

struct charging {
    struct vti_energy *energy;
    vt_recording *recording;
    struct vti_energy_table *table;
    struct vti_ids rows;     /* by site */
    struct vti_map *tops;    /* (track, row) to an index in … */
    size_t *top;             /* … this: owned; the newest covered, plus one */
    struct covered *covered; /* owned */
    size_t top_room, covered_count, covered_room;
    struct lane *lanes; /* owned; of each track of the log */
};

static int no_memory(void)
{
    return vti_fail(VTI_E_NOMEM, "out of memory");
}

/* The first point at or after a time. */
static size_t point_from(const struct vti_cpu_track *track, int64_t time_ns)
{
    size_t low = 0;
    size_t high = track->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (track->points[middle].time_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t row_of(struct charging *charging, uint32_t site)
{
    struct vti_energy_row *row;
    struct vt_site_info info;
    int64_t at = vti_ids_add(&charging->rows, site);

    if (at >= 0 && (size_t)at == charging->table->count) {
        row = vti_energy_table_add(charging->table);
        if (!row)
            return VTI_E_NOMEM;
        vt_recording_site_by_id(charging->recording, site, &info);
        row->name = info.name;
        row->file = info.file;
        row->line = info.line;
        row->id = site;
    }
    return at;
}

static struct vti_joules between(const struct lane *lane, size_t first, size_t end)
{
    const struct vti_joules *a = &lane->before[first];
    const struct vti_joules *b = &lane->before[end];

    return (struct vti_joules){b->full - a->full, b->dynamic - a->dynamic, b->cpu_s - a->cpu_s};
}

/* All of it but what ones of the same name inside of it brought already. */
static int charge_total(struct charging *charging, size_t at, int64_t row, size_t first, size_t end)
{
    uint32_t key[2] = {(uint32_t)at, (uint32_t)row};
    struct vti_joules *total = &charging->table->rows[row].total;
    struct vti_joules cost = between(&charging->lanes[at], first, end);
    int is_new;
    int64_t slot = vti_map_add(charging->tops, key, sizeof key, &is_new);

    if (slot < 0 ||
        vti_grow(&charging->top, (size_t)slot, &charging->top_room, sizeof *charging->top) ||
        vti_grow(&charging->covered, charging->covered_count, &charging->covered_room,
                 sizeof *charging->covered))
        return no_memory();
    if (is_new)
        charging->top[slot] = 0;
    while (charging->top[slot] && charging->covered[charging->top[slot] - 1].first >= first) {
        const struct covered *inner = &charging->covered[charging->top[slot] - 1];
        struct vti_joules had = between(&charging->lanes[at], inner->first, inner->end);

        cost.full -= had.full;
        cost.dynamic -= had.dynamic;
        cost.cpu_s -= had.cpu_s;
        charging->top[slot] = inner->below;
    }
    vti_joules_add(total, &cost);
    charging->covered[charging->covered_count++] = (struct covered){first, end,
                                                                    charging->top[slot]};
    charging->top[slot] = charging->covered_count;
    return 0;
}

/* The first point from there on that has no innermost one. */
static size_t next_free(struct lane *lane, size_t from)
{
    size_t found = from;

    while (lane->next[found] != found)
        found = lane->next[found];
    while (lane->next[from] != found) {
        size_t further = lane->next[from];

        lane->next[from] = found;
        from = further;
    }
    return found;
}

/* Charges what a thread used in [begin, end) to a site. `at` is the track's index in the log. */
static int charge(struct charging *charging, size_t at, uint32_t site, int64_t begin_ns,
                  int64_t end_ns)
{
    const struct vti_cpu_track *track = &charging->energy->log.tracks[at];
    struct lane *lane = &charging->lanes[at];
    size_t first = point_from(track, begin_ns);
    size_t end = first;
    int64_t row;

    if (first == track->count || track->points[first].time_ns >= end_ns)
        return 0;
    end = point_from(track, end_ns);
    if (!(between(lane, first, end).cpu_s > 0))
        return 0;
    row = row_of(charging, site);
    if (row < 0)
        return no_memory();
    for (size_t i = next_free(lane, first); i < end; i = next_free(lane, i)) {
        struct vti_joules cost = between(lane, i, i + 1);

        lane->next[i] = i + 1;
        charging->table->rows[row].seen += cost.cpu_s > 0;
        vti_joules_add(&charging->table->rows[row].self, &cost);
    }
    return charge_total(charging, at, row, first, end);
}

/* What nothing of this kind was open for. */
static void leave_rest(struct charging *charging)
{
    for (size_t at = 0; at < charging->energy->log.track_ids.count; at++) {
        const struct vti_cpu_track *track = &charging->energy->log.tracks[at];
        const struct vti_energy_tree *meter = vti_energy_tree_of(charging->energy,
                                                                 charging->recording, track->track);

        for (size_t i = 0; i < track->count && meter; i++) {
            bool is_seen = track->points[i].flags & VTI_CPU_RUNNING;
            struct vti_joules cost;

            if (is_seen && charging->lanes[at].next[i] != i)
                continue;
            cost = vti_energy_cost(meter, &track->points[i]);
            vti_joules_add(&charging->table->elsewhere, &cost);
        }
    }
}

static int make_lane(struct charging *charging, size_t at)
{
    const struct vti_cpu_track *track = &charging->energy->log.tracks[at];
    const struct vti_energy_tree *meter = vti_energy_tree_of(charging->energy, charging->recording,
                                                             track->track);
    struct lane *lane = &charging->lanes[at];

    lane->before = calloc(track->count + 1, sizeof *lane->before);
    lane->next = calloc(track->count + 1, sizeof *lane->next);
    if (!lane->before || !lane->next)
        return no_memory();
    for (size_t i = 0; i < track->count; i++) {
        lane->before[i + 1] = lane->before[i];
        lane->next[i] = i;
        if (meter && track->points[i].flags & VTI_CPU_RUNNING) {
            struct vti_joules cost = vti_energy_cost(meter, &track->points[i]);

            vti_joules_add(&lane->before[i + 1], &cost);
        }
    }
    lane->next[track->count] = track->count;
    return 0;
}

static int begin(struct charging *charging, struct vti_energy *energy, vt_recording *recording,
                 enum vti_energy_by by)
{
    size_t count = energy->log.track_ids.count;
    int code = 0;

    *charging = (struct charging){
        .energy = energy, .recording = recording, .table = &energy->tables[by]};
    charging->lanes = calloc(count + 1, sizeof *charging->lanes);
    if (!charging->lanes || vti_map_create(&charging->tops))
        return no_memory();
    for (size_t i = 0; i < count && !code; i++)
        code = make_lane(charging, i);
    return code;
}

static void end(struct charging *charging)
{
    for (size_t i = 0; charging->lanes && i < charging->energy->log.track_ids.count; i++) {
        free(charging->lanes[i].before);
        free(charging->lanes[i].next);
    }
    free(charging->lanes);
    free(charging->top);
    free(charging->covered);
    vti_ids_fini(&charging->rows);
    vti_map_free(charging->tops);
}

static int take_span(const struct vt_span *span, void *arg)
{
    struct charging *charging = arg;
    int64_t at = vti_ids_find(&charging->energy->log.track_ids, span->track);

    charging->table->has_any = true;
    /* An async one says nothing of what the thread did meanwhile. */
    return at < 0 || span->async_id
               ? 0
               : charge(charging, (size_t)at, span->site, span->begin_ns, span->end_ns);
}

int vti_energy_load_spans(struct vti_energy *energy, vt_recording *recording)
{
    struct charging charging;
    int code = begin(&charging, energy, recording, VTI_ENERGY_BY_SPAN);

    charging.table->has_any = !energy->log.track_ids.count; /* not looked for: nobody to charge */
    if (!code && energy->log.track_ids.count)
        code = vt_recording_spans(recording, NULL, take_span, &charging);
    if (!code)
        leave_rest(&charging);
    end(&charging);
    return code;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* The track of a worker: the thread of that number, in the process of that one. */
static int64_t track_of(const struct charging *charging, const struct vti_task_worker *worker)
{
    const struct vti_facts *facts = &charging->recording->facts;

    for (size_t i = 0; i < charging->energy->log.track_ids.count; i++) {
        const struct vti_track *track = facts->tracks[charging->energy->log.tracks[i].track];
        struct vt_process_info process;

        if (track->tid != worker->tid)
            continue;
        vt_recording_process_by_id(charging->recording, track->process, &process);
        if (!worker->pid || process.pid == worker->pid)
            return (int64_t)i;
    }
    return -1;
}

static int charge_tasks(struct charging *charging, const struct vti_tasks *tasks)
{
    int64_t start_ns = charging->recording->facts.clocks.start_realtime_ns;
    int64_t *tracks = calloc(tasks->worker_count + 1, sizeof *tracks);
    int code = tracks ? 0 : no_memory();

    for (uint32_t i = 0; i < tasks->worker_count && !code; i++)
        tracks[i] = track_of(charging, &tasks->workers[i]);
    for (uint32_t i = 0; i < tasks->task_count && !code; i++) {
        const struct vti_task *task = &tasks->tasks[i];
        int64_t begin_ns;
        int64_t end_ns;

        if (task->worker >= tasks->worker_count || tracks[task->worker] < 0 || !task->start_ns ||
            __builtin_sub_overflow(task->start_ns, start_ns, &begin_ns) ||
            __builtin_sub_overflow(task->end_ns, start_ns, &end_ns))
            continue;
        code = charge(charging, (size_t)tracks[task->worker], task->site, begin_ns, end_ns);
    }
    free(tracks);
    return code;
}

int vti_energy_load_tasks(struct vti_energy *energy, vt_recording *recording)
{
    struct vti_tasks tasks = {0};
    struct charging charging;
    int code = begin(&charging, energy, recording, VTI_ENERGY_BY_TASK);

    if (!code)
        code = vti_tasks_load(recording, &tasks);
    charging.table->has_any = tasks.task_count > 0;
    if (!code)
        code = charge_tasks(&charging, &tasks);
    if (!code && charging.table->count)
        leave_rest(&charging);
    vti_tasks_free(&tasks);
    end(&charging);
    return code;
}
