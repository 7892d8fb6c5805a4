/*
 * flood.c [traces [depth [threads]]] - trees of trace points faster than anybody takes them in. Each span says its number and that of the span
 * around it, so that a test can tell who its parent is without trusting ids, and its number again before it ends.
 */
#include "program.h"

#include <pthread.h>
#include <stdlib.h>
#include <venturi/context.h>

#define THREAD 1000000000L /* numbers of one */
#define EVENTS 5           /* of a span: begin, three facts, end */

static long traces, depth;

static void nest(long *last, long around, long levels)
{
    VT_TRACE("flood");
    long own = ++*last;

    VT_TRACE_ATTR("number", own);
    VT_TRACE_ATTR("around", around);
    for (int child = 0; child < 2 && levels > 1; child++)
        nest(last, own, levels - 1);
    VT_TRACE_ATTR("again", own);
}

static void *run(void *arg)
{
    long last = (long)arg * THREAD;

    for (long i = 0; i < traces; i++) {
        vt_context_begin(NULL);
        nest(&last, 0, depth);
        vt_context_end();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    long threads = number(argc, argv, 3, 2);
    pthread_t *made = calloc((size_t)threads, sizeof *made);
    long spans;

    traces = number(argc, argv, 1, 100000);
    depth = number(argc, argv, 2, 4);
    if (!made)
        return 1;
    for (long i = 0; i < threads; i++)
        if (pthread_create(&made[i], NULL, run, (void *)(i + 1)))
            return 1;
    for (long i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
    spans = threads * traces * ((1L << depth) - 1);
    say("spans", spans, "events", spans * EVENTS, (char *)0);
    free(made);
    return 0;
}
