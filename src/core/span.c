/*
 * span.c - the hot path: spans begin and end.
 *
 * Each function does its usual work in a straight line and leaves everything unusual (first hit,
 * full block, fork, longjmp, recording switched) to a slow twin. The clock is read last in a begin and
 * first in an end, so that our own work lies outside of what is measured.
 */
#include "core/span.h"
#include "core/clock.h"
#include "core/ring.h"
#include "core/site.h"
#include "core/thread.h"

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

/*
 * The stack of open spans. Signal handlers use it too, at any point in here: a place is taken in one step
 * and filled then, so that they use the next one; and it is blank until it is filled and before it is given
 * back (no frame), so that they do not take what was there before for a span that was left.
 */
static inline void push(struct vti_thread *self, uintptr_t frame, const void *token, uint32_t site)
{
    struct vti_open_span *top = (struct vti_open_span *)vti_step(&self->top, sizeof *top);

    top->token = token;
    top->site = site;
    top->mark = 0;
    top->frame = frame;
}

static inline void pop(struct vti_thread *self)
{
    self->top[-1].frame = 0;
    (void)vti_step(&self->top, -sizeof *self->top);
}

/* Not that of a blank place. */
static inline bool is_below(uintptr_t frame, uintptr_t other)
{
    return frame - 1 < other - 1;
}

/* Spans begun by hand count as part of the scope around them. */
static inline uintptr_t frame_around(const struct vti_thread *self)
{
    return self->top[-1].frame ? self->top[-1].frame : UINTPTR_MAX;
}

static void end_abandoned(struct vti_thread *self, uint64_t ticks)
{
    vti_ring_put(self, ticks, 0, VTI_RECORD_END, VTI_RECORD_ABANDONED, 0, NULL, 0);
    pop(self);
}

/* Ends spans whose function was left by longjmp: their frames lie below the one that runs now, or
 * this very scope is about to be opened again. */
static void end_stale(struct vti_thread *self, const void *token, uintptr_t frame)
{
    struct vti_open_span *again = NULL;
    uint64_t ticks = vti_clock_read(self->clock);

    for (struct vti_open_span *at = self->top - 1;
         at > self->stack && is_below(at->frame, frame + 1); at--)
        if (at->token == token)
            again = at;
    while (again && self->top > again)
        end_abandoned(self, ticks);
    while (vti_thread_is_on_own_stack(self, frame) && is_below(self->top[-1].frame, frame))
        end_abandoned(self, ticks);
}

enum { SCOPE_SLOTLESS = 2, SCOPE_DEEP }; /* of vt_scope.is_open: only counted */

SLOW static void open_slowly(struct vt_scope *scope, struct vt_site *site, const void *frame,
                             struct vti_record *taken)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 1);
    uint32_t id;

    if (slow.is_slotless) {
        vti_self->slotless.scopes++;
        scope->is_open = SCOPE_SLOTLESS;
    }
    if (!self)
        goto out;
    vti_ring_return(self, taken, 1);
    id = vti_site_id(self->arena, site);
    end_stale(self, scope, (uintptr_t)frame);
    if (!vti_thread_push_room(self)) {
        vti_thread_begin_deep(self, &self->deep.scopes);
        scope->is_open = SCOPE_DEEP;
        goto out;
    }
    vti_ring_room(self, 1);
    vti_ring_put(self, vti_clock_read(self->clock), id, VTI_RECORD_BEGIN, 0, 0, NULL, 0);
    push(self, (uintptr_t)frame, scope, id);
    scope->is_open = 1;
out:
    vti_slow_leave(&slow);
}

void vt_scope_open(struct vt_scope *scope, struct vt_site *site, const void *frame)
{
    struct vti_thread *self = vti_self;
    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);
    struct vti_record *record;
    struct vti_record *taken = NULL;

    if (vti_unlikely(!is_ready(self, id)))
        goto slow;
    for (const struct vti_open_span *at = self->top - 1;
         vti_unlikely(is_below(at->frame, (uintptr_t)frame + 1)); at--)
        if (at->frame < (uintptr_t)frame || at->token == scope)
            goto slow;
    record = take(self, &taken);
    if (vti_unlikely(!record))
        goto slow;
    push(self, (uintptr_t)frame, scope, id);
    scope->is_open = 1;
    fill(record, id, VTI_RECORD_BEGIN);
    vti_record_publish(record, vti_clock_read(self->clock));
    return;
slow:
    open_slowly(scope, site, frame, taken);
}

