/*
 * signals.c [pairs [interval_us]] - a timer interrupts the program again and again, also inside trace
 * points; the handler records a span of its own. Counts both kinds.
 */
#include "program.h"

#include <signal.h>
#include <sys/time.h>
#include <venturi/span.h>

static volatile long handled;

static void on_alarm(int signal_number)
{
    (void)signal_number;
    VT_SPAN("handler");
    handled++;
}

int main(int argc, char **argv)
{
    long pairs = number(argc, argv, 1, 2000000);
    long interval_us = number(argc, argv, 2, 50);
    struct itimerval timer = {{0, interval_us}, {0, interval_us}};
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};

    {
        VT_SPAN("first"); /* registers the thread before a handler may */
    }
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (long i = 0; i < pairs; i++) {
        VT_SPAN("interrupted");
    }
    timer = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
    say("interrupted", pairs, "handled", handled, (char *)0);
    return 0;
}
