/*
 * run_spool.c - `run --spool` and `run --ship`: the folder, and venturi-ship beside us.
 *
 * It is in a process group of its own: Ctrl-C is for the program, whose last words are to be sent too. It ends with us, however we end.
 */
#include "cli/run_spool.h"

#include "base/beside.h"
#include "base/error.h"
#include "base/secret.h"
#include "cli/cmd.h"
#include "cli/render.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 30000    /* for the last of it to be sent */
#define PATIENCE_MS 3000 /* between asking for the second time and killing */
#define SAY_MS 2000      /* nobody should wonder what we wait for */
#define READY_MS 5000    /* for it to have begun … */
#define READY_LOOK_MS 20

static void make_name(struct vti_run_spool *spool, const char *title)
{
    time_t now = time(NULL);
    struct tm local;
    char stamp[32];

    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    snprintf(spool->folder, sizeof spool->folder, "%.200s-%s-%ld.spool", title, stamp,
             (long)getpid());
}

bool vti_run_spool_take_url(struct vti_run_spool *spool, const char *argument)
{
    free(spool->url);
    spool->url = vti_secret_take_url((char *)(uintptr_t)argument);
    if (!spool->url)
        vti_cmd_fail("run", "--ship: out of memory");
    return spool->url != NULL;
}

int vti_run_spool_prepare(struct vti_run_spool *spool, struct vti_drain_options *drain,
                          const char *title, const char *output)
{
    spool->is_on = spool->asked || spool->url;
    if (!spool->is_on && spool->limit)
        return vti_cmd_fail("run", "--spool-limit: needs --spool or --ship");
    if (spool->keeps && !spool->url)
        return vti_cmd_fail("run", "--keep: is for --ship; without it nothing is deleted");
    if (!spool->is_on)
        return 0;
    if (output)
        return vti_cmd_fail("run", "-o and %s: a spool is a folder of recordings, not a file",
                            spool->asked ? "--spool" : "--ship");
    if (drain->ring_ns)
        return vti_cmd_fail("run", "--ring and %s: a spool keeps all, up to --spool-limit",
                            spool->asked ? "--spool" : "--ship");
    if (spool->asked && strlen(spool->asked) >= sizeof spool->folder)
        return vti_cmd_fail("run", "%.60s…: the name is too long", spool->asked);
    if (spool->url && !strstr(spool->url, "://"))
        return vti_cmd_fail("run", "--ship: not a URL like elasticsearch://HOST:9200");
    if (spool->asked)
        memcpy(spool->folder, spool->asked, strlen(spool->asked) + 1);
    else
        make_name(spool, title);
    drain->spool = spool->folder;
    drain->spool_limit = spool->limit;
    return 0;
}

/* ---- the shipper ------------------------------------------------------------------------------- */

static void become(const char *program, const struct vti_run_spool *spool, pid_t parent, int report)
{
    char url[VTI_SECRET_MOST + 16];
    char *const words[] = {(char *)(uintptr_t) "venturi-ship",
                           (char *)(uintptr_t)spool->folder,
                           (char *)(uintptr_t) "--to",
                           url,
                           spool->keeps ? (char *)(uintptr_t) "--keep" : NULL,
                           NULL};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int error;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGXFSZ, SIG_DFL);
    if (getppid() != parent)
        _exit(0);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
    }
    /* By a descriptor: everybody can read its command line, and this user its environment. The program that is recorded does not get it. */
    errno = E2BIG; /* if that is the reason */
    if (vti_secret_send(spool->url, url, sizeof url) >= 0)
        execv(program, words);
    error = errno;
    (void)!write(report, &error, sizeof error);
    _exit(127);
}

static bool await_ready(pid_t pid, int *status);

/* A URL that means nothing is told before the program has begun; a store that is away is no reason to wait. */
static int check_begin(struct vti_run_spool *spool)
{
    int status = 0;

    if (!await_ready(spool->shipper, &status))
        return 0;
    spool->shipper = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != VTI_EXIT_BAD) /* else it has said why */
        vti_cmd_fail("run", "--ship: venturi-ship ended before it began");
    return VTI_EXIT_SETUP;
}

