/*
 * tree.c - the tree of calls of one thread, and its lines (lines.c), from the arena into the recording.
 *
 * The thread goes on counting while we read: a number is read once and then believed only as a
 * number. Chunks are followed by indices that are checked, and no further than there are chunks.
 */
#include "drain/tree.h"

#include "drain/snapshot.h"
#include "drain/target.h"
#include "format/calls.h"
#include "share/tree.h"

#include <stdlib.h>
#include <string.h>

#define INTERVAL_NS 1000000000u /* between two snapshots, … */
#define BYTES_PER_SECOND 20000u /* … or as long as this allows for the bytes of the last one */

static void write_node(struct vti_snapshot *snapshot, uint32_t unit, const struct vti_node *node)
{
    struct vti_call_fact fact;
    uint64_t begin = vti_snapshot_load(&node->begin);
    uint64_t elapsed = vti_snapshot_load(&node->elapsed);
    uint32_t site = vti_snapshot_load32(&node->site);

    if (!site)
        return;
    memset(&fact, 0, sizeof fact); /* gaps between its fields too: all of it goes into a digest */
    fact.node = unit;
    fact.parent = vti_snapshot_load32(&node->parent);
    fact.site = vti_target_site(snapshot->process, site);
    fact.calls = vti_snapshot_load(&node->calls);
    fact.resumes = vti_snapshot_load(&node->resumes);
    fact.total = vti_snapshot_load(&node->total);
    fact.suspended = vti_snapshot_load(&node->suspended);
    fact.shortest_plus_one = vti_snapshot_load(&node->shortest);
    fact.longest = vti_snapshot_load(&node->longest);
    snapshot->entries += fact.calls + fact.resumes;
    if (begin)
        fact.open_plus_one = begin < snapshot->ticks ? snapshot->ticks - begin + 1 : 1;
    else
        fact.open_plus_one = elapsed;
    if (!fact.site || !vti_snapshot_is_changed(snapshot, &fact, sizeof fact))
        return;
    vti_call_write(&snapshot->batches[VTI_BATCH_CALLS].entries, &fact);
    vti_snapshot_added(snapshot, VTI_BATCH_CALLS);
}

static void write_durations(struct vti_snapshot *snapshot, uint32_t site,
                            const struct vti_durations_unit *durations)
{
    struct vti_durations_fact fact = {.site = vti_target_site(snapshot->process, site)};

    vti_durations_copy(durations, fact.counts);
    if (!fact.site || !vti_snapshot_is_changed(snapshot, fact.counts, sizeof fact.counts))
        return;
    vti_durations_write(&snapshot->batches[VTI_BATCH_DURATIONS].entries, &fact);
    vti_snapshot_added(snapshot, VTI_BATCH_DURATIONS);
}

static void write_sample(struct vti_snapshot *snapshot, uint32_t unit, const struct vti_node *node)
{
    struct vti_sample_fact fact;
    uint32_t site = vti_snapshot_load32(&node->site);

    memset(&fact, 0, sizeof fact); /* its gaps too, for the digest */
    fact.node = unit;
    fact.parent = vti_snapshot_load32(&node->parent);
    fact.site = vti_target_site(snapshot->process, site);
    fact.samples = vti_snapshot_load(&node->calls);
    fact.ns = vti_snapshot_load(&node->total);
    if (!fact.site || !vti_snapshot_is_changed(snapshot, &fact, sizeof fact))
        return;
    vti_sample_write(&snapshot->batches[VTI_BATCH_SAMPLES].entries, &fact);
    vti_snapshot_added(snapshot, VTI_BATCH_SAMPLES);
}

static void write_unit(struct vti_snapshot *snapshot, uint32_t type, uint32_t unit,
                       const uint8_t *at)
{
    if (type == VTI_CHUNK_NODES)
        write_node(snapshot, unit, (const struct vti_node *)at);
    else if (type == VTI_CHUNK_SAMPLES)
        write_sample(snapshot, unit, (const struct vti_node *)at);
    else if (type == VTI_CHUNK_LINES || type == VTI_CHUNK_LINE_CALLEES)
        vti_snapshot_line(snapshot, type, unit, at);
}

