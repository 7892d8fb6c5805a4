/*
 * arena.c - where things are in the shared memory, and its three free lists.
 *
 * The lists are stacks, not queues, so that the block used last, still in the cache, is used next.
 */
#include "share/arena.h"

#include "share/tree.h"

#include <stdbool.h>

#define SLOTS_OFFSET (2u * VTI_PAGE + VTI_SITE_AREA)
#define CHUNKS_OFFSET (SLOTS_OFFSET + (uint64_t)VTI_SLOT_COUNT * VTI_SLOT_BYTES)
#define BLOCKS_OFFSET (CHUNKS_OFFSET + (uint64_t)VTI_CHUNK_COUNT * VTI_CHUNK_BYTES)

uint64_t vti_arena_bytes(uint32_t block_count)
{
    return BLOCKS_OFFSET + (uint64_t)block_count * VTI_BLOCK_BYTES;
}

void vti_arena_layout(struct vti_arena_control *control, uint32_t block_count)
{
    struct vti_arena_producer *producer = vti_arena_producer(control);

    control->magic = VTI_ARENA_MAGIC;
    control->version = VTI_ARENA_VERSION;
    control->bytes = vti_arena_bytes(block_count);
    control->slot_count = VTI_SLOT_COUNT;
    control->block_count = block_count;
    producer->slots.count = VTI_SLOT_COUNT;
    producer->blocks.count = block_count;
    producer->chunks.count = VTI_CHUNK_COUNT;
}

struct vti_arena_producer *vti_arena_producer(const struct vti_arena_control *control)
{
    return (struct vti_arena_producer *)((uintptr_t)control + VTI_PAGE);
}

uint8_t *vti_arena_sites(const struct vti_arena_control *control)
{
    return (uint8_t *)((uintptr_t)control + 2 * VTI_PAGE);
}

/* Offsets are constants and not read from the arena: the drainer must not follow what a program wrote. */
struct vti_slot *vti_arena_slot(const struct vti_arena_control *control, uint32_t at)
{
    if (at >= VTI_SLOT_COUNT)
        return NULL;
    return (struct vti_slot *)((uintptr_t)control + SLOTS_OFFSET + (uintptr_t)at * VTI_SLOT_BYTES);
}

struct vti_block *vti_arena_block(const struct vti_arena_control *control, uint32_t at)
{
    if (at >= control->block_count)
        return NULL;
    return (struct vti_block *)((uintptr_t)control + BLOCKS_OFFSET +
                                (uintptr_t)at * VTI_BLOCK_BYTES);
}

void vti_durations_copy(const struct vti_durations_unit *from,
                        uint64_t counts[VTI_DURATION_BUCKETS])
{
    int64_t last = VTI_DURATION_BUCKETS + __atomic_load_n(&from->last, __ATOMIC_RELAXED);

    for (uint32_t i = 0; i < VTI_DURATION_BUCKETS; i++)
        counts[i] = __atomic_load_n(&from->counts[i], __ATOMIC_RELAXED);
    if (last >= 0 && last < VTI_DURATION_BUCKETS)
        counts[last]++;
}

uint8_t *vti_arena_units(const struct vti_arena_control *control)
{
    return (uint8_t *)((uintptr_t)control + CHUNKS_OFFSET);
}

struct vti_chunk *vti_arena_chunk(const struct vti_arena_control *control, uint32_t at)
{
    if (at >= VTI_CHUNK_COUNT)
        return NULL;
    return (struct vti_chunk *)(vti_arena_units(control) + (uintptr_t)at * VTI_CHUNK_BYTES);
}

static uint32_t *slot_link(const struct vti_arena_control *control, uint32_t at)
{
    struct vti_slot *slot = vti_arena_slot(control, at);

    return slot ? &slot->next_free : NULL;
}

static uint32_t *block_link(const struct vti_arena_control *control, uint32_t at)
{
    struct vti_block *block = vti_arena_block(control, at);

    return block ? &block->next_free : NULL;
}

static uint32_t *chunk_link(const struct vti_arena_control *control, uint32_t at)
{
    struct vti_chunk *chunk = vti_arena_chunk(control, at);

    return chunk ? &chunk->next_free : NULL;
}

