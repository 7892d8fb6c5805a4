/*
 * span.c - the hot path: spans begin and end.
 *
 * Each function does its usual work in a straight line and leaves everything unusual (first hit,
 * full block, fork, longjmp, recording switched) to a slow twin. The clock is read last in a begin and
 * first in an end, so that our own work lies outside of what is measured.
 */
#include "core/clock.h"
#include "core/ring.h"
#include "core/site.h"
#include "core/thread.h"

#include <signal.h>
#include <venturi/span.h>

/* The slow twins stay out of line: merged into the fast path they would make it save six registers. */
#define SLOW __attribute__((noinline, cold))

/* Whether the fast path may go on. A struct that was wiped by a fork has no stack, so it may not. */
static inline bool is_ready(const struct vti_thread *self, uint32_t site_id)
{
    return vti_likely(self && site_id && self->top < self->stack_end &&
                      self->period == (vti_control_word() & ~VTI_CONTROL_KINDS));
}

/*
 * Takes the next record; NULL if the stretch is at its end. A signal handler may move the thread to
 * another stretch at any point in here: what was taken is judged by the stretch that was looked at
 * before, and a record taken from a newer one is given back by the slow path (*taken).
 */
static inline struct vti_record *take(struct vti_thread *self, struct vti_record **taken)
{
    uintptr_t base = (uintptr_t)self->base;
    uintptr_t bytes = (uintptr_t)self->limit - base;
    struct vti_record *record = vti_cursor_take(&self->cursor, 1);

    *taken = record;
    return vti_likely((uintptr_t)record - base < bytes) ? record : NULL;
}

static inline void fill(struct vti_record *record, uint32_t id, uint32_t kind)
{
    record->id = id;
    record->tag = VTI_TAG(kind, 0, 0, 0);
}

static void end_abandoned(struct vti_thread *self, uint64_t ticks)
{
    vti_ring_put(self, ticks, 0, VTI_RECORD_END, VTI_RECORD_ABANDONED, 0, NULL, 0);
    self->top--;
}

/* A handler on an alternate stack tells nothing about the frames of the thread, wherever that stack lies. */
static bool is_on_own_stack(const struct vti_thread *self, uintptr_t frame)
{
    stack_t alternate;

    return frame <= self->stack_high &&
           (sigaltstack(NULL, &alternate) || !(alternate.ss_flags & SS_ONSTACK));
}

/* Ends spans whose function was left by longjmp: their frames lie below the one that runs now, or
 * this very scope is about to be opened again. */
static void end_stale(struct vti_thread *self, const void *token, uintptr_t frame)
{
    struct vti_open_span *again = NULL;
    uint64_t ticks = vti_clock_read(self->clock);

    for (struct vti_open_span *at = self->top - 1; at > self->stack && at->frame <= frame; at--)
        if (at->token == token)
            again = at;
    while (again && self->top > again)
        end_abandoned(self, ticks);
    while (is_on_own_stack(self, frame) && self->top[-1].frame < frame)
        end_abandoned(self, ticks);
}

SLOW static void open_slowly(struct vt_scope *scope, struct vt_site *site, const void *frame,
                             const struct vti_record *taken)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 2);
    uint32_t id;

    if (!self)
        goto out;
    vti_ring_return(self, taken, 1);
    id = vti_site_id(self->arena, site);
    end_stale(self, scope, (uintptr_t)frame);
    if (!vti_thread_push_room(self)) {
        vti_thread_unplaced(self->arena, 2);
        goto out;
    }
    vti_ring_room(self, 1);
    *self->top++ = (struct vti_open_span){(uintptr_t)frame, scope, id, 0};
    scope->is_open = 1;
    vti_ring_put(self, vti_clock_read(self->clock), id, VTI_RECORD_BEGIN, 0, 0, NULL, 0);
out:
    vti_slow_leave(&slow);
}

void vt_scope_open(struct vt_scope *scope, struct vt_site *site, const void *frame)
{
    struct vti_thread *self = vti_self;
    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);
    struct vti_open_span *top;
    struct vti_record *record;
    struct vti_record *taken = NULL;

    if (vti_unlikely(!is_ready(self, id)))
        goto slow;
    top = self->top;
    for (const struct vti_open_span *at = top - 1; vti_unlikely(at->frame <= (uintptr_t)frame);
         at--)
        if (at->frame < (uintptr_t)frame || at->token == scope)
            goto slow;
    record = take(self, &taken);
    if (vti_unlikely(!record))
        goto slow;
    top->frame = (uintptr_t)frame;
    top->token = scope;
    top->site = id;
    self->top = top + 1;
    scope->is_open = 1;
    fill(record, id, VTI_RECORD_BEGIN);
    vti_record_publish(record, vti_clock_read(self->clock));
    return;
slow:
    open_slowly(scope, site, frame, taken);
}

