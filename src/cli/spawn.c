/* spawn.c - runs a program to its end and keeps its output and what it used. */
#include "cli/spawn.h"

#include "base/error.h"
#include "cli/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_OUTPUT (16u << 20)
#define PATIENCE_MS 2000 /* between asking it to end and killing it */

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* In the child; `report` carries errno if the program cannot run. */
static void become(char *const *words, const char *directory, const int files[2], int report)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int error;

    setpgid(0, 0);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    if (null < 0 || dup2(null, 0) < 0 || dup2(files[0], 1) < 0 || dup2(files[1], 2) < 0 ||
        (directory && chdir(directory)))
        goto out;
    execvp(words[0], words);
out:
    error = errno;
    (void)!write(report, &error, sizeof error);
    _exit(127);
}

static void keep_output(struct vti_buf *to, int file)
{
    ssize_t got = 1;

    lseek(file, 0, SEEK_SET);
    while (got > 0 && to->len < MOST_OUTPUT) {
        uint8_t *room = vti_buf_reserve(to, 65536);

        got = room ? read(file, room, 65536) : 0;
        if (got > 0)
            to->len += (size_t)got;
    }
    vti_buf_add_u8(to, 0);
    if (!to->failed)
        to->len--;
}

static void pause_ms(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

/* Asked, then killed. */
static void end_it(pid_t pid, int *status)
{
    kill(-pid, SIGTERM);
    for (int i = 0; i < PATIENCE_MS / 20; i++) {
        if (waitpid(pid, status, WNOHANG) == pid)
            break;
        pause_ms(20);
    }
    kill(-pid, SIGKILL); /* what it left behind, too */
    waitpid(pid, status, 0);
}

static int wait_for(struct vti_spawned *spawned, pid_t pid, double start)
{
    struct rusage usage;
    int status = 0;

    while (wait4(pid, &status, 0, &usage) != pid)
        if (vti_stop_asked()) {
            end_it(pid, &status);
            return vti_fail(VTI_E_SYSTEM, "stopped");
        }
    spawned->wall_s = now_s() - start;
    spawned->cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    spawned->rss_bytes = (double)usage.ru_maxrss * 1024;
    spawned->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return 0;
}

int vti_spawn(struct vti_spawned *spawned, char *const *words, const char *directory)
{
    int files[2] = {memfd_create("out", MFD_CLOEXEC), memfd_create("err", MFD_CLOEXEC)};
    int report[2] = {-1, -1};
    int error = 0;
    double start;
    pid_t pid;
    int code = 0;

    memset(spawned, 0, sizeof *spawned);
    if (vti_stop_asked())
        code = vti_fail(VTI_E_SYSTEM, "stopped");
    else if (files[0] < 0 || files[1] < 0 || pipe2(report, O_CLOEXEC))
        code = vti_fail_errno(VTI_E_SYSTEM, "cannot keep the output of a program");
    if (code)
        goto out;
    start = now_s();
    pid = fork();
    if (pid == 0)
        become(words, directory, files, report[1]);
    close(report[1]);
    report[1] = -1;
    if (pid < 0) {
        code = vti_fail_errno(VTI_E_SYSTEM, "cannot start a process");
        goto out;
    }
    setpgid(pid, pid); /* whoever of us is first */
    while (read(report[0], &error, sizeof error) < 0 && errno == EINTR && !vti_stop_asked())
        continue;
    code = wait_for(spawned, pid, start);
    if (!code && error)
        code = vti_fail(VTI_E_NOT_FOUND, "%s: %s", words[0],
                        error == ENOENT ? "not found" : strerror(error));
    keep_output(&spawned->out, files[0]);
    keep_output(&spawned->err, files[1]);
out:
    for (int i = 0; i < 2; i++) {
        if (files[i] >= 0)
            close(files[i]);
        if (report[i] >= 0)
            close(report[i]);
    }
    return code;
}

void vti_spawned_fini(struct vti_spawned *spawned)
{
    vti_buf_fini(&spawned->out);
    vti_buf_fini(&spawned->err);
}

const char *vti_spawned_last_words(const struct vti_spawned *spawned, char to[VTI_LAST_WORDS_BYTES])
{
    const struct vti_buf *from = spawned->err.len ? &spawned->err : &spawned->out;
    const char *text = from->data ? (const char *)from->data : "";
    size_t end = from->len;
    size_t begin;

    while (end && strchr("\r\n \t", text[end - 1]))
        end--;
    for (begin = end; begin && text[begin - 1] != '\n';)
        begin--;
    snprintf(to, VTI_LAST_WORDS_BYTES, "%.*s", (int)(end - begin < 200 ? end - begin : 200),
             text + begin);
    return to;
}
