/*
 * signals.c - a program with signals of its own: argument "prof" samples itself with SIGPROF, "urg" has a
 * handler for SIGURG, "plain" sets SIGURG to what it is and looks what was there.
 */
#include "busy.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>

static volatile int count;

static void handle(int number)
{
    (void)number;
    count = count + 1;
}

APART static void before(void)
{
    BUSY(60000000);
}

APART static void after(void)
{
    BUSY(60000000);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "plain";
    struct sigaction action = {.sa_handler = handle};
    struct itimerval every = {{0, 10000}, {0, 10000}};
    struct sigaction old;

    before();
    if (!strcmp(what, "prof")) {
        sigaction(SIGPROF, &action, NULL);
        setitimer(ITIMER_PROF, &every, NULL);
    } else if (!strcmp(what, "urg")) {
        sigaction(SIGURG, &action, NULL);
        raise(SIGURG);
    } else {
        signal(SIGURG, SIG_IGN);
        sigaction(SIGURG, NULL, &old);
        count = old.sa_handler == SIG_IGN && signal(SIGURG, SIG_DFL) == SIG_IGN;
    }
    after();
    printf("{\"signals\": %d}\n", count);
    return 0;
}
