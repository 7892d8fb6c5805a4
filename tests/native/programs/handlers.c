/* handlers.c JUMPS - a timer interrupts calls at any point, first without consequences, then JUMPS times for good. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks, jumps_out;
static sigjmp_buf way_out;
static volatile long outer_calls;

__attribute__((noinline)) void inner(void)
{
    __asm__ volatile("");
}

__attribute__((noinline)) void outer(void)
{
    outer_calls++;
    inner();
    inner();
}

static void on_tick(int number)
{
    (void)number;
    ticks++;
    if (jumps_out)
        siglongjmp(way_out, 1);
}

int main(int argc, char **argv)
{
    volatile long left = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    struct itimerval often = {{0, 200}, {0, 200}};
    struct itimerval never;

    memset(&never, 0, sizeof never);
    signal(SIGALRM, on_tick);
    setitimer(ITIMER_REAL, &often, NULL);
    while (ticks < 1000)
        outer();
    jumps_out = 1;
    while (left-- > 0)
        if (!sigsetjmp(way_out, 1))
            for (;;)
                outer();
    jumps_out = 0;
    setitimer(ITIMER_REAL, &never, NULL);
    printf("{\"outer\": %ld, \"jumps\": %ld}\n", outer_calls,
           argc > 1 ? strtol(argv[1], NULL, 10) : 1000L);
    return 0;
}
