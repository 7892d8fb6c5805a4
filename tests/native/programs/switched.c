/* switched.c - works, makes a file, waits for another, works again: for a recording that is switched on in between. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))

KEEP int leaf(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

KEEP void work(int times)
{
    for (int i = 0; i < times; i++)
        leaf(i);
}

int main(int argc, char **argv)
{
    int first = argc > 4 ? (int)strtol(argv[3], NULL, 10) : 0;
    int second = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 0;

    work(first);
    close(open(argv[1], O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    while (access(argv[2], F_OK))
        usleep(1000);
    work(second);
    return 0;
}
