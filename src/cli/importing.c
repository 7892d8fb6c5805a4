/*
 * importing.c - files of other tools where a recording is wanted.
 *
 * They are imported into a file in a folder of our own under TMPDIR, which is gone again as soon as it is open.
 */
#include "cli/importing.h"

#include "base/error.h"
#include "cli/cmd.h"
#include "cli/stop.h"
#include "import/import.h"
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PATH_ROOM 4096

static int import_into(const char *command, const char *path, const char *file,
                       vt_recording **recording)
{
    struct vti_import import = {.path = path, .output = file, .is_stopped = vti_stop_asked};
    struct vti_import_result result;
    int code;

    code = vti_import(&import, &result);
    if (code)
        return code;
    code = vt_recording_open(recording, file);
    unlink(file);
    if (!code && result.note[0])
        vti_cmd_warn(command, "%s: %s", path, result.note);
    return code ? code : vti_recording_call(*recording, path);
}

static int open_import(const char *command, const char *path, vt_recording **recording)
{
    const char *place = getenv("TMPDIR");
    char folder[PATH_ROOM];
    char file[PATH_ROOM + 16];
    int code;

    if (!place || !*place)
        place = "/tmp";
    if ((size_t)snprintf(folder, sizeof folder, "%s/venturi-XXXXXX", place) >= sizeof folder)
        return vti_fail(VTI_E_LIMIT, "TMPDIR is too long");
    if (!mkdtemp(folder))
        return vti_fail_errno(VTI_E_WRITE, "%s: cannot make a folder in it for %s", place, path);
    snprintf(file, sizeof file, "%s/log.vt", folder);
    vti_stop_watch(NULL);
    code = import_into(command, path, file, recording);
    rmdir(folder);
    vti_stop_unwatch();
    return code;
}

int vti_importing_open(const char *command, const char *path, vt_recording **recording)
{
    return vti_import_is_direct(path) ? open_import(command, path, recording)
                                      : vt_recording_open(recording, path);
}
