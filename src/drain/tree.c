/*
 * tree.c - the tree of calls of one thread, from the arena into the recording.
 *
 * The thread goes on counting while we read: a number is read once and then believed only as a
 * number. Chunks are followed by indices that are checked, and no further than there are chunks.
 */
#include "drain/tree.h"

#include "drain/target.h"
#include "format/calls.h"
#include "share/tree.h"

#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX 4096u       /* of one block */
#define INTERVAL_NS 1000000000u /* between two snapshots, … */
#define BYTES_PER_SECOND 20000u /* … or as long as this allows for the bytes of the last one */

struct walk {
    struct vti_tree_copy *copy;
    struct vti_target *process;
    uint32_t track;
    uint64_t ticks; /* now */
    size_t at;      /* which of the things that are remembered */
    uint64_t bytes;
    uint64_t entries; /* calls and resumes */
    struct vti_buf calls, durations, samples;
    uint32_t call_count, duration_count, sample_count;
};

static uint64_t load(const uint64_t *from)
{
    return __atomic_load_n(from, __ATOMIC_RELAXED);
}

static uint64_t digest(const void *words, size_t bytes)
{
    uint64_t sum = 0x9e3779b97f4a7c15u;
    uint64_t word;

    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        memcpy(&word, (const char *)words + i, 8);
        sum = (sum ^ word) * 0xc2b2ae3d27d4eb4fu;
        sum ^= sum >> 29;
    }
    return sum;
}

/* Whether the next thing of the walk is not what it was when it was last written. */
static bool is_changed(struct walk *walk, uint64_t sum)
{
    struct vti_tree_copy *copy = walk->copy;
    size_t at = walk->at++;

    if (at >= copy->seen_room) {
        size_t room = copy->seen_room ? 2 * copy->seen_room : 256;
        uint64_t *grown = realloc(copy->seen, room * sizeof *grown);

        if (!grown)
            return true;
        memset(grown + copy->seen_room, 0, (room - copy->seen_room) * sizeof *grown);
        copy->seen = grown;
        copy->seen_room = room;
    }
    if (copy->seen[at] == sum)
        return false;
    copy->seen[at] = sum;
    return true;
}

static void flush_calls(struct walk *walk)
{
    if (walk->call_count)
        vti_recorder_owned(walk->process->recorder, VTI_CALL_TREE, walk->track, &walk->calls,
                           walk->call_count, walk->ticks);
    walk->bytes += walk->calls.len;
    vti_buf_clear(&walk->calls);
    walk->call_count = 0;
}

static void flush_durations(struct walk *walk)
{
    if (walk->duration_count)
        vti_recorder_owned(walk->process->recorder, VTI_DURATIONS, walk->track, &walk->durations,
                           walk->duration_count, walk->ticks);
    walk->bytes += walk->durations.len;
    vti_buf_clear(&walk->durations);
    walk->duration_count = 0;
}

static void write_node(struct walk *walk, uint32_t unit, const struct vti_node *node)
{
    struct vti_call_fact fact;
    uint64_t begin = load(&node->begin);
    uint64_t elapsed = load(&node->elapsed);
    uint32_t site = __atomic_load_n(&node->site, __ATOMIC_RELAXED);

    if (!site)
        return;
    memset(&fact, 0, sizeof fact); /* gaps between its fields too: all of it goes into a digest */
    fact.node = unit;
    fact.parent = __atomic_load_n(&node->parent, __ATOMIC_RELAXED);
    fact.site = vti_target_site(walk->process, site);
    fact.calls = load(&node->calls);
    fact.resumes = load(&node->resumes);
    fact.total = load(&node->total);
    fact.suspended = load(&node->suspended);
    fact.shortest_plus_one = load(&node->shortest);
    fact.longest = load(&node->longest);
    walk->entries += fact.calls + fact.resumes;
    if (begin)
        fact.open_plus_one = begin < walk->ticks ? walk->ticks - begin + 1 : 1;
    else
        fact.open_plus_one = elapsed;
    if (!fact.site || !is_changed(walk, digest(&fact, sizeof fact)))
        return;
    vti_call_write(&walk->calls, &fact);
    if (++walk->call_count == ENTRIES_MAX)
        flush_calls(walk);
}

static void write_durations(struct walk *walk, uint32_t site, const uint64_t *counts)
{
    struct vti_durations_fact fact = {.site = vti_target_site(walk->process, site)};

    for (uint32_t i = 0; i < VTI_DURATION_BUCKETS; i++)
        fact.counts[i] = load(&counts[i]);
    if (!fact.site || !is_changed(walk, digest(fact.counts, sizeof fact.counts)))
        return;
    vti_durations_write(&walk->durations, &fact);
    if (++walk->duration_count == ENTRIES_MAX)
        flush_durations(walk);
}

