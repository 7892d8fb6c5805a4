/* threads.c - threads that end in every way, in the middle of functions. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))
#define THREADS 8

static int rounds;

KEEP static int leaf(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x;
}

KEEP static void leave_early(int depth)
{
    if (depth > 0)
        leave_early(depth - 1);
    else
        pthread_exit(NULL);
}

KEEP static void wait_for_end(void)
{
    for (;;)
        pause();
}

static void *work(void *arg)
{
    int number = (int)(long)arg;

    for (int i = 0; i < rounds; i++)
        leaf(i);
    if (number % 4 == 1)
        leave_early(3);
    if (number % 4 == 2)
        wait_for_end();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];

    rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1000;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        if (i % 4 == 2)
            pthread_cancel(threads[i]);
        pthread_join(threads[i], NULL);
    }
    puts("{}");
    return 0;
}
