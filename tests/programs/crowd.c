/*
 * crowd.c count [_exit] - so many threads alive at the same time, each with one span before and one after all are
 * there. With _exit the program ends while they all still are.
 */
#include "program.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <venturi/span.h>

static pthread_barrier_t all_there;
static pthread_barrier_t all_done; /* for the main thread too */
static int ends_early;

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
    if (ends_early) {
        pthread_barrier_wait(&all_done);
        pause();
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
    ends_early = argc > 2;
    pthread_barrier_init(&all_there, NULL, (unsigned)count);
    pthread_barrier_init(&all_done, NULL, (unsigned)count + 1);
    for (long i = 0; i < count; i++)
        if (pthread_create(&threads[i], &small, work, NULL))
            exit(3);
    if (ends_early) {
        pthread_barrier_wait(&all_done);
        say("threads", count, "spans", 2 * count, (char *)0);
        _exit(0);
    }
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    say("threads", count, "spans", 2 * count, (char *)0);
    return 0;
}
