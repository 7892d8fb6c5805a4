/*
 * run_live.c - `run --live`: venturi-serve beside us.
 *
 * It is in a process group of its own, so that Ctrl-C is for the program, and it ends with us, however we end.
 */
#include "cli/run_live.h"

#include "base/beside.h"
#include "base/error.h"
#include "cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_MS 10000 /* to say where it is */
#define END_MS 3000    /* to say good-bye to those who look */
#define LOOK_MS 10

static void become(const char *program, const char *path, const char *port, pid_t parent, int ready)
{
    char parent_text[24];
    char ready_text[24];
    char *words[] = {(char *)(uintptr_t) "venturi-serve",
                     (char *)(uintptr_t) "--parent",
                     parent_text,
                     (char *)(uintptr_t) "--ready-fd",
                     ready_text,
                     (char *)(uintptr_t) "-q",
                     (char *)(uintptr_t) "--port",
                     (char *)(uintptr_t)(port ? port : "8787"),
                     (char *)(uintptr_t) "--",
                     (char *)(uintptr_t)path,
                     NULL};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGXFSZ, SIG_DFL);
    if (getppid() != parent)
        _exit(0);
    snprintf(parent_text, sizeof parent_text, "%ld", (long)parent);
    snprintf(ready_text, sizeof ready_text, "%d", ready);
    fcntl(ready, F_SETFD, 0);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
    }
    execv(program, words);
    _exit(127);
}

/* The one line that it writes when it listens; false if it ended without. */
static bool read_address(int fd, char *address, size_t room)
{
    struct pollfd wait = {fd, POLLIN, 0};
    size_t len = 0;
    ssize_t got;

    while (len + 1 < room && poll(&wait, 1, READY_MS) > 0) {
        got = read(fd, address + len, room - 1 - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        len += (size_t)got;
        if (memchr(address, '\n', len))
            break;
    }
    address[len] = 0;
    address[strcspn(address, "\n")] = 0;
    return len > 0;
}

int vti_run_live_start(struct vti_run_live *live, const char *path)
{
    static const char *const places[] = {"venturi-serve", "../libexec/venturi/venturi-serve"};
    const pid_t parent = getpid();
    char program[PATH_MAX];
    char address[600];
    int ready[2];
    bool is_there;

    if (!live->is_on)
        return 0;
    if (!vti_beside_find(places, sizeof places / sizeof *places, program, sizeof program)) {
        vti_cmd_fail("run", "--live: venturi-serve is not there (it is built with libmicrohttpd)");
        return VTI_EXIT_SETUP;
    }
    if (pipe2(ready, O_CLOEXEC)) {
        vti_cmd_fail("run", "cannot make a pipe: %s", strerror(errno));
        return VTI_EXIT_SETUP;
    }
    live->server = fork();
    if (live->server == 0)
        become(program, path, live->port, parent, ready[1]);
    close(ready[1]);
    is_there = live->server > 0 && read_address(ready[0], address, sizeof address);
    close(ready[0]);
    if (!is_there) {
        vti_run_live_finish(live);
        vti_cmd_fail("run", "--live: the server could not begin");
        return VTI_EXIT_SETUP;
    }
    vti_cmd_say("live  %s", address); /* also when all else is quiet: nobody else has the token */
    return 0;
}

/* It is not started again: whoever ended it had a reason. */
void vti_run_live_watch(struct vti_run_live *live)
{
    int status = 0;

    if (live->server <= 0 || waitpid(live->server, &status, WNOHANG) != live->server)
        return;
    live->server = 0;
    if (WIFSIGNALED(status))
        vti_cmd_say(
            "venturi-serve was ended by signal %d (%s): nothing is shown any more, all is recorded",
            WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        vti_cmd_say("venturi-serve ended with %d: nothing is shown any more, all is recorded",
                    WEXITSTATUS(status));
}

void vti_run_live_finish(struct vti_run_live *live)
{
    if (live->server <= 0)
        return;
    kill(live->server, SIGTERM);
    for (int ms = 0; ms < END_MS; ms += LOOK_MS) {
        if (waitpid(live->server, NULL, WNOHANG) == live->server) {
            live->server = 0;
            return;
        }
        usleep(LOOK_MS * 1000);
    }
    kill(live->server, SIGKILL);
    waitpid(live->server, NULL, 0);
    live->server = 0;
}
