/* killed.c - calls functions a known number of times and is killed in the middle of one. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static int leaf(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x;
}

__attribute__((noinline)) static void end(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1000;

    for (int i = 0; i < rounds; i++)
        leaf(i);
    end();
    return 0;
}
