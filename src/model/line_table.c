/* line_table.c - the lines of functions of a recording and its sources, as they stand in the file. */
#include "model/line_table.h"

#include "base/error.h"
#include "model/fact_blocks.h"

#include <stdlib.h>
#include <string.h>

struct load {
    struct vti_line_tables *tables;
    vt_recording *recording;
};

static struct vti_line_track *track_of(struct load *load, uint32_t track)
{
    struct vti_line_tables *tables = load->tables;
    uint32_t known = tables->track_ids.count;
    int64_t index;
    int64_t at;

    if (vti_grow(&tables->tracks, known, &tables->track_room, sizeof *tables->tracks) ||
        !vti_facts_track(&load->recording->facts, track))
        return NULL;
    at = vti_ids_add(&tables->track_ids, track);
    index = vti_ids_find(&load->recording->facts.track_ids, track);
    if (at < 0 || index < 0)
        return NULL;
    if (at == known)
        tables->tracks[at] = (struct vti_line_track){.track = (uint32_t)index};
    return &tables->tracks[at];
}

static int take_line(struct vti_line_track *track, struct vti_reader *in)
{
    struct vti_line_fact fact;
    int64_t at;

    if (!vti_line_read(in, &fact))
        return VTI_E_DAMAGED;
    if (vti_grow(&track->lines, track->node_ids.count, &track->line_room, sizeof *track->lines))
        return VTI_E_NOMEM;
    at = vti_ids_add(&track->node_ids, (uint32_t)fact.node);
    if (at >= 0)
        track->lines[at] = fact;
    return at < 0 ? (int)at : 0;
}

static int take_durations(struct vti_line_track *track, struct vti_reader *in)
{
    struct vti_line_durations_fact fact;
    int64_t at;

    if (!vti_line_durations_read(in, &fact))
        return VTI_E_DAMAGED;
    if (vti_grow(&track->durations, track->duration_ids.count, &track->duration_room,
                 sizeof *track->durations))
        return VTI_E_NOMEM;
    at = vti_ids_add(&track->duration_ids, (uint32_t)fact.node);
    if (at >= 0)
        track->durations[at] = fact;
    return at < 0 ? (int)at : 0;
}

/* The place of a key in a map that is made when it is first needed. */
static int64_t place_of(struct vti_map **map, const void *key, size_t len)
{
    int code = *map ? 0 : vti_map_create(map);
    int is_new;

    return code ? code : vti_map_add(*map, key, len, &is_new);
}

static int take_callee(struct vti_line_track *track, struct vti_reader *in)
{
    struct vti_line_callee_fact fact;
    uint64_t key[2];
    int64_t at;

    if (!vti_line_callee_read(in, &fact))
        return VTI_E_DAMAGED;
    if (vti_grow(&track->callees, track->callee_count, &track->callee_room, sizeof *track->callees))
        return VTI_E_NOMEM;
    key[0] = fact.node;
    key[1] = fact.site;
    at = place_of(&track->callee_ids, key, sizeof key);
    if (at < 0)
        return (int)at;
    track->callees[at] = fact;
    track->callee_count = vti_map_count(track->callee_ids);
    return 0;
}

static int take_cost(struct vti_line_tables *tables, struct vti_reader *in)
{
    struct vti_cost_fact fact;

    if (!vti_cost_read(in, &fact))
        return VTI_E_DAMAGED;
    if (vti_grow(&tables->costs, tables->cost_count, &tables->cost_room, sizeof *tables->costs))
        return VTI_E_NOMEM;
    tables->costs[tables->cost_count++] = fact;
    return 0;
}

static void source_key(struct vti_buf *key, uint32_t process_plus_one, const char *file, size_t len)
{
    vti_buf_clear(key);
    vti_buf_add_varint(key, process_plus_one);
    vti_buf_add(key, file, len);
}

