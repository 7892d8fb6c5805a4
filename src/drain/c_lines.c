/*
 * c_lines.c - lines of C, what is kept of them until the recording is closed. Nothing of what processes
 * have written is believed but that it is so many bytes.
 */
#include "drain/c_lines.h"

#include "base/bytes.h"
#include "drain/gifts.h"
#include "drain/target.h"
#include "share/lines.h"
#include "share/tree.h"

#include <string.h>
#include <unistd.h>
#include <venturi/line.h>

#define COUNTERS_MOST (512u << 20)

void vti_c_lines_fini(struct vti_c_lines *lines)
{
    vti_buf_fini(&lines->samples);
    vti_buf_fini(&lines->counters);
    vti_buf_fini(&lines->tracks);
    vti_buf_fini(&lines->timed);
    vti_buf_fini(&lines->named_ids);
    vti_map_free(lines->named);
    memset(lines, 0, sizeof *lines);
}

/* ---- threads ------------------------------------------------------------------------------------ */

static void take_sample(struct vti_c_lines *lines, struct vti_target *process, uint32_t track,
                        uint32_t unit, const struct vti_node *node)
{
    struct vti_c_sample sample;

    memset(&sample, 0, sizeof sample);
    sample.track = track;
    sample.unit = unit;
    sample.parent = __atomic_load_n(&node->parent, __ATOMIC_RELAXED);
    sample.site = vti_target_site(process, __atomic_load_n(&node->site, __ATOMIC_RELAXED));
    sample.offset = __atomic_load_n(&node->frame, __ATOMIC_RELAXED);
    sample.samples = __atomic_load_n(&node->calls, __ATOMIC_RELAXED);
    sample.ns = __atomic_load_n(&node->total, __ATOMIC_RELAXED);
    vti_buf_add(&lines->samples, &sample, sizeof sample);
}

/* A function of C whose lines are timed needs no samples. */
static void take_timed(struct vti_c_lines *lines, struct vti_target *process,
                       const struct vti_line *line)
{
    uint32_t id = __atomic_load_n(&line->line, __ATOMIC_RELAXED)
                      ? 0
                      : vti_target_site(process, __atomic_load_n(&line->site, __ATOMIC_RELAXED));
    struct vti_site_fact site;

    if (id && vti_recorder_get_site(process->recorder, id, &site) && site.unit.len == 1 &&
        site.unit.data[0] == 'c')
        vti_buf_add_u32(&lines->timed, id);
}

static void take_chunk(struct vti_c_lines *lines, struct vti_target *process, uint32_t track,
                       uint32_t at, const struct vti_chunk *chunk)
{
    uint32_t used = __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE);
    uint32_t type = __atomic_load_n(&chunk->type, __ATOMIC_RELAXED);

    for (uint32_t i = 1; i < used && i < VTI_CHUNK_UNITS; i++) {
        const uint8_t *unit = (const uint8_t *)chunk + (size_t)i * VTI_UNIT_BYTES;

        if (type == VTI_CHUNK_LINE_SAMPLES)
            take_sample(lines, process, track, at * VTI_CHUNK_UNITS + i,
                        (const struct vti_node *)unit);
        else if (type == VTI_CHUNK_LINES)
            take_timed(lines, process, (const struct vti_line *)unit);
    }
}

void vti_c_lines_take_thread(struct vti_c_lines *lines, struct vti_target *process,
                             uint32_t slot_at, uint32_t track)
{
    const struct vti_slot *slot = vti_arena_slot(process->arena, slot_at);
    uint32_t next = __atomic_load_n(&slot->chunks, __ATOMIC_ACQUIRE);
    uint32_t left = VTI_CHUNK_COUNT;

    while (next && left--) {
        const struct vti_chunk *chunk = vti_arena_chunk(process->arena, next - 1);

        if (!chunk)
            return;
        take_chunk(lines, process, track, next - 1, chunk);
        next = __atomic_load_n(&chunk->next, __ATOMIC_ACQUIRE);
    }
}

/* ---- processes ---------------------------------------------------------------------------------- */

/* Counters are of all threads together: a track of their own. */
static uint32_t new_track(struct vti_target *process)
{
    struct vti_track_fact fact = {.track = vti_recorder_new_track(process->recorder),
                                  .process = process->fact.process,
                                  .tid = (uint32_t)process->pid,
                                  .start = process->fact.start,
                                  .end = vti_recorder_ticks(process->recorder),
                                  .name = vti_bytes_of(VTI_TRACK_OF_COUNTERS)};

    vti_recorder_track(process->recorder, &fact);
    return fact.track;
}

static bool take_gift(struct vti_c_lines *lines, const struct vti_gift *gift, uint32_t number)
{
    size_t before = lines->counters.len;
    size_t bytes = (size_t)gift->bytes / 8 * 8;
    uint8_t *to = before + bytes < COUNTERS_MOST ? vti_buf_reserve(&lines->counters, bytes + 16)
                                                 : NULL;
    size_t done = 0;

    if (!to)
        return false;
    vti_buf_add_u64(&lines->counters, number);
    vti_buf_add_u64(&lines->counters, bytes);
    while (done < bytes) {
        ssize_t got = pread(gift->fd, to + 16 + done, bytes - done, (off_t)done);

        if (got <= 0)
            break;
        done += (size_t)got;
    }
    lines->counters.len = done == bytes ? before + 16 + bytes : before;
    return done == bytes;
}

void vti_c_lines_take_counters(struct vti_c_lines *lines, struct vti_target *process)
{
    uint32_t track = UINT32_MAX;

    for (const struct vti_gift *gift = process->gifts; gift; gift = gift->next) {
        uint32_t number = (uint32_t)(lines->tracks.len / sizeof(uint32_t));

        if (gift->kind != VT_GIFT_COVERAGE)
            continue;
        if (!take_gift(lines, gift, number)) {
            lines->lost++;
            continue;
        }
        if (track == UINT32_MAX)
            track = new_track(process);
        vti_buf_add_u32(&lines->tracks, track);
    }
}

/* ---- functions by name ---------------------------------------------------------------------------- */

int64_t vti_c_lines_name(struct vti_c_lines *lines, const struct vti_site_fact *site, int *is_new)
{
    struct vti_buf key = {0};
    int64_t at = -1;

    if (!lines->named && vti_map_create(&lines->named))
        return -1;
    vti_bytes_put(&key, site->name);
    vti_bytes_put(&key, site->file);
    vti_buf_add_varint(&key, site->line);
    if (!key.failed)
        at = is_new ? vti_map_add(lines->named, key.data, key.len, is_new)
                    : vti_map_find(lines->named, key.data, key.len);
    vti_buf_fini(&key);
    return at;
}

void vti_c_lines_note(struct vti_c_lines *lines, const struct vti_site_fact *site)
{
    int is_new = 0;
    int64_t at = site->type == VTI_SITE_FUNCTION ? vti_c_lines_name(lines, site, &is_new) : -1;

    if (is_new)
        vti_buf_add_u32(&lines->named_ids, site->site);
    if (at < 0 || (size_t)at >= lines->named_ids.len / sizeof(uint32_t))
        return;
    for (size_t i = 0; i < lines->timed.len; i += sizeof(uint32_t))
        if (vti_get_u32(lines->timed.data + i) == site->site)
            memcpy(lines->timed.data + i, lines->named_ids.data + (size_t)at * sizeof(uint32_t),
                   sizeof(uint32_t));
}
