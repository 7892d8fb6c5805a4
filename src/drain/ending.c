/*
 * ending.c - how a process ended that is not our child.
 *
 * Until its parent has waited for it, /proc says it; afterwards the pidfd does, from Linux 6.15 on.
 */
#include "drain/ending.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* As linux/pidfd.h has it, which is not that new everywhere. */
struct pidfd_facts {
    uint64_t mask;
    uint64_t cgroup;
    uint32_t ids[11];
    int32_t exit_code;
};
#define GET_FACTS _IOWR(0xff, 11, struct pidfd_facts)
#define HAS_EXIT 0x8u

static bool ask_pidfd(int pidfd, int *wait_status)
{
    struct pidfd_facts facts = {.mask = HAS_EXIT};

    if (pidfd < 0 || ioctl(pidfd, GET_FACTS, &facts) || !(facts.mask & HAS_EXIT))
        return false;
    *wait_status = facts.exit_code;
    return true;
}

/* "12 (name) Z … exit_code": the name may hold anything, so all counts from its end on. */
static bool ask_proc(pid_t pid, int *wait_status)
{
    char path[64];
    char text[1024];
    const char *last;
    ssize_t len;
    int fd;

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    len = read(fd, text, sizeof text - 1);
    close(fd);
    text[len > 0 ? len : 0] = 0;
    text[strcspn(text, "\n")] = 0;
    last = strrchr(text, ')');
    if (!last || (strncmp(last, ") Z ", 4) && strncmp(last, ") X ", 4)))
        return false;
    *wait_status = (int)strtol(strrchr(last, ' '), NULL, 10);
    return true;
}

enum vti_process_end vti_ending_find(int pidfd, pid_t pid, uint32_t *status)
{
    int wait_status;

    *status = 0;
    if (!ask_proc(pid, &wait_status) && !ask_pidfd(pidfd, &wait_status))
        return VTI_ENDED_UNKNOWN;
    *status = (uint32_t)(WIFSIGNALED(wait_status) ? WTERMSIG(wait_status)
                                                  : WEXITSTATUS(wait_status));
    return WIFSIGNALED(wait_status) ? VTI_ENDED_SIGNAL : VTI_ENDED_EXIT;
}
