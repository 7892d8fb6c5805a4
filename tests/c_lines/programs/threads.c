/* Eight threads that count together. */
#include <pthread.h>
#include <stdio.h>

static long sums[8];

static void step(long *sum, int i)
{
    if (i % 2)
        *sum += i;
    else
        *sum -= 1;
}

static void *work(void *arg)
{
    long *sum = arg;

    for (int i = 0; i < 20000; i++)
        step(sum, i);
    return NULL;
}

int main(void)
{
    pthread_t threads[8];
    long all = 0;

    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, work, &sums[i]);
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        all += sums[i];
    }
    printf("%ld\n", all);
    return 0;
}
