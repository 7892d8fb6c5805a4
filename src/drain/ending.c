/*
 * ending.c - how a process ended that is not our child.
 *
 * Until its parent has waited for it, /proc says it; afterwards the pidfd does, from Linux 6.15 on.
 */
#include "drain/ending.h"

#include "drain/proc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
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

static bool ask_proc(pid_t pid, int *wait_status)
{
    char line[VTI_PROC_LINE_BYTES];
    const char *state = vti_proc_field(line, pid, VTI_PROC_STATE);
    bool is_over = state && (*state == 'Z' || *state == 'X');
    const char *code = is_over ? vti_proc_field(line, pid, VTI_PROC_EXIT_CODE) : NULL;

    if (!code)
        return false;
    *wait_status = (int)strtol(code, NULL, 10);
    return true;
}

bool vti_ending_has_come(int pidfd, pid_t pid)
{
    struct pollfd end = {pidfd, POLLIN, 0};

    if (pidfd >= 0)
        return poll(&end, 1, 0) == 1;
    return kill(pid, 0) && errno == ESRCH;
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
