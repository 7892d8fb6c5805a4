/*
 * energy_log.c - the ENERGY and THREAD_CPU blocks of a recording, in order of time.
 *
 * Everything in them is untrusted: numbers index nothing, times may be in any order.
 */
#include "model/energy_log.h"

#include "base/error.h"
#include "model/fact_blocks.h"

#include <stdlib.h>
#include <string.h>

struct load {
    struct vti_energy_log *log;
    vt_recording *recording;
};

/* ---- ENERGY ---------------------------------------------------------------------------------- */

static struct vti_energy_log_tree *tree_of(struct vti_energy_log *log, uint32_t number)
{
    int64_t at;

    if (vti_grow(&log->trees, log->tree_count, &log->tree_room, sizeof *log->trees))
        return NULL;
    at = vti_ids_add(&log->tree_ids, number);
    if (at < 0)
        return NULL;
    if ((size_t)at == log->tree_count) {
        log->trees[at] = (struct vti_energy_log_tree){.number = number};
        log->tree_count++;
    }
    return &log->trees[at];
}

static char *text_of(struct vti_bytes bytes)
{
    char *text = malloc(bytes.len + 1);

    for (size_t i = 0; text && i < bytes.len; i++)
        text[i] = bytes.data[i] ? bytes.data[i] : '?';
    if (text)
        text[bytes.len] = 0;
    return text;
}

static void free_source(struct vti_energy_log_source *source)
{
    free(source->name);
    free(source->from);
    free(source->note);
}

static int take_source(struct vti_energy_log_tree *tree, const struct vti_energy_fact *fact)
{
    struct vti_energy_log_source *source;
    uint32_t inside = fact->inside_plus_one ? fact->inside_plus_one - 1 : VT_NONE;

    if (!tree->sources)
        tree->sources = calloc(VTI_ENERGY_SOURCES_MAX, sizeof *tree->sources);
    if (!tree->sources)
        return VTI_E_NOMEM;
    source = &tree->sources[fact->number];
    free_source(source);
    *source = (struct vti_energy_log_source){
        .is_defined = true,
        .part = fact->part,
        .how = fact->how,
        .inside = inside == fact->number ? VT_NONE : inside, /* in none but itself */
        .watts = (double)fact->milliwatts / 1e3,
        .idle_watts = (double)fact->idle_milliwatts / 1e3,
        .name = text_of(fact->name),
        .from = text_of(fact->from),
        .note = text_of(fact->note)};
    if (tree->source_count <= fact->number)
        tree->source_count = fact->number + 1;
    return source->name && source->from && source->note ? 0 : VTI_E_NOMEM;
}

static int take_reading(struct vti_energy_log_tree *tree, const struct vti_energy_fact *fact,
                        uint64_t ticks)
{
    if (vti_grow(&tree->readings, tree->reading_count, &tree->reading_room, sizeof *tree->readings))
        return VTI_E_NOMEM;
    tree->readings[tree->reading_count++] = (struct vti_energy_log_reading){
        .ticks = ticks, .known = fact->known, .lost = fact->lost, .first = tree->value_count};
    for (unsigned i = 0; i < VTI_ENERGY_SOURCES_MAX; i++) {
        if (!(fact->known >> i & 1))
            continue;
        if (vti_grow(&tree->values, tree->value_count, &tree->value_room, sizeof *tree->values))
            return VTI_E_NOMEM;
        tree->values[tree->value_count++] = fact->microjoules[i];
    }
    return 0;
}

static int take_note(struct vti_energy_log_tree *tree, const struct vti_energy_fact *fact)
{
    char *text;

    /* Files of a spool say it again, and are merged. */
    for (size_t i = 0; i < tree->note_count; i++)
        if (tree->notes[i].about == fact->about && strlen(tree->notes[i].text) == fact->text.len &&
            !memcmp(tree->notes[i].text, fact->text.data, fact->text.len))
            return 0;
    if (vti_grow(&tree->notes, tree->note_count, &tree->note_room, sizeof *tree->notes))
        return VTI_E_NOMEM;
    text = text_of(fact->text);
    if (!text)
        return VTI_E_NOMEM;
    tree->notes[tree->note_count++] = (struct vti_energy_log_note){fact->about, text};
    return 0;
}

