/* Ends in many ways, after having counted. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sum;

static void work(int n)
{
    for (int i = 0; i < n; i++)
        sum += i;
}

static void fork_some(void)
{
    for (int i = 1; i <= 3; i++) {
        pid_t child = fork();

        if (child == 0) {
            work(1000 * i);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";

    work(100);
    if (!strcmp(how, "fork"))
        fork_some();
    if (!strcmp(how, "_exit"))
        _exit(0);
    if (!strcmp(how, "quick_exit"))
        quick_exit(0);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
    if (!strcmp(how, "crash"))
        *(volatile int *)0 = 1;
    if (!strcmp(how, "exec"))
        execl("/bin/true", "true", (char *)NULL);
    if (!strcmp(how, "again") && argc == 2)
        execl(argv[0], argv[0], "again", "more", (char *)NULL);
    return 0;
}
