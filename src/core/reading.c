/*
 * reading.c - a profiler inside of the program reads what was counted (venturi/hook.h).
 *
 * The threads go on meanwhile: each number is one that was true during the reading, not all of them at one instant.
 */
#include "core/reading.h"

#include "core/clock.h"
#include "core/runtime.h"
#include "core/tree.h"

#include <string.h>

static void read_node(struct vti_reading *reading, const struct vti_slot *slot, uint32_t unit,
                      const struct vti_node *node)
{
    struct vt_call_node *to = &reading->nodes[reading->node_count];
    uint64_t begin = __atomic_load_n(&node->begin, __ATOMIC_RELAXED);

    if (!node->site || reading->node_count++ >= reading->node_room)
        return;
    *to = (struct vt_call_node){.thread = slot->number,
                                .tid = slot->tid,
                                .node = unit,
                                .parent = node->parent,
                                .function = node->site,
                                .is_open = begin != 0 || node->elapsed != 0,
                                .calls = node->calls,
                                .resumes = node->resumes,
                                .total = node->total,
                                .suspended = node->suspended,
                                .shortest = node->shortest - 1,
                                .longest = node->longest};
    if (begin && begin < reading->now)
        to->total += reading->now - begin;
    else if (node->elapsed)
        to->total += node->elapsed - 1;
}

static void read_durations(struct vti_reading *reading, const struct vti_slot *slot, uint32_t site,
                           const uint8_t *units)
{
    struct vt_call_durations *to = &reading->durations[reading->duration_count];

    if (!site || reading->duration_count++ >= reading->duration_room)
        return;
    to->thread = slot->number;
    to->function = site;
    vti_durations_copy((const struct vti_durations_unit *)units, to->counts);
}

/* A root is no call: what it leads to has no parent. */
static void hide_roots(struct vti_reading *reading, const struct vti_arena_control *arena,
                       size_t from)
{
    const uint8_t *units = vti_arena_units(arena);

    for (size_t i = from; i < reading->node_count && i < reading->node_room; i++) {
        struct vt_call_node *node = &reading->nodes[i];
        const struct vti_node *parent = (const struct vti_node *)(units + (size_t)node->parent *
                                                                              VTI_UNIT_BYTES);

        if (!parent->site)
            node->parent = 0;
    }
}

static void read_name(struct vti_reading *reading, const struct vti_slot *slot)
{
    struct vt_call_thread *to = &reading->threads[reading->thread_count];

    if (reading->thread_count++ >= reading->thread_room)
        return;
    *to = (struct vt_call_thread){.thread = slot->number, .tid = slot->tid};
    memcpy(to->name, slot->name, sizeof to->name - 1);
}

void vti_reading_thread(struct vti_reading *reading, const struct vti_arena_control *arena,
                        const struct vti_slot *slot)
{
    size_t from = reading->node_count;
    uint32_t at = __atomic_load_n(&slot->chunks, __ATOMIC_ACQUIRE);

    while (at) {
        struct vti_chunk *chunk = vti_arena_chunk(arena, at - 1);
        const uint8_t *units = (const uint8_t *)chunk;
        uint32_t used = __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE);

        for (uint32_t i = 1; i < used && chunk->type == VTI_CHUNK_NODES; i++)
            read_node(reading, slot, (at - 1) * VTI_CHUNK_UNITS + i,
                      (const struct vti_node *)(units + i * VTI_UNIT_BYTES));
        for (uint32_t i = 1; i < used && chunk->type == VTI_CHUNK_DURATIONS;
             i += VTI_DURATION_UNITS)
            read_durations(reading, slot, chunk->sites[(i - 1) / VTI_DURATION_UNITS],
                           units + i * VTI_UNIT_BYTES);
        at = __atomic_load_n(&chunk->next, __ATOMIC_ACQUIRE);
    }
    hide_roots(reading, arena, from);
    if (slot->chunks)
        read_name(reading, slot);
    reading->lost_calls += slot->lost_calls;
}

/* Everything there is; with the runtime locked no thread ends and nothing is given back. */
static void read_all(struct vti_reading *reading)
{
    const struct vti_runtime *runtime = vti_runtime();
    const struct vti_arena_control *arena = runtime->arena;
    uint32_t slots;

    vti_ended_read(reading);
    if (!arena)
        return;
    reading->now = vti_clock_read(arena->clock);
    reading->lost_calls += vti_arena_producer(arena)->lost_calls.events;
    slots = __atomic_load_n(&vti_arena_producer(arena)->slots.unused, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < slots && i < VTI_SLOT_COUNT; i++) {
        const struct vti_slot *slot = vti_arena_slot(arena, i);

        if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == VTI_SLOT_LIVE)
            vti_reading_thread(reading, arena, slot);
    }
}

static void read_locked(struct vti_reading *reading)
{
    struct vti_slow slow;

    if (!vti_runtime())
        return;
    vti_slow_enter(&slow, 0);
    vti_runtime_lock();
    read_all(reading);
    vti_runtime_unlock();
    vti_slow_leave(&slow);
}

size_t vt_calls_read(struct vt_call_node *nodes, size_t room)
{
    struct vti_reading reading = {.nodes = nodes, .node_room = room};

    read_locked(&reading);
    return reading.node_count;
}

size_t vt_calls_durations(struct vt_call_durations *durations, size_t room)
{
    struct vti_reading reading = {.durations = durations, .duration_room = room};

    read_locked(&reading);
    return reading.duration_count;
}

size_t vt_calls_threads(struct vt_call_thread *threads, size_t room)
{
    struct vti_reading reading = {.threads = threads, .thread_room = room};

    read_locked(&reading);
    return reading.thread_count;
}

uint64_t vt_calls_lost(void)
{
    struct vti_reading reading = {0};

    read_locked(&reading);
    return reading.lost_calls;
}
