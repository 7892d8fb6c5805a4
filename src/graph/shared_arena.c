/*
 * shared_arena.c - blocks in segments that were claimed: small ones by size class, large ones as runs of whole segments. Must never
 * leave the shared table in a state that needs its owner to go on: a process may be killed between any two instructions.
 */
#include "graph/shared_arena.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_SHIFT 5 /* 32 bytes: room for the links of free blocks */
#define NOWHERE UINT32_MAX

struct vti_segment {
    uint32_t next, prev; /* among those of its class that have room */
    uint32_t used;       /* blocks given out */
    uint32_t fresh;      /* bytes that were never given out begin here */
    uint32_t free;       /* a block that came back + 1, which holds the next such */
    uint32_t run;        /* of a large block: how many segments */
    uint8_t class;
    uint8_t is_listed;
};

int vti_space_init(struct vti_space *space, const struct vti_segments *in, uint32_t owner)
{
    memset(space, 0, sizeof *space);
    space->in = *in;
    space->owner = owner;
    for (int i = 0; i < VTI_SPACE_CLASSES; i++)
        space->partial[i] = NOWHERE;
    space->segments = calloc(in->count, sizeof *space->segments);
    return space->segments ? 0 : vti_fail(VTI_E_NOMEM, "no memory for %u segments", in->count);
}

void vti_space_fini(struct vti_space *space)
{
    free(space->segments);
    space->segments = NULL;
}

static uint8_t *address(const struct vti_space *space, uint32_t segment)
{
    return space->in.base + space->in.first + (uint64_t)segment * space->in.bytes;
}

static int claim(struct vti_space *space, uint32_t segment)
{
    uint32_t expected = VTI_SPACE_FREE;

    return atomic_load_explicit(&space->in.owners[segment], memory_order_relaxed) ==
               VTI_SPACE_FREE &&
           atomic_compare_exchange_strong(&space->in.owners[segment], &expected, space->owner);
}

static void release(struct vti_space *space, uint32_t segment, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        atomic_store_explicit(&space->in.owners[segment + i], VTI_SPACE_FREE, memory_order_release);
}

/* The lowest one that is free: small blocks gather there, and leave room in a row above. */
static uint32_t claim_low(struct vti_space *space)
{
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = pass ? 0 : space->hint; i < space->in.count; i++) {
            if (claim(space, i)) {
                space->hint = i + 1;
                return i;
            }
        }
    }
    return NOWHERE;
}

/* `count` segments in a row from above, the first of them; each is claimed alone, and given back if the next one is not to be had. */
static uint32_t claim_run(struct vti_space *space, uint32_t count)
{
    uint32_t have = 0;

    for (uint32_t i = space->in.count; i-- > 0;) {
        if (!claim(space, i)) {
            release(space, i + 1, have);
            have = 0;
        } else if (++have == count) {
            return i;
        }
    }
    release(space, 0, have);
    return NOWHERE;
}

static void list(struct vti_space *space, uint32_t index)
{
    struct vti_segment *segment = &space->segments[index];
    uint32_t *head = &space->partial[segment->class];

    segment->prev = NOWHERE;
    segment->next = *head;
    if (*head != NOWHERE)
        space->segments[*head].prev = index;
    *head = index;
    segment->is_listed = 1;
}

static void unlist(struct vti_space *space, uint32_t index)
{
    struct vti_segment *segment = &space->segments[index];

    if (segment->prev != NOWHERE)
        space->segments[segment->prev].next = segment->next;
    else
        space->partial[segment->class] = segment->next;
    if (segment->next != NOWHERE)
        space->segments[segment->next].prev = segment->prev;
    segment->is_listed = 0;
}

static uint64_t take_large(struct vti_space *space, size_t size)
{
    uint64_t count = size / space->in.bytes + (size % space->in.bytes != 0);
    uint32_t index = count <= space->in.count ? claim_run(space, (uint32_t)count) : NOWHERE;

    if (index == NOWHERE)
        return 0;
    space->segments[index] = (struct vti_segment){.used = 1, .run = (uint32_t)count};
    return space->in.first + (uint64_t)index * space->in.bytes;
}

static unsigned class_of(size_t size)
{
    unsigned class = 0;

    while (((size_t)1 << (LEAST_SHIFT + class)) < size)
        class ++;
    return class;
}

uint64_t vti_space_take(struct vti_space *space, size_t size)
{
    unsigned class;
    uint32_t index, bytes, at;
    struct vti_segment *segment;

    if (size > space->in.bytes / 2)
        return take_large(space, size);
    class = class_of(size);
    bytes = 1u << (LEAST_SHIFT + class);
    index = space->partial[class];
    if (index == NOWHERE) {
        index = claim_low(space);
        if (index == NOWHERE)
            return 0;
        space->segments[index] = (struct vti_segment){.class = (uint8_t) class};
        list(space, index);
    }
    segment = &space->segments[index];
    if (segment->free) {
        at = segment->free - 1;
        memcpy(&segment->free, address(space, index) + at, sizeof segment->free);
    } else {
        at = segment->fresh;
        segment->fresh += bytes;
    }
    segment->used++;
    if (!segment->free && segment->fresh + bytes > space->in.bytes)
        unlist(space, index);
    return space->in.first + (uint64_t)index * space->in.bytes + at;
}

void vti_space_give(struct vti_space *space, uint64_t offset)
{
    uint32_t index = vti_segments_of(&space->in, offset);
    struct vti_segment *segment = &space->segments[index];
    uint32_t at = (uint32_t)((offset - space->in.first) & (space->in.bytes - 1));

    if (segment->run) {
        release(space, index, segment->run);
        return;
    }
    memcpy(address(space, index) + at, &segment->free, sizeof segment->free);
    segment->free = at + 1;
    if (!segment->is_listed)
        list(space, index);
    /* The last one of its class is kept: the next task will want it. */
    if (--segment->used == 0 && (segment->next != NOWHERE || segment->prev != NOWHERE)) {
        unlist(space, index);
        release(space, index, 1);
        if (index < space->hint)
            space->hint = index;
    }
}

uint64_t vti_segments_left(const struct vti_segments *in)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < in->count; i++)
        count += atomic_load_explicit(&in->owners[i], memory_order_relaxed) == VTI_SPACE_FREE;
    return count * in->bytes;
}

uint32_t vti_segments_of(const struct vti_segments *in, uint64_t offset)
{
    return (uint32_t)((offset - in->first) / in->bytes);
}

void vti_given_push(_Atomic uint64_t *head, uint8_t *base, uint64_t offset)
{
    uint64_t next = atomic_load_explicit(head, memory_order_relaxed);

    do
        memcpy(base + offset, &next, sizeof next);
    while (!atomic_compare_exchange_weak_explicit(head, &next, offset, memory_order_release,
                                                  memory_order_relaxed));
}

void vti_given_take(_Atomic uint64_t *head, struct vti_space *space)
{
    uint64_t offset;

    if (!atomic_load_explicit(head, memory_order_relaxed))
        return;
    offset = atomic_exchange_explicit(head, 0, memory_order_acquire);
    while (offset) {
        uint64_t next;

        memcpy(&next, space->in.base + offset, sizeof next);
        vti_space_give(space, offset);
        offset = next;
    }
}