static int take_fact(struct vti_energy_log *log, const struct vti_energy_fact *fact, uint64_t ticks)
{
    struct vti_energy_log_tree *tree = tree_of(log, fact->tree);

    if (!tree)
        return VTI_E_NOMEM;
    switch (fact->type) {
    case VTI_ENERGY_FACT_SOURCE:
        return take_source(tree, fact);
    case VTI_ENERGY_FACT_READING:
        return take_reading(tree, fact, ticks);
    case VTI_ENERGY_FACT_NOTE:
        return take_note(tree, fact);
    case VTI_ENERGY_FACT_BASELINE:
        tree->has_baseline = true;
        tree->rest_watts = (double)fact->microwatts / 1e6;
        tree->rest_how = fact->how;
        tree->rest_for_ns = fact->for_ns;
        return 0;
    default:
        tree->host = fact->host;
        tree->domain = fact->domain;
        tree->cpus = fact->cpus;
        tree->memory_bytes = fact->memory_bytes;
        return 0;
    }
}

static int take_energy(struct load *load, const struct vti_block_header *header,
                       struct vti_reader *in)
{
    struct vti_energy_fact fact;
    uint64_t ticks = 0;
    int code = 0;

    for (uint32_t i = 0; i < header->count && !code; i++) {
        if (!vti_energy_fact_read(in, &fact))
            return VTI_E_DAMAGED;
        ticks = vti_add_capped(ticks, fact.ticks);
        if (fact.type >= VTI_ENERGY_FACT_SOURCE && fact.type <= VTI_ENERGY_FACT_MACHINE)
            code = take_fact(load->log, &fact, ticks);
    }
    return code;
}

/* ---- THREAD_CPU ------------------------------------------------------------------------------ */

static struct vti_cpu_track *track_of(struct load *load, uint32_t id)
{
    struct vti_energy_log *log = load->log;
    uint32_t known = log->track_ids.count;
    int64_t index;
    int64_t at;

    if (vti_grow(&log->tracks, known, &log->track_room, sizeof *log->tracks) ||
        !vti_facts_track(&load->recording->facts, id))
        return NULL;
    at = vti_ids_add(&log->track_ids, id);
    index = vti_ids_find(&load->recording->facts.track_ids, id);
    if (at < 0 || index < 0)
        return NULL;
    if (at == known)
        log->tracks[at] = (struct vti_cpu_track){.track = (uint32_t)index};
    return &log->tracks[at];
}

/* Times are ticks until all clocks are known. */
static int take_cpu(struct load *load, const struct vti_block_header *header, struct vti_reader *in)
{
    struct vti_cpu_track *track = track_of(load, header->owner);
    struct vti_cpu_fact fact;
    uint64_t ticks = 0;

    if (!track)
        return VTI_E_NOMEM;
    for (uint32_t i = 0; i < header->count; i++) {
        if (!vti_cpu_fact_read(in, &fact))
            return VTI_E_DAMAGED;
        if (vti_grow(&track->points, track->count, &track->room, sizeof *track->points))
            return VTI_E_NOMEM;
        ticks = vti_add_capped(ticks, fact.ticks);
        track->points[track->count++] = (struct vti_cpu_point){
            .begin_ns = (int64_t)(ticks > fact.span ? ticks - fact.span : 0),
            .time_ns = (int64_t)ticks,
            .cpu_ns = fact.cpu_ns,
            .flags = fact.flags,
            .node = fact.node,
            .line = fact.line};
    }
    return 0;
}

/* ---- times ----------------------------------------------------------------------------------- */

