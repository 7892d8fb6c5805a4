/*
 * trace.c - trace points: spans of a trace with ids of their own, plain spans outside of one.
 *
 * In a trace they have ids whether somebody records or not: what is sent on names them. Nothing here allocates once the thread has its state; the
 * stack of open ones repairs itself after a longjmp as that of plain spans does.
 */
#include "context/news.h"
#include "core/clock.h"
#include "core/event.h"
#include "core/thread.h"
#include "core/trace_record.h"

#include <string.h>

enum { POINT_CLOSED, POINT_OPEN, POINT_DEEP };

/* ---- the stack of open ones ------------------------------------------------------------------ */

/* Whether the recording that has its begin is the one that is written now, and by this process. */
static bool is_ours(const struct vti_trace_open *open)
{
    return open->epoch == vti_epoch();
}

static bool is_recorded(const struct vti_trace_open *open)
{
    return open->number && is_ours(open) &&
           open->on == __atomic_load_n(&vt_control_word, __ATOMIC_RELAXED);
}

/* Which stretch of time this is between recording switched on and on again. */
static uint32_t period_now(void)
{
    return vti_control_word() & ~VTI_CONTROL_KINDS;
}

/* Whether the listener runs on this thread: then trace points are none. One that was left by longjmp does not: its frames lay below
 * the one that runs now. */
static bool is_in_listener(struct vti_trace_state *own, uintptr_t frame)
{
    if (vti_likely(!own || !own->telling))
        return false;
    if (own->telling < frame)
        own->telling = 0;
    return own->telling != 0;
}

#define IS_IN_LISTENER(own) is_in_listener(own, (uintptr_t)__builtin_frame_address(0))

/* The innermost one ends. `flags` are those of a record, of one that was left: VTI_RECORD_ABANDONED. Those that found no place were
 * inside of it. */
static void end_innermost(struct vti_trace_state *own, uint32_t flags)
{
    struct vti_trace_open *open = &own->open[own->depth - 1];

    own->deep = own->deep_by_hand = 0;
    if (open->is_plain) {
        own->depth--;
        if (!open->token && vt_is_on())
            vt_span_end();
        return;
    }
    if (is_recorded(open))
        vti_trace_record_end(open->number, flags | (open->has_failed ? VTI_RECORD_FAILED : 0), NULL,
                             0);
    if (open->context == own->context_number)
        own->context.span = open->ids.parent;
    own->depth--;
    if (open->begin_ns && vti_trace_is_heard() && is_ours(open))
        vti_trace_tell(own, open, vti_trace_now(CLOCK_MONOTONIC) - (int64_t)open->begin_ns);
}

static uintptr_t innermost_frame(const struct vti_trace_state *own)
{
    return own->depth ? own->open[own->depth - 1].frame : UINTPTR_MAX;
}

/* Functions that were left by longjmp: their frames lie below the one that runs now, or this very point is opened again. */
static void end_left(struct vti_trace_state *own, const void *token, uintptr_t frame)
{
    uint32_t again = own->depth;

    for (uint32_t i = own->depth; i-- > 0 && own->open[i].frame <= frame;)
        if (own->open[i].token == token)
            again = i;
    while (own->depth > again)
        end_innermost(own, VTI_RECORD_ABANDONED);
    while (innermost_frame(own) < frame && vti_is_on_own_stack(own->stack_high, frame))
        end_innermost(own, VTI_RECORD_ABANDONED);
}

static struct vti_trace_open *push(struct vti_trace_state *own, const void *token, uintptr_t frame)
{
    struct vti_trace_open *open = &own->open[own->depth];

    if (own->depth == VTI_TRACE_DEPTH)
        return NULL;
    open->token = token;
    open->frame = frame;
    open->has_failed = false;
    own->depth++;
    return open;
}

