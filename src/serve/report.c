/*
 * report.c - the report page of a recording: made by `venturi report`, in a process of its own.
 *
 * It may take long and much memory, so it must not be done where others are answered. Those who ask wait, suspended; one page is made at a
 * time, and the last one is kept until its recording has changed.
 */
#include "serve/report.h"

#include "base/beside.h"
#include "base/error.h"
#include "serve/window.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAITING_MOST 16
#define MESSAGE_BYTES 400

extern char **environ;

/* Of libmicrohttpd's thread and of the one that waits for the process; under the server's lock. */
static struct {
    char *path;        /* owned: of what is being made, or was made last */
    struct stat about; /* of it, when it was begun */
    bool is_growing;   /* likewise */
    int fd;            /* the page; -1: none */
    char why[MESSAGE_BYTES];
    bool is_running;
    pid_t pid;
    pthread_t thread;
    bool has_thread;
    struct MHD_Connection *waiting[WAITING_MOST];
    unsigned waiting_count;
} report = {.fd = -1};

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* ---- the process --------------------------------------------------------------------------------- */

static int start(const char *path, bool is_growing, const char *page, int err, pid_t *pid)
{
    static const char *const places[] = {"venturi", "../../bin/venturi"};
    char program[PATH_MAX];
    char *words[] = {program, "report", (char *)path, "-o", (char *)page, NULL, NULL};
    posix_spawn_file_actions_t actions;
    int code;

    if (!vti_beside_find(places, sizeof places / sizeof *places, program, sizeof program))
        return vti_fail(VTI_E_NOT_FOUND, "the program venturi is not beside this one");
    if (is_growing)
        words[5] = "--growing";
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, err, 1);
    posix_spawn_file_actions_adddup2(&actions, err, 2);
    code = posix_spawn(pid, program, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (!code)
        setpriority(PRIO_PROCESS, (id_t)*pid, 10);
    errno = code;
    return code ? vti_fail_errno(VTI_E_SYSTEM, "%s: cannot start it", program) : 0;
}

/* The last line of what it said. */
static void take_why(int fd, char why[MESSAGE_BYTES])
{
    ssize_t got = pread(fd, why, MESSAGE_BYTES - 1, 0);

    why[got > 0 ? got : 0] = 0;
    why[strcspn(why, "\r\n")] = 0;
}

static void wake(void)
{
    for (unsigned i = 0; i < report.waiting_count; i++)
        MHD_resume_connection(report.waiting[i]);
    report.waiting_count = 0;
}

static void *make(void *arg)
{
    struct vti_serve *serve = arg;
    char folder[] = "/tmp/venturi-report-XXXXXX";
    char page[64];
    char why[MESSAGE_BYTES] = "";
    int err = memfd_create("report", MFD_CLOEXEC);
    pid_t pid = 0;
    int status = -1;
    int fd = -1;
    int code;

    code = mkdtemp(folder) ? 0 : vti_fail_errno(VTI_E_WRITE, "%s: cannot make it", folder);
    snprintf(page, sizeof page, "%s/page.html", folder);
    if (!code)
        code = start(report.path, report.is_growing, page, err, &pid);
    pthread_mutex_lock(&serve->lock);
    report.pid = code ? 0 : pid;
    pthread_mutex_unlock(&serve->lock);
    if (!code) {
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        fd = open(page, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            take_why(err, why);
    } else {
        snprintf(why, sizeof why, "%s", vti_error_message(code));
    }
    unlink(page);
    rmdir(folder);
    if (err >= 0)
        close(err);
    pthread_mutex_lock(&serve->lock);
    report.pid = 0;
    report.is_running = false;
    report.fd = fd;
    memcpy(report.why, why, sizeof why);
    wake();
    pthread_mutex_unlock(&serve->lock);
    return NULL;
}

/* ---- asking: on libmicrohttpd's thread ----------------------------------------------------------- */

/* With the lock held. */
static bool is_growing(const struct vti_serve *serve, const char *path)
{
    size_t count;
    const struct vti_live_recording *list = vti_live_recordings(serve->live, &count);

    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i].path, path))
            return !list[i].is_closed;
    return false;
}

