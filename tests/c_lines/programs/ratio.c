/* Three times as long in one line as in the other, on two threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static double spin(double x, long n)
{
    for (long i = 0; i < n; i++)
        x = x * 0.999 + 1;
    return x;
}

static double both(long n)
{
    double x = spin(1, n);

    return spin(x, 3 * n);
}

static int rounds;

static void *work(void *arg)
{
    double *x = arg;

    for (int i = 0; i < rounds; i++)
        *x += both(100000);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    double a = 0, b = 0;

    rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 100;
    pthread_create(&thread, NULL, work, &a);
    work(&b);
    pthread_join(thread, NULL);
    printf("%g\n", a + b);
    return 0;
}
