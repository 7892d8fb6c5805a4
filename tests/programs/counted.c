/*
 * counted.c FILE [pairs [pause_us [depth]]] - records spans for ever (or so many) and counts each event in
 * FILE after it was recorded, so that a test can kill it at any instant and know what must be there.
 */
#include "program.h"

#include <time.h>
#include <venturi/span.h>

static struct counters *counters;

static void nest(long depth)
{
    struct vt_scope scope = {0};
    static struct vt_site site = VT_SITE("counted", "", 0);

    if (vt_is_on()) {
        vt_scope_open(&scope, &site, __builtin_frame_address(0));
        if (scope.is_open)
            __atomic_fetch_add(&counters->begins, 1, __ATOMIC_RELEASE);
    }
    if (depth > 1)
        nest(depth - 1);
    if (scope.is_open) {
        vt_scope_close(&scope);
        __atomic_fetch_add(&counters->ends, 1, __ATOMIC_RELEASE);
    }
}

int main(int argc, char **argv)
{
    long pairs = number(argc, argv, 2, 0);
    long pause_us = number(argc, argv, 3, 0);
    long depth = number(argc, argv, 4, 1);
    struct timespec pause = {0, pause_us * 1000};

    counters = map_counters(argv[1]);
    for (long i = 0; !pairs || i < pairs; i++) {
        nest(depth);
        if (pause_us)
            nanosleep(&pause, 0);
    }
    say("begins", (long)counters->begins, "ends", (long)counters->ends, (char *)0);
    return 0;
}
