/* mallocs.c - counts what is allocated while trace points and calls are recorded, on two threads, from the first on. */
#include "program.h"

#include <pthread.h>
#include <stdlib.h>
#include <venturi/context.h>
#include <venturi/hook.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *at, size_t bytes);

static __thread int is_counting;
static long allocations;

void *malloc(size_t bytes)
{
    allocations += is_counting;
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    allocations += is_counting;
    return __libc_calloc(count, bytes);
}

void *realloc(void *at, size_t bytes)
{
    allocations += is_counting;
    return __libc_realloc(at, bytes);
}

static void nest(int depth)
{
    VT_SPAN("nest");

    VT_ATTR("depth", depth);
    if (depth)
        nest(depth - 1);
}

static void *work(void *arg)
{
    struct vt_function function = {"work", "work", __FILE__, __LINE__, VT_LANGUAGE_C};
    uint32_t id;

    is_counting = 1;
    id = vt_function_id(&function);
    for (int i = 0; i < 20000; i++) {
        vt_call_enter(id);
        VT_MARK("mark");
        VT_COUNTER("counter", "items", i);
        vt_call_leave(id);
    }
    nest(1000);
    vt_start("made at run time");
    vt_stop();
    vt_context_begin(NULL);
    {
        VT_TRACE("trace");
        VT_TRACE_ATTR("key", "value");
        vt_trace_start("trace by hand");
        vt_trace_stop();
    }
    vt_context_end();
    is_counting = 0;
    return arg;
}

int main(void)
{
    pthread_t thread;

    work(NULL);
    if (pthread_create(&thread, NULL, work, NULL))
        return 3;
    pthread_join(thread, NULL);
    say("allocations", allocations, (char *)0);
    return 0;
}
