/*
 * tasks.c MODE [count [threads [pause in microseconds]]] - tells tasks of a scheduler that there is not: what is recorded of them is what is tested.
 *   patient   says again what found no room, and counts what found none for two seconds
 *   greedy    does not, and says at the end how many were lost; each task has a span around it
 *   stopped   puts all while whoever records it is stopped, and can neither wait for room nor tell how many were lost
 *   killed    kills itself after the last task
 *   fork      a child goes on, with a run of its own
 *   odd       one task of each kind, keys of all lengths, dependencies of all numbers
 *   clock     tells what the clock says in real time
 */
#include "program.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <venturi/task.h>

static struct vt_site names[2] = {{.name = "add", .function = "", .file = "", .unit = ""},
                                  {.name = "mul", .function = "", .file = "", .unit = ""}};

static uint32_t run;
static long count, threads, pause_us;
static int is_greedy, has_spans;

struct worker {
    pthread_t thread;
    uint32_t number;
    long lost;
};

static int put(const struct vt_task *task)
{
    while (!vt_task_put(task))
        if (is_greedy || !vt_task_wait(2000))
            return 0;
    return 1;
}

static void *work(void *arg)
{
    struct worker *self = arg;

    vt_task_worker(run, self->number, "", (uint64_t)getpid(), (uint64_t)gettid());
    for (long i = self->number; i < count; i += threads) {
        uint32_t before = (uint32_t)i - 1;
        char key[32];
        struct vt_task task = {.name = &names[i & 1],
                               .key = key,
                               .key_bytes = (size_t)snprintf(key, sizeof key, "('k', %ld)", i),
                               .run = run,
                               .number = (uint32_t)i,
                               .worker = self->number,
                               .state = VT_TASK_DONE,
                               .ready = vt_task_clock(),
                               .cpu_ns = i & 1 ? VT_UNKNOWN : 5 | VT_CPU_ESTIMATED,
                               .bytes = (uint64_t)i,
                               .dependencies = &before,
                               .dependency_count = i > 0};

        if (has_spans)
            vt_span_begin(&names[i & 1]);
        task.start = vt_task_clock();
        task.end = vt_task_clock();
        self->lost += !put(&task);
        if (pause_us)
            usleep((useconds_t)pause_us);
        if (has_spans)
            vt_span_end();
    }
    return NULL;
}

static long work_in_threads(void)
{
    struct worker *workers = calloc((size_t)threads, sizeof *workers);
    long lost = 0;

    for (long i = 0; i < threads; i++) {
        workers[i].number = (uint32_t)i;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            exit(1);
    }
    for (long i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        lost += workers[i].lost;
    }
    free(workers);
    return lost;
}

/* In one thread: whoever tells the end must not have room of its own. */
static long work_unseen(void)
{
    struct worker self = {.number = 0};

    is_greedy = 1;
    threads = 1;
    usleep(100000); /* what was said of the run is taken */
    kill(getppid(), SIGSTOP);
    work(&self);
    return self.lost;
}

static void put_odd(uint32_t number, uint8_t state, uint8_t action, size_t key_bytes,
                    size_t dependencies)
{
    static char key[8000];
    static uint32_t before[300000];
    struct vt_task task = {.key = key,
                           .key_bytes = key_bytes,
                           .run = run,
                           .number = number,
                           .worker = VT_NO_WORKER,
                           .state = state,
                           .action = action,
                           .retries = number == 3 ? 65535 : 0,
                           .cpu_ns = VT_UNKNOWN,
                           .bytes = VT_UNKNOWN,
                           .dependencies = before,
                           .dependency_count = dependencies};

    for (size_t i = 0; i + 1 < key_bytes; i += 2)
        memcpy(key + i, "\303\251", 2); /* two bytes that must not be parted */
    for (uint32_t i = 0; i < dependencies; i++)
        before[i] = i;
    if (state <= VT_TASK_FAILED) {
        task.start = vt_task_clock();
        task.end = vt_task_clock();
        task.freed = vt_task_clock();
    }
    if (!put(&task))
        exit(1);
}

static void put_all_odd(void)
{
    static const size_t lengths[] = {0, 1, 2, 14, 15, 16, 2047, 2048, 2049, 8000};
    static const size_t wide[] = {0, 1, 63, 64, 65, 511, 512, 513, 1025, 300000};

    for (uint8_t state = VT_TASK_DONE; state <= VT_TASK_LOST; state++)
        put_odd(state, state, VT_ACTION_COMPUTE, 4, 0);
    for (uint8_t action = VT_ACTION_TRANSFER; action <= VT_ACTION_DESERIALIZE; action++)
        put_odd(1, VT_TASK_DONE, action, 4, 0);
    for (uint32_t i = 0; i < 10; i++)
        put_odd(10 + i, VT_TASK_DONE, VT_ACTION_COMPUTE, lengths[i], 0);
    for (uint32_t i = 0; i < 10; i++)
        put_odd(20 + i, VT_TASK_DONE, VT_ACTION_COMPUTE, 4, wide[i]);
}

static void say_clock(void)
{
    struct timespec now;
    int64_t real, told, back;

    clock_gettime(CLOCK_REALTIME, &now);
    real = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    told = vt_task_realtime(vt_task_clock());
    back = vt_task_realtime(vt_task_clock_at(real));
    say("late", (long)(told - real), "back", (long)(back - real), "earlier",
        (long)(real - vt_task_realtime(vt_task_clock_at(real - 1000000000))), "second",
        (long)(vt_task_tick_ns() *
               (double)(vt_task_clock_at(real) - vt_task_clock_at(real - 1000000000))),
        (char *)0);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    long lost = 0;
    pid_t child = -1;

    count = number(argc, argv, 2, 100000);
    threads = number(argc, argv, 3, 3);
    pause_us = number(argc, argv, 4, 0);
    is_greedy = has_spans = !strcmp(mode, "greedy");
    run = vt_task_run("threads", (uint64_t)count, (uint32_t)threads, 0);
    if (!strcmp(mode, "odd"))
        put_all_odd();
    else if (!strcmp(mode, "clock"))
        say_clock();
    else if (!strcmp(mode, "stopped"))
        lost = work_unseen();
    else
        lost = work_in_threads();
    if (!strcmp(mode, "killed"))
        raise(SIGKILL);
    if (!strcmp(mode, "fork")) {
        child = fork();
        if (!child) {
            run = vt_task_run("sync", (uint64_t)count, 1, 0);
            lost = work_in_threads();
        }
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    vt_task_run_end(run, is_greedy ? "given up" : "", (uint64_t)lost);
    if (!strcmp(mode, "stopped"))
        kill(getppid(), SIGCONT);
    say("run", (long)run, "lost", lost, (char *)0);
    return 0;
}
