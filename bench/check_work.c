/* check_work.c - a program that only works: about 30 ms of CPU time for an amount of 1000. What check_power.py compares. */
#include <stdio.h>
#include <stdlib.h>

static double work(long rounds)
{
    volatile double value = 1;

    for (long i = 0; i < rounds; i++)
        value = value * 1.0000001 + 0.1;
    return value;
}

int main(int argc, char **argv)
{
    long amount = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    double sum = 0;

    for (int i = 0; i < 100; i++)
        sum += work(amount * 60);
    printf("%g\n", sum);
    return 0;
}
