/*
 * spawn.c - runs a program to its end and keeps its output and what it used.
 *
 * A process of ours stands between us and it, to which the kernel gives the children that their parents left behind: what they used
 * is the program's too. What still runs when the program has ended goes to init with our process, and into no later run's sum.
 */
#include "cli/spawn.h"

#include "base/error.h"
#include "cli/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_OUTPUT (16u << 20)
#define LOOK_MS 20       /* between looks at how much it has written */
#define PATIENCE_MS 2000 /* between asking it to end and killing it */

/* In memory that we share with the process between. */
struct outcome {
    pid_t pid;  /* of the program; 0: it could not be started … */
    int error;  /* … because of this */
    int status; /* as of wait4() */
    bool has_ended, ignores_children;
    double wall_s, cpu_s, rss_bytes;
};

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

/* ---- the process between ------------------------------------------------------------------------- */

/* Then the kernel forgets what children used, unless they were waited for before. It has ended and can still be read. */
static bool ignores_children(pid_t pid)
{
    char path[64];
    char line[256];
    unsigned long long ignored = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "SigIgn:", 7))
            ignored = strtoull(line + 7, NULL, 16);
    if (file)
        fclose(file);
    return ignored >> (SIGCHLD - 1) & 1;
}

static void add_usage(struct outcome *outcome, const struct rusage *usage)
{
    double rss = (double)usage->ru_maxrss * 1024;

    outcome->cpu_s += seconds(usage->ru_utime) + seconds(usage->ru_stime);
    outcome->rss_bytes = rss > outcome->rss_bytes ? rss : outcome->rss_bytes;
}

/* The program's end, and of all that were left behind and ended by then. */
static void reap(struct outcome *outcome, double start)
{
    struct rusage usage;
    siginfo_t ended;
    int status;

    while (!outcome->has_ended) {
        if (waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT))
            continue; /* a signal */
        if (ended.si_pid == outcome->pid) {
            outcome->wall_s = now_s() - start;
            outcome->ignores_children = ignores_children(outcome->pid);
        }
        if (wait4(ended.si_pid, &status, 0, &usage) != ended.si_pid)
            continue;
        add_usage(outcome, &usage);
        if (ended.si_pid == outcome->pid) {
            outcome->status = status;
            outcome->has_ended = true;
        }
    }
    while (wait4(-1, &status, WNOHANG, &usage) > 0)
        add_usage(outcome, &usage);
}

/* Signals that end us are for us to pass on. */
static void stand_between(struct outcome *outcome, char *const *words, const char *directory,
                          const int files[2], int report)
{
    double start;
    pid_t pid;

    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    start = now_s();
    pid = fork();
    if (pid == 0)
        become(words, directory, files, report);
    if (pid > 0) {
        setpgid(pid, pid); /* whoever of us is first */
        outcome->pid = pid;
    } else {
        outcome->error = errno;
    }
    close(report);
    if (pid > 0)
        reap(outcome, start);
    _exit(0);
}

/* ---- our side ------------------------------------------------------------------------------------ */

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
static void end_it(pid_t between, pid_t pid)
{
    bool has_ended = false;

    if (pid > 0)
        kill(-pid, SIGTERM);
    for (int i = 0; i < PATIENCE_MS / 20 && !has_ended; i++) {
        has_ended = waitpid(between, NULL, WNOHANG) == between;
        if (!has_ended)
            pause_ms(20);
    }
    if (pid > 0)
        kill(-pid, SIGKILL); /* what it left behind, too */
    if (!has_ended)
        waitpid(between, NULL, 0);
}

/* What nobody will read gives its memory back, while the program goes on writing behind it. */
static void drop_output(int file)
{
    struct stat status;

    if (!fstat(file, &status) && status.st_size > MOST_OUTPUT)
        (void)fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, MOST_OUTPUT,
                        status.st_size - MOST_OUTPUT);
}

/* Until it has ended, or a signal came. Where the kernel cannot wait with a limit, output is kept as it comes. */
static void wait_end(pid_t pid, const int files[2])
{
    struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};

    while (ended.fd >= 0 && !vti_stop_asked() && poll(&ended, 1, LOOK_MS) <= 0)
        for (int i = 0; i < 2; i++)
            drop_output(files[i]);
    if (ended.fd >= 0)
        close(ended.fd);
}

static int wait_for(struct vti_spawned *spawned, pid_t between, const struct outcome *outcome,
                    const int files[2])
{
    int status;

    wait_end(between, files);
    while (waitpid(between, NULL, vti_stop_asked() ? WNOHANG : 0) != between)
        if (vti_stop_asked()) {
            end_it(between, outcome->pid);
            return vti_fail(VTI_E_SYSTEM, "stopped");
        }
    if (!outcome->has_ended) {
        errno = outcome->error;
        return vti_fail_errno(VTI_E_SYSTEM, "cannot start a process");
    }
    status = outcome->status;
    spawned->is_killed = WIFSIGNALED(status);
    spawned->ignores_children = outcome->ignores_children;
    spawned->wall_s = outcome->wall_s;
    spawned->cpu_s = outcome->cpu_s;
    spawned->rss_bytes = outcome->rss_bytes;
    spawned->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return 0;
}

static int run(struct vti_spawned *spawned, char *const *words, const char *directory,
               const int files[2], struct outcome *outcome)
{
    int report[2];
    int error = 0;
    pid_t between;
    int code;

    if (pipe2(report, O_CLOEXEC))
        return vti_fail_errno(VTI_E_SYSTEM, "cannot keep the output of a program");
    signal(SIGCHLD, SIG_DFL); /* whoever started us may ignore it, and so lose what we wait for */
    between = fork();
    if (between == 0)
        stand_between(outcome, words, directory, files, report[1]);
    close(report[1]);
    if (between < 0) {
        close(report[0]);
        return vti_fail_errno(VTI_E_SYSTEM, "cannot start a process");
    }
    while (read(report[0], &error, sizeof error) < 0 && errno == EINTR && !vti_stop_asked())
        continue;
    close(report[0]);
    code = wait_for(spawned, between, outcome, files);
    if (!code && error)
        code = vti_fail(VTI_E_NOT_FOUND, "%s: %s", words[0],
                        error == ENOENT ? "not found" : strerror(error));
    return code;
}

int vti_spawn(struct vti_spawned *spawned, char *const *words, const char *directory)
{
    int files[2] = {memfd_create("out", MFD_CLOEXEC), memfd_create("err", MFD_CLOEXEC)};
    struct outcome *outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int code;

    memset(spawned, 0, sizeof *spawned);
    if (vti_stop_asked())
        code = vti_fail(VTI_E_SYSTEM, "stopped");
    else if (files[0] < 0 || files[1] < 0 || outcome == MAP_FAILED)
        code = vti_fail_errno(VTI_E_SYSTEM, "cannot keep the output of a program");
    else
        code = run(spawned, words, directory, files, outcome);
    for (int i = 0; i < 2; i++) {
        if (files[i] < 0)
            continue;
        keep_output(i ? &spawned->err : &spawned->out, files[i]);
        close(files[i]);
    }
    if (outcome != MAP_FAILED)
        munmap(outcome, sizeof *outcome);
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
