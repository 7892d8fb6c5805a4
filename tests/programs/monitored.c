/*
 * monitored.c - a pipeline that does what it is told, for tests of what is shown of it meanwhile. Lines on its standard input:
 *   round N   N children deal with MESSAGES messages each: a span and a trace point, a step, a task; the last child is killed, not ended
 *   busy MS   uses so much CPU time
 *   items N M counts N items of work, of which M ran to the end
 * Each is answered with a line when it is over. It ends when its input does.
 */
#include "program.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <venturi/context.h>
#include <venturi/span.h>
#include <venturi/step_record.h>
#include <venturi/task.h>

#define MESSAGES 100

/* By the clock on the wall for what is to take a while, by that of the CPU for what is to use it. */
static void burn(clockid_t clock, long us)
{
    struct timespec now;
    long long end;

    clock_gettime(clock, &now);
    end = now.tv_sec * 1000000LL + now.tv_nsec / 1000 + us;
    do {
        clock_gettime(clock, &now);
    } while (now.tv_sec * 1000000LL + now.tv_nsec / 1000 < end);
}

static void classify(int i)
{
    VT_SPAN("classify");

    burn(CLOCK_MONOTONIC, 20);
    if (i % 10 == 0)
        VT_ERROR("ValueError", "a bad message");
}

static void handle(uint32_t step, uint32_t run, int i)
{
    struct vt_step_done done = {.step = step,
                                .flags = i % 10 == 0 ? VT_STEP_FAILED : 0,
                                .messages = 2,
                                .received = vt_task_clock(),
                                .execute_ns = 1500000,
                                .pre_ns = 1000,
                                .post_ns = 2000,
                                .produce_ns = 3000,
                                .lag_ns = 250000000};
    struct vt_task task = {.name = vt_site_intern("sum"),
                           .key = "",
                           .run = run,
                           .number = (uint32_t)i,
                           .state = i == 7 ? VT_TASK_FAILED : VT_TASK_DONE,
                           .cpu_ns = VT_UNKNOWN,
                           .bytes = 8};

    task.ready = task.start = vt_task_clock();
    vt_context_begin(NULL);
    {
        VT_TRACE("request");
        classify(i);
    }
    vt_context_end();
    vt_step_put(&done);
    task.end = vt_task_clock();
    while (!vt_task_put(&task) && vt_task_wait(1000))
        continue;
}

static void work(int is_killed)
{
    uint32_t step = vt_step_source("ClassifyStep", "test_step", NULL);
    uint32_t run = vt_task_run("sync", MESSAGES, 1, 0);

    vt_task_worker(run, 0, "", (uint64_t)getpid(), (uint64_t)getpid());
    for (int i = 0; i < MESSAGES; i++)
        handle(step, run, i);
    vt_task_run_end(run, "", 0);
    if (is_killed)
        kill(getpid(), SIGKILL);
}

/* What it was told to do is a task of a run that goes on as long as the program does. */
static void tell(uint32_t run, uint32_t number, uint64_t start)
{
    struct vt_task task = {.name = vt_site_intern("command"),
                           .key = "",
                           .run = run,
                           .number = number,
                           .state = VT_TASK_DONE,
                           .ready = start,
                           .start = start,
                           .end = vt_task_clock(),
                           .cpu_ns = VT_UNKNOWN,
                           .bytes = VT_UNKNOWN};

    vt_task_put(&task);
}

static void round_of(long children)
{
    VT_SPAN("round");

    for (long i = 0; i < children; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            work(i + 1 == children);
            _exit(0);
        }
    }
    while (wait(NULL) > 0)
        continue;
}

int main(void)
{
    uint32_t run = vt_task_run("sync", 0, 1, 0);
    uint32_t number = 0;
    char line[64];
    long count, done;

    vt_task_worker(run, 0, "main", (uint64_t)getpid(), (uint64_t)getpid());
    say("pid", (long)getpid(), NULL);
    while (fgets(line, sizeof line, stdin)) {
        uint64_t start = vt_task_clock();

        if (sscanf(line, "round %ld", &count) == 1)
            round_of(count);
        else if (sscanf(line, "busy %ld", &count) == 1)
            burn(CLOCK_PROCESS_CPUTIME_ID, 1000 * count);
        else if (sscanf(line, "items %ld %ld", &count, &done) == 2) {
            VT_ITEMS(count);
            VT_ITEMS_DONE(done);
        }
        tell(run, number++, start);
        say("done", 1L, NULL);
    }
    vt_task_run_end(run, "", 0);
    return 0;
}
