/*
 * spool.c - the files of a spool: how they are named, made and shown.
 *
 * A file gets its name when it can be read, and is locked before that: who sees a file that is not locked knows that nobody
 * will ever write to it again, however its writer ended.
 */
#include "drain/spool.h"

#include "base/error.h"
#include "base/realtime.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* '0' a digit, 'x' a hex digit, else itself; the number may have more digits than six. */
static const char pattern[] = "00000000T000000.000000Z-xxxxxxxxxxxx-000000";

bool vti_spool_is_name(const char *name)
{
    size_t len = strnlen(name, VTI_SPOOL_NAME + 1);
    size_t at = 0;

    if (len >= VTI_SPOOL_NAME)
        return false;
    for (; pattern[at]; at++) {
        unsigned char c = (unsigned char)name[at];

        if (pattern[at] == '0'   ? !isdigit(c)
            : pattern[at] == 'x' ? !isdigit(c) && !(c >= 'a' && c <= 'f')
                                 : c != (unsigned char)pattern[at])
            return false;
    }
    while (isdigit((unsigned char)name[at]))
        at++;
    return !strcmp(name + at, ".vt");
}

static uint64_t setting(const char *name, uint64_t least, uint64_t most, uint64_t otherwise)
{
    const char *text = getenv(name);
    char *end;
    uint64_t value = text && isdigit((unsigned char)text[0]) ? strtoull(text, &end, 10) : 0;

    return value >= least && value <= most && !*end ? value : otherwise;
}

/* Again, if somebody has removed it meanwhile. */
static int open_folder(struct vti_spool *spool, const char *path)
{
    char found[PATH_MAX];
    int fd;

    if (mkdir(path, 0700) && errno != EEXIST)
        return vti_fail_errno(VTI_E_WRITE, "%s: cannot make the folder", path);
    if (!realpath(path, found))
        return vti_fail_errno(VTI_E_OPEN, "%s: cannot open", path);
    fd = open(found, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == ENOTDIR)
        return vti_fail(VTI_E_WRITE, "%s: is not a folder", path);
    if (fd < 0)
        return vti_fail_errno(VTI_E_OPEN, "%s: cannot open", path);
    if (spool->folder >= 0)
        close(spool->folder);
    spool->folder = fd;
    memcpy(spool->path, found, sizeof found);
    return 0;
}

int vti_spool_open(struct vti_spool *spool, const char *path, uint64_t limit)
{
    uint8_t bits[VTI_SPOOL_RUN / 2];
    int code;

    memset(spool, 0, sizeof *spool);
    spool->folder = -1;
    spool->limit = limit ? limit : VTI_SPOOL_LIMIT;
    if (spool->limit < VTI_SPOOL_LEAST)
        return vti_fail(VTI_E_USAGE, "%s: its limit is below 1 MiB", path);
    code = open_folder(spool, path);
    if (code)
        return code;
    if (getrandom(bits, sizeof bits, 0) != sizeof bits)
        return vti_fail_errno(VTI_E_SYSTEM, "%s: no random number for the run", path);
    for (size_t i = 0; i < sizeof bits; i++)
        snprintf(spool->run + 2 * i, 3, "%02x", bits[i]);
    spool->file_bytes = setting("VENTURI_SPOOL_FILE_BYTES", 1024, (uint64_t)1 << 40,
                                VTI_SPOOL_FILE_BYTES);
    spool->file_ns = setting("VENTURI_SPOOL_FILE_SECONDS", 1, 86400,
                             VTI_SPOOL_FILE_NS / 1000000000u) *
                     1000000000u;
    if (spool->file_bytes > spool->limit / 8)
        spool->file_bytes = spool->limit / 8;
    return 0;
}

void vti_spool_close(struct vti_spool *spool)
{
    if (spool->folder >= 0)
        close(spool->folder);
    spool->folder = -1;
}

/* Names never go back, even if the clock does. */
static void make_name(struct vti_spool *spool)
{
    struct tm utc;
    char stamp[32];
    int64_t us;
    time_t seconds;

    us = vti_realtime_ns() / 1000;
    if (us <= spool->last_us)
        us = spool->last_us + 1;
    spool->last_us = us;
    seconds = (time_t)(us / 1000000);
    gmtime_r(&seconds, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", &utc);
    snprintf(spool->name, sizeof spool->name, "%.15s.%06uZ-%s-%06u.vt", stamp,
             (unsigned)(us % 1000000), spool->run, (unsigned)(spool->number + 1));
    snprintf(spool->made, sizeof spool->made, ".%s.new", spool->name);
}

static int make_file(const struct vti_spool *spool)
{
    return openat(spool->folder, spool->made, O_RDWR | O_CREAT | O_CLOEXEC | O_EXCL, 0600);
}

int vti_spool_begin(struct vti_spool *spool)
{
    int fd;

    vti_spool_make_room(spool);
    make_name(spool);
    fd = make_file(spool);
    if (fd < 0 && errno == ENOENT) { /* the folder was removed */
        int code = open_folder(spool, spool->path);

        if (code)
            return code;
        fd = make_file(spool);
    }
    if (fd < 0)
        return vti_fail_errno(VTI_E_WRITE, "%s/%s: cannot create", spool->path, spool->name);
    if (flock(fd, LOCK_EX | LOCK_NB)) {
        int code = vti_fail_errno(VTI_E_WRITE, "%s/%s: cannot lock", spool->path, spool->name);

        close(fd);
        vti_spool_drop(spool);
        return code;
    }
    return fd;
}

int vti_spool_show(struct vti_spool *spool)
{
    if (renameat(spool->folder, spool->made, spool->folder, spool->name))
        return vti_fail_errno(VTI_E_WRITE, "%s/%s: cannot name it", spool->path, spool->name);
    spool->number++;
    fsync(spool->folder);
    return 0;
}

void vti_spool_drop(struct vti_spool *spool)
{
    unlinkat(spool->folder, spool->made, 0);
}
