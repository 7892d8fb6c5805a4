/* items.c - counts items on several threads and in a child, with integers of every kind; prints the sums. */
#include "program.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <venturi/span.h>

enum { THREADS = 4, ROUNDS = 5000 };

static void *count(void *arg)
{
    uint8_t small = 200;

    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        VT_SPAN("round");
        VT_ITEMS(small);
        VT_ITEMS_DONE(i % 2);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    size_t large = (size_t)1 << 60; /* with the others, more than a double holds exactly */
    pid_t child;

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    VT_ITEMS(large);
    VT_ITEMS(0u);
    child = fork();
    if (!child) {
        VT_ITEMS(7L);
        VT_ITEMS_DONE(7ul);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    say("events", (long)(THREADS * ROUNDS * 2 + 4), "items",
        (long)(large + THREADS * ROUNDS * 200L + 7), "done", (long)(THREADS * ROUNDS / 2 + 7),
        (char *)0);
    return 0;
}
