/* cost.c - cheap calls, and work that looks at the clock to end in time: both take as long as is printed. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define KEEP __attribute__((noinline))
#define PLAIN __attribute__((no_instrument_function))

static double known;

PLAIN static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

KEEP int leaf(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

KEEP int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

KEEP void flat(void)
{
    for (int i = 0; i < 1000; i++)
        leaf(i);
}

KEEP void nested(void)
{
    int value = fib(14);

    __asm__ volatile("" : : "r"(value));
}

KEEP void spin(void)
{
    double begin = seconds();

    while (seconds() < begin + 5e-6)
        ;
    known += seconds() - begin;
}

KEEP void one(void)
{
    spin();
    __asm__ volatile("");
}

KEEP void two(void)
{
    one();
    __asm__ volatile("");
}

KEEP void layers(int times)
{
    for (int i = 0; i < times; i++)
        two();
}

/* The shortest of so many times. */
PLAIN static double shortest(void (*work)(void), int times)
{
    double least = 1e9;

    for (int i = 0; i < times; i++) {
        double begin = seconds();
        double took;

        work();
        took = seconds() - begin;
        least = took < least ? took : least;
    }
    return least;
}

int main(int argc, char **argv)
{
    int times = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1000;
    double flat_s = shortest(flat, times);
    double nested_s = shortest(nested, times);

    layers(10 * times);
    printf("{\"flat\": %.9f, \"nested\": %.9f, \"known\": %.9f}\n", flat_s, nested_s, known);
    return 0;
}
