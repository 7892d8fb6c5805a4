/*
 * jumps.c [rounds] - longjmp over open spans, from deeper functions, from the same function, out of a signal
 * handler. Each round leaves three spans without an end; the survivors must nest and end properly.
 */
#include "program.h"

#include <setjmp.h>
#include <signal.h>
#include <venturi/span.h>

static jmp_buf back;
static sigjmp_buf back_from_signal;

__attribute__((noinline)) static void deepest(void)
{
    VT_SPAN("deepest");
    longjmp(back, 1);
}

__attribute__((noinline)) static void deeper(void)
{
    VT_SPAN("deeper");
    vt_start("by hand");
    deepest();
}

static void on_signal(int number_of_signal)
{
    (void)number_of_signal;
    siglongjmp(back_from_signal, 1);
}

__attribute__((noinline)) static void raise_inside(void)
{
    VT_SPAN("raise_inside");
    raise(SIGUSR1);
}

__attribute__((noinline)) static void one_round(void)
{
    VT_SPAN("round");
    if (!setjmp(back))
        deeper();
    {
        VT_SPAN("after jump");
    }
    if (!sigsetjmp(back_from_signal, 1))
        raise_inside();
    {
        VT_SPAN("after signal");
    }
}

int main(int argc, char **argv)
{
    long rounds = number(argc, argv, 1, 1000);

    signal(SIGUSR1, on_signal);
    VT_SPAN("main");
    for (long i = 0; i < rounds; i++)
        one_round();
    say("rounds", rounds, (char *)0);
    return 0;
}
