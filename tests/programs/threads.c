/* threads.c [count [at_once [pairs]]] - threads that come and go, each recording `pairs` spans. */
#include "program.h"

#include <pthread.h>
#include <stdlib.h>
#include <venturi/span.h>

static long pairs;

static void *work(void *arg)
{
    (void)arg;
    for (long i = 0; i < pairs; i++) {
        VT_SPAN("thread work");
        VT_ATTR("i", i);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    long count = number(argc, argv, 1, 2000);
    long at_once = number(argc, argv, 2, 8);
    pthread_t *threads = calloc((size_t)at_once, sizeof *threads);
    pthread_attr_t small;
    long started = 0;

    pairs = number(argc, argv, 3, 10);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    while (threads && started < count) {
        long n = count - started < at_once ? count - started : at_once;

        for (long i = 0; i < n; i++)
            if (pthread_create(&threads[i], &small, work, NULL))
                exit(3);
        for (long i = 0; i < n; i++)
            pthread_join(threads[i], NULL);
        started += n;
    }
    free(threads);
    say("threads", started, "spans", started * pairs, (char *)0);
    return 0;
}