static int take_source(struct vti_line_tables *tables, struct vti_reader *in)
{
    struct vti_source_fact fact;
    struct vti_buf key = {0};
    int64_t at;

    if (!vti_source_read(in, &fact))
        return VTI_E_DAMAGED;
    if (vti_grow(&tables->sources, tables->source_count, &tables->source_room,
                 sizeof *tables->sources))
        return VTI_E_NOMEM;
    source_key(&key, fact.process_plus_one, fact.file, fact.file_len);
    at = key.failed ? VTI_E_NOMEM : place_of(&tables->source_ids, key.data, key.len);
    vti_buf_fini(&key);
    if (at < 0)
        return (int)at;
    tables->sources[at] = fact;
    tables->source_count = vti_map_count(tables->source_ids);
    return 0;
}

static int take_entry(struct load *load, unsigned kind, struct vti_line_track *track,
                      struct vti_reader *in)
{
    switch (kind) {
    case VTI_LINES:
        return take_line(track, in);
    case VTI_LINE_DURATIONS:
        return take_durations(track, in);
    case VTI_LINE_CALLEES:
        return take_callee(track, in);
    case VTI_COSTS:
        return take_cost(load->tables, in);
    default:
        return take_source(load->tables, in);
    }
}

static int take_block(const struct vti_block_header *header, const uint8_t *payload, void *arg)
{
    struct load *load = arg;
    struct vti_line_track *track = NULL;
    struct vti_reader in;
    int code = 0;
    bool is_owned = header->kind == VTI_LINES || header->kind == VTI_LINE_DURATIONS ||
                    header->kind == VTI_LINE_CALLEES;

    if (!is_owned && header->kind != VTI_COSTS && header->kind != VTI_SOURCES)
        return 0;
    if (is_owned) {
        track = track_of(load, header->owner);
        if (!track)
            return VTI_E_NOMEM;
    }
    vti_reader_init(&in, payload, header->payload_bytes);
    for (uint32_t i = 0; i < header->count && !code; i++)
        code = take_entry(load, header->kind, track, &in);
    if (code == VTI_E_DAMAGED) {
        vti_damage_note_block(load->recording, header, payload);
        code = 0;
    }
    return code;
}

int vti_line_tables_load(struct vti_line_tables *tables, vt_recording *recording)
{
    struct load load = {tables, recording};
    int code;

    memset(tables, 0, sizeof *tables);
    code = vti_fact_blocks(recording, take_block, &load);
    if (code)
        vti_line_tables_fini(tables);
    return code ? vti_fail(code, "%s: out of memory", recording->path) : 0;
}

void vti_line_tables_fini(struct vti_line_tables *tables)
{
    for (uint32_t i = 0; i < tables->track_ids.count; i++) {
        struct vti_line_track *track = &tables->tracks[i];

        vti_ids_fini(&track->node_ids);
        vti_ids_fini(&track->duration_ids);
        vti_map_free(track->callee_ids);
        free(track->lines);
        free(track->durations);
        free(track->callees);
    }
    vti_ids_fini(&tables->track_ids);
    vti_map_free(tables->source_ids);
    free(tables->tracks);
    free(tables->costs);
    free(tables->sources);
    memset(tables, 0, sizeof *tables);
}

const struct vti_line_durations_fact *vti_line_durations(const struct vti_line_track *track,
                                                         uint64_t node)
{
    int64_t at = node <= UINT32_MAX ? vti_ids_find(&track->duration_ids, (uint32_t)node) : -1;

    return at < 0 ? NULL : &track->durations[at];
}

const struct vti_source_fact *vti_line_source(const struct vti_line_tables *tables,
                                              uint32_t process, const char *file, size_t len)
{
    struct vti_buf key = {0};
    int64_t at = -1;

    if (!tables->source_ids)
        return NULL;
    source_key(&key, process + 1, file, len);
    if (!key.failed)
        at = vti_map_find(tables->source_ids, key.data, key.len);
    source_key(&key, 0, file, len);
    if (at < 0 && !key.failed)
        at = vti_map_find(tables->source_ids, key.data, key.len);
    vti_buf_fini(&key);
    return at < 0 ? NULL : &tables->sources[at];
}

struct vti_cost_fact vti_line_cost(const struct vti_line_tables *tables, uint32_t process,
                                   uint32_t language)
{
    struct vti_cost_fact none = {.process = process, .language = language};

    for (size_t i = tables->cost_count; i-- > 0;)
        if (tables->costs[i].process == process && tables->costs[i].language == language)
            return tables->costs[i];
    return none;
}
