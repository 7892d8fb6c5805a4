/* brief.c threads|processes - two thousand of them, each with a fraction of a sampling period of work. */
#include "busy.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT 2000

APART static void *brief(void *arg)
{
    BUSY(60000);
    return arg;
}

static void run_one(int is_thread)
{
    pthread_t thread;
    pid_t child;

    if (is_thread) {
        if (pthread_create(&thread, NULL, brief, NULL) == 0)
            pthread_join(thread, NULL);
        return;
    }
    child = fork();
    if (child == 0) {
        brief(NULL);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    int is_thread = argc < 2 || !strcmp(argv[1], "threads");
    double begin, alone;

    begin = cpu_seconds();
    brief(NULL);
    for (int i = 0; i < 200; i++)
        brief(NULL);
    alone = (cpu_seconds() - begin) / 201;
    for (int i = 0; i < COUNT; i++)
        run_one(is_thread);
    printf("{\"work\": %.6f}\n", alone * (COUNT + 201));
    return 0;
}
