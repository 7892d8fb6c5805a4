/*
 * spooled.c FOLDER FILES [kill|session|hold] - works until FILES recordings have been seen in FOLDER (or for so many rounds that
 * something is wrong), with spans, async spans that another thread ends, traces and steps; some are open all the time.
 *   kill     kills itself at the end, with all of that open
 *   session  starts the recording itself, and stops it
 *   hold     prints a line when it has seen them, and works on until it is told to end on its standard input
 */
#include "program.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <venturi/context.h>
#include <venturi/step_record.h>
#include <venturi/venturi.h>

#define ROUNDS_MOST 6000

static long spans, asyncs, traces, steps;
static uint32_t step;
static int handed[2];

/* Names of recordings that were seen: a limit deletes them again. */
static long count_files(const char *folder)
{
    static char last[256];
    static long seen;
    DIR *at = opendir(folder);
    char newest[256] = "";
    struct dirent *entry;

    while (at && (entry = readdir(at)))
        if (entry->d_name[0] == '2' && strcmp(entry->d_name, newest) > 0)
            snprintf(newest, sizeof newest, "%s", entry->d_name);
    if (at)
        closedir(at);
    if (strcmp(newest, last) > 0) {
        seen++;
        memcpy(last, newest, sizeof last);
    }
    return seen;
}

/* Ends what the other thread has begun. */
static void *end_spans(void *arg)
{
    uint64_t id;

    (void)arg;
    while (read(handed[0], &id, sizeof id) == (ssize_t)sizeof id)
        VT_ASYNC_END(id);
    return NULL;
}

static void put_step(void)
{
    struct vt_step_done done = {.step = step,
                                .messages = 2,
                                .execute_ns = 1000,
                                .pre_ns = VT_UNKNOWN,
                                .post_ns = VT_UNKNOWN,
                                .produce_ns = VT_UNKNOWN,
                                .lag_ns = VT_LAG_UNKNOWN};

    done.received = vt_task_clock();
    vt_step_put(&done);
    steps++;
}

static void work(long at)
{
    for (int i = 0; i < 200; i++) {
        VT_SPAN("work");
        VT_SPAN("inner");
        spans += 2;
    }
    for (int i = 0; i < 4; i++) {
        uint64_t id = VT_ASYNC_BEGIN("handed over");

        asyncs++;
        if (write(handed[1], &id, sizeof id) != (ssize_t)sizeof id)
            exit(1);
    }
    {
        VT_TRACE("request");
        VT_TRACE_ATTR("round", at);
        traces++;
    }
    for (int i = 0; i < 5; i++)
        put_step();
    usleep(2000);
}

static int is_told_to_end(void)
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};

    return poll(&input, 1, 0) == 1;
}

static void work_on(const char *folder, long files, const char *mode)
{
    int holds = !strcmp(mode, "hold");
    int is_said = 0;

    for (long i = 0; i < ROUNDS_MOST; i++) {
        work(i);
        if (count_files(folder) < files)
            continue;
        if (!holds)
            return;
        if (!is_said)
            puts("seen"), fflush(stdout);
        is_said = 1;
        if (is_told_to_end())
            return;
    }
}

static void do_all(const char *folder, long files, const char *mode)
{
    uint64_t id = VT_ASYNC_BEGIN("all the time");
    pthread_t other;

    vt_async_attr_text(id, vt_site_intern("who"), "somebody");
    if (pipe(handed) || pthread_create(&other, NULL, end_spans, NULL))
        exit(1);
    {
        VT_SPAN("outer");
        VT_TRACE("long request");
        VT_TRACE_ATTR("path", "/long");
        work_on(folder, files, mode);
        VT_TRACE_ATTR("late", 7);
        close(handed[1]);
        pthread_join(other, NULL);
        if (!strcmp(mode, "kill")) {
            say("spans", spans, "asyncs", asyncs, "traces", traces, "steps", steps, (char *)0);
            kill(getpid(), SIGKILL);
        }
    }
    VT_ASYNC_FAIL(id);
    spans++;
    asyncs++;
    traces++;
}

int main(int argc, char **argv)
{
    const char *folder = argv[1];
    const char *mode = argc > 3 ? argv[3] : "";
    struct vt_session_options options = {.size = sizeof options, .spool = folder};
    int is_session = !strcmp(mode, "session");

    if (is_session && vt_session_start(&options)) {
        fprintf(stderr, "%s\n", vt_session_error());
        return 1;
    }
    step = vt_step_source("Spooled", NULL, NULL);
    vt_context_begin(NULL);
    do_all(folder, number(argc, argv, 2, 3), mode);
    vt_context_end();
    if (is_session && vt_session_stop()) {
        fprintf(stderr, "%s\n", vt_session_error());
        return 1;
    }
    say("spans", spans, "asyncs", asyncs, "traces", traces, "steps", steps, (char *)0);
    return 0;
}
