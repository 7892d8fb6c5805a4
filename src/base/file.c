/* file.c - whole files: mapped for reading, written under a temporary name and renamed when whole. */
#include "base/file.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT_BUFFER (256 * 1024)

struct vti_output {
    int fd;
    bool is_direct; /* standard output, a device or a pipe: no other name until it is whole */
    bool force;
    uint64_t written;
    size_t used;
    int error;  /* the first failure; later writes repeat it */
    char *path; /* owned, as is `part` */
    char *part;
    uint8_t buffer[OUTPUT_BUFFER];
};

bool vti_file_is_same(const char *a, const char *b)
{
    struct stat first;
    struct stat second;

    return !stat(a, &first) && !stat(b, &second) && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

void vti_file_hold_standard(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", O_CLOEXEC | (fd == 0 ? O_WRONLY : O_RDONLY));
}

int vti_mapping_open(struct vti_mapping *mapping, const char *path)
{
    struct stat st;
    int result = 0;
    void *data;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* never wait for a pipe's writer */

    memset(mapping, 0, sizeof *mapping);
    if (fd < 0)
        return vti_fail_errno(VTI_E_OPEN, "%s: cannot open", path);
    if (fstat(fd, &st)) {
        result = vti_fail_errno(VTI_E_OPEN, "%s: cannot read its size", path);
        goto out;
    }
    if (!S_ISREG(st.st_mode)) {
        result = vti_fail(VTI_E_OPEN, "%s: is not a regular file", path);
        goto out;
    }
    if (st.st_size == 0)
        goto out;
    data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) {
        result = vti_fail_errno(VTI_E_OPEN, "%s: cannot map", path);
        goto out;
    }
    mapping->data = data;
    mapping->size = (size_t)st.st_size;
out:
    close(fd);
    return result;
}

void vti_mapping_close(struct vti_mapping *mapping)
{
    if (mapping->data)
        munmap((void *)mapping->data, mapping->size);
    memset(mapping, 0, sizeof *mapping);
}

static void output_free(struct vti_output *out)
{
    if (out->fd >= 0 && out->fd != STDOUT_FILENO)
        close(out->fd);
    free(out->path);
    free(out->part);
    free(out);
}

/* Renaming would put a file in the place of a device; a pipe is read while it is written. */
static int open_special(struct vti_output *out, const struct stat *st)
{
    out->is_direct = true;
    if (S_ISDIR(st->st_mode))
        return vti_fail(VTI_E_WRITE, "%s: is a directory", out->path);
    out->fd = open(out->path, O_WRONLY | O_CLOEXEC);
    if (out->fd < 0)
        return vti_fail_errno(VTI_E_WRITE, "%s: cannot open", out->path);
    return 0;
}

int vti_output_open(struct vti_output **result, const char *path, bool force, bool is_private)
{
    struct vti_output *out = calloc(1, sizeof *out);
    struct stat st;
    int code = 0;

    if (!out)
        return vti_fail(VTI_E_NOMEM, "%s: out of memory", path);
    out->fd = -1;
    out->force = force;
    if (!strcmp(path, "-")) {
        out->fd = STDOUT_FILENO;
        out->is_direct = true;
        *result = out;
        return 0;
    }
    out->path = strdup(path);
    if (!out->path || asprintf(&out->part, "%s.part-%ld", path, (long)getpid()) < 0) {
        out->part = NULL;
        code = vti_fail(VTI_E_NOMEM, "%s: out of memory", path);
        goto out;
    }
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        code = open_special(out, &st);
        goto out;
    }
    if (!force && access(path, F_OK) == 0) {
        code = vti_fail(VTI_E_EXISTS, "%s: already exists", path);
        goto out;
    }
    out->fd = open(out->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, is_private ? 0600 : 0666);
    if (out->fd < 0)
        code = vti_fail_errno(VTI_E_WRITE, "%s: cannot create", path);
out:
    if (code)
        output_free(out);
    else
        *result = out;
    return code;
}

int vti_output_probe(const char *path, bool force)
{
    struct vti_output *out = NULL;
    struct stat st;
    int code = 0;

    if (stat(path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
        code = vti_output_open(&out, path, force, false);
    if (out)
        vti_output_abandon(out);
    return code;
}

static int write_all(struct vti_output *out, const uint8_t *at, size_t count)
{
    while (count && !out->error) {
        ssize_t wrote = write(out->fd, at, count);

        if (wrote >= 0) {
            at += wrote;
            count -= (size_t)wrote;
        } else if (errno != EINTR) {
            out->error = errno == ENOSPC || errno == EDQUOT ? VTI_E_DISK_FULL : VTI_E_WRITE;
            vti_fail_errno(out->error, "%s: cannot write",
                           out->path ? out->path : "standard output");
        }
    }
    return out->error;
}

static int output_flush(struct vti_output *out)
{
    write_all(out, out->buffer, out->used);
    out->used = 0;
    return out->error;
}

int vti_output_write(struct vti_output *out, const void *bytes, size_t count)
{
    if (out->error)
        return out->error;
    out->written += count;
    if (out->used + count > OUTPUT_BUFFER && output_flush(out))
        return out->error;
    if (count > OUTPUT_BUFFER)
        return write_all(out, bytes, count);
    memcpy(out->buffer + out->used, bytes, count);
    out->used += count;
    return 0;
}

uint64_t vti_output_offset(const struct vti_output *out)
{
    return out->written;
}

int vti_output_fd(const struct vti_output *out)
{
    int fd;

    if (out->is_direct)
        return vti_fail(VTI_E_WRITE, "%s: is not a file",
                        out->path ? out->path : "standard output");
    fd = fcntl(out->fd, F_DUPFD_CLOEXEC, 3);
    return fd < 0 ? vti_fail_errno(VTI_E_SYSTEM, "%s: no file descriptor", out->path) : fd;
}

/* Puts the finished file under its name. Without force a file that appeared meanwhile is kept. */
static int output_rename(struct vti_output *out)
{
    if (!out->force && link(out->part, out->path) == 0) {
        unlink(out->part);
        return 0;
    }
    if (!out->force && errno == EEXIST)
        return vti_fail(VTI_E_EXISTS, "%s: already exists", out->path);
    if (rename(out->part, out->path))
        return vti_fail_errno(VTI_E_WRITE, "%s: cannot rename into place", out->path);
    return 0;
}

int vti_output_commit(struct vti_output *out)
{
    int code = output_flush(out);

    if (!out->is_direct) {
        if (!code && fsync(out->fd) && errno != EINVAL && errno != EROFS)
            code = vti_fail_errno(VTI_E_WRITE, "%s: cannot write", out->path);
        if (!code)
            code = output_rename(out);
        if (code)
            unlink(out->part);
    }
    output_free(out);
    return code;
}

void vti_output_abandon(struct vti_output *out)
{
    if (!out)
        return;
    if (!out->is_direct)
        unlink(out->part);
    output_free(out);
}
