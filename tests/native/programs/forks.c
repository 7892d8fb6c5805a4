/* forks.c - a child goes on in the middle of functions; another one is replaced by `true`. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))

KEEP static int leaf(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x;
}

KEEP static void only_child(void)
{
    for (int i = 0; i < 300; i++)
        leaf(i);
}

KEEP static void replace(void)
{
    execl("/bin/true", "true", (char *)NULL);
    _exit(1);
}

KEEP static int split(void)
{
    pid_t child = fork();

    if (child == 0)
        only_child();
    return (int)child;
}

int main(void)
{
    int child;

    for (int i = 0; i < 100; i++)
        leaf(i);
    child = split();
    if (child == 0)
        return 0;
    waitpid(child, NULL, 0);
    child = vfork();
    if (child == 0)
        replace();
    waitpid(child, NULL, 0);
    for (int i = 0; i < 50; i++)
        leaf(i);
    puts("{}");
    return 0;
}