SLOW static void close_slowly(const struct vt_scope *scope, uint64_t ticks,
                              const struct vti_record *taken)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter_open(&slow);
    struct vti_open_span *at;

    if (!self)
        goto out;
    vti_ring_return(self, taken, 1);
    if (!ticks)
        ticks = vti_clock_read(self->clock);
    for (at = self->top - 1; at > self->stack; at--)
        if (at->token == scope)
            break;
    if (at == self->stack)
        goto out; /* begun before a fork, or in an earlier session */
    while (self->top - 1 > at)
        end_abandoned(self, ticks);
    vti_ring_put(self, ticks, 0, VTI_RECORD_END, 0, 0, NULL, 0);
    self->top = at;
out:
    vti_slow_leave(&slow);
}

void vt_scope_close(struct vt_scope *scope)
{
    struct vti_thread *self = vti_self;
    struct vti_record *record;
    struct vti_record *taken = NULL;
    uint64_t ticks = 0;

    if (vti_unlikely(!self || !self->top))
        goto slow;
    ticks = vti_clock_read(self->clock);
    if (vti_unlikely(self->top[-1].token != scope))
        goto slow;
    record = take(self, &taken);
    if (vti_unlikely(!record))
        goto slow;
    self->top--;
    fill(record, 0, VTI_RECORD_END);
    vti_record_publish(record, ticks);
    return;
slow:
    close_slowly(scope, ticks, taken);
}

/* Spans begun by hand count as part of the scope around them. */
SLOW static void begin_slowly(struct vt_site *site, uint32_t kind, const struct vti_record *taken)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 2);
    uint32_t id;

    if (!self)
        goto out;
    vti_ring_return(self, taken, 1);
    if (!vti_thread_push_room(self)) {
        vti_thread_unplaced(self->arena, 2);
        self->unplaced_depth += kind == VTI_RECORD_BEGIN;
        goto out;
    }
    id = vti_site_id(self->arena, site);
    if (kind == VTI_RECORD_LAP && self->top[-1].token != NULL)
        kind = VTI_RECORD_BEGIN; /* nothing to end */
    if (kind == VTI_RECORD_BEGIN) {
        self->top[0] = (struct vti_open_span){self->top[-1].frame, NULL, id, 0};
        self->top++;
    }
    self->top[-1].site = id;
    vti_ring_room(self, 1);
    vti_ring_put(self, vti_clock_read(self->clock), id, kind, 0, 0, NULL, 0);
out:
    vti_slow_leave(&slow);
}

void vt_span_begin(struct vt_site *site)
{
    struct vti_thread *self = vti_self;
    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);
    struct vti_open_span *top;
    struct vti_record *record;
    struct vti_record *taken = NULL;

    if (vti_unlikely(!is_ready(self, id)))
        goto slow;
    record = take(self, &taken);
    if (vti_unlikely(!record))
        goto slow;
    top = self->top;
    top->frame = top[-1].frame;
    top->token = NULL;
    top->site = id;
    self->top = top + 1;
    fill(record, id, VTI_RECORD_BEGIN);
    vti_record_publish(record, vti_clock_read(self->clock));
    return;
slow:
    begin_slowly(site, VTI_RECORD_BEGIN, taken);
}

SLOW static void end_slowly(uint64_t ticks, const struct vti_record *taken)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter_open(&slow);

    if (self)
        vti_ring_return(self, taken, 1);
    if (self && self->unplaced_depth) {
        self->unplaced_depth--;
    } else if (self && !self->top[-1].token) {
        vti_ring_put(self, ticks ? ticks : vti_clock_read(self->clock), 0, VTI_RECORD_END, 0, 0,
                     NULL, 0);
        self->top--;
    }
    vti_slow_leave(&slow);
}

void vt_span_end(void)
{
    struct vti_thread *self = vti_self;
    struct vti_record *record;
    struct vti_record *taken = NULL;
    uint64_t ticks = 0;

    if (vti_unlikely(!self || !self->top || self->top == self->stack_end))
        goto slow;
    ticks = vti_clock_read(self->clock);
    if (vti_unlikely(self->top[-1].token))
        return;
    record = take(self, &taken);
    if (vti_unlikely(!record))
        goto slow;
    self->top--;
    fill(record, 0, VTI_RECORD_END);
    vti_record_publish(record, ticks);
    return;
slow:
    end_slowly(ticks, taken);
}

void vt_span_lap(struct vt_site *site)
{
    struct vti_thread *self = vti_self;
    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);
    struct vti_record *record;
    struct vti_record *taken = NULL;

    if (vti_unlikely(!is_ready(self, id) || self->top[-1].token))
        goto slow;
    record = take(self, &taken);
    if (vti_unlikely(!record))
        goto slow;
    self->top[-1].site = id;
    fill(record, id, VTI_RECORD_LAP);
    vti_record_publish(record, vti_clock_read(self->clock));
    return;
slow:
    begin_slowly(site, VTI_RECORD_LAP, taken);
}
