/* replaced.c SECONDS - works, then goes on as another program that knows nothing of us. */
#include <unistd.h>

__attribute__((noinline)) void work(void)
{
    for (volatile int i = 0; i < 100000; i++)
        ;
}

int main(int argc, char **argv)
{
    work();
    execl("/bin/sleep", "sleep", argc > 1 ? argv[1] : "1", (char *)0);
    return 1;
}
