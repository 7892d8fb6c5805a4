/* futex.c - the system call behind waiting; within one process. */
#include "graph/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void vti_futex_wait(const uint32_t *word, uint32_t value, int timeout_ms)
{
    struct timespec time = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000};

    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout_ms < 0 ? NULL : &time, NULL, 0);
}

void vti_futex_wake(const uint32_t *word, int count)
{
    int before = errno; /* a signal handler must leave it as it was */

    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
    errno = before;
}

void vti_futex_tell(uint32_t *word)
{
    __atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
    vti_futex_wake(word, INT_MAX);
}
