/*
 * ring.c - where a thread's records go: from block to block, or, with no block free, into the count.
 *
 * Runs on the recording thread with signals blocked. No allocation, no locks; it waits only if the
 * session asked for that, and never longer than the session's limit.
 */
#include "core/ring.h"

#include "core/clock.h"
#include "core/runtime.h"

#include <string.h>
#include <time.h>

#define WAIT_STEP_NS 100000

/* A link to somewhere to go on: a free block, else the slot's own records; 0 if there is neither. */
static uint32_t take_block(struct vti_thread *self)
{
    uint32_t at = vti_blocks_pop(self->arena);

    if (at != UINT32_MAX)
        return at + 1;
    if (!__atomic_load_n(&self->slot->is_own_free, __ATOMIC_ACQUIRE))
        return 0;
    self->slot->is_own_free = 0;
    return VTI_NEXT_OWN;
}

/* The session's owner prefers waiting to losing: up to the limit, and not for a drainer that is gone. */
static uint32_t wait_for_block(struct vti_thread *self)
{
    const struct timespec step = {0, WAIT_STEP_NS};
    uint32_t next = take_block(self);
    uint64_t end;

    if (next || self->arena->policy != VTI_POLICY_BLOCK)
        return next;
    end = vti_clock_monotonic() + self->arena->block_limit_ms * (uint64_t)1000000;
    while (!next && vti_clock_monotonic() < end && vti_drainer_is_alive(self->arena)) {
        nanosleep(&step, NULL);
        next = take_block(self);
    }
    return next;
}

static struct vti_record *filled_end(const struct vti_thread *self)
{
    return self->cursor < self->limit ? self->cursor : self->limit;
}

/* Notes how far the block (or the slot's own records) was filled; it is handed over when the next one
 * is linked behind it. */
static void leave_block(struct vti_thread *self)
{
    if (self->block)
        __atomic_store_n(&self->block->used, (uint32_t)(filled_end(self) - self->block->records),
                         __ATOMIC_RELEASE);
    else
        __atomic_store_n(&self->slot->used, (uint32_t)(filled_end(self) - self->slot->own),
                         __ATOMIC_RELEASE);
}

static void move_to(struct vti_thread *self, struct vti_record *records, uint32_t count)
{
    self->base = records;
    self->limit = records + count;
    self->cursor = records;
}

/* The cursor moves first, the link follows once the new block says something sensible. */
static uint32_t *enter(struct vti_thread *self, uint32_t next)
{
    uint32_t *link = self->block ? &self->block->next : &self->slot->next;

    self->block = next == VTI_NEXT_OWN ? NULL : vti_arena_block(self->arena, next - 1);
    if (self->block) {
        /* Acquire: another thread may have filled it before; the drainer, in between, is out of sight. */
        (void)__atomic_load_n(&self->block->next, __ATOMIC_ACQUIRE);
        (void)__atomic_load_n(&self->block->used, __ATOMIC_ACQUIRE);
        move_to(self, self->block->records, VTI_BLOCK_RECORDS);
    } else {
        move_to(self, self->slot->own, VTI_OWN_RECORDS);
    }
    return link;
}

static void enter_scratch(struct vti_thread *self)
{
    memset(self->slot->scratch, 0, sizeof self->slot->scratch);
    move_to(self, self->slot->scratch, VTI_SCRATCH_RECORDS);
}

static void start_losing(struct vti_thread *self)
{
    struct vti_slot *slot = self->slot;
    uint32_t depth = vti_thread_depth(self);

    slot->tallies[0] = (struct vti_tally){0, 0, 0, depth, depth};
    slot->tally_at = 0;
    slot->loss_sequence++;
    enter_scratch(self);
    self->is_losing = true;
    __atomic_store_n(&slot->is_losing, 1, __ATOMIC_RELEASE);
}

void vti_ring_leave(struct vti_thread *self)
{
    if (self->is_losing)
        vti_ring_settle(self);
    else
        leave_block(self);
}

/* The sum is made beside the valid one and becomes valid with one store: a kill cannot split it. */
void vti_ring_settle(struct vti_thread *self)
{
    struct vti_slot *slot = self->slot;
    struct vti_record *end = filled_end(self);
    uint32_t other = 1 - (slot->tally_at & 1);
    struct vti_tally *tally = &slot->tallies[other];

    if (!self->is_losing)
        return;
    *tally = slot->tallies[1 - other];
    for (struct vti_record *at = slot->scratch; at < end; at++)
        vti_tally_add(tally, at);
    __atomic_store_n(&slot->tally_at, other, __ATOMIC_RELEASE);
    enter_scratch(self);
}

/* The first records of the block that ends a loss: what was lost, and the spans begun meanwhile, whose
 * begins therefore do not count as lost. */
static void write_loss(struct vti_thread *self, const struct vti_tally *tally)
{
    uint32_t depth = vti_thread_depth(self);
    struct vti_loss_note note = {tally->events - (depth - tally->min_depth), tally->first,
                                 tally->last, self->slot->loss_sequence, tally->min_depth};

    vti_ring_put(self, tally->last, 0, VTI_RECORD_LOSS, 0, 0, &note, sizeof note);
    for (uint32_t i = tally->min_depth; i < depth; i++)
        vti_ring_put(self, tally->last, self->stack[1 + i].site, VTI_RECORD_BEGIN,
                     VTI_RECORD_IN_GAP, 0, NULL, 0);
}

static void try_to_recover(struct vti_thread *self)
{
    const struct vti_tally *tally = &self->slot->tallies[self->slot->tally_at & 1];
    uint32_t next = 0;
    uint32_t *link;

    /* A stack that does not fit cannot be described: wait until it is shallower. */
    if (vti_thread_depth(self) <= tally->min_depth + VTI_OWN_RECORDS / 2)
        next = wait_for_block(self);
    if (!next) {
        vti_runtime_check_drainer(self->arena);
        return;
    }
    link = enter(self, next);
    self->is_losing = false;
    write_loss(self, tally);
    __atomic_store_n(link, next, __ATOMIC_RELEASE);
    __atomic_store_n(&self->slot->is_losing, 0, __ATOMIC_RELEASE);
}

void vti_ring_start(struct vti_thread *self)
{
    self->block = NULL;
    self->is_losing = false;
    move_to(self, self->slot->own, VTI_OWN_RECORDS);
}

void vti_ring_room(struct vti_thread *self, unsigned count)
{
    uint32_t next;

    if (self->cursor + count <= self->limit)
        return;
    if (self->is_losing) {
        vti_ring_settle(self);
        try_to_recover(self);
        return;
    }
    leave_block(self);
    next = wait_for_block(self);
    if (next)
        __atomic_store_n(enter(self, next), next, __ATOMIC_RELEASE);
    else
        start_losing(self);
}

void vti_ring_return(struct vti_thread *self, const struct vti_record *record, unsigned count)
{
    if (record >= self->base && record < self->limit && record + count == self->cursor)
        self->cursor -= count;
}

void vti_ring_put(struct vti_thread *self, uint64_t ticks, uint32_t id, uint32_t kind,
                  uint32_t flags, uint32_t type, const void *payload, size_t payload_bytes)
{
    unsigned payloads = vti_payload_count(payload_bytes);
    struct vti_record *record;

    vti_ring_room(self, 1 + payloads);
    record = vti_cursor_take(&self->cursor, 1 + payloads);
    vti_payload_put(record + 1, payload, payload_bytes);
    record->id = id;
    record->tag = VTI_TAG(kind, payloads, flags, type);
    vti_record_publish(record, ticks ? ticks : 1);
}
