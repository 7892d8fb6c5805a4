/*
 * child.c - the program that `run` starts: its signals, its end, and how its end becomes ours.
 *
 * It stays in our process group, so that the terminal sends Ctrl-C and Ctrl-Z to it directly, and others what they
 * send to the group; what another process sends to us alone is passed on.
 */
#include "cli/child.h"

#include "cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed_on[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,  SIGUSR1,
                                SIGUSR2, SIGALRM, SIGCONT, SIGWINCH, SIGPIPE};

static void watch_signals(struct vti_child *child, sigset_t *passed)
{
    sigset_t mask;

    sigemptyset(passed);
    for (unsigned i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaddset(passed, passed_on[i]);
    mask = *passed;
    sigaddset(&mask, SIGCHLD);
    sigprocmask(SIG_BLOCK, &mask, &child->old_mask);
    child->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* In the child: as if we had never been there. `report` carries errno if the program cannot run. */
static void become(const struct vti_child *child, char **program, int report)
{
    int error;

    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, &child->old_mask, NULL);
    execvp(program[0], program);
    error = errno;
    (void)!write(report, &error, sizeof error);
    _exit(VTI_EXIT_MISSING);
}

static int cannot_run(const char *name, int error)
{
    bool is_here = error == ENOENT && !strchr(name, '/') && access(name, X_OK) == 0;

    vti_cmd_fail("run", "%s: %s%s%s", name, error == ENOENT ? "not found" : strerror(error),
                 is_here ? ", did you mean ./" : "", is_here ? name : "");
    return error == ENOENT ? VTI_EXIT_MISSING : VTI_EXIT_CANNOT;
}

int vti_child_start(struct vti_child *child, char **program)
{
    sigset_t passed;
    int report[2];
    int error = 0;
    ssize_t got;

    child->group.witness = 0;
    if (pipe2(report, O_CLOEXEC)) {
        vti_cmd_fail("run", "cannot make a pipe: %s", strerror(errno));
        return VTI_EXIT_SETUP;
    }
    watch_signals(child, &passed);
    child->pid = fork();
    if (child->pid == 0)
        become(child, program, report[1]);
    close(report[1]);
    if (child->pid < 0) {
        close(report[0]);
        vti_cmd_fail("run", "cannot start a process: %s", strerror(errno));
        return VTI_EXIT_SETUP;
    }
    do
        got = read(report[0], &error, sizeof error);
    while (got < 0 && errno == EINTR);
    close(report[0]);
    if (got != (ssize_t)sizeof error) {
        vti_group_watch(&child->group, &passed);
        return 0;
    }
    waitpid(child->pid, NULL, 0);
    return cannot_run(program[0], error);
}

bool vti_child_check(struct vti_child *child)
{
    struct signalfd_siginfo info;
    siginfo_t ended;

    while (read(child->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        bool is_from_terminal = info.ssi_code == SI_KERNEL;

        if (info.ssi_signo == SIGCHLD || vti_group_got(&child->group, (int)info.ssi_signo))
            continue;
        if (!is_from_terminal && (pid_t)info.ssi_pid != child->pid)
            kill(child->pid, (int)info.ssi_signo);
    }
    ended.si_pid = 0;
    waitid(P_PID, (id_t)child->pid, &ended, WEXITED | WNOHANG | WNOWAIT);
    return ended.si_pid == child->pid;
}

void vti_child_reap(struct vti_child *child)
{
    wait4(child->pid, &child->status, 0, &child->usage);
    vti_group_end(&child->group);
}

int vti_child_exit(struct vti_child *child)
{
    const struct rlimit no_core = {0, 0};
    sigset_t mask;
    int number;

    if (!WIFSIGNALED(child->status))
        return WEXITSTATUS(child->status);
    number = WTERMSIG(child->status);
    setrlimit(RLIMIT_CORE, &no_core);
    signal(number, SIG_DFL);
    sigemptyset(&mask);
    sigaddset(&mask, number);
    sigprocmask(SIG_UNBLOCK, &mask, NULL);
    raise(number);
    return 128 + number;
}
