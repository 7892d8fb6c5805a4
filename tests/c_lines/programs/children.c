/* Children of every kind; what they count is known. */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static volatile long sink;

static void work(int n)
{
    for (int i = 0; i < n; i++)
        sink += i;
}

static void await(pid_t pid)
{
    int status;

    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        abort();
}

static void *count(void *arg)
{
    for (int i = 0; i < 1000; i++)
        work(10);
    return arg;
}

static void *fork_some(void *arg)
{
    for (int i = 0; i < 5; i++) {
        pid_t pid = fork();

        if (!pid) {
            work(7);
            _exit(0);
        }
        await(pid);
    }
    return arg;
}

static void run_threads(void)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i % 2 ? fork_some : count, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void spawn_some(char *self)
{
    char *arguments[] = {self, "child", NULL};

    for (int i = 0; i < 4; i++) {
        pid_t pid;

        if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ))
            abort();
        await(pid);
    }
}

static void vfork_some(char *self)
{
    char *arguments[] = {self, "child", NULL};

    for (int i = 0; i < 4; i++) {
        pid_t pid = vfork();

        if (!pid) {
            execv(self, arguments);
            _exit(1);
        }
        await(pid);
    }
}

/* A child that is killed, of one that aborts. */
static void kill_some(void)
{
    pid_t pid = fork();

    if (!pid) {
        pid = fork();
        if (!pid) {
            work(11);
            raise(SIGKILL);
        }
        work(13);
        await(pid);
        abort();
    }
    await(pid);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    if (!strcmp(how, "child"))
        work(5);
    else if (!strcmp(how, "spawn"))
        spawn_some(argv[0]);
    else if (!strcmp(how, "vfork"))
        vfork_some(argv[0]);
    else if (!strcmp(how, "threads"))
        run_threads();
    else if (!strcmp(how, "kill"))
        kill_some();
    return 0;
}
