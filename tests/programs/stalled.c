/*
 * stalled.c stop|kill spans - records while its parent, who should take in what it records, is stopped or dead.
 */
#include "program.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <venturi/span.h>

int main(int argc, char **argv)
{
    bool is_stop = argc > 1 && !strcmp(argv[1], "stop");
    long spans = number(argc, argv, 2, 1000);
    pid_t parent = getppid();

    {
        VT_SPAN("first");
    }
    kill(parent, is_stop ? SIGSTOP : SIGKILL);
    for (long i = 1; i < spans; i++) {
        VT_SPAN("more");
    }
    if (is_stop)
        kill(parent, SIGCONT);
    say("spans", spans, (char *)0);
    return 0;
}
