/*
 * steps.c MODE [count [threads [pause in microseconds]]] - steps that deal with messages that there are not: what is recorded of them is what is tested.
 *   plain     threads put as quickly as they can
 *   spans     the same, each message in a span
 *   stopped   puts all while whoever records it is stopped
 *   orphaned  puts all after killing whoever records it
 *   killed    kills itself after the last message
 *   fork      a child goes on with its parent's step, and with one of its own
 *   odd       one message of each kind, texts of all lengths, times that make no sense
 *   many      more steps than there may be
 *   beyond    the same, each of which says something, in a thread of its own after that, and is killed
 */
#include "program.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <venturi/step_record.h>

static uint32_t steps[2];
static long count, threads, pause_us;
static int has_spans;

static const struct vt_step_done blank = {.messages = 1,
                                          .pre_ns = VT_UNKNOWN,
                                          .post_ns = VT_UNKNOWN,
                                          .produce_ns = VT_UNKNOWN,
                                          .lag_ns = VT_LAG_UNKNOWN};

static void put(long i)
{
    struct vt_step_done done = blank;
    char extra[64];

    done.step = steps[i & 1];
    done.flags = i % 10 == 0 ? VT_STEP_FAILED : 0;
    done.messages = (uint32_t)(i % 5 + 1);
    done.received = vt_task_clock();
    done.execute_ns = (uint64_t)i;
    if (i % 3 == 0) {
        done.pre_ns = (uint64_t)i + 1;
        done.post_ns = (uint64_t)i + 2;
        done.produce_ns = (uint64_t)i + 3;
        done.lag_ns = i % 2 ? i : -i;
    }
    done.extra = extra;
    done.extra_bytes = (size_t)snprintf(extra, sizeof extra, "\"candid\":\"%ld\",\"n\":%ld", i, i);
    vt_step_put(&done);
}

static void *work(void *arg)
{
    for (long i = (long)(intptr_t)arg; i < count; i += threads) {
        if (has_spans) {
            VT_SPAN("message");
            put(i);
        } else {
            put(i);
        }
        if (pause_us)
            usleep((useconds_t)pause_us);
    }
    return NULL;
}

static void work_in_threads(void)
{
    pthread_t *all = calloc((size_t)threads, sizeof *all);

    for (long i = 0; i < threads; i++)
        if (pthread_create(&all[i], NULL, work, (void *)(intptr_t)i))
            exit(1);
    for (long i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
    free(all);
}

/* In one thread: none that begins then would be seen. */
static void work_unseen(int signal)
{
    threads = 1;
    put(0);
    usleep(200000); /* that one is taken */
    kill(getppid(), signal);
    for (long i = 1; i < count; i++)
        put(i);
    if (signal == SIGSTOP)
        kill(getppid(), SIGCONT);
}

static void put_text(size_t bytes)
{
    static char text[50000];
    struct vt_step_done done = blank;

    memset(text, 'x', sizeof text);
    memcpy(text, "\"t\":\"", 5);
    done.step = steps[0];
    done.extra = bytes ? text : NULL;
    done.extra_bytes = bytes;
    if (bytes)
        text[bytes - 1] = '"';
    vt_step_put(&done);
}

static void put_odd(void)
{
    static const size_t lengths[] = {0,    6,     15,    16,    2047,  2048, 2049,
                                     2880, 10000, 32767, 32768, 32769, 50000};
    struct vt_step_done done = blank;

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        put_text(lengths[i]);
    done.step = steps[1];
    done.flags = VT_STEP_METRICS;
    done.extra = "\"by\":\"hand\"";
    done.extra_bytes = strlen(done.extra);
    vt_step_put(&done);
    done = blank;
    done.step = steps[1];
    done.extra = "no json\n";
    done.extra_bytes = strlen(done.extra);
    vt_step_put(&done);
    done = blank;
    done.step = steps[1];
    done.messages = 0;
    done.execute_ns = VT_UNKNOWN - 1;
    done.sent = vt_task_clock();
    done.received = done.sent + 1000; /* it went before it came */
    vt_step_put(&done);
    done.step = 0;
    vt_step_put(&done);
    done.step = 4000000000u;
    vt_step_put(&done);
}

static void make_many(void)
{
    char name[32];
    uint32_t step = 0;
    long made = 2;

    for (long i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "Step%ld", i);
        step = vt_step_source(name, NULL, NULL);
        made += step != 0;
    }
    say("made", made, "last", (long)step, "again",
        (long)(vt_step_source("Step7", "pipeline", "") == vt_step_source("Step7", NULL, NULL)),
        (char *)0);
    exit(0);
}

static void *put_all(void *arg)
{
    struct vt_step_done done = blank;
    const uint32_t *all = arg;

    for (long i = 0; i < count; i++) {
        done.step = all[i];
        vt_step_put(&done);
    }
    return NULL;
}

static void put_beyond(void)
{
    uint32_t *all = calloc((size_t)count, sizeof *all);
    pthread_t thread;
    char name[32];

    for (long i = 0; all && i < count; i++) {
        snprintf(name, sizeof name, "Step%ld", i);
        all[i] = vt_step_source(name, NULL, NULL);
    }
    if (!all || pthread_create(&thread, NULL, put_all, all))
        exit(3);
    pthread_join(thread, NULL);
    all[0] = all[count - 1];
    count = 1;
    put_all(all); /* by a thread that has said nothing before */
    raise(SIGKILL);
}

static void fork_child(void)
{
    pid_t child = fork();

    if (!child) {
        steps[1] = vt_step_source("Own", NULL, NULL);
        work_in_threads();
        exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    count = number(argc, argv, 2, 100000);
    threads = number(argc, argv, 3, 3);
    pause_us = number(argc, argv, 4, 0);
    has_spans = !strcmp(mode, "spans");
    steps[0] = vt_step_source("Classifier", NULL, "ztf");
    steps[1] = vt_step_source("Saver", "alerts", NULL);
    if (!strcmp(mode, "many"))
        make_many();
    if (!strcmp(mode, "beyond"))
        put_beyond();
    if (!strcmp(mode, "odd"))
        put_odd();
    else if (!strcmp(mode, "stopped"))
        work_unseen(SIGSTOP);
    else if (!strcmp(mode, "orphaned"))
        work_unseen(SIGKILL);
    else
        work_in_threads();
    if (!strcmp(mode, "killed"))
        raise(SIGKILL);
    if (!strcmp(mode, "fork"))
        fork_child();
    say("count", count, (char *)0);
    return 0;
}