static void flush_samples(struct walk *walk)
{
    if (walk->sample_count)
        vti_recorder_owned(walk->process->recorder, VTI_SAMPLES, walk->track, &walk->samples,
                           walk->sample_count, walk->ticks);
    walk->bytes += walk->samples.len;
    vti_buf_clear(&walk->samples);
    walk->sample_count = 0;
}

static void write_sample(struct walk *walk, uint32_t unit, const struct vti_node *node)
{
    struct vti_sample_fact fact;
    uint32_t site = __atomic_load_n(&node->site, __ATOMIC_RELAXED);

    memset(&fact, 0, sizeof fact); /* its gaps too, for the digest */
    fact.node = unit;
    fact.parent = __atomic_load_n(&node->parent, __ATOMIC_RELAXED);
    fact.site = vti_target_site(walk->process, site);
    fact.samples = load(&node->calls);
    fact.ns = load(&node->total);
    if (!fact.site || !is_changed(walk, digest(&fact, sizeof fact)))
        return;
    vti_sample_write(&walk->samples, &fact);
    if (++walk->sample_count == ENTRIES_MAX)
        flush_samples(walk);
}

static void write_chunk(struct walk *walk, uint32_t at, const struct vti_chunk *chunk)
{
    const uint8_t *units = (const uint8_t *)chunk;
    uint32_t used = __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE);
    uint32_t type = __atomic_load_n(&chunk->type, __ATOMIC_RELAXED);

    if (used > VTI_CHUNK_UNITS)
        used = VTI_CHUNK_UNITS;
    for (uint32_t i = 1; i < used && type == VTI_CHUNK_NODES; i++)
        write_node(walk, at * VTI_CHUNK_UNITS + i,
                   (const struct vti_node *)(units + (size_t)i * VTI_UNIT_BYTES));
    for (uint32_t i = 1; i < used && type == VTI_CHUNK_SAMPLES; i++)
        write_sample(walk, at * VTI_CHUNK_UNITS + i,
                     (const struct vti_node *)(units + (size_t)i * VTI_UNIT_BYTES));
    for (uint32_t i = 1; i + VTI_DURATION_UNITS <= used && type == VTI_CHUNK_DURATIONS;
         i += VTI_DURATION_UNITS)
        write_durations(
            walk, __atomic_load_n(&chunk->sites[(i - 1) / VTI_DURATION_UNITS], __ATOMIC_RELAXED),
            (const uint64_t *)(units + (size_t)i * VTI_UNIT_BYTES));
}

static void state_lost_calls(struct walk *walk, const struct vti_slot *slot)
{
    uint64_t lost = load(&slot->lost_calls);
    struct vti_loss_fact loss = {.reason = VTI_LOSS_CALLS,
                                 .process_plus_one = walk->process->fact.process + 1,
                                 .track_plus_one = walk->track + 1,
                                 .events = lost - walk->copy->lost_calls,
                                 .first = load(&slot->start),
                                 .last = walk->ticks};

    if (lost <= walk->copy->lost_calls)
        return;
    walk->copy->lost_calls = lost;
    vti_recorder_loss(walk->process->recorder, &loss);
}

void vti_tree_write(struct vti_tree_copy *copy, struct vti_target *process, uint32_t slot_at,
                    uint32_t track, uint64_t now_ns, bool now)
{
    const struct vti_slot *slot = vti_arena_slot(process->arena, slot_at);
    uint32_t next = __atomic_load_n(&slot->chunks, __ATOMIC_ACQUIRE);
    uint32_t left = VTI_CHUNK_COUNT;
    struct walk walk = {.copy = copy, .process = process, .track = track};
    struct vti_chunk *chunk;

    if (!now && now_ns < copy->due_ns)
        return;
    walk.ticks = vti_recorder_ticks(process->recorder);
    for (; next && left--; next = __atomic_load_n(&chunk->next, __ATOMIC_ACQUIRE)) {
        chunk = vti_arena_chunk(process->arena, next - 1);
        if (!chunk)
            break;
        write_chunk(&walk, next - 1, chunk);
    }
    flush_calls(&walk);
    flush_durations(&walk);
    flush_samples(&walk);
    state_lost_calls(&walk, slot);
    copy->calls = walk.entries;
    copy->due_ns = now_ns + INTERVAL_NS + walk.bytes * (INTERVAL_NS / BYTES_PER_SECOND);
    vti_buf_fini(&walk.calls);
    vti_buf_fini(&walk.durations);
    vti_buf_fini(&walk.samples);
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
