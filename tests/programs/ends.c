/*
 * ends.c HOW [pairs] - records spans and then ends: exit, _exit, kill (SIGKILL to itself), segv, abort, term,
 * thread (by pthread_exit of the main thread), return. One span named "open" is open at that moment.
 */
#include "program.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <venturi/span.h>

static volatile int *volatile nowhere;

static void end(const char *how)
{
    if (!strcmp(how, "exit"))
        exit(7);
    if (!strcmp(how, "_exit"))
        _exit(8);
    if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
    if (!strcmp(how, "term"))
        kill(getpid(), SIGTERM);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "segv"))
        *nowhere = 1;
    if (!strcmp(how, "thread"))
        pthread_exit(NULL);
}

int main(int argc, char **argv)
{
    long pairs = number(argc, argv, 2, 1000);

    for (long i = 0; i < pairs; i++) {
        VT_SPAN("pair");
    }
    VT_START("open");
    say("spans", pairs + 1, (char *)0);
    end(argc > 1 ? argv[1] : "return");
    return 9;
}