int vti_run_spool_start(struct vti_run_spool *spool)
{
    static const char *const places[] = {"venturi-ship", "../libexec/venturi/venturi-ship"};
    const pid_t parent = getpid();
    char program[PATH_MAX];
    int report[2];
    int error = 0;

    if (!spool->url)
        return 0;
    if (!vti_beside_find(places, sizeof places / sizeof *places, program, sizeof program)) {
        vti_cmd_fail("run", "--ship: venturi-ship is not there (it is built with libcurl)");
        return VTI_EXIT_SETUP;
    }
    if (pipe2(report, O_CLOEXEC))
        return vti_cmd_fail("run", "cannot make a pipe: %s", strerror(errno)), VTI_EXIT_SETUP;
    spool->shipper = fork();
    if (spool->shipper == 0)
        become(program, spool, parent, report[1]);
    close(report[1]);
    if (spool->shipper < 0)
        error = errno;
    else
        while (read(report[0], &error, sizeof error) < 0 && errno == EINTR)
            continue;
    close(report[0]);
    if (!error)
        return check_begin(spool);
    if (spool->shipper > 0)
        waitpid(spool->shipper, NULL, 0);
    spool->shipper = 0;
    vti_cmd_fail("run", "%s: cannot start it: %s", program, strerror(error));
    return VTI_EXIT_SETUP;
}

