/*
 * helper.c - starts venturi-drain when the program records without `venturi run`.
 *
 * The helper must leave no trace in the program: no SIGCHLD, no child that a wait() of the program
 * could see, no descriptor. So a first child, which shares our memory and sends no signal when it
 * ends, starts the real one and is gone before we go on; init adopts the grandchild.
 */
#include "core/attach.h"

#include "base/error.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <venturi/span.h>

#define START_LIMIT_MS 5000
#define STACK_BYTES 32768
#define STATUS_FD 3

/* Both run on a stack of ours, which the address sanitizer takes for a broken one. */
#define WITHOUT_ASAN __attribute__((no_sanitize_address))

extern char **environ;

struct launch {
    char program[4096];
    char session[96];
    char buffer[24], ring[16], block[16], limit[24];
    const char *output;
    const char *arguments[16];
    int status_fd; /* the helper says "ready" here, or why not */
    int error;
    char stack[2][STACK_BYTES];
};

/* Under the runtime's lock; too large for the stack of a small thread. */
static struct launch launch;

/* Where the tool was built or installed, relative to this library; VENTURI_DRAIN wins. */
static int find_program(char *to, size_t room)
{
    static const char *const places[] = {"venturi-drain", "../libexec/venturi/venturi-drain",
                                         "../../libexec/venturi/venturi-drain",
                                         "_tool/venturi-drain",  /* a wheel */
                                         "../../venturi-drain"}; /* build/python/venturi */
    const char *named = secure_getenv("VENTURI_DRAIN");
    const char *slash;
    Dl_info info;

    if (named && strlen(named) < room) {
        memcpy(to, named, strlen(named) + 1);
        return access(to, X_OK);
    }
    if (!dladdr((void *)(uintptr_t)&vt_scope_open, &info) || !info.dli_fname)
        return -1;
    slash = strrchr(info.dli_fname, '/');
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        int folder = slash ? (int)(slash - info.dli_fname) : 1;

        snprintf(to, room, "%.*s/%s", folder, slash ? info.dli_fname : ".", places[i]);
        if (!access(to, X_OK))
            return 0;
    }
    return -1;
}

WITHOUT_ASAN static int run_helper(void *arg)
{
    struct launch *plan = arg;
    sigset_t none;
    int null;

    setsid();
    null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        if (fcntl(STDERR_FILENO, F_GETFD) < 0)
            dup2(null, STDERR_FILENO); /* else the recording could get this number */
    }
    if (plan->status_fd == STATUS_FD)
        fcntl(STATUS_FD, F_SETFD, 0);
    else
        dup2(plan->status_fd, STATUS_FD);
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(plan->program, (char *const *)plan->arguments, environ);
    plan->error = errno;
    _exit(127);
}

/* CLONE_VM without CLONE_SIGHAND: the children have signal handlers and descriptors of their own. */
WITHOUT_ASAN static int run_parent_of_helper(void *arg)
{
    struct launch *plan = arg;

    if (clone(run_helper, plan->stack[1] + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, plan) < 0)
        plan->error = errno;
    _exit(0);
}

static void plan_arguments(struct launch *plan, const struct vti_settings *settings)
{
    unsigned n = 0;

    plan->arguments[n++] = plan->program;
    plan->arguments[n++] = "--session";
    plan->arguments[n++] = plan->session;
    plan->arguments[n++] = settings->spool[0] ? "--spool" : "--output";
    plan->arguments[n++] = settings->spool[0] ? settings->spool : settings->output;
    if (settings->spool[0] && settings->spool_limit) {
        snprintf(plan->limit, sizeof plan->limit, "%llu",
                 (unsigned long long)settings->spool_limit);
        plan->arguments[n++] = "--spool-limit";
        plan->arguments[n++] = plan->limit;
    }
    if (settings->force)
        plan->arguments[n++] = "--force";
    if (settings->buffer_bytes) {
        snprintf(plan->buffer, sizeof plan->buffer, "%llu",
                 (unsigned long long)settings->buffer_bytes);
        plan->arguments[n++] = "--buffer";
        plan->arguments[n++] = plan->buffer;
    }
    if (settings->ring_seconds && !settings->spool[0]) {
        snprintf(plan->ring, sizeof plan->ring, "%us", settings->ring_seconds);
        plan->arguments[n++] = "--ring";
        plan->arguments[n++] = plan->ring;
    }
    if (settings->block_ms) {
        snprintf(plan->block, sizeof plan->block, "%ums", settings->block_ms);
        plan->arguments[n++] = "--block";
        plan->arguments[n++] = plan->block;
    }
    plan->arguments[n] = NULL;
}

/* The helper writes one line: "ready", or what is in its way. It closes the pipe in any case. */
static int await_helper(int fd)
{
    struct pollfd ready = {fd, POLLIN, 0};
    char line[128];
    ssize_t got;

    if (poll(&ready, 1, START_LIMIT_MS) != 1)
        return vti_attach_fail(VTI_E_TIMEOUT, "venturi-drain does not come up", 0);
    got = read(fd, line, sizeof line - 1);
    if (got <= 0)
        return vti_attach_fail(VTI_E_SESSION, "venturi-drain ended at once", 0);
    line[got] = 0;
    line[strcspn(line, "\n")] = 0;
    if (strcmp(line, "ready"))
        return vti_attach_fail(VTI_E_SESSION, line, 0);
    return 0;
}

/* Both ends beyond the standard streams: the program may have closed these, and the helper gets its own. */
static int make_pipe(int fds[2])
{
    int low[2];
    int saved_errno;

    if (pipe2(low, O_CLOEXEC))
        return -1;
    fds[0] = fcntl(low[0], F_DUPFD_CLOEXEC, STATUS_FD);
    fds[1] = fds[0] < 0 ? -1 : fcntl(low[1], F_DUPFD_CLOEXEC, STATUS_FD);
    saved_errno = errno;
    if (fds[0] >= 0 && fds[1] < 0)
        close(fds[0]);
    close(low[0]);
    close(low[1]);
    errno = saved_errno;
    return fds[1] < 0 ? -1 : 0;
}

int vti_helper_start(const struct vti_settings *settings)
{
    int code = 0;
    int pipe_fds[2];
    pid_t child;

    if (find_program(launch.program, sizeof launch.program))
        return vti_attach_fail(VTI_E_NOT_FOUND, "venturi-drain is not beside libventuri", 0);
    if (make_pipe(pipe_fds))
        return vti_attach_fail(VTI_E_SYSTEM, "cannot make a pipe", errno);
    vti_session_name(launch.session, sizeof launch.session, settings->output);
    plan_arguments(&launch, settings);
    launch.status_fd = pipe_fds[1];
    launch.error = 0;
    child = clone(run_parent_of_helper, launch.stack[0] + STACK_BYTES, CLONE_VM | CLONE_VFORK,
                  &launch);
    close(pipe_fds[1]);
    if (child > 0)
        while (waitpid(child, NULL, __WALL | __WCLONE) < 0 && errno == EINTR)
            ;
    if (child < 0 || launch.error)
        code = vti_attach_fail(VTI_E_SYSTEM, "cannot start venturi-drain",
                               child < 0 ? errno : launch.error);
    else
        code = await_helper(pipe_fds[0]);
    close(pipe_fds[0]);
    return code;
}