/* `first`: the place of its first unit in the walk, which stays the same from one walk to the next. */
static void write_chunk(struct vti_snapshot *snapshot, uint32_t at, const struct vti_chunk *chunk,
                        size_t first)
{
    const uint8_t *units = (const uint8_t *)chunk;
    uint32_t used = __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE);
    uint32_t type = vti_snapshot_load32(&chunk->type);
    bool has_durations = type == VTI_CHUNK_DURATIONS || type == VTI_CHUNK_LINE_DURATIONS;

    if (used > VTI_CHUNK_UNITS)
        used = VTI_CHUNK_UNITS;
    for (uint32_t i = 1; i < used && !has_durations; i++) {
        snapshot->at = first + i;
        write_unit(snapshot, type, at * VTI_CHUNK_UNITS + i, units + (size_t)i * VTI_UNIT_BYTES);
    }
    for (uint32_t i = 1; i + VTI_DURATION_UNITS <= used && has_durations; i += VTI_DURATION_UNITS) {
        uint32_t whose = vti_snapshot_load32(&chunk->sites[(i - 1) / VTI_DURATION_UNITS]);
        const struct vti_durations_unit *durations = (const void *)(units +
                                                                    (size_t)i * VTI_UNIT_BYTES);

        snapshot->at = first + i;
        if (type == VTI_CHUNK_DURATIONS)
            write_durations(snapshot, whose, durations);
        else
            vti_snapshot_line_durations(snapshot, whose, durations);
    }
}

static void state_lost(struct vti_snapshot *snapshot, enum vti_loss_reason reason, uint64_t lost,
                       uint64_t *stated)
{
    struct vti_loss_fact loss = {.reason = reason,
                                 .process_plus_one = snapshot->process->fact.process + 1,
                                 .track_plus_one = snapshot->track + 1,
                                 .events = lost - *stated,
                                 .first = vti_snapshot_load(&snapshot->slot->start),
                                 .last = snapshot->ticks};

    if (lost <= *stated)
        return;
    *stated = lost;
    vti_recorder_loss(snapshot->process->recorder, &loss);
}

void vti_tree_write(struct vti_tree_copy *copy, struct vti_target *process, uint32_t slot_at,
                    uint32_t track, uint64_t now_ns, bool now)
{
    const struct vti_slot *slot = vti_arena_slot(process->arena, slot_at);
    uint32_t next = __atomic_load_n(&slot->chunks, __ATOMIC_ACQUIRE);
    struct vti_snapshot snapshot = {.copy = copy, .process = process, .slot = slot, .track = track};
    struct vti_chunk *chunk;

    if (!now && now_ns < copy->due_ns)
        return;
    snapshot.ticks = vti_recorder_ticks(process->recorder);
    for (size_t i = 0; next && i < VTI_CHUNK_COUNT; i++) {
        chunk = vti_arena_chunk(process->arena, next - 1);
        if (!chunk)
            break;
        write_chunk(&snapshot, next - 1, chunk, i * VTI_CHUNK_UNITS);
        next = __atomic_load_n(&chunk->next, __ATOMIC_ACQUIRE);
    }
    vti_snapshot_end(&snapshot);
    state_lost(&snapshot, VTI_LOSS_CALLS, vti_snapshot_load(&slot->lost_calls), &copy->lost_calls);
    state_lost(&snapshot, VTI_LOSS_LINES, vti_snapshot_load(&slot->lost_lines), &copy->lost_lines);
    copy->calls = snapshot.entries;
    copy->line_events = snapshot.line_events;
    copy->due_ns = now_ns + INTERVAL_NS + snapshot.bytes * (INTERVAL_NS / BYTES_PER_SECOND);
}

void vti_tree_again(struct vti_tree_copy *copy)
{
    if (copy->seen)
        memset(copy->seen, 0, copy->seen_room * sizeof *copy->seen);
    copy->due_ns = 0;
}

void vti_tree_finish(struct vti_tree_copy *copy, struct vti_target *process, uint32_t slot_at)
{
    const struct vti_slot *slot = vti_arena_slot(process->arena, slot_at);
    uint32_t next = __atomic_load_n(&slot->chunks, __ATOMIC_ACQUIRE);
    uint32_t left = VTI_CHUNK_COUNT;

    while (next && left--) {
        uint32_t at = next - 1;
        struct vti_chunk *chunk = vti_arena_chunk(process->arena, at);

        if (!chunk)
            break;
        next = __atomic_load_n(&chunk->next, __ATOMIC_ACQUIRE);
        memset(chunk, 0, VTI_CHUNK_BYTES);
        vti_chunks_push(process->arena, at);
    }
    free(copy->seen);
    *copy = (struct vti_tree_copy){0};
}
