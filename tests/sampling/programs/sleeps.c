/* sleeps.c - does nothing, in system calls that a signal would end early. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>

int main(void)
{
    const struct timespec nap = {0, 1000000};
    int interrupted = 0;

    for (int i = 0; i < 300; i++) {
        interrupted += nanosleep(&nap, NULL) != 0;
        interrupted += poll(NULL, 0, 1) < 0 && errno == EINTR;
    }
    printf("{\"interrupted\": %d}\n", interrupted);
    return 0;
}