/* True once it has ended; also after `ms`, or with a signal for us: false. */
static bool await(pid_t pid, int signal_fd, int ms, int *status)
{
    struct pollfd polls[2] = {{(int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0},
                              {signal_fd, POLLIN, 0}};
    struct signalfd_siginfo info;
    bool has_ended = false;

    while (ms > 0) {
        const int pause = ms < 50 ? ms : 50;
        bool is_asked = false;

        if (poll(polls, 2, pause) == 0)
            ms -= pause;
        has_ended = waitpid(pid, status, WNOHANG) == pid;
        while (signal_fd >= 0 && read(signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
            is_asked |= info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM ||
                        info.ssi_signo == SIGHUP;
        if (has_ended || is_asked)
            break;
    }
    if (polls[0].fd >= 0)
        close(polls[0].fd);
    return has_ended;
}

/* Whether it has come so far that SIGTERM is a request: before, it would only kill it. */
static bool is_ready(pid_t pid)
{
    char path[64];
    char line[256];
    unsigned long long caught = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "SigCgt:", 7) || !strncmp(line, "SigBlk:", 7))
            caught |= strtoull(line + 7, NULL, 16);
    if (file)
        fclose(file);
    return caught >> (SIGTERM - 1) & 1;
}

/* A program that has ended at once is quicker than its shipper. True: that has ended meanwhile. */
static bool await_ready(pid_t pid, int *status)
{
    bool has_ended = false;

    for (int ms = 0; ms < READY_MS && !has_ended && !is_ready(pid); ms += READY_LOOK_MS)
        has_ended = await(pid, -1, READY_LOOK_MS, status);
    return has_ended;
}

/* Its exit status; -1: it had to be ended. */
static int end_shipper(struct vti_run_spool *spool, int signal_fd, int ms, bool is_quiet)
{
    const int first = ms > SAY_MS ? SAY_MS : ms;
    int status = 0;
    bool has_ended = waitpid(spool->shipper, &status, WNOHANG) == spool->shipper;
    bool is_forced = false;

    if (!has_ended)
        has_ended = await_ready(spool->shipper, &status);
    if (!has_ended) {
        kill(spool->shipper, SIGTERM);
        has_ended = await(spool->shipper, signal_fd, first, &status);
    }
    if (!has_ended && ms > first) {
        if (!is_quiet)
            vti_cmd_say("sending the rest of it; Ctrl-C leaves it in %s", spool->folder);
        has_ended = await(spool->shipper, signal_fd, ms - first, &status);
    }
    if (!has_ended) {
        is_forced = true;
        kill(spool->shipper, SIGTERM);
        has_ended = await(spool->shipper, -1, PATIENCE_MS, &status);
    }
    if (!has_ended) {
        kill(spool->shipper, SIGKILL);
        waitpid(spool->shipper, &status, 0);
    }
    spool->shipper = 0;
    if (is_forced)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- the folder ---------------------------------------------------------------------------------- */

static bool is_recording(const char *name)
{
    size_t len = strlen(name);

    return len > 3 && name[0] != '.' && !strcmp(name + len - 3, ".vt");
}

/* Recordings that wait in the folder, and their bytes. */
static unsigned count_waiting(const struct vti_run_spool *spool, uint64_t *bytes)
{
    DIR *folder = opendir(spool->folder);
    unsigned count = 0;
    struct dirent *at;
    struct stat status;

    *bytes = 0;
    while (folder && (at = readdir(folder))) {
        if (!is_recording(at->d_name) ||
            fstatat(dirfd(folder), at->d_name, &status, AT_SYMLINK_NOFOLLOW))
            continue;
        count++;
        *bytes += (uint64_t)status.st_size;
    }
    if (folder)
        closedir(folder);
    return count;
}

/* Whether the shipper has left nothing for later: what is still there is kept on purpose. */
static bool is_all_read(const struct vti_run_spool *spool, pid_t shipper)
{
    DIR *folder = opendir(spool->folder);
    bool is_all = false;
    struct dirent *at;
    char text[4096], pid[32];

    snprintf(pid, sizeof pid, "\"pid\":%d,", (int)shipper); /* not of another, nor of another run */
    while (folder && (at = readdir(folder))) {
        size_t len = strlen(at->d_name);
        ssize_t got = -1;
        int fd;

        if (strncmp(at->d_name, "ship-", 5) || len < 12 ||
            strcmp(at->d_name + len - 12, ".status.json"))
            continue;
        fd = openat(dirfd(folder), at->d_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0) {
            got = read(fd, text, sizeof text - 1);
            close(fd);
        }
        text[got > 0 ? got : 0] = 0;
        is_all |= strstr(text, pid) && strstr(text, "\"waiting_files\":0,");
    }
    if (folder)
        closedir(folder);
    return is_all;
}

/* A folder that we have named goes when all of it was sent; what nobody could send, and what was lost, stays. */
static void remove_folder(const struct vti_run_spool *spool)
{
    DIR *folder = opendir(spool->folder);
    struct dirent *at;
    struct stat status;

    while (folder && (at = readdir(folder))) {
        bool is_state = !strncmp(at->d_name, "ship", 4) && !strstr(at->d_name, "dead");
        bool is_empty = !fstatat(dirfd(folder), at->d_name, &status, AT_SYMLINK_NOFOLLOW) &&
                        S_ISREG(status.st_mode) && !status.st_size;

        if (!strcmp(at->d_name, ".lock") || is_state ||
            (is_empty && !strncmp(at->d_name, "ship", 4)))
            unlinkat(dirfd(folder), at->d_name, 0);
    }
    if (folder)
        closedir(folder);
    rmdir(spool->folder);
}

/* It is not started again: the environment is the program's by now, and whoever ended it had a reason. */
void vti_run_spool_watch(struct vti_run_spool *spool)
{
    int status = 0;

    if (!spool->shipper || waitpid(spool->shipper, &status, WNOHANG) != spool->shipper)
        return;
    spool->shipper = 0;
    if (WIFSIGNALED(status))
        vti_cmd_say(
            "venturi-ship was ended by signal %d (%s): nothing is sent any more, it waits in %s",
            WTERMSIG(status), strsignal(WTERMSIG(status)), spool->folder);
    else
        vti_cmd_say("venturi-ship ended with %d: nothing is sent any more, it waits in %s",
                    WEXITSTATUS(status), spool->folder);
}

void vti_run_spool_drop(struct vti_run_spool *spool)
{
    if (spool->shipper)
        end_shipper(spool, -1, PATIENCE_MS, true);
    if (!spool->asked)
        remove_folder(spool);
}

static void say_lost(const struct vti_run_spool *spool, const struct vti_spool_sum *lost)
{
    char size[VTI_NUMBER_BYTES], events[VTI_NUMBER_BYTES], steps[VTI_NUMBER_BYTES];

    if (lost->files)
        vti_cmd_say("%llu recording%s gave way to --spool-limit: %s, %s events, %s step records "
                    "(%s/losses)",
                    (unsigned long long)lost->files, lost->files == 1 ? "" : "s",
                    vti_text_bytes(size, lost->bytes), vti_text_count(events, lost->events),
                    vti_text_count(steps, lost->steps), spool->folder);
}

void vti_run_spool_finish(struct vti_run_spool *spool, const struct vti_drain_stats *stats,
                          int signal_fd, bool is_quiet)
{
    char size[VTI_NUMBER_BYTES];
    const pid_t shipper = spool->shipper;
    char url[1024];
    uint64_t bytes;
    unsigned count;
    int status = 0;

    if (!spool->is_on)
        return;
    say_lost(spool, &stats->spool_lost);
    if (!spool->url)
        return;
    if (spool->shipper)
        status = end_shipper(spool, signal_fd, WAIT_MS, is_quiet);
    count = count_waiting(spool, &bytes);
    if (!count && !spool->asked)
        remove_folder(spool);
    if (count && shipper && is_all_read(spool, shipper))
        vti_cmd_say("%s  %u recording%s, %s, kept%s", spool->folder, count, count == 1 ? "" : "s",
                    vti_text_bytes(size, bytes),
                    spool->keeps ? "" : " for what that store does not take");
    else if (count)
        vti_cmd_say("%s  %u recording%s, %s, not sent yet: venturi ship %s --to %s --once",
                    spool->folder, count, count == 1 ? "" : "s", vti_text_bytes(size, bytes),
                    spool->folder, vti_secret_show_url(url, sizeof url, spool->url));
    else if (status > 0)
        vti_cmd_say("venturi-ship ended with %d", status);
}
