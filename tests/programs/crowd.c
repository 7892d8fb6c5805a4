/* crowd.c count - so many threads alive at the same time, each with one span before and one after all are there. */
#include "program.h"

#include <pthread.h>
#include <stdlib.h>
#include <venturi/span.h>

static pthread_barrier_t all_there;

static void *work(void *arg)
{
    (void)arg;
    {
        VT_SPAN("before");
    }
    pthread_barrier_wait(&all_there);
    {
        VT_SPAN("after");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    long count = number(argc, argv, 1, 100);
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    pthread_attr_t small;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&all_there, NULL, (unsigned)count);
    for (long i = 0; i < count; i++)
        if (pthread_create(&threads[i], &small, work, NULL))
            exit(3);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    say("threads", count, "spans", 2 * count, (char *)0);
    return 0;
}
