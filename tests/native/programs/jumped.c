/* jumped.c - what follows a jump does not belong to the functions that were left by it. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEEP __attribute__((noinline))

static jmp_buf back;
static sigjmp_buf signal_back;

KEEP static void rest(void)
{
    const struct timespec time = {0, 200000000};

    nanosleep(&time, NULL);
}

KEEP static void fall(int depth)
{
    if (depth)
        fall(depth - 1);
    else
        longjmp(back, 1);
    __asm__ volatile("" : : : "memory");
}

static void handler(int number)
{
    siglongjmp(signal_back, number);
}

KEEP static void wait_for_signal(void)
{
    raise(SIGUSR1);
    abort();
}

int main(int argc, char **argv)
{
    const struct timespec time = {0, 200000000};

    if (argc > 1 && !strcmp(argv[1], "signal")) {
        signal(SIGUSR1, handler);
        if (!sigsetjmp(signal_back, 1))
            wait_for_signal();
    } else if (!setjmp(back)) {
        fall(3);
    }
    nanosleep(&time, NULL);
    rest();
    return 0;
}
