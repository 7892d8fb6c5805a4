/*
 * symbols_ask.c - runs venturi-symbols.
 *
 * It reads its questions from a file in memory and writes its answers to another, so that nobody waits for anybody;
 * whatever it has answered when it ends, crashes or is stopped counts.
 */
#include "drain/symbols.h"

#include "base/beside.h"
#include "drain/clock.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_NS 30000000000u
#define WAIT_US 1000
#define MORE_FD 3

extern char **environ;

/* The environment without what would have the helper recorded. */
static char **helper_environment(void)
{
    size_t count = 0, kept = 0;
    char **list;

    while (environ[count])
        count++;
    list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) && strncmp(environ[i], "VENTURI_", 8))
            list[kept++] = environ[i];
    return list;
}

static pid_t start(const char *program, const char *argument, const int fds[3])
{
    char *const arguments[] = {"venturi-symbols", (char *)(uintptr_t)argument, NULL};
    char **environment = helper_environment();
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    pid_t pid = -1;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, fds[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, fds[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, fds[2], MORE_FD);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    if (!environment || posix_spawn(&pid, program, &files, &attributes, arguments, environment))
        pid = -1;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    free(environment);
    return pid;
}

static void await(pid_t pid)
{
    uint64_t end_ns = vti_clock_now_ns() + LIMIT_NS;

    while (waitpid(pid, NULL, WNOHANG) == 0) {
        if (vti_clock_now_ns() > end_ns) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
            return;
        }
        usleep(WAIT_US);
    }
}

/* A file in memory with this in it, above the descriptors that the helper gets; -1 if it cannot be made. */
static int make_file(const char *name, const struct vti_buf *content)
{
    int low = memfd_create(name, MFD_CLOEXEC);
    int fd = low >= 0 ? fcntl(low, F_DUPFD_CLOEXEC, MORE_FD + 1) : -1;
    size_t done = 0;

    if (low >= 0)
        close(low);
    while (fd >= 0 && content && done < content->len) {
        ssize_t put = pwrite(fd, content->data + done, content->len - done, (off_t)done);

        if (put <= 0) {
            close(fd);
            return -1;
        }
        done += (size_t)put;
    }
    return fd;
}

static void take_answers(int fd, struct vti_buf *answers)
{
    off_t size = lseek(fd, 0, SEEK_END);
    uint8_t *to = size > 0 ? vti_buf_reserve(answers, (size_t)size) : NULL;
    size_t done = 0;

    while (to && done < (size_t)size) {
        ssize_t got = pread(fd, to + done, (size_t)size - done, (off_t)done);

        if (got <= 0)
            break;
        done += (size_t)got;
    }
    answers->len += done;
}

bool vti_symbols_ask(const char *argument, const struct vti_buf *questions,
                     const struct vti_buf *more, struct vti_buf *answers)
{
    static const char *const places[] = {"venturi-symbols", "../libexec/venturi/venturi-symbols"};
    char program[PATH_MAX];
    const int fds[3] = {make_file("venturi-questions", questions),
                        make_file("venturi-answers", NULL), make_file("venturi-more", more)};
    pid_t pid = -1;

    if (fds[0] >= 0 && fds[1] >= 0 && fds[2] >= 0 &&
        vti_beside_find(places, sizeof places / sizeof *places, program, sizeof program))
        pid = start(program, argument, fds);
    if (pid > 0) {
        await(pid);
        take_answers(fds[1], answers);
    }
    for (int i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return pid > 0;
}
