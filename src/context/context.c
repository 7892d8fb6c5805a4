/*
 * context.c - which trace a thread is in, and which of its spans is innermost.
 *
 * A context belongs to one thread and is handed to others by value only, so nothing here is shared and nothing is locked.
 */
#include "context/state.h"
#include "core/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

__thread const void *vt_context_here;
__thread struct vti_trace_state *vti_trace_own;

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t end_of_thread;
static bool has_key;

static void forget(void *arg)
{
    struct vti_trace_state *own = arg;

    vt_context_here = NULL;
    vti_trace_own = NULL;
    munmap(own, sizeof *own);
}

static void make_key(void)
{
    has_key = pthread_key_create(&end_of_thread, forget) == 0;
}

/* Most of it is never touched, and so is no memory. */
struct vti_trace_state *vti_trace_state(void)
{
    struct vti_trace_state *own = vti_trace_own;

    if (own)
        return own;
    own = mmap(NULL, sizeof *own, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (own == MAP_FAILED)
        return NULL;
    own->stack_high = vti_own_stack_high();
    pthread_once(&key_once, make_key);
    if (has_key)
        pthread_setspecific(end_of_thread, own);
    vti_trace_own = own;
    return own;
}

void vt_context_begin(const struct vt_context *from)
{
    struct vti_trace_state *own = vti_trace_state();
    struct vt_context *context;

    if (!own)
        return;
    context = &own->context;
    if (from) {
        *context = *from;
        context->tracestate[VT_TRACESTATE_MAX] = 0;
    } else {
        memset(context, 0, sizeof *context);
        context->flags = 1;
    }
    if (vt_id_is_zero(&context->base))
        vt_id_new(&context->base);
    if (!from || vt_id_is_zero(&context->span))
        context->span = context->base;
    own->is_entering = !from || !from->process ||
                       (from->process != VT_PROCESS_HERE && from->process != vti_epoch());
    own->entered = context->span;
    own->context_number = ++own->context_count;
    vt_context_here = own;
}

void vt_context_end(void)
{
    vt_context_here = NULL;
}

void vt_context_enter(const struct vt_context *from, struct vt_context_before *before)
{
    struct vti_trace_state *own = vti_trace_state();

    memset(before, 0, sizeof *before);
    if (!own)
        return;
    before->thread = own;
    before->here = vt_context_here;
    before->number = own->context_number;
    before->is_entering = own->is_entering;
    before->entered = own->entered;
    before->context = own->context;
    vt_context_begin(from);
}

void vt_context_leave(const struct vt_context_before *before)
{
    struct vti_trace_state *own = vti_trace_own;

    if (!own || before->thread != own)
        return;
    own->context_number = before->number;
    own->is_entering = before->is_entering != 0;
    own->entered = before->entered;
    own->context = before->context;
    vt_context_here = before->here ? own : NULL;
}

int vt_context_get(struct vt_context *context)
{
    const struct vti_trace_state *own = vt_context_here;

    if (!own)
        return 0;
    *context = own->context;
    context->process = vti_epoch();
    return 1;
}

int vt_context_from_environment(void)
{
    const char *traceparent = secure_getenv("TRACEPARENT");
    struct vt_context context;

    if (!traceparent || !vt_context_parse_w3c(&context, traceparent, secure_getenv("TRACESTATE")))
        return 0;
    context.key =
        0; /* whoever starts a program may speak for it, as whoever sends it a header may not */
    vt_context_begin(&context);
    return vt_context_here != NULL;
}
