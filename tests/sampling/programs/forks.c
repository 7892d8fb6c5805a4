/* forks.c - a parent and its child, busy in functions of their own; the child starts a program at last. */
#include "busy.h"

#include <sys/wait.h>
#include <unistd.h>

APART static void of_parent(void)
{
    BUSY(100000000);
}

APART static void of_child(void)
{
    BUSY(100000000);
}

int main(int argc, char **argv)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        of_child();
        if (argc > 1)
            execv(argv[1], argv + 1);
        _exit(7);
    }
    of_parent();
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) == 7 || argc > 1 ? 0 : 1;
}
