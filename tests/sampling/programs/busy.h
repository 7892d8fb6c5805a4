/* busy.h - uses CPU time: the same work for the same number, whatever the machine. */
#ifndef BUSY_H
#define BUSY_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

static volatile uint64_t sink;

#define BUSY(rounds)                                                                               \
    do {                                                                                           \
        uint64_t x = 1;                                                                            \
                                                                                                   \
        for (uint64_t i = 0; i < (uint64_t)(rounds); i++)                                          \
            x = x * 6364136223846793005u + i;                                                      \
        sink = x;                                                                                  \
    } while (0)

#define APART                                                                                      \
    __attribute__((noinline, noclone, no_icf)) /* alike as they are, they stay what they are */

/* Seconds of CPU time of the whole process. */
static inline double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* As one line of JSON, for the test. */
static inline void say_cpu(void)
{
    printf("{\"cpu\": %.6f}\n", cpu_seconds());
}

#endif
