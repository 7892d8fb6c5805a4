/*
 * crowd.c count [_exit|open|more|turn STEP|calls] - so many threads alive at the same time, each with one span before
 * and one after all are there. With _exit the program ends while they all still are. With open each leaves a span
 * without an end. With more others come and go meanwhile, one at a time. With turn the main thread takes five steps;
 * the others end before the given one. With calls each thread makes a call instead of a span.
 */
#include "program.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <venturi/hook.h>
#include <venturi/span.h>

#define OPEN_EVENTS 5
#define MORE_THREADS 500
#define MORE_SPANS 3
#define TURN_SPANS 4

static pthread_barrier_t all_there;
static pthread_barrier_t all_done; /* for the main thread too */
static int ends_early;
static int leaves_open;
static int has_more;
static int takes_turns;
static uint32_t called; /* 0: spans */

/* Five events, and a sixth that never comes. */
__attribute__((noinline)) static void leave_open(void)
{
    VT_START("open");
    VT_START("stopped");
    VT_STOP();
    VT_LAP("lap");
}

static void *pass_by(void *arg)
{
    (void)arg;
    for (int i = 0; i < MORE_SPANS; i++) {
        VT_SPAN("more");
    }
    return NULL;
}

static void name_call(const char *name)
{
    struct vt_function function = {name, name, "crowd.c", 1, VT_LANGUAGE_C};

    called = vt_function_id(&function);
}

static void make_call(void)
{
    vt_call_enter(called);
    vt_call_leave(called);
}

static void *work(void *arg)
{
    (void)arg;
    if (called) {
        make_call();
    } else {
        VT_SPAN("before");
    }
    pthread_barrier_wait(&all_there);
    if (called) {
        make_call();
    } else {
        VT_SPAN("after");
    }
    if (leaves_open)
        leave_open();
    if (ends_early || has_more || takes_turns)
        pthread_barrier_wait(&all_done);
    if (has_more || takes_turns)
        pthread_barrier_wait(&all_done);
    if (ends_early)
        pause();
    return NULL;
}

static void let_pass(const pthread_attr_t *attr)
{
    pthread_barrier_wait(&all_done);
    for (int i = 0; i < MORE_THREADS; i++) {
        pthread_t thread;

        if (pthread_create(&thread, attr, pass_by, NULL))
            exit(3);
        pthread_join(thread, NULL);
    }
    pthread_barrier_wait(&all_done);
}

/* Their slots are free when the drainer has seen that they are gone. */
static void end_others(const pthread_t *threads, long count)
{
    struct timespec while_drained = {1, 0};

    pthread_barrier_wait(&all_done);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    nanosleep(&while_drained, NULL);
}

/* Eight events: the lap ends one span and begins another. */
static void take_turns(const pthread_t *threads, long count, long step)
{
    pthread_barrier_wait(&all_done);
    for (long i = 0; i < 6; i++) {
        if (i == step)
            end_others(threads, count);
        if (i < 2)
            VT_START("outer");
        else if (i == 2)
            VT_LAP("lap");
        else if (i == 3) {
            VT_SPAN("scope");
        } else
            VT_STOP();
    }
}

int main(int argc, char **argv)
{
    long count = number(argc, argv, 1, 100);
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    pthread_attr_t small;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    ends_early = argc > 2 && !strcmp(argv[2], "_exit");
    leaves_open = argc > 2 && !strcmp(argv[2], "open");
    has_more = argc > 2 && !strcmp(argv[2], "more");
    takes_turns = argc > 2 && !strcmp(argv[2], "turn");
    if (argc > 2 && !strcmp(argv[2], "calls"))
        name_call("called");
    pthread_barrier_init(&all_there, NULL, (unsigned)count);
    pthread_barrier_init(&all_done, NULL, (unsigned)count + 1);
    for (long i = 0; i < count; i++)
        if (pthread_create(&threads[i], &small, work, NULL))
            exit(3);
    if (ends_early) {
        pthread_barrier_wait(&all_done);
        say("threads", count, "spans", 2 * count, (char *)0);
        _exit(0);
    }
    if (has_more)
        let_pass(&small);
    if (takes_turns)
        take_turns(threads, count, number(argc, argv, 3, 0));
    for (long i = 0; i < count && !takes_turns; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    say("threads", count, "spans", 2 * count, "others", leaves_open ? OPEN_EVENTS * count : 0,
        "more",
        has_more      ? 1L * MORE_THREADS * MORE_SPANS
        : takes_turns ? TURN_SPANS
                      : 0,
        (char *)0);
    return 0;
}
