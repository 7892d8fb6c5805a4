/*
 * ring.c - where a thread's records go: from block to block, or, with no block free, into the count.
 *
 * Runs on the recording thread with signals blocked. No allocation, no locks; it waits only if the
 * session asked for that, and never longer than the session's limit.
 */
#include "core/ring.h"

#include "core/clock.h"
#include "core/runtime.h"

#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WAIT_FIRST_NS 1000000u
#define WAIT_LONGEST_NS 16000000u
#define UNFINISHED_LIMIT_NS 1000000000u

/* A record that was taken and is not filled yet: we are in a signal handler, and its writer is what the
 * handler interrupted. NULL: there is none. */
static const struct vti_record *find_unfinished(const struct vti_record *from,
                                                const struct vti_record *end)
{
    for (; from < end; from++)
        if (!__atomic_load_n(&from->ticks, __ATOMIC_RELAXED))
            return from;
    return NULL;
}

static struct vti_record *filled_end(const struct vti_thread *self)
{
    return self->cursor < self->limit ? self->cursor : self->limit;
}

/*
 * Whether what we interrupted still has to fill a record, there or in the stretch that is being left. The
 * drainer cannot pass that record, so it is no use to wait; and until it is filled the stack of open
 * spans may be one span ahead of or behind the records. A writer that does not come back within a
 * second (siglongjmp) is given up.
 */
static bool is_interrupting(struct vti_thread *self)
{
    if (self->unfinished && !__atomic_load_n(&self->unfinished->ticks, __ATOMIC_RELAXED)) {
        if (vti_clock_monotonic() - self->unfinished_ns < UNFINISHED_LIMIT_NS)
            return true;
        self->unfinished = NULL;
        return false;
    }
    self->unfinished = find_unfinished(self->base, filled_end(self));
    self->unfinished_ns = self->unfinished ? vti_clock_monotonic() : 0;
    return self->unfinished != NULL;
}

/* Whether the slot's own records may be linked to themselves: the drainer must be able to read them. */
static bool may_go_round(const struct vti_thread *self)
{
    const struct vti_record *own = self->slot->own;
    uint32_t used = self->slot->used;

    return !self->block && used && used <= VTI_OWN_RECORDS && !find_unfinished(own, own + used);
}

/* A link to somewhere to go on: a free block, else the slot's own records; 0 if there is neither. A
 * thread that is still in its own records asks for them to be read and has them next: with more
 * threads than blocks, those that hold one would else keep all others waiting. */
static uint32_t take_block(struct vti_thread *self)
{
    uint32_t at = self->is_going_round ? UINT32_MAX : vti_blocks_pop(self->arena);

    if (at != UINT32_MAX)
        return at + 1;
    if (!self->is_going_round && may_go_round(self)) {
        self->is_going_round = true;
        __atomic_store_n(&self->slot->next, VTI_NEXT_OWN, __ATOMIC_RELEASE);
    }
    if (!__atomic_load_n(&self->slot->is_own_free, __ATOMIC_ACQUIRE))
        return 0;
    __atomic_store_n(&self->slot->is_own_free, 0, __ATOMIC_RELAXED);
    return VTI_NEXT_OWN;
}

/* Sleeps until the drainer has read the own records, or for a while: a block may be free by then.
 * A system call of its own: thousands of threads that poll would leave the drainer no time. */
static void sleep_for_own(struct vti_thread *self, uint64_t ns)
{
    const struct timespec limit = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

    __atomic_store_n(&self->slot->is_waiting, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &self->slot->is_own_free, FUTEX_WAIT, 0, &limit, NULL, 0);
    __atomic_store_n(&self->slot->is_waiting, 0, __ATOMIC_RELAXED);
}

/* The session's owner prefers waiting to losing: up to the limit, and not for a drainer that is gone. One that
 * let us wait in vain is not waited for again until it has freed something. */