/* Whether what it is a part of belongs to another process: whoever handed us the context, or the one that forked us. */
static bool is_entering(struct vti_trace_state *own, const struct vti_trace_open *open)
{
    if (own->epoch != open->epoch) {
        own->is_entering |= own->epoch != 0;
        own->entered = own->epoch ? open->ids.parent : own->entered;
        own->epoch = open->epoch;
    }
    return own->is_entering && vt_id_equal(&open->ids.parent, &own->entered);
}

/* Its ids, where it is recorded, and who is told. */
static void begin(struct vti_trace_state *own, struct vti_trace_open *open, struct vt_site *site)
{
    struct vt_context *context = &own->context;
    struct vt_trace_fact facts[VTI_ENTERING_FACTS];
    size_t count = 0;

    open->is_plain = false;
    open->site = site;
    open->context = own->context_number;
    open->ids.base = context->base;
    open->ids.parent = context->span;
    vt_id_new(&open->ids.span);
    context->span = open->ids.span;
    open->epoch = vti_epoch();
    open->begin_ns = 0;
    open->number = 0;
    if (vti_trace_is_heard()) {
        open->begin_ns = (uint64_t)vti_trace_now(CLOCK_MONOTONIC);
        vti_trace_tell(own, open, -1);
    }
    if (!vt_is_on())
        return;
    if (vti_unlikely(is_entering(own, open)))
        count = vti_trace_entering(facts);
    open->number = vt_trace_record(site, &open->ids, facts, count);
    open->on = __atomic_load_n(&vt_control_word, __ATOMIC_RELAXED);
}

/* ---- trace points ---------------------------------------------------------------------------- */

static void open_plain(struct vt_trace_point *point, struct vt_site *site, const void *frame)
{
    point->state = POINT_OPEN;
    point->scope.is_open = 0;
    if (vt_is_on())
        vt_scope_open(&point->scope, site, frame);
}

/* Noted although it is no more than a span, so that what is said about it goes nowhere else. */
static void note_plain(struct vti_trace_open *open)
{
    open->is_plain = true;
    open->period = period_now();
}

void vt_trace_open(struct vt_trace_point *point, struct vt_site *site, const void *frame)
{
    struct vti_trace_state *own = vti_trace_state();
    struct vti_trace_open *open;

    if (vti_unlikely(is_in_listener(own, (uintptr_t)frame)))
        return;
    if (vti_unlikely(!own)) {
        open_plain(point, site, frame);
        return;
    }
    if (vti_unlikely(innermost_frame(own) <= (uintptr_t)frame))
        end_left(own, point, (uintptr_t)frame);
    open = push(own, point, (uintptr_t)frame);
    if (vti_unlikely(!open)) {
        own->deep++;
        open_plain(point, site, frame);
        point->state = POINT_DEEP;
    } else if (vt_context_here) {
        point->scope.is_open = 0;
        point->state = POINT_OPEN;
        begin(own, open, site);
    } else {
        open_plain(point, site, frame);
        note_plain(open);
    }
}

/* Those above it were left without notice. */
static void close_placed(struct vti_trace_state *own, const struct vt_trace_point *point)
{
    uint32_t at = own->depth;

    while (at && own->open[at - 1].token != point)
        at--;
    if (!at)
        return;
    while (own->depth > at)
        end_innermost(own, VTI_RECORD_ABANDONED);
    end_innermost(own, 0);
}

void vt_trace_close(struct vt_trace_point *point)
{
    struct vti_trace_state *own = vti_trace_own;
    bool is_deep = point->state == POINT_DEEP;

    point->state = POINT_CLOSED;
    if (own && !is_in_listener(own, (uintptr_t)point)) {
        if (!is_deep)
            close_placed(own, point);
        else if (own->deep)
            own->deep--;
    }
    vt_scope_leave(&point->scope);
}

