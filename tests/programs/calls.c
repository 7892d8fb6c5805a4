/*
 * calls.c KIND [n] - calls as a hook reports them, counted by hand beside it.
 *
 *     fib N        one function that calls itself
 *     paths N      three functions that call each other along many paths, N deep
 *     threads N    N threads, one after the other, each with 100 calls of each function
 *     killed       reports what it has done, then kills itself inside of three calls
 *     fork         a call that is open while a child is forked, which goes on calling
 *     jump N       longjmp over three functions, N times
 *     stacks N     N stacks that take turns
 *     lost         leaves functions that were never entered, and enters some that are never left
 *     full         more paths than there is room for
 *     dear N       claims that a call costs far more than it took; with N = 1 those calls are of a second thread
 *     names        two functions with the same name, file and line
 */
#include "program.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <venturi/hook.h>

static uint32_t a, b, c;
static unsigned long calls;

static uint32_t function(const char *name, uint32_t line)
{
    struct vt_function f = {name, name, "calls.c", line, VT_LANGUAGE_PYTHON};

    return vt_function_id(&f);
}

static void fib(long n)
{
    calls++;
    vt_call_enter(a);
    if (n > 1) {
        fib(n - 1);
        fib(n - 2);
    }
    vt_call_leave(a);
}

static void spread(uint32_t id, long depth)
{
    calls++;
    vt_call_enter(id);
    if (depth > 1) {
        spread(a, depth - 1);
        spread(b, depth - 1);
        spread(c, depth - 1);
    }
    vt_call_leave(id);
}

static void *work(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++)
        spread(b, 2);
    return NULL;
}

static void run_threads(long count)
{
    pthread_t thread;

    for (long i = 0; i < count; i++) {
        if (pthread_create(&thread, NULL, work, NULL))
            exit(3);
        pthread_join(thread, NULL);
    }
    say("threads", count, "calls", calls, (char *)0);
}

static void be_killed(void)
{
    fib(10);
    vt_call_enter(a);
    vt_call_enter(b);
    usleep(20000);
    vt_call_enter(c);
    vt_call_leave(c);
    vt_call_enter(c);
    say("fib", calls, (char *)0);
    kill(getpid(), SIGKILL);
}

static void run_fork(void)
{
    pid_t child;

    vt_call_enter(a);
    vt_call_enter(b);
    child = fork();
    if (!child) {
        vt_call_enter(c);
        vt_call_leave(c);
        vt_call_leave(b); /* entered by the parent: nothing here */
        _exit(0);
    }
    waitpid(child, NULL, 0);
    vt_call_leave(b);
    vt_call_leave(a);
    say("children", 1L, (char *)0);
}

static jmp_buf back;

static volatile int is_returning;

__attribute__((noinline)) static void jump(int depth)
{
    volatile char room[64] = {0};

    vt_call_enter_at(depth ? b : c, (uintptr_t)__builtin_frame_address(0), 0);
    if (is_returning)
        return;
    if (!depth)
        longjmp(back, 1);
    jump(depth - 1);
    vt_call_leave_at(b, (uintptr_t)__builtin_frame_address(0));
    (void)room;
}

static void run_jumps(volatile long count)
{
    vt_call_enter_at(a, (uintptr_t)__builtin_frame_address(0), 0);
    while (count--)
        if (!setjmp(back))
            jump(2);
    vt_call_leave_at(a, (uintptr_t)__builtin_frame_address(0));
}

static void run_stacks(long count)
{
    uint32_t *stacks = calloc((size_t)count, sizeof *stacks);

    vt_call_enter(a);
    for (long i = 0; i < count; i++)
        stacks[i] = vt_stack_open();
    for (int round = 0; round < 3; round++)
        for (long i = 0; i < count; i++) {
            vt_stack_switch(stacks[i]);
            vt_call_enter(round == 0 ? b : c);
        }
    for (long i = 0; i < count; i++) {
        vt_stack_switch(stacks[i]);
        vt_call_leave(c);
        vt_call_leave(c);
        vt_call_leave(b);
        vt_stack_close(stacks[i]);
    }
    vt_call_leave(a);
    say("stacks", count, "distinct", (long)stacks[count - 1], (char *)0);
    free(stacks);
}

static void run_lost(void)
{
    vt_call_leave(a);
    vt_call_enter(a);
    vt_call_enter(b);
    vt_call_enter(c); /* never left … */
    vt_call_leave(a); /* … but left with this */
    vt_call_leave(b);
    vt_call_enter(b);
    vt_call_leave(b);
}

static void run_full(void)
{
    uint32_t ids[1000];

    for (uint32_t i = 0; i < 1000; i++)
        ids[i] = function("many", i + 10);
    for (uint32_t i = 0; i < 1000; i++) {
        vt_call_enter(ids[i]);
        for (uint32_t k = 0; k < 1000; k++) {
            vt_call_enter(ids[k]);
            vt_call_leave(ids[k]);
        }
        vt_call_leave(ids[i]);
    }
    say("calls", 1001000L, "lost", (long)vt_calls_lost(), (char *)0);
}

static void run_names(void)
{
    uint32_t twin = function("a", 1);

    for (int i = 0; i < 5; i++) {
        vt_call_enter(i < 2 ? a : twin);
        vt_call_leave(i < 2 ? a : twin);
    }
}

static void *call_dearly(void *arg)
{
    fib(10);
    return arg;
}

static void run_dear(long is_elsewhere)
{
    pthread_t thread;

    vt_hook_cost(VT_LANGUAGE_PYTHON, 1000ull << 40, 1000ull << 40);
    if (!is_elsewhere)
        call_dearly(NULL);
    else if (!pthread_create(&thread, NULL, call_dearly, NULL))
        pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    long n = number(argc, argv, 2, 10);

    a = function("a", 1);
    b = function("b", 2);
    c = function("c", 3);
    if (!strcmp(kind, "fib")) {
        fib(n);
        say("calls", calls, (char *)0);
    } else if (!strcmp(kind, "paths")) {
        spread(a, n);
        say("calls", calls, (char *)0);
    } else if (!strcmp(kind, "threads")) {
        run_threads(n);
    } else if (!strcmp(kind, "killed")) {
        be_killed();
    } else if (!strcmp(kind, "fork")) {
        run_fork();
    } else if (!strcmp(kind, "jump")) {
        run_jumps(n);
    } else if (!strcmp(kind, "stacks")) {
        run_stacks(n);
    } else if (!strcmp(kind, "lost")) {
        run_lost();
    } else if (!strcmp(kind, "full")) {
        run_full();
    } else if (!strcmp(kind, "dear")) {
        run_dear(n);
    } else if (!strcmp(kind, "names")) {
        run_names();
    } else {
        return 2;
    }
    return 0;
}
