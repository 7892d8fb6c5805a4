/* busy.c - functions that take known shares of the time. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define KEEP __attribute__((noinline))
#define PLAIN __attribute__((no_instrument_function))

PLAIN static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

PLAIN static void spend(int64_t ns)
{
    int64_t end = now_ns() + ns;

    while (now_ns() < end)
        ;
}

KEEP static void one(void)
{
    spend(1000000);
}

KEEP static void three(void)
{
    spend(3000000);
}

KEEP static void both(void)
{
    one();
    three();
    spend(2000000);
}

int main(void)
{
    for (int i = 0; i < 20; i++)
        both();
    puts("{}");
    return 0;
}
