/*
 * forks.c HOW [children [pairs]] - processes that come from one that records. HOW is
 *     fork      plain fork; the parent is inside a span
 *     raw       the system call itself, past every atfork handler
 *     threaded  fork while other threads record
 *     exec      fork, then exec this program as `forks work PAIRS`
 *     vfork, spawn   the same by vfork and posix_spawn
 *     self      exec without fork: the same pid records twice
 *     work      record so many spans, nothing else
 */
#include "program.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <venturi/span.h>

extern char **environ;

static long pairs;
static char pairs_text[32];
static int is_over;

static void record(const char *name)
{
    for (long i = 0; i < pairs; i++) {
        vt_start(name);
        VT_ATTR("i", i);
        vt_stop();
    }
}

static void *record_meanwhile(void *arg)
{
    (void)arg;
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        VT_SPAN("meanwhile");
    }
    return NULL;
}

static pid_t start_child(const char *how, char **work)
{
    pid_t child = -1;

    if (!strcmp(how, "spawn")) {
        if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, work, environ))
            exit(3);
        return child;
    }
    if (!strcmp(how, "vfork")) {
        child = vfork();
        if (child == 0) {
            execv("/proc/self/exe", work);
            _exit(3);
        }
        return child;
    }
    child = !strcmp(how, "raw") ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
    if (child == 0 && !strcmp(how, "exec")) {
        record("before exec");
        execv("/proc/self/exe", work);
        _exit(3);
    }
    return child;
}

static void run_children(const char *how, long children, char **work)
{
    VT_SPAN("parent");
    for (long i = 0; i < children; i++) {
        pid_t child = start_child(how, work);

        if (child == 0) {
            record("child");
            _exit(0);
        }
        if (child < 0)
            exit(3);
        if (i % 8 == 7)
            while (wait(NULL) > 0)
                ;
    }
    while (wait(NULL) > 0)
        ;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "fork";
    long children = number(argc, argv, 2, 10);
    char *work[] = {argv[0], "work", "1", pairs_text, NULL};
    pthread_t threads[2];
    int is_threaded = !strcmp(how, "threaded");

    pairs = number(argc, argv, 3, 100);
    snprintf(pairs_text, sizeof pairs_text, "%ld", pairs);
    if (!strcmp(how, "work")) {
        record("work");
        return 0;
    }
    if (!strcmp(how, "self")) {
        record("before exec");
        execv("/proc/self/exe", work);
        return 3;
    }
    for (int i = 0; is_threaded && i < 2; i++)
        pthread_create(&threads[i], NULL, record_meanwhile, NULL);
    run_children(how, children, work);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; is_threaded && i < 2; i++)
        pthread_join(threads[i], NULL);
    say("children", children, "spans", children * pairs, (char *)0);
    return 0;
}
