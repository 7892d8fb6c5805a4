/* threads.c - threads with one function each: one that returns, one that exits, one with a small stack. */
#include "busy.h"

#include <limits.h>
#include <pthread.h>

APART static void *returns(void *arg)
{
    BUSY(60000000);
    return arg;
}

APART static void *leaves(void *arg)
{
    BUSY(60000000);
    pthread_exit(arg);
}

APART static void *is_small(void *arg)
{
    BUSY(60000000);
    return arg;
}

int main(void)
{
    pthread_attr_t small;
    pthread_t threads[3];

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_create(&threads[0], NULL, returns, NULL);
    pthread_create(&threads[1], NULL, leaves, NULL);
    pthread_create(&threads[2], &small, is_small, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    pthread_attr_destroy(&small);
    for (int i = 0; i < 2000; i++) { /* many that hardly live */
        pthread_t one;

        if (pthread_create(&one, NULL, (void *(*)(void *))(uintptr_t)cpu_seconds, NULL) == 0)
            pthread_join(one, NULL);
    }
    say_cpu();
    return 0;
}