void vt_trace_start(const char *name)
{
    struct vti_trace_state *own;
    struct vti_trace_open *open;
    struct vt_site *site;

    if (!vt_is_tracing())
        return;
    own = vti_trace_state();
    if (!own || IS_IN_LISTENER(own))
        return;
    end_left(own, own, (uintptr_t)__builtin_frame_address(0));
    site = vt_site_intern(name);
    open = push(own, NULL, innermost_frame(own));
    if (open && vt_context_here) {
        begin(own, open, site);
        return;
    }
    if (open)
        note_plain(open);
    else
        own->deep_by_hand++;
    if (vt_is_on())
        vt_span_begin(site);
}

void vt_trace_stop(void)
{
    struct vti_trace_state *own = vti_trace_own;

    if (!own || !own->depth || IS_IN_LISTENER(own))
        return;
    if (own->deep_by_hand) {
        own->deep_by_hand--;
        if (vt_is_on())
            vt_span_end();
    } else if (!own->deep && !own->open[own->depth - 1].token) {
        end_innermost(own, 0);
    }
}

/* ---- facts ----------------------------------------------------------------------------------- */

/* What is said is about the one in *open, if that belongs to a trace, about a plain span, or about nothing that is recorded: a plain one
 * that was open while recording was off may have others inside of it that nobody saw, and it may be about them. */
static enum { OF_NOTHING, OF_PLAIN, OF_TRACE } subject(struct vti_trace_open **open)
{
    struct vti_trace_state *own = vti_trace_own;

    if (IS_IN_LISTENER(own))
        return OF_NOTHING;
    if (!own || !own->depth || own->deep || own->deep_by_hand)
        return vt_is_on() ? OF_PLAIN : OF_NOTHING;
    *open = &own->open[own->depth - 1];
    if (!(*open)->is_plain)
        return OF_TRACE;
    return vt_is_on() && (*open)->period == period_now() ? OF_PLAIN : OF_NOTHING;
}

static void add_number(const struct vti_trace_open *open, struct vt_site *key, uint32_t type,
                       const void *value)
{
    if (vt_is_on() && is_recorded(open))
        vti_async_attr_put(open->number, key, type, value, sizeof(uint64_t), 0);
}

void vt_trace_attr_int(struct vt_site *key, int64_t value)
{
    struct vti_trace_open *open;
    int of = subject(&open);

    if (of == OF_TRACE)
        add_number(open, key, VTI_TYPE_INT, &value);
    else if (of == OF_PLAIN)
        vt_attr_int(key, value);
}

void vt_trace_attr_uint(struct vt_site *key, uint64_t value)
{
    struct vti_trace_open *open;
    int of = subject(&open);

    if (of == OF_TRACE)
        add_number(open, key, VTI_TYPE_UINT, &value);
    else if (of == OF_PLAIN)
        vt_attr_uint(key, value);
}

void vt_trace_attr_double(struct vt_site *key, double value)
{
    struct vti_trace_open *open;
    int of = subject(&open);

    if (of == OF_TRACE)
        add_number(open, key, VTI_TYPE_DOUBLE, &value);
    else if (of == OF_PLAIN)
        vt_attr_double(key, value);
}

void vt_trace_attr_text(struct vt_site *key, const char *value)
{
    struct vti_trace_open *open;
    int of = subject(&open);

    if (of == OF_TRACE && is_recorded(open))
        vt_async_attr_text(open->number, key, value);
    else if (of == OF_PLAIN)
        vt_attr_text(key, value);
}

void vt_trace_error(const char *type, const char *message)
{
    static struct vt_site etype = {"etype", "", "", "", 0, 3, 0, 0};
    static struct vt_site text = {"message", "", "", "", 0, 3, 0, 0};
    struct vti_trace_open *open;
    int of = subject(&open);

    if (of == OF_PLAIN)
        vt_span_error(type, message);
    if (of != OF_TRACE)
        return;
    open->has_failed = true;
    vti_trace_copy(open->error_type, sizeof open->error_type, type);
    vti_trace_copy(open->error_message, sizeof open->error_message, message);
    if (is_recorded(open)) {
        vt_async_attr_text(open->number, &etype, type);
        vt_async_attr_text(open->number, &text, message);
    }
}
