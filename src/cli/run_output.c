/*
 * run_output.c - the files of `run`.
 *
 * A profile (-o x.prof, x.lprof) is made from a recording beside it, which goes away once the profile is
 * whole. A program may clear the folder that it was told to write to: the recording stays open, so
 * that nothing is lost by it.
 */
#include "cli/run_output.h"

#include "base/error.h"
#include "base/file.h"
#include "cli/cmd.h"
#include "cli/run_nothing.h"
#include "export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COPY_BYTES 65536

static bool has_ending(const char *path, const char *wanted)
{
    const char *ending = strrchr(path, '.');

    return ending && ending > path && !strcmp(ending, wanted) && !strchr(ending, '/');
}

/* A profile of what is not recorded would be empty. */
static int check_kind(const struct vti_run_output *output, bool has_lines, bool has_calls)
{
    if (output->is_lines && !has_lines)
        return vti_cmd_fail("run", "%s: is for lines, which need -l", output->asked);
    if (output->is_profile && !output->is_lines && has_lines && !has_calls)
        return vti_cmd_fail("run",
                            "%s: is for functions; of -l a recording (.vt) or .lprof is made",
                            output->asked);
    return 0;
}

static void make_name(struct vti_run_output *output, const char *title)
{
    time_t now = time(NULL);
    struct tm local;
    char stamp[32];

    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    snprintf(output->recording, sizeof output->recording, "%.200s-%s-%ld.vt", title, stamp,
             (long)getpid());
}

int vti_run_output_name(struct vti_run_output *output, const char *title, bool has_lines,
                        bool has_calls)
{
    int len = 0;
    int code;

    output->fd = -1;
    output->shown = output->recording;
    if (!output->asked) {
        make_name(output, title);
        return 0;
    }
    if (!strcmp(output->asked, "-"))
        return vti_cmd_fail("run", "-o -: standard output is the program's; give a file");
    if (has_ending(output->asked, ".html") || has_ending(output->asked, ".htm"))
        return vti_cmd_fail("run",
                            "%s: -o names the recording (x.vt, .prof, .lprof); venturi report x.vt "
                            "-o %s makes the page",
                            output->asked, output->asked);
    output->is_lines = has_ending(output->asked, ".lprof");
    output->is_profile = output->is_lines || has_ending(output->asked, ".prof");
    code = check_kind(output, has_lines, has_calls);
    if (code)
        return code;
    if (output->is_profile) {
        output->shown = output->asked;
        len = snprintf(output->recording, sizeof output->recording, "%s.part-%ld.vt", output->asked,
                       (long)getpid());
    } else {
        len = snprintf(output->recording, sizeof output->recording, "%s", output->asked);
    }
    if (len >= (int)sizeof output->recording) {
        vti_cmd_fail("run", "%.60s…: the name is too long", output->asked);
        return VTI_EXIT_SETUP;
    }
    if (output->is_profile && !output->force && access(output->asked, F_OK) == 0) {
        vti_cmd_fail("run", "%s: already exists (use --force to replace it)", output->asked);
        return VTI_EXIT_SETUP;
    }
    return 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The folders that a file is to be in, as far as they are missing. */
static void make_folders(const char *path)
{
    char folder[PATH_MAX];

    snprintf(folder, sizeof folder, "%s", path);
    for (char *at = strchr(folder + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        mkdir(folder, 0777);
        *at = '/';
    }
}

static int write_copy(int fd, struct vti_output *to)
{
    char bytes[COPY_BYTES];
    off_t at = 0;
    ssize_t got;
    int code = 0;

    while (!code && (got = pread(fd, bytes, sizeof bytes, at)) > 0) {
        code = vti_output_write(to, bytes, (size_t)got);
        at += got;
    }
    return code;
}

static int write_sink(void *arg, const void *bytes, size_t count)
{
    return vti_output_write(arg, bytes, count);
}

static int write_profile(const struct vti_run_output *output, struct vti_output *to, bool is_gone)
{
    const struct vti_exporter *exporter = vti_exporter_find(output->is_lines ? "lprof" : "pstats");
    const struct vti_export_options what = {0};
    const struct vti_sink sink = {write_sink, to};
    vt_recording *recording;
    char path[64];
    int code;

    snprintf(path, sizeof path, "/proc/self/fd/%d", output->fd); /* it may have no name any more */
    if (!exporter)
        return vti_fail(VTI_E_NOT_FOUND, "%s: there is no exporter for it", output->shown);
    code = vt_recording_open(&recording, is_gone ? path : output->recording);
    if (code)
        return code;
    code = exporter->run(recording, &what, &sink);
    vt_recording_close(recording);
    return code;
}

static bool is_deleted(const struct vti_run_output *output)
{
    struct stat status;

    return output->fd >= 0 && fstat(output->fd, &status) == 0 && status.st_nlink == 0;
}

static int write_file(const struct vti_run_output *output, bool is_gone)
{
    struct vti_output *to = NULL;
    int code = vti_output_open(&to, output->shown, output->force && output->is_profile,
                               !output->is_profile);

    if (code)
        return code;
    code = output->is_profile ? write_profile(output, to, is_gone) : write_copy(output->fd, to);
    if (!code)
        return vti_output_commit(to);
    vti_output_abandon(to);
    return code;
}

/* Another recording has the name now, and it is not ours to replace: NAME.PID.vt. */
static int write_beside(struct vti_run_output *output)
{
    char taken[PATH_MAX];
    size_t len = strlen(output->recording);
    int made;

    memcpy(taken, output->recording, len + 1);
    if (len > 3 && !strcmp(taken + len - 3, ".vt"))
        len -= 3;
    made = snprintf(output->recording, sizeof output->recording, "%.*s.%ld.vt", (int)len, taken,
                    (long)getpid());
    if (made >= (int)sizeof output->recording)
        return vti_fail(VTI_E_WRITE, "%.60s…: the name is too long", taken);
    vti_cmd_say("%s was replaced while the program ran: this recording gets another name", taken);
    return write_file(output, true);
}

/* The recording has lost its name: it gets it back, or another one. */
static int write_again(struct vti_run_output *output)
{
    int code;

    make_folders(output->shown);
    code = write_file(output, true);
    if (code == VTI_E_EXISTS && !output->is_profile)
        return write_beside(output);
    if (!code)
        vti_cmd_say("%s was deleted while the program ran: written again", output->shown);
    return code;
}

bool vti_run_output_finish(struct vti_run_output *output, bool is_empty, int *closed)
{
    bool is_gone = is_deleted(output);
    int code;

    if (!output->is_profile && !is_gone)
        return true;
    if (output->is_profile && is_empty && !output->is_lines) {
        vti_cmd_say("%s  not written: no function was seen", output->shown);
        vti_run_output_drop(output);
        return false;
    }
    if (is_gone)
        *closed = 0;
    code = is_gone ? write_again(output) : write_file(output, false);
    if (code == VTI_E_EMPTY && output->is_lines) {
        vti_run_say_no_lines(output->shown);
        vti_run_output_drop(output);
        return false;
    }
    if (code) {
        vti_cmd_error("run", code);
        if (output->is_profile && !is_gone)
            vti_cmd_say("%s  holds what was recorded", output->recording);
        return false;
    }
    if (output->is_profile)
        unlink(output->recording);
    return true;
}

void vti_run_output_drop(struct vti_run_output *output)
{
    unlink(output->recording);
    if (output->fd >= 0)
        close(output->fd);
}
