/*
 * dask.c - a scheduler of dask.distributed as what is followed.
 *
 * A Python process beside us (python/venturi/dask/_watch.py) asks the scheduler and writes a line of JSON four times a second; dask_take.c
 * reads them. If it ends, or the scheduler does, it is started again after a while; what was shown stays.
 */
#include "live/dask.h"

#include "base/beside.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define AGAIN_NS 5000000000
#define READ_BYTES 65536
#define LINE_MOST (32u << 20)
#define END_MS 1000

extern char **environ;

static const char connecting[] = "connecting";

static int start(struct vti_live *live)
{
    static const char *const places[] = {"python/venturi/dask/_watch.py", "../_watch.py",
                                         "../dask/_watch.py",
                                         "../../lib*/venturi/python/venturi/dask/_watch.py",
                                         "../../lib*/*/venturi/python/venturi/dask/_watch.py"};
    struct vti_dask *dask = live->dask;
    char *python = getenv("VENTURI_DASK_PYTHON");
    char script[PATH_MAX];
    char *words[] = {python && *python ? python : "python3", script, live->target, NULL};
    posix_spawn_file_actions_t actions;
    int pipes[2];
    int code;

    if (!vti_beside_find(places, sizeof places / sizeof *places, script, sizeof script))
        return vti_fail(VTI_E_NOT_FOUND, "our Python package is not where the server is");
    if (pipe2(pipes, O_CLOEXEC))
        return vti_fail_errno(VTI_E_SYSTEM, "no pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    code = posix_spawnp(&dask->pid, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pipes[1]);
    if (code) {
        close(pipes[0]);
        dask->pid = 0;
        errno = code;
        return vti_fail_errno(VTI_E_SYSTEM, "%s: cannot start it", words[0]);
    }
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    dask->fd = pipes[0];
    vti_buf_clear(&dask->line);
    return 0;
}

static void stop(struct vti_dask *dask)
{
    if (dask->fd >= 0)
        close(dask->fd);
    dask->fd = -1;
    if (dask->pid > 0) {
        kill(dask->pid, SIGTERM);
        for (int ms = 0; dask->pid > 0 && ms < END_MS; ms += 10) {
            if (waitpid(dask->pid, NULL, WNOHANG) == dask->pid)
                dask->pid = 0;
            else
                usleep(10000);
        }
    }
    if (dask->pid > 0) {
        kill(dask->pid, SIGKILL);
        waitpid(dask->pid, NULL, 0);
    }
    dask->pid = 0;
}

int vti_live_dask_open(struct vti_live *live)
{
    struct vti_dask *dask = calloc(1, sizeof *dask);
    int code;

    if (!dask)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    live->dask = dask;
    dask->fd = -1;
    dask->id = dask->version = "";
    dask->error = connecting;
    live->start_unix_ns = live->now_unix_ns;
    live->is_caught_up = true;
    live->caught_up = 1;
    code = start(live);
    dask->started_ns = live->now_ns;
    return code;
}

void vti_live_dask_close(struct vti_live *live)
{
    if (!live->dask)
        return;
    stop(live->dask);
    vti_buf_fini(&live->dask->line);
    free(live->dask);
    live->dask = NULL;
}

/* Whole lines out of what came. 1: something was said. */
static int take_lines(struct vti_live *live)
{
    struct vti_buf *line = &live->dask->line;
    const char *end;
    int changed = 0;

    while (line->len && (end = memchr(line->data, '\n', line->len))) {
        size_t len = (size_t)(end - (const char *)line->data);

        changed = 1;
        if (vti_dask_take(live, (const char *)line->data, len))
            return VTI_E_NOMEM;
        memmove(line->data, line->data + len + 1, line->len - len - 1);
        line->len -= len + 1;
    }
    return changed;
}

static void lose(struct vti_live *live)
{
    struct vti_dask *dask = live->dask;

    stop(dask);
    dask->is_connected = false;
    if (!*dask->error)
        dask->error = "the connection was lost";
    if (dask->error == connecting)
        dask->error = "its Python ended without a word (VENTURI_DASK_PYTHON names another one)";
    for (size_t i = 0; i < live->seat_count; i++)
        live->seats[i].is_there = false;
}

int vti_live_dask_refresh(struct vti_live *live, int64_t budget_ns)
{
    struct vti_dask *dask = live->dask;
    uint8_t *room;
    ssize_t got = -1;
    int changed = 0;

    (void)budget_ns;
    if (dask->fd < 0) {
        if (live->now_ns - dask->started_ns < AGAIN_NS)
            return 0;
        dask->started_ns = live->now_ns;
        return start(live) ? 0 : 1;
    }
    errno = 0;
    for (;;) {
        room = vti_buf_reserve(&dask->line, READ_BYTES);
        got = room && dask->line.len < LINE_MOST ? read(dask->fd, room, READ_BYTES) : 0;
        if (got <= 0)
            break;
        dask->line.len += (size_t)got;
    }
    changed = take_lines(live);
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        lose(live);
        changed = changed < 0 ? changed : 1;
    }
    return changed;
}

void vti_live_cluster(const struct vti_live *live, struct vti_live_cluster *cluster)
{
    const struct vti_dask *dask = live->dask;

    *cluster = (struct vti_live_cluster){.address = "", .id = "", .version = "", .error = ""};
    if (dask)
        *cluster = (struct vti_live_cluster){.is_known = true,
                                             .is_connected = dask->is_connected,
                                             .is_tried = dask->is_connected || dask->fd < 0,
                                             .address = live->target,
                                             .id = dask->id,
                                             .version = dask->version,
                                             .error = dask->is_connected ? "" : dask->error};
}
