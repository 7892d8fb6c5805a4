/* stop.c - notes signals that end us. The handler only sets a flag and calls what is safe in it. */
#include "cli/stop.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t noted;
static void (*noticed)(void);

static void note(int signal)
{
    noted = signal;
    if (noticed)
        noticed();
}

static void watch(int flags)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action = {.sa_handler = note, .sa_flags = flags};
        struct sigaction old;

        /* What our caller ignores (nohup) stays ignored. */
        if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

void vti_stop_watch(void (*notice)(void))
{
    noticed = notice;
    watch((int)SA_RESETHAND);
}

void vti_stop_watch_all(void)
{
    noticed = NULL;
    watch(0);
}

bool vti_stop_asked(void)
{
    return noted != 0;
}

void vti_stop_end(void)
{
    if (!noted)
        return;
    signal(noted, SIG_DFL);
    raise(noted);
}

void vti_stop_unwatch(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

    vti_stop_end();
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction old;

        if (!sigaction(signals[i], NULL, &old) && old.sa_handler == note)
            signal(signals[i], SIG_DFL);
    }
}
