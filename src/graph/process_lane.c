/*
 * process_lane.c - the workers themselves: forked, or started with a command; woken, killed, reaped. Descriptors of one worker are
 * closed in all others, so that each sees when the caller is gone. Everything is called by the thread of the run.
 */
#include "base/error.h"
#include "graph/fence.h"
#include "graph/process.h"
#include "graph/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STOP_MS 1000

extern char **environ;

/* In the child: ends with its parent, and leaves the terminal's interrupt to it. */
static void become_worker(pid_t parent)
{
    static const int plain[] = {SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    signal(SIGINT, SIG_IGN);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        signal(plain[i], SIG_DFL);
}

static void close_others(const struct vti_processes *all)
{
    for (unsigned i = 0; i < all->crew_count; i++) {
        if (all->crews[i].control >= 0)
            close(all->crews[i].control);
        if (all->crews[i].pidfd >= 0)
            close(all->crews[i].pidfd);
    }
}

__attribute__((noreturn)) static void forked(struct vti_processes *all, unsigned crew, int control)
{
    const struct vt_run_options *options = &all->executor.run->options;
    int code;

    close_others(all);
    if (options->thread_begin != NULL)
        options->thread_begin(options->thread_user);
    code = vti_worker_loop(all->memory->header, crew, control, all->event);
    if (options->thread_end != NULL)
        options->thread_end(options->thread_user);
    _exit(code);
}

/* The environment with the name of the descriptor; malloc, with `*entry` in it. */
static char **environment(int control, char entry[64])
{
    size_t count = 0, kept = 0;
    char **copy;

    snprintf(entry, 64, "%s=%d", VTI_WORKER_ENVIRONMENT, control);
    while (environ[count] != NULL)
        count++;
    copy = calloc(count + 2, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; i++)
        if (strncmp(environ[i], VTI_WORKER_ENVIRONMENT "=", strlen(VTI_WORKER_ENVIRONMENT) + 1) !=
            0)
            copy[kept++] = environ[i];
    if (copy != NULL)
        copy[kept] = entry;
    return copy;
}

/* A started worker gets its lane, the memory and the eventfd as its first message; that it has ended already will be seen elsewhere. */
static int introduce(const struct vti_processes *all, uint32_t crew, int control)
{
    int fds[2] = {all->memory->fd, all->event};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof fds)];
    } extra = {.head = {.cmsg_len = CMSG_LEN(sizeof fds),
                        .cmsg_level = SOL_SOCKET,
                        .cmsg_type = SCM_RIGHTS}};
    struct iovec part = {.iov_base = &crew, .iov_len = sizeof crew};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &extra,
                             .msg_controllen = sizeof extra.room};

    memcpy(CMSG_DATA(&extra.head), fds, sizeof fds);
    if (sendmsg(control, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof crew)
        return 0;
    return errno == EPIPE || errno == ECONNRESET ? 0 : -1;
}

static pid_t begin(struct vti_processes *all, unsigned crew, int control)
{
    const char *const *command = all->executor.run->options.worker_command;
    char entry[64], **env = NULL;
    pid_t parent = getpid(), pid;

    if (command != NULL) {
        env = environment(control, entry);
        if (env == NULL)
            return -1;
    }
    pid = fork();
    if (pid == 0) {
        become_worker(parent);
        if (command == NULL)
            forked(all, crew, control);
        fcntl(control, F_SETFD, 0);
        execvpe(command[0], (char *const *)command, env);
        all->crews[crew].lane->exec_errno = (uint32_t)errno;
        _exit(errno == ENOENT ? 127 : 126);
    }
    free(env);
    return pid;
}

