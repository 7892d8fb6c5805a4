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

enum { POINT_CLOSED, POINT_OPEN };

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

/* The innermost one ends. `flags` are those of a record, of one that was left: VTI_RECORD_ABANDONED. */
static void end_innermost(struct vti_trace_state *own, uint32_t flags)
{
    struct vti_trace_open *open = &own->open[own->depth - 1];

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
    if (open->begin_ns && vti_trace_is_heard() && is_ours(open)) {
        struct vti_trace_open ended = *open; /* trace points of the listener take its place */

        vti_trace_tell(own, &ended, vti_trace_now(CLOCK_MONOTONIC) - (int64_t)ended.begin_ns);
    }
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

/* Noted only if there is one of a trace around it, which facts would go to otherwise. */
static void open_plain(struct vt_trace_point *point, struct vt_site *site, const void *frame)
{
    struct vti_trace_state *own = vti_trace_own;
    struct vti_trace_open *open;

    point->scope.is_open = 0;
    if (vt_is_on())
        vt_scope_open(&point->scope, site, frame);
    if (own && own->depth) {
        end_left(own, point, (uintptr_t)frame);
        open = push(own, point, (uintptr_t)frame);
        if (open)
            open->is_plain = true;
    }
    point->state = POINT_OPEN;
}

void vt_trace_open(struct vt_trace_point *point, struct vt_site *site, const void *frame)
{
    struct vti_trace_state *own = vti_trace_own;
    struct vti_trace_open *open;

    if (!vt_context_here) {
        open_plain(point, site, frame);
        return;
    }
    if (vti_unlikely(innermost_frame(own) <= (uintptr_t)frame))
        end_left(own, point, (uintptr_t)frame);
    open = push(own, point, (uintptr_t)frame);
    if (vti_unlikely(!open)) {
        open_plain(point, site, frame);
        return;
    }
    point->scope.is_open = 0;
    point->state = POINT_OPEN;
    begin(own, open, site);
}

/* Those above it were left without notice. */
void vt_trace_close(struct vt_trace_point *point)
{
    struct vti_trace_state *own = vti_trace_own;
    uint32_t at = own ? own->depth : 0;

    point->state = POINT_CLOSED;
    while (at && own->open[at - 1].token != point)
        at--;
    if (at) {
        while (own->depth > at)
            end_innermost(own, VTI_RECORD_ABANDONED);
        end_innermost(own, 0);
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
    if (!own)
        return;
    end_left(own, own, (uintptr_t)__builtin_frame_address(0));
    site = vt_site_intern(name);
    open = push(own, NULL, innermost_frame(own));
    if (!open) {
        own->deep_by_hand++;
    } else if (vt_context_here) {
        begin(own, open, site);
    } else {
        open->is_plain = true;
        vt_span_begin(site);
    }
}

void vt_trace_stop(void)
{
    struct vti_trace_state *own = vti_trace_own;

    if (!own || !own->depth)
        return;
    if (own->depth == VTI_TRACE_DEPTH && own->deep_by_hand)
        own->deep_by_hand--;
    else if (!own->open[own->depth - 1].token)
        end_innermost(own, 0);
}

/* ---- facts ----------------------------------------------------------------------------------- */

/* The innermost one if it belongs to a trace; NULL: what is said is about a plain span. */
static struct vti_trace_open *innermost_of_trace(void)
{
    struct vti_trace_state *own = vti_trace_own;

    if (!own || !own->depth || own->open[own->depth - 1].is_plain)
        return NULL;
    return &own->open[own->depth - 1];
}

static void add_number(struct vt_site *key, uint32_t type, const void *value)
{
    const struct vti_trace_open *open = innermost_of_trace();

    if (open && vt_is_on() && is_recorded(open))
        vti_async_attr_put(open->number, key, type, value, sizeof(uint64_t), 0);
}

void vt_trace_attr_int(struct vt_site *key, int64_t value)
{
    if (innermost_of_trace())
        add_number(key, VTI_TYPE_INT, &value);
    else if (vt_is_on())
        vt_attr_int(key, value);
}

void vt_trace_attr_uint(struct vt_site *key, uint64_t value)
{
    if (innermost_of_trace())
        add_number(key, VTI_TYPE_UINT, &value);
    else if (vt_is_on())
        vt_attr_uint(key, value);
}

void vt_trace_attr_double(struct vt_site *key, double value)
{
    if (innermost_of_trace())
        add_number(key, VTI_TYPE_DOUBLE, &value);
    else if (vt_is_on())
        vt_attr_double(key, value);
}

void vt_trace_attr_text(struct vt_site *key, const char *value)
{
    const struct vti_trace_open *open = innermost_of_trace();

    if (open && is_recorded(open))
        vt_async_attr_text(open->number, key, value);
    else if (!open && vt_is_on())
        vt_attr_text(key, value);
}

static void copy_text(char *to, size_t room, const char *from)
{
    size_t len = from ? strnlen(from, room) : 0;

    if (len == room)
        for (len--; len && (from[len] & 0xc0) == 0x80;)
            len--;
    if (len)
        memcpy(to, from, len);
    to[len] = 0;
}

void vt_trace_error(const char *type, const char *message)
{
    static struct vt_site etype = {"etype", "", "", "", 0, 3, 0, 0};
    static struct vt_site text = {"message", "", "", "", 0, 3, 0, 0};
    struct vti_trace_open *open = innermost_of_trace();

    if (!open) {
        if (vt_is_on())
            vt_span_error(type, message);
        return;
    }
    open->has_failed = true;
    copy_text(open->error_type, sizeof open->error_type, type);
    copy_text(open->error_message, sizeof open->error_message, message);
    if (is_recorded(open)) {
        vt_async_attr_text(open->number, &etype, type);
        vt_async_attr_text(open->number, &text, message);
    }
}
