/*
 * bench_resources.c - what one round of readings of CPU, memory and I/O costs the drainer, and each process in it.
 *
 *     bench_resources FILE ROUNDS    FILE: a recording that is written and removed
 */
#include "batch.h"
#include "drain/resources.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 64
#define PAUSE_US 20000

/* Does a little now and then, so that there is always something new to say. */
static pid_t start_child(void)
{
    pid_t pid = fork();

    while (pid == 0)
        usleep(PAUSE_US);
    return pid;
}

/* The middle one of many rounds: the fastest would have nobody started and nothing written. */
static double measure(struct vti_watch *watch, uint32_t rounds)
{
    static uint64_t due_ns;
    uint64_t now_ns = bench_now_ns();
    double *all = calloc(rounds, sizeof *all);
    double middle = 0;

    due_ns = due_ns > now_ns ? due_ns : now_ns;
    for (uint32_t i = 0; all && i < rounds; i++) {
        uint64_t begin;

        due_ns += 100000000u;
        usleep(1000);
        begin = bench_now_ns();
        vti_watch_tick(watch, due_ns, false);
        all[i] = (double)(bench_now_ns() - begin) / 1000;
    }
    if (all)
        middle = bench_median(all, rounds);
    free(all);
    return middle;
}

int main(int argc, char **argv)
{
    struct vti_drain_options options = {.force = true};
    struct vti_watch_options wish = {.hz = 10};
    struct vti_drain_stats stats;
    struct vti_watch *watch;
    pid_t pids[PROCESSES];
    uint32_t rounds;
    double one;
    double many;

    if (argc != 3) {
        fputs("usage: bench_resources FILE ROUNDS\n", stderr);
        return 2;
    }
    options.output = argv[1];
    rounds = bench_number(argv[2]);
    if (vti_recorder_create(&wish.recorder, &options) || !(watch = vti_watch_create(&wish)))
        return 1;
    pids[0] = start_child();
    vti_watch_add(watch, pids[0], 0);
    one = measure(watch, rounds);
    for (int i = 1; i < PROCESSES; i++) {
        pids[i] = start_child();
        vti_watch_add(watch, pids[i], 0);
    }
    many = measure(watch, rounds);
    bench_print("resources_round", one, one, "us");
    bench_print("resources_process", (many - one) / (PROCESSES - 1), (many - one) / (PROCESSES - 1),
                "us");
    for (int i = 0; i < PROCESSES; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    vti_watch_close(watch);
    vti_watch_free(watch);
    vti_recorder_close(wish.recorder, &stats);
    vti_recorder_free(wish.recorder);
    unlink(argv[1]);
    return 0;
}
