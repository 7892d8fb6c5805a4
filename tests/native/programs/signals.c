/*
 * signals.c - handlers that call functions, while the program calls functions all the time; on the
 * stack of the thread or on one of their own, returning or jumping out.
 *
 *     signals ROUNDS stack|own|jump
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define KEEP __attribute__((noinline))

static volatile long handled, worked;
static volatile sig_atomic_t is_armed;
static sigjmp_buf back;
static int jumps;

KEEP static void in_handler(void)
{
    handled++;
}

static void handler(int number)
{
    (void)number;
    in_handler();
    if (jumps && is_armed) {
        is_armed = 0;
        siglongjmp(back, 1);
    }
}

KEEP static void inner(void)
{
    worked++;
}

KEEP static void work(void)
{
    inner();
}

int main(int argc, char **argv)
{
    static char own_stack[65536];
    stack_t stack = {.ss_sp = own_stack, .ss_size = sizeof own_stack};
    struct itimerval every = {{0, 200}, {0, 200}};
    struct itimerval never = {{0, 0}, {0, 0}};
    const char *how = argc > 2 ? argv[2] : "stack";
    volatile long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
    struct sigaction action = {.sa_handler = handler};

    jumps = !strcmp(how, "jump");
    if (!strcmp(how, "own")) {
        sigaltstack(&stack, NULL);
        action.sa_flags = SA_ONSTACK;
    }
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    while (rounds > 0 || handled < 20) {
        if (jumps) {
            sigsetjmp(back, 1);
            is_armed = 1;
        }
        rounds--;
        work();
        is_armed = 0;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("{\"handled\": %ld, \"worked\": %ld}\n", handled, worked);
    return 0;
}
