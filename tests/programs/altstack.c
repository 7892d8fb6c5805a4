/*
 * altstack.c [rounds] - signal handlers on an alternate stack that lies inside the thread's own stack, above
 * the functions that are interrupted: their frames have been left, to judge by addresses alone.
 */
#include "program.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <venturi/span.h>

#define STACK_BYTES 65536

static long rounds;

static void on_signal(int number_of_signal)
{
    (void)number_of_signal;
    VT_SPAN("handler");
}

__attribute__((noinline)) static void interrupted(void)
{
    VT_SPAN("interrupted");
    {
        VT_SPAN("inside");
        raise(SIGUSR1);
        vt_start("by hand");
        raise(SIGUSR1);
        vt_stop();
    }
}

static void *work(void *arg)
{
    char room[STACK_BYTES];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};

    if (sigaltstack(&stack, NULL))
        exit(3);
    for (long i = 0; i < rounds; i++)
        interrupted();
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
    return arg;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
    pthread_t thread;

    rounds = number(argc, argv, 1, 100);
    sigaction(SIGUSR1, &action, NULL);
    work(NULL);
    if (pthread_create(&thread, NULL, work, NULL))
        exit(3);
    pthread_join(thread, NULL);
    say("rounds", 2 * rounds, (char *)0);
    return 0;
}
