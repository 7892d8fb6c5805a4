/*
 * destructors.c count rounds - threads one after the other, each with one span of its own and one in each of so many
 * rounds of a destructor of thread-specific data, at most four.
 */
#include "program.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <venturi/span.h>

static pthread_key_t key;
static long rounds;
static long spans; /* one thread at a time */

__attribute__((noinline)) static void leaf(void)
{
    VT_SPAN("leaf");
    spans++;
}

static void destroy(void *arg)
{
    intptr_t round = (intptr_t)arg;

    leaf();
    if (round < rounds)
        pthread_setspecific(key, (void *)(round + 1));
}

static void *work(void *arg)
{
    (void)arg;
    pthread_setspecific(key, (void *)1);
    leaf();
    return NULL;
}

int main(int argc, char **argv)
{
    long count = number(argc, argv, 1, 10);

    rounds = number(argc, argv, 2, 1);
    leaf();
    pthread_key_create(&key, destroy);
    for (long i = 0; i < count; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, work, NULL))
            exit(3);
        pthread_join(thread, NULL);
    }
    say("spans", spans, (char *)0);
    return 0;
}