SLOW static void close_slowly(const struct vt_scope *scope, uint64_t ticks,
                              struct vti_record *taken)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter_open(&slow);
    struct vti_open_span *at;

    if (self)
        vti_ring_return(self, taken, 1);
    if (scope->is_open == SCOPE_SLOTLESS && vti_self)
        vti_thread_end_slotless(vti_self, &vti_self->slotless.scopes);
    else if (scope->is_open == SCOPE_DEEP && vti_self)
        vti_thread_end_deep(vti_self, &vti_self->deep.scopes);
    if (!self || scope->is_open == SCOPE_SLOTLESS || scope->is_open == SCOPE_DEEP)
        goto out;
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
    pop(self);
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
    pop(self);
    fill(record, 0, VTI_RECORD_END);
    vti_record_publish(record, ticks);
    return;
slow:
    close_slowly(scope, ticks, taken);
}

/* Whether the innermost span that was begun by hand is one that found no place in the stack. */
static bool is_deep(const struct vti_thread *self)
{
    return self->deep.by_hand && self->top == self->stack_end;
}

/* The end of a span begun by hand that is not in the stack; maybe there is none. */
static void end_unplaced(struct vti_thread *self)
{
    if (self->top && is_deep(self))
        vti_thread_end_deep(self, &self->deep.by_hand);
    else
        vti_thread_end_slotless(self, &self->slotless.by_hand);
}

SLOW static void begin_slowly(struct vt_site *site, uint32_t kind, struct vti_record *taken)
{
    struct vti_slow slow;
    bool is_lap = kind == VTI_RECORD_LAP && vti_self && vti_self->slotless.by_hand;
    struct vti_thread *self = vti_slow_enter(&slow, is_lap ? 2 : 1);
    uint32_t id;

    if (slow.is_slotless)
        vti_self->slotless.by_hand += !is_lap;
    if (!self)
        goto out;
    vti_ring_return(self, taken, 1);
    if (kind == VTI_RECORD_LAP && (is_deep(self) || self->top[-1].token)) {
        end_unplaced(self);
        kind = VTI_RECORD_BEGIN;
    }
    if (kind == VTI_RECORD_BEGIN && !vti_thread_push_room(self)) {
        vti_thread_begin_deep(self, &self->deep.by_hand);
        goto out;
    }
    id = vti_site_id(self->arena, site);
    vti_ring_room(self, 1);
    vti_ring_put(self, vti_clock_read(self->clock), id, kind, 0, 0, NULL, 0);
    if (kind == VTI_RECORD_BEGIN)
        push(self, frame_around(self), NULL, id);
    self->top[-1].site = id;
out:
    vti_slow_leave(&slow);
}

void vt_span_begin(struct vt_site *site)
{
    struct vti_thread *self = vti_self;
    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);
    struct vti_record *record;
    struct vti_record *taken = NULL;

    if (vti_unlikely(!is_ready(self, id)))
        goto slow;
    record = take(self, &taken);
    if (vti_unlikely(!record))
        goto slow;
    push(self, frame_around(self), NULL, id);
    fill(record, id, VTI_RECORD_BEGIN);
    vti_record_publish(record, vti_clock_read(self->clock));
    return;
slow:
    begin_slowly(site, VTI_RECORD_BEGIN, taken);
}

SLOW static void end_slowly(uint64_t ticks, struct vti_record *taken)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter_open(&slow);

    if (self)
        vti_ring_return(self, taken, 1);
    if (vti_self && (!self || is_deep(self) || self->top[-1].token)) {
        end_unplaced(vti_self);
    } else if (self) {
        vti_ring_put(self, ticks ? ticks : vti_clock_read(self->clock), 0, VTI_RECORD_END, 0, 0,
                     NULL, 0);
        pop(self);
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
    if (vti_unlikely(self->top[-1].token)) {
        if (!self->slotless.by_hand)
            return;
        goto slow;
    }
    record = take(self, &taken);
    if (vti_unlikely(!record))
        goto slow;
    pop(self);
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

/* ---- calls of functions, recorded one by one -------------------------------------------------- */

static const char call_token; /* its address marks spans that only vti_span_leave() ends */

/* As vt_call_enter_at() counts frames: a scope knows its function's frame pointer, which lies two words below. */
static inline uintptr_t call_frame(const struct vti_open_span *span)
{
    bool is_scope = span->token && span->token != &call_token;
    bool is_known = span->frame &&
                    span->frame != UINTPTR_MAX; /* which the bottom of the stack has */

    return is_scope && is_known ? span->frame + 2 * sizeof(void *) : span->frame;
}

/* Whether calls that are open with the very frame of one that is entered are functions that it was inlined into: called from the
 * same place, and entered at another one. */
static bool are_all_around(const struct vti_open_span *at, uintptr_t frame, uint32_t mark)
{
    for (; call_frame(at) == frame; at--)
        if (at->token == &call_token &&
            ((at->mark ^ mark) >> 16 || (uint16_t)at->mark == (uint16_t)mark))
            return false;
    return true;
}

static void end_below(struct vti_thread *self, uintptr_t frame, uint64_t ticks)
{
    if (!frame || !vti_thread_is_on_own_stack(self, frame))
        return;
    while (is_below(call_frame(self->top - 1), frame))
        end_abandoned(self, ticks);
}

static void push_call(struct vti_thread *self, uint32_t id, uintptr_t frame, uint32_t mark)
{
    push(self, frame ? frame : frame_around(self), &call_token, id);
    self->top[-1].mark = mark;
}

SLOW static void enter_slowly(uint32_t id, uintptr_t frame, uint32_t mark, struct vti_record *taken)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 1);
    uint64_t ticks;

    if (slow.is_slotless)
        vti_self->slotless.calls++;
    if (!self)
        goto out;
    vti_ring_return(self, taken, 1);
    ticks = vti_clock_read(self->clock);
    end_below(self, frame, ticks);
    while (frame && call_frame(self->top - 1) == frame &&
           !are_all_around(self->top - 1, frame, mark))
        end_abandoned(self, ticks);
    if (!vti_thread_push_room(self)) {
        vti_thread_begin_deep(self, &self->deep.calls);
        goto out;
    }
    vti_ring_room(self, 1);
    vti_ring_put(self, vti_clock_read(self->clock), id, VTI_RECORD_BEGIN, 0, 0, NULL, 0);
    push_call(self, id, frame, mark);
