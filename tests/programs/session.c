/*
 * session.c FILE [FILE2] - records through vt_session_start, pauses, resumes, flushes, stops; a second
 * recording in the same process when FILE2 is given. No `venturi run` around it.
 */
#include "program.h"

#include <stdio.h>
#include <venturi/venturi.h>

static void record(long pairs)
{
    for (long i = 0; i < pairs; i++) {
        VT_SPAN("recorded");
    }
}

static int check(const char *what, int code)
{
    if (code)
        fprintf(stderr, "%s: %s\n", what, vt_session_error());
    return code != 0;
}

int main(int argc, char **argv)
{
    struct vt_session_options options = {.size = sizeof options, .output = argv[1]};
    int failed = 0;

    record(10); /* before: nothing is on */
    failed |= check("start", vt_session_start(&options));
    record(100);
    failed |= vt_session_start(&options) == 0; /* already recording */
    failed |= check("pause", vt_session_pause());
    record(1000);
    failed |= check("resume", vt_session_resume());
    record(100);
    failed |= check("flush", vt_session_flush());
    failed |= check("stop", vt_session_stop());
    record(1000);
    if (argc > 2) {
        options.output = argv[2];
        failed |= check("start again", vt_session_start(&options));
        record(50);
        failed |= check("stop again", vt_session_stop());
    }
    say("failed", (long)failed, (char *)0);
    return failed;
}