static uint32_t wait_for_block(struct vti_thread *self)
{
    uint32_t next = take_block(self);
    uint64_t step = WAIT_FIRST_NS;
    uint64_t now;
    uint64_t end;

    if (next || self->arena->policy != VTI_POLICY_BLOCK || self->has_waited)
        return next;
    now = vti_clock_monotonic();
    end = now + self->arena->block_limit_ms * (uint64_t)1000000;
    while (!next && now < end && vti_drainer_is_alive(self->arena)) {
        sleep_for_own(self, step < end - now ? step : end - now);
        next = take_block(self);
        now = vti_clock_monotonic();
        step = step < WAIT_LONGEST_NS ? 2 * step : step;
    }
    self->has_waited = !next;
    return next;
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

/* The cursor moves first, the link follows once the new block says something sensible: the result is
 * where to set it, NULL if it was set before. */
static uint32_t *enter(struct vti_thread *self, uint32_t next)
{
    uint32_t *link = self->block ? &self->block->next : &self->slot->next;

    if (self->is_going_round)
        link = NULL;
    self->is_going_round = false;
    self->has_waited = false;
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

static void set_link(uint32_t *link, uint32_t next)
{
    if (link)
        __atomic_store_n(link, next, __ATOMIC_RELEASE);
}

static void enter_scratch(struct vti_thread *self)
{
    memset(self->slot->scratch, 0, sizeof self->slot->scratch);
    move_to(self, self->slot->scratch, VTI_SCRATCH_RECORDS);
}

static void start_losing(struct vti_thread *self)
{
    struct vti_slot *slot = self->slot;

    slot->tallies[0] = (struct vti_tally){0, 0, 0, 0, 0};
    slot->tally_at = 0;
    slot->loss_sequence++;
    enter_scratch(self);
    self->is_losing = true;
    __atomic_store_n(&slot->is_losing, 1, __ATOMIC_RELEASE);
}

void vti_ring_leave(struct vti_thread *self)
{
    if (!self->is_losing) {
        leave_block(self);
        return;
    }
    vti_ring_settle(self);
    /* Release, as enter() acquires: the block was looked at since it was left, and nothing is linked behind it. */
    if (self->block)
        (void)__atomic_fetch_or(&self->block->used, 0, __ATOMIC_RELEASE);
}

/* The sum is made beside the valid one and becomes valid with one store that also says that it has the scratch area: a
 * kill cannot split it. Times could not tell: an end that was interrupted is older than what its interrupter recorded. */
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
    __atomic_store_n(&slot->tally_at, other | VTI_TALLY_HAS_SCRATCH, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* a release lets later stores move before it */
    enter_scratch(self);
    __atomic_store_n(&slot->tally_at, other, __ATOMIC_RELEASE);
}

/* A lost event that finds no room even in the scratch area. */
static void count_only(struct vti_thread *self, const struct vti_record *record)
{
    struct vti_slot *slot = self->slot;
    uint32_t other = 1 - (slot->tally_at & 1);
    struct vti_tally *tally = &slot->tallies[other];

    *tally = slot->tallies[1 - other];
    vti_tally_add(tally, record);
    __atomic_store_n(&slot->tally_at, other, __ATOMIC_RELEASE);
}

/* The first records of the block that ends a loss: what was lost, and the spans begun meanwhile, which are the innermost of those that are
 * open and whose begins therefore do not count as lost. How many are open below them is not said: where a signal handler interrupts the
 * begin or end of a span, the records and the stack differ by one. */
static void write_loss(struct vti_thread *self, const struct vti_tally *tally)
{
    uint32_t depth = vti_thread_depth(self);
    uint32_t begun = (uint32_t)tally->depth - (uint32_t)tally->min_depth;
    uint32_t from = depth > begun ? depth - begun : 0;
    struct vti_loss_note note = {tally->events - (depth - from), tally->first, tally->last,
                                 self->slot->loss_sequence, 0 - (uint32_t)tally->min_depth};

    vti_ring_put(self, tally->last, 0, VTI_RECORD_LOSS, 0, 0, &note, sizeof note);
    for (uint32_t i = from; i < depth; i++)
        vti_ring_put(self, tally->last, self->stack[1 + i].site, VTI_RECORD_BEGIN,
                     VTI_RECORD_IN_GAP, 0, NULL, 0);
}

static void try_to_recover(struct vti_thread *self)
{
    const struct vti_tally *tally = &self->slot->tallies[self->slot->tally_at & 1];
    uint32_t next = 0;
    uint32_t *link;

    /* A stack that does not fit cannot be described: wait until it is shallower. */
    if ((int64_t)tally->depth - tally->min_depth <= VTI_OWN_RECORDS / 2)
        next = wait_for_block(self);
    if (!next) {
        vti_runtime_check_drainer(self->arena);
        return;
    }
    link = enter(self, next);
    self->is_losing = false;
    self->unfinished = NULL;
    write_loss(self, tally);
    set_link(link, next);
    __atomic_store_n(&self->slot->is_losing, 0, __ATOMIC_RELEASE);
}

void vti_ring_start(struct vti_thread *self)
{
    self->block = NULL;
    self->is_losing = false;
    self->is_going_round = false;
    self->has_waited = false;
    self->unfinished = NULL;
    move_to(self, self->slot->own, VTI_OWN_RECORDS);
}

bool vti_ring_room(struct vti_thread *self, unsigned count)
{
    uint32_t next;

    if (self->cursor + count <= self->limit)
        return true;
    if (self->is_losing) {
        if (is_interrupting(self))
            return false;
        vti_ring_settle(self);
        try_to_recover(self);
        return true;
    }
    if (!self->is_going_round) /* else the drainer may have given the own records back already */
        leave_block(self);
    next = take_block(self);
    /* Own records that go round were all filled; the drainer may be zeroing them now, which looks as if one were not. */
    if (!next && (self->is_going_round || !is_interrupting(self)))
        next = wait_for_block(self);
    if (next)
        set_link(enter(self, next), next);
    else
        start_losing(self);
    return true;
}

/* Own records that are linked to themselves must not be written any more: what is left of them becomes filling. */
static void fill_rest(struct vti_thread *self)
{
    while (self->cursor < self->limit)
        vti_record_publish(vti_cursor_take(&self->cursor, 1), VTI_PAYLOAD_BIT);
}

bool vti_ring_try(struct vti_thread *self, unsigned count)
{
    uint32_t next;

    if (self->is_losing) {
        bool has_waited = self->has_waited;

        if (is_interrupting(self))
            return false;
        vti_ring_settle(self);
        self->has_waited = true; /* whatever the session says of events: this is not waited for */
        try_to_recover(self);
        if (self->is_losing) {
            self->has_waited = has_waited;
            return false;
        }
    }
    if (self->cursor + count <= self->limit)
        return true;
    if (!self->is_going_round) {
        if (!self->block)
            fill_rest(self);
        leave_block(self);
    }
    next = take_block(self);
    if (next)
        set_link(enter(self, next), next);
    return next != 0;
}

bool vti_ring_is_out(const struct vti_thread *self)
{
    return (self->block || self->is_going_round) &&
           !__atomic_load_n(&self->slot->is_own_free, __ATOMIC_RELAXED) &&
           (self->is_going_round || vti_blocks_are_out(self->arena));
}

/* Whether this is a place for a record: in the stretch that is being filled, or in one that was. */
static bool is_place(const struct vti_thread *self, const struct vti_record *record)
{
    const struct vti_record *own = self->slot->own;
    uintptr_t offset = (uintptr_t)record - (uintptr_t)vti_arena_block(self->arena, 0);

    if ((record >= self->base && record < self->limit) ||
        (record >= own && record < own + VTI_OWN_RECORDS))
        return true;
    return offset / VTI_BLOCK_BYTES < self->arena->block_count &&
           offset % VTI_BLOCK_BYTES >= offsetof(struct vti_block, records);
}

/* What was taken past the end is no record. What was taken from another stretch is one that a handler has moved to and left again: the
 * drainer would wait for it, and count it. */
void vti_ring_return(struct vti_thread *self, struct vti_record *record, unsigned count)
{
    if (record >= self->limit && record < self->cursor)
        return;
    if (record >= self->base && record + count == self->cursor) {
        self->cursor -= count;
        return;
    }
    for (; count && is_place(self, record); count--)
        vti_record_publish(record++, VTI_PAYLOAD_BIT);
}

void vti_ring_put(struct vti_thread *self, uint64_t ticks, uint32_t id, uint32_t kind,
                  uint32_t flags, uint32_t type, const void *payload, size_t payload_bytes)
{
    unsigned payloads = vti_payload_count(payload_bytes);
    struct vti_record *record;

    ticks = ticks ? ticks : 1;
    if (!vti_ring_room(self, 1 + payloads)) {
        count_only(self, &(struct vti_record){ticks, id, VTI_TAG(kind, payloads, flags, type)});
        return;
    }
    record = vti_cursor_take(&self->cursor, 1 + payloads);
    vti_payload_put(record + 1, payload, payload_bytes);
    record->id = id;
    record->tag = VTI_TAG(kind, payloads, flags, type);
    vti_record_publish(record, ticks);
}