int vti_crew_start(struct vti_processes *all, unsigned number)
{
    struct vti_crew *crew = &all->crews[number];
    bool is_started = all->executor.run->options.worker_command != NULL;
    int ends[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return vti_fail_errno(VTI_E_SYSTEM, "a worker's socket");
    if (all->next_worker < all->executor.run->worker_room)
        crew->worker = all->next_worker++;
    crew->lane->worker = crew->worker;
    crew->control = ends[0];
    pid = begin(all, number, ends[1]);
    close(ends[1]);
    if (pid < 0 || (is_started && introduce(all, number, ends[0]) != 0)) {
        int result = vti_fail_errno(VTI_E_SYSTEM, "a worker cannot be started");

        if (pid > 0) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
        }
        close(ends[0]);
        crew->control = -1;
        return result;
    }
    crew->pid = pid;
    crew->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    crew->has_worked = crew->is_killed = false;
    return vti_run_worker_is(all->executor.run, crew->worker, "", (uint64_t)pid, (uint64_t)pid);
}

void vti_crew_wake(struct vti_crew *crew)
{
    vti_fence(); /* against the worker's: asleep, then looks once more */
    if (crew->pid && atomic_load_explicit(&crew->lane->is_asleep, memory_order_relaxed) &&
        atomic_exchange(&crew->lane->is_asleep, 0) &&
        send(crew->control, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return; /* full: it has enough to be woken by; or dead: we will hear of it */
}

void vti_crew_kill(struct vti_crew *crew)
{
    if (crew->pid && !crew->is_killed) {
        crew->is_killed = true;
        kill(crew->pid, SIGKILL);
    }
}

static char *explain(pid_t pid, int status, bool has_begun)
{
    char *line = NULL;
    int count;

    if (WIFSIGNALED(status)) {
        const char *name = sigabbrev_np(WTERMSIG(status));

        count = name ? asprintf(&line, "worker %d was killed by SIG%s (%d)", (int)pid, name,
                                WTERMSIG(status))
                     : asprintf(&line, "worker %d was killed by signal %d", (int)pid,
                                WTERMSIG(status));
    } else {
        count = asprintf(&line, "worker %d ended with status %d %s", (int)pid, WEXITSTATUS(status),
                         has_begun ? "in the middle of its work" : "at its start");
    }
    return count < 0 ? NULL : line;
}

bool vti_crew_has_ended(struct vti_crew *crew, char **why)
{
    bool has_begun = atomic_load(&crew->lane->is_begun) != 0;
    int status = 0;
    pid_t pid = crew->pid ? waitpid(crew->pid, &status, WNOHANG) : 0;

    *why = NULL;
    if (!pid || (pid < 0 && errno != ECHILD))
        return false;
    /* Somebody else may have reaped it, or children are not to be waited for at all. */
    if (pid > 0)
        *why = explain(crew->pid, status, has_begun);
    else if (asprintf(why, "worker %d ended", (int)crew->pid) < 0)
        *why = NULL;
    /* Others may kill it at any moment, and another one is no worse for it. */
    crew->is_bad_start = !has_begun && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    close(crew->control);
    if (crew->pidfd >= 0)
        close(crew->pidfd);
    crew->control = crew->pidfd = -1;
    crew->pid = 0;
    return true;
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits for one that was told to end. */
static void reap(struct vti_crew *crew, int64_t until)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    char *why = NULL;

    while (crew->pid && !vti_crew_has_ended(crew, &why)) {
        struct pollfd end = {.fd = crew->pidfd, .events = POLLIN};
        int64_t left = until - now_ms();

        if (left <= 0)
            vti_crew_kill(crew);
        if (crew->pidfd >= 0 && left > 0)
            poll(&end, 1, (int)left);
        else
            nanosleep(&pause, NULL);
    }
    free(why);
}

void vti_crews_stop(struct vti_processes *all)
{
    int64_t until = now_ms() + STOP_MS;

    __atomic_store_n(&all->memory->header->is_cancelled, 1, __ATOMIC_RELAXED);
    atomic_store(&all->memory->header->is_closing, 1);
    for (unsigned i = 0; i < all->crew_count; i++)
        if (all->crews[i].pid &&
            send(all->crews[i].control, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            vti_crew_kill(&all->crews[i]);
    for (unsigned i = 0; i < all->crew_count; i++)
        reap(&all->crews[i], until);
}