out:
    vti_slow_leave(&slow);
}

void vti_span_enter(uint32_t id, uintptr_t frame, uint32_t mark)
{
    struct vti_thread *self = vti_self;
    struct vti_record *record;
    struct vti_record *taken = NULL;
    uintptr_t around;

    if (vti_unlikely(!is_ready(self, id)))
        goto slow;
    around = call_frame(self->top - 1);
    if (vti_unlikely(around - 1 < frame) &&
        (around < frame || !are_all_around(self->top - 1, frame, mark)))
        goto slow;
    record = take(self, &taken);
    if (vti_unlikely(!record))
        goto slow;
    push_call(self, id, frame, mark);
    fill(record, id, VTI_RECORD_BEGIN);
    vti_record_publish(record, vti_clock_read(self->clock));
    return;
slow:
    if (id)
        enter_slowly(id, frame, mark, taken);
}

SLOW static void leave_slowly(uint32_t id, uintptr_t frame, uint64_t ticks,
                              struct vti_record *taken)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter_open(&slow);
    struct vti_open_span *at;

    if (!self) {
        vti_thread_end_slotless(vti_self, &vti_self->slotless.calls);
        goto out;
    }
    vti_ring_return(self, taken, 1);
    if (self->deep.calls && self->top == self->stack_end) {
        vti_thread_end_deep(self, &self->deep.calls);
        goto out;
    }
    end_below(self, frame, ticks);
    for (at = self->top - 1; at > self->stack; at--)
        if (at->token == &call_token && at->site == id)
            break;
    if (at == self->stack) { /* entered before anybody recorded, or without a slot */
        vti_thread_end_slotless(self, &self->slotless.calls);
        goto out;
    }
    while (self->top - 1 > at)
        end_abandoned(self, ticks);
    vti_ring_put(self, ticks, 0, VTI_RECORD_END, 0, 0, NULL, 0);
    pop(self);
out:
    vti_slow_leave(&slow);
}

void vti_span_leave(uint32_t id, uintptr_t frame, uint64_t ticks)
{
    struct vti_thread *self = vti_self;
    const struct vti_open_span *top;
    struct vti_record *record;
    struct vti_record *taken = NULL;

    if (vti_unlikely(!self->top || self->top == self->stack_end))
        goto slow;
    top = self->top - 1;
    if (vti_unlikely(top->token != &call_token || top->site != id ||
                     (frame && is_below(top->frame, frame))))
        goto slow;
    record = take(self, &taken);
    if (vti_unlikely(!record))
        goto slow;
    pop(self);
    fill(record, 0, VTI_RECORD_END);
    vti_record_publish(record, ticks);
    return;
slow:
    leave_slowly(id, frame, ticks, taken);
}

void vti_span_jump(uintptr_t frame, uint64_t ticks)
{
    struct vti_slow slow;
    struct vti_thread *self;

    if (!vti_self->top || vti_self->top == vti_self->stack + 1)
        return;
    self = vti_slow_enter_open(&slow);
    if (self && !(self->deep.calls && self->top == self->stack_end))
        end_below(self, frame, ticks);
    vti_slow_leave(&slow);
}