static int by_time(const void *left, const void *right)
{
    const struct vti_energy_log_reading *a = left;
    const struct vti_energy_log_reading *b = right;

    return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

static int by_point_time(const void *left, const void *right)
{
    const struct vti_cpu_point *a = left;
    const struct vti_cpu_point *b = right;

    return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

static void resolve_tree(struct vti_energy_log_tree *tree, const struct vti_clocks *clocks)
{
    int64_t at = vti_ids_find(&clocks->ids, tree->domain);
    bool is_sorted = true;

    for (size_t i = 0; i < tree->reading_count; i++) {
        struct vti_energy_log_reading *reading = &tree->readings[i];

        reading->time_ns = vti_clock_ns(&clocks->clocks[at < 0 ? 0 : at], reading->ticks);
        is_sorted &= !i || reading[-1].time_ns <= reading->time_ns;
    }
    if (!is_sorted)
        qsort(tree->readings, tree->reading_count, sizeof *tree->readings, by_time);
}

static void resolve_track(struct vti_cpu_track *track, vt_recording *recording)
{
    struct vti_clock *clock = vti_track_clock(recording, recording->facts.tracks[track->track]);
    bool is_sorted = true;

    for (size_t i = 0; i < track->count; i++) {
        struct vti_cpu_point *point = &track->points[i];

        point->begin_ns = vti_clock_ns(clock, (uint64_t)point->begin_ns);
        point->time_ns = vti_clock_ns(clock, (uint64_t)point->time_ns);
        is_sorted &= !i || point[-1].time_ns <= point->time_ns;
    }
    if (!is_sorted)
        qsort(track->points, track->count, sizeof *track->points, by_point_time);
}

/* ---- what others call ------------------------------------------------------------------------ */

static int take_block(const struct vti_block_header *header, const uint8_t *payload, void *arg)
{
    struct load *load = arg;
    struct vti_reader in;
    int code = 0;

    vti_reader_init(&in, payload, header->payload_bytes);
    if (header->kind == VTI_ENERGY)
        code = take_energy(load, header, &in);
    else if (header->kind == VTI_THREAD_CPU)
        code = take_cpu(load, header, &in);
    if (code != VTI_E_DAMAGED)
        return code;
    vti_damage_note_block(load->recording, header, payload);
    return 0;
}

int vti_energy_log_load(struct vti_energy_log *log, vt_recording *recording)
{
    struct load load = {log, recording};
    int code;

    memset(log, 0, sizeof *log);
    code = vti_fact_blocks(recording, take_block, &load);
    if (code) {
        vti_energy_log_fini(log);
        return vti_fail(code, "%s: out of memory", recording->path);
    }
    for (size_t i = 0; i < log->tree_count; i++)
        resolve_tree(&log->trees[i], &recording->facts.clocks);
    for (uint32_t i = 0; i < log->track_ids.count; i++)
        resolve_track(&log->tracks[i], recording);
    return 0;
}

void vti_energy_log_fini(struct vti_energy_log *log)
{
    for (size_t i = 0; i < log->tree_count; i++) {
        struct vti_energy_log_tree *tree = &log->trees[i];

        for (uint32_t k = 0; k < tree->source_count; k++)
            free_source(&tree->sources[k]);
        for (size_t k = 0; k < tree->note_count; k++)
            free(tree->notes[k].text);
        free(tree->sources);
        free(tree->notes);
        free(tree->readings);
        free(tree->values);
    }
    for (uint32_t i = 0; i < log->track_ids.count; i++)
        free(log->tracks[i].points);
    vti_ids_fini(&log->tree_ids);
    vti_ids_fini(&log->track_ids);
    free(log->trees);
    free(log->tracks);
    memset(log, 0, sizeof *log);
}

bool vti_energy_log_value(const struct vti_energy_log_tree *tree,
                          const struct vti_energy_log_reading *reading, uint32_t number,
                          uint64_t *microjoules)
{
    uint64_t below;

    if (number >= VTI_ENERGY_SOURCES_MAX || !(reading->known >> number & 1))
        return false;
    below = reading->known & (((uint64_t)1 << number) - 1);
    *microjoules = tree->values[reading->first + (size_t)__builtin_popcountll(below)];
    return true;
}

const struct vti_cpu_track *vti_cpu_track_of(const struct vti_energy_log *log,
                                             const vt_recording *recording, uint32_t track)
{
    int64_t at = vti_ids_find(&log->track_ids, recording->facts.tracks[track]->id);

    return at < 0 ? NULL : &log->tracks[at];
}