/* With the lock held. 0: wait; 1: it is there; else a status of HTTP. */
static unsigned look(struct vti_serve *serve, const char *path, const struct stat *about)
{
    if (report.is_running)
        return report.path && !strcmp(report.path, path) ? 0 : MHD_HTTP_SERVICE_UNAVAILABLE;
    if (report.path && !strcmp(report.path, path) && is_same(&report.about, about) &&
        (report.fd >= 0 || report.why[0]))
        return 1;
    if (report.has_thread)
        pthread_join(report.thread, NULL);
    report.has_thread = false;
    if (report.fd >= 0)
        close(report.fd);
    report.fd = -1;
    report.why[0] = 0;
    free(report.path);
    report.path = strdup(path);
    report.about = *about;
    report.is_growing = is_growing(serve, path);
    report.is_running = report.path && !pthread_create(&report.thread, NULL, make, serve);
    report.has_thread = report.is_running;
    return report.is_running ? 0 : MHD_HTTP_SERVICE_UNAVAILABLE;
}

static enum MHD_Result answer(const struct vti_request *request, int fd, const char *why)
{
    struct MHD_Response *response;
    struct stat about;

    if (fd < 0)
        return vti_answer_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, "%s",
                                *why ? why : "the report could not be made");
    if (fstat(fd, &about))
        about.st_size = 0;
    response = MHD_create_response_from_fd64((uint64_t)about.st_size, fd);
    if (!response)
        close(fd);
    else
        MHD_add_response_header(response, "Content-Security-Policy", "frame-ancestors 'none'");
    return vti_answer(request, MHD_HTTP_OK, response, "text/html; charset=utf-8");
}

enum MHD_Result vti_serve_report(const struct vti_request *request)
{
    struct vti_serve *serve = request->serve;
    char why[MESSAGE_BYTES];
    struct stat about;
    const char *bad = NULL;
    int64_t number;
    char *path = vti_asked_path(request, &number, &bad);
    unsigned found;
    int fd;

    if (bad || !path || stat(path, &about)) {
        free(path);
        return vti_answer_error(request, MHD_HTTP_NOT_FOUND, "there is no such recording");
    }
    pthread_mutex_lock(&serve->lock);
    /* One that grows has changed when its page is made: that page is what was asked for. */
    found = request->is_again && !report.is_running && !strcmp(report.path ? report.path : "", path)
                ? 1
                : look(serve, path, &about);
    if (!found && (report.waiting_count == WAITING_MOST || serve->is_stopping))
        found = MHD_HTTP_SERVICE_UNAVAILABLE;
    if (!found) {
        report.waiting[report.waiting_count++] = request->connection;
        MHD_suspend_connection(request->connection);
    }
    fd = found == 1 && report.fd >= 0 ? fcntl(report.fd, F_DUPFD_CLOEXEC, 3) : -1;
    memcpy(why, report.why, sizeof why);
    pthread_mutex_unlock(&serve->lock);
    free(path);
    if (found == 1)
        return answer(request, fd, why);
    if (found)
        return vti_answer_error(request, found, "another report is being made: try again");
    *request->again = true;
    return MHD_YES;
}

void vti_reports_end(struct vti_serve *serve)
{
    pid_t pid;

    pthread_mutex_lock(&serve->lock);
    pid = report.pid;
    if (pid > 0)
        kill(pid, SIGKILL);
    pthread_mutex_unlock(&serve->lock);
    if (report.has_thread)
        pthread_join(report.thread, NULL);
    report.has_thread = false;
    if (report.fd >= 0)
        close(report.fd);
    report.fd = -1;
    free(report.path);
    report.path = NULL;
}
