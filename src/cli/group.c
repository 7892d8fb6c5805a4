/* group.c - whether a signal that reached us was sent to our whole process group. */
#include "cli/group.h"

#include <errno.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS 20000000 /* the kernel may be still on its way through the group */

/* In the witness: keeps signals back, and says whether one came when it is asked. */
static void bear_witness(int asking, const sigset_t *signals)
{
    const struct timespec limit = {0, WAIT_NS};
    uint8_t number;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_BLOCK, signals, NULL);
    while (recv(asking, &number, 1, 0) == 1) {
        sigset_t wanted;
        uint8_t has_come;

        sigemptyset(&wanted);
        sigaddset(&wanted, number);
        has_come = sigtimedwait(&wanted, NULL, &limit) == number;
        if (send(asking, &has_come, 1, MSG_NOSIGNAL) != 1)
            break;
    }
    _exit(0);
}

void vti_group_watch(struct vti_group *group, const sigset_t *signals)
{
    int ends[2];

    group->witness = 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return;
    group->witness = fork();
    if (group->witness == 0) {
        dup2(ends[1], 0);
        syscall(SYS_close_range, 1u, ~0u, 0u);
        bear_witness(0, signals);
    }
    close(ends[1]);
    group->asked = ends[0];
    if (group->witness < 0) {
        group->witness = 0;
        close(ends[0]);
    }
}

bool vti_group_got(const struct vti_group *group, int number)
{
    uint8_t asked = (uint8_t)number;
    uint8_t has_come = 0;

    if (!group->witness || send(group->asked, &asked, 1, MSG_NOSIGNAL) != 1)
        return false;
    while (recv(group->asked, &has_come, 1, 0) < 0 && errno == EINTR)
        ;
    return has_come;
}

void vti_group_end(struct vti_group *group)
{
    if (!group->witness)
        return;
    kill(group->witness, SIGKILL);
    waitpid(group->witness, NULL, 0);
    close(group->asked);
    group->witness = 0;
}
