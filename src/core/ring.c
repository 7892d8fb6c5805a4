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

/* A lost event that finds no room even in the scratch area. `last` stays: what is later than that and lies
 * in the scratch area is not in the sum yet. */
static void count_only(struct vti_thread *self, const struct vti_record *record)
{
    struct vti_slot *slot = self->slot;
    uint32_t other = 1 - (slot->tally_at & 1);
    struct vti_tally *tally = &slot->tallies[other];
    uint64_t last = slot->tallies[1 - other].last;

    *tally = slot->tallies[1 - other];
    vti_tally_add(tally, record);
    tally->last = last;
    __atomic_store_n(&slot->tally_at, other, __ATOMIC_RELEASE);
}

/* The first records of the block that ends a loss: what was lost, and the spans begun meanwhile, whose
 * begins therefore do not count as lost. */
static void write_loss(struct vti_thread *self, const struct vti_tally *tally)
{
    uint32_t depth = vti_thread_depth(self);
    uint32_t begun = (uint32_t)tally->depth - (uint32_t)tally->min_depth;
    uint32_t min_depth = depth > begun ? depth - begun : 0;
    struct vti_loss_note note = {tally->events - (depth - min_depth), tally->first, tally->last,
                                 self->slot->loss_sequence, min_depth};

    vti_ring_put(self, tally->last, 0, VTI_RECORD_LOSS, 0, 0, &note, sizeof note);
    for (uint32_t i = min_depth; i < depth; i++)
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
    leave_block(self);
    next = take_block(self);
    if (!next && !is_interrupting(self))
        next = wait_for_block(self);
    if (next)
        set_link(enter(self, next), next);
    else
        start_losing(self);
    return true;
}

void vti_ring_return(struct vti_thread *self, struct vti_record *record, unsigned count)
{
    if (record < self->base || record >= self->limit)
        return;
    if (record + count == self->cursor) {
        self->cursor -= count;
        return;
    }
    for (; count && record < self->limit; count--)
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