typedef uint32_t *(*link_of)(const struct vti_arena_control *, uint32_t);

static uint64_t retag(uint64_t head, uint32_t index_plus_one)
{
    return ((head >> 32) + 1) << 32 | index_plus_one;
}

static uint32_t pop(const struct vti_arena_control *control, struct vti_free_list *list,
                    link_of link)
{
    uint64_t head = __atomic_load_n(&list->head, __ATOMIC_ACQUIRE);
    uint32_t fresh;

    while ((uint32_t)head) {
        uint32_t *next = link(control, (uint32_t)head - 1);

        if (!next)
            break;
        if (__atomic_compare_exchange_n(&list->head, &head,
                                        retag(head, __atomic_load_n(next, __ATOMIC_RELAXED)), false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return (uint32_t)head - 1;
    }
    fresh = __atomic_load_n(&list->unused, __ATOMIC_RELAXED);
    while (fresh < list->count)
        if (__atomic_compare_exchange_n(&list->unused, &fresh, fresh + 1, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return fresh;
    return UINT32_MAX;
}

static void push(const struct vti_arena_control *control, struct vti_free_list *list, link_of link,
                 uint32_t at)
{
    uint64_t head = __atomic_load_n(&list->head, __ATOMIC_ACQUIRE);
    uint32_t *next = link(control, at);

    if (!next)
        return;
    do {
        __atomic_store_n(next, (uint32_t)head, __ATOMIC_RELAXED);
    } while (!__atomic_compare_exchange_n(&list->head, &head, retag(head, at + 1), false,
                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
}

uint32_t vti_slots_pop(const struct vti_arena_control *control)
{
    return pop(control, &vti_arena_producer(control)->slots, slot_link);
}

uint32_t vti_blocks_pop(const struct vti_arena_control *control)
{
    return pop(control, &vti_arena_producer(control)->blocks, block_link);
}

uint32_t vti_chunks_pop(const struct vti_arena_control *control)
{
    return pop(control, &vti_arena_producer(control)->chunks, chunk_link);
}

bool vti_blocks_are_out(const struct vti_arena_control *control)
{
    struct vti_free_list *list = &vti_arena_producer(control)->blocks;

    return !(uint32_t)__atomic_load_n(&list->head, __ATOMIC_RELAXED) &&
           __atomic_load_n(&list->unused, __ATOMIC_RELAXED) >= list->count;
}

/* One that was given back is anybody's: as many others were in use before. */
bool vti_chunks_are_scarce(const struct vti_arena_control *control)
{
    struct vti_free_list *list = &vti_arena_producer(control)->chunks;

    return !(uint32_t)__atomic_load_n(&list->head, __ATOMIC_RELAXED) &&
           __atomic_load_n(&list->unused, __ATOMIC_RELAXED) >= VTI_CHUNK_COUNT / 2;
}

void vti_chunks_push(const struct vti_arena_control *control, uint32_t at)
{
    push(control, &vti_arena_producer(control)->chunks, chunk_link, at);
}

void vti_slots_push(const struct vti_arena_control *control, uint32_t at)
{
    push(control, &vti_arena_producer(control)->slots, slot_link, at);
}

void vti_blocks_push(const struct vti_arena_control *control, uint32_t at)
{
    push(control, &vti_arena_producer(control)->blocks, block_link, at);
}

void vti_tally_add(struct vti_tally *tally, const struct vti_record *record)
{
    uint32_t kind = VTI_TAG_KIND(record->tag);

    if (!record->ticks || (record->ticks & VTI_PAYLOAD_BIT))
        return;
    tally->events += kind == VTI_RECORD_LAP ? 2 : 1;
    if (record->ticks > tally->last)
        tally->last = record->ticks;
    if (!tally->first)
        tally->first = record->ticks;
    if (kind == VTI_RECORD_BEGIN)
        tally->depth++;
    if (kind != VTI_RECORD_END && kind != VTI_RECORD_LAP)
        return;
    if (tally->depth - 1 < tally->min_depth)
        tally->min_depth = tally->depth - 1;
    if (kind == VTI_RECORD_END)
        tally->depth--;
}
