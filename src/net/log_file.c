/*
 * log_file.c - writes lines to logs. It runs in the middle of somebody's service: it never waits for a lock, a reader or a signal.
 * A new file takes the place of the old one behind the same descriptor, so that writers need no lock.
 */
#include "net/log_file.h"

#include "base/error.h"
#include "net/say.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Not to wait for the reader of a pipe, when opening it or later. */
#define FLAGS (O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

#define NAME_ROOM (VTI_LOG_PATH_ROOM + 24)

int vti_log_file_open(struct vti_log_file *file, const struct vti_log_spec *spec)
{
    bool is_stream = spec->kind == VTI_LOG_STDOUT || spec->kind == VTI_LOG_STDERR;
    struct stat st;

    memset(file, 0, sizeof *file);
    file->kind = spec->kind;
    file->bytes_most = spec->bytes_most;
    file->backups = spec->backups;
    memcpy(file->path, spec->path, sizeof file->path);
    pthread_mutex_init(&file->rotating, NULL);
    if (is_stream)
        file->fd = spec->kind == VTI_LOG_STDOUT ? STDOUT_FILENO : STDERR_FILENO;
    else
        file->fd = open(file->path, FLAGS | (spec->truncates ? O_TRUNC : 0), 0666);
    if (file->fd < 0)
        return vti_fail_errno(VTI_E_OPEN, "%s: cannot open", file->path);
    file->is_regular = !is_stream && !fstat(file->fd, &st) && S_ISREG(st.st_mode);
    return 0;
}

void vti_log_file_close(struct vti_log_file *file)
{
    if (file->fd > STDERR_FILENO)
        close(file->fd);
    pthread_mutex_destroy(&file->rotating);
}

/* ---- another file behind the same descriptor -------------------------------------------------- */

/* If it cannot be opened, lines go on to where they went. */
static void reopen(struct vti_log_file *file)
{
    int fd = open(file->path, FLAGS, 0666);

    if (fd < 0)
        return;
    dup3(fd, file->fd, O_CLOEXEC);
    close(fd);
}

/* Somebody else has moved or removed it. */
static bool is_moved(const struct vti_log_file *file)
{
    struct stat open_one;
    struct stat named;

    if (fstat(file->fd, &open_one))
        return false;
    return stat(file->path, &named) || named.st_dev != open_one.st_dev ||
           named.st_ino != open_one.st_ino;
}

/* As Python: a line that would make it as large as that is the first of a new file. */
static bool is_full(const struct vti_log_file *file, size_t len)
{
    struct stat st;

    if (file->bytes_most <= 0 || file->backups <= 0 || fstat(file->fd, &st) || !st.st_size)
        return false;
    return st.st_size + (int64_t)len >= file->bytes_most;
}

/* The file of that number; 0: the one that is written. */
static const char *numbered(char name[NAME_ROOM], const struct vti_log_file *file, int64_t number)
{
    if (!number)
        return file->path;
    snprintf(name, NAME_ROOM, "%s.%" PRId64, file->path, number);
    return name;
}

/* As many as there are, up to the first number that is free: how many there may be is no measure of the work. */
static void rotate(struct vti_log_file *file)
{
    char from[NAME_ROOM];
    char to[NAME_ROOM];
    int64_t last = 1;

    while (last < file->backups && !access(numbered(to, file, last), F_OK))
        last++;
    for (; last > 0; last--)
        rename(numbered(from, file, last - 1), numbered(to, file, last));
}

static void rotate_if_full(struct vti_log_file *file, size_t len)
{
    if (!is_full(file, len) || pthread_mutex_trylock(&file->rotating))
        return; /* whoever has the lock does it */
    if (is_full(file, len)) {
        if (!is_moved(file)) /* else another process has done it */
            rotate(file);
        reopen(file);
    }
    pthread_mutex_unlock(&file->rotating);
}

/* ---- writing --------------------------------------------------------------------------------- */

bool vti_log_file_write(struct vti_log_file *file, const char *line, size_t len)
{
    if (file->kind == VTI_LOG_ROTATING)
        rotate_if_full(file, len);
    else if (file->kind == VTI_LOG_WATCHED && is_moved(file))
        reopen(file);
    if (file->is_regular)
        return vti_say_once(file->fd, line, len);
    return vti_say_bytes(file->fd, line, len);
}
