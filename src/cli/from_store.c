/* from_store.c - has venturi-fetch write what a store holds to a file of our own, which is gone as soon as it is open. */
#include "cli/from_store.h"

#include "base/beside.h"
#include "base/error.h"
#include "base/file.h"
#include "base/secret.h"
#include "cli/cmd.h"
#include "cli/stop.h"
#include "model/model.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS_MOST 16
#define ROWS_MOST (256u << 20) /* bytes */

extern char **environ;

const char *vti_from_file(const char *url)
{
    return strncmp(url, "file://", 7) ? NULL : url + 7;
}

static int run_fetch(const struct vti_from_store *from, const char *file)
{
    static const char *const places[] = {"venturi-fetch", "../libexec/venturi/venturi-fetch"};
    const char *words[OPTIONS_MOST + 5];
    char url[VTI_SECRET_MOST + 16];
    char program[PATH_MAX];
    size_t count = 4;
    int status = 0;
    pid_t pid;
    int failed, url_fd;

    if (!vti_beside_find(places, sizeof places / sizeof *places, program, sizeof program))
        return vti_cmd_fail(from->command, "--from: venturi-fetch is not there (it is built with "
                                           "libcurl and hiredis)");
    url_fd = vti_secret_send(from->url, url, sizeof url);
    if (url_fd < 0)
        return vti_cmd_error(from->command, url_fd);
    words[0] = program;
    words[1] = from->action;
    words[2] = url;
    words[3] = file;
    for (size_t i = 0; from->options[i] && i < OPTIONS_MOST; i++)
        words[count++] = from->options[i];
    words[count] = NULL;
    failed = posix_spawn(&pid, program, NULL, NULL, (char *const *)words, environ);
    close(url_fd);
    if (failed) {
        errno = failed;
        return vti_cmd_error(from->command,
                             vti_fail_errno(VTI_E_SYSTEM, "%s: cannot start it", program));
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        if (vti_stop_asked())
            kill(pid, SIGTERM);
    if (WIFSIGNALED(status))
        return vti_cmd_fail(from->command, "--from: venturi-fetch was ended by signal %d",
                            WTERMSIG(status));
    return WEXITSTATUS(status) ? VTI_EXIT_BAD : 0;
}

/* A recording, or an object of JSON. */
static int open_file(const struct vti_from_store *from, struct vti_fetched *fetched,
                     const char *file)
{
    struct vti_mapping map;
    int code = vti_mapping_open(&map, file);

    if (code)
        return vti_cmd_error(from->command, code);
    if (map.size && map.data[0] == '{' && map.size < ROWS_MOST) {
        vti_buf_add(&fetched->rows, map.data, map.size);
        vti_buf_add_u8(&fetched->rows, 0);
        code = fetched->rows.failed ? VTI_E_NOMEM : 0;
        fetched->rows.len -= !code;
    } else {
        code = vt_recording_open(&fetched->recording, file);
        if (!code)
            code = vti_recording_call(fetched->recording, fetched->shown);
    }
    vti_mapping_close(&map);
    return code ? vti_cmd_error(from->command, code) : 0;
}

int vti_from_store(const struct vti_from_store *from, struct vti_fetched *fetched)
{
    const char *place = getenv("TMPDIR");
    char folder[PATH_MAX];
    char file[PATH_MAX + 16];
    int code;

    *fetched = (struct vti_fetched){0};
    vti_secret_show_url(fetched->shown, sizeof fetched->shown, from->url);
    if (!strstr(from->url, "://"))
        return vti_cmd_fail(from->command, "--from: wants a URL, redis://… or elasticsearch://…");
    if (!place || !*place)
        place = "/tmp";
    if ((size_t)snprintf(folder, sizeof folder, "%s/venturi-XXXXXX", place) >= sizeof folder)
        return vti_cmd_fail(from->command, "TMPDIR is too long");
    if (!mkdtemp(folder))
        return vti_cmd_error(from->command,
                             vti_fail_errno(VTI_E_WRITE, "%s: cannot make a folder in it", place));
    snprintf(file, sizeof file, "%s/fetched.vt", folder);
    vti_stop_watch(NULL);
    code = run_fetch(from, file);
    if (!code)
        code = open_file(from, fetched, file);
    unlink(file);
    rmdir(folder);
    vti_stop_unwatch();
    return code;
}

void vti_fetched_fini(struct vti_fetched *fetched)
{
    vti_buf_fini(&fetched->rows);
}
