/* rank_file.c - opens what is to be ranked, finds out what it is, and reads it to its end. */
#include "analyze/rank_impl.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC_BYTES 8

static const char recording_magic[MAGIC_BYTES] = {(char)0x89, 'V', 'T', '\r', '\n', 0x1a, '\n', 0};

static int open_input(const char *path, int *fd)
{
    struct stat st;

    if (!strcmp(path, "-")) {
        *fd = STDIN_FILENO;
        return 0;
    }
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return vti_fail_errno(VTI_E_OPEN, "%s: cannot open", path);
    if (fstat(*fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        close(*fd);
        return vti_fail(VTI_E_OPEN, "%s: is a directory", path);
    }
    return 0;
}

/* Fills the room, unless the end comes first: a pipe may give a few bytes at a time, and what is
 * handed on in such pieces would be moved about for each of them. */
static ssize_t read_full(int fd, char *to, size_t room)
{
    size_t have = 0;

    while (have < room) {
        ssize_t got = read(fd, to + have, room - have);

        if (got == 0)
            break;
        if (got > 0)
            have += (size_t)got;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)have;
}

/* Adds the file's name in front of what went wrong inside it. */
static int fail_in(const char *path, int code)
{
    char text[512];

    memccpy(text, vti_error_message(code), 0, sizeof text);
    text[sizeof text - 1] = 0;
    return vti_fail(code, "%s: %s", path, text);
}

static int read_log(struct vti_rank *rank, int fd, const char *path)
{
    bool is_first = true;
    int code = 0;

    while (!code) {
        size_t room;
        char *to = vti_rank_log_room(rank, &room);
        ssize_t got;

        if (!to)
            return vti_fail(VTI_E_NOMEM, "%s: out of memory", path);
        got = read_full(fd, to, room);
        if (got < 0)
            return vti_fail_errno(VTI_E_READ, "%s: cannot read", path);
        if (got == 0)
            break;
        if (is_first && got >= MAGIC_BYTES && !memcmp(to, recording_magic, MAGIC_BYTES)) {
            rank->is_recording = true;
            return 0;
        }
        is_first = false;
        code = vti_rank_log_filled(rank, (size_t)got);
    }
    if (!code)
        code = vti_rank_log_end(rank);
    return code ? fail_in(path, code) : 0;
}

/* A log in which nothing is a trace line is the wrong file. The script does not mind. */
static int check_log(const struct vti_rank *rank, const char *path)
{
    const struct vti_rank_lines *lines = &rank->lines;

    if (rank->options.is_compat || lines->starts || lines->stops || lines->negative)
        return 0;
    if (!lines->read)
        return vti_fail(VTI_E_EMPTY, "%s: holds no trace lines: it is empty", path);
    return vti_fail(VTI_E_EMPTY, "%s: holds no trace lines: line %llu %s", path,
                    (unsigned long long)lines->first_unusable, lines->reason);
}

int vti_rank_file(struct vti_rank *rank, const char *path)
{
    const char *shown = strcmp(path, "-") ? path : "standard input";
    struct stat st;
    int fd;
    int code = open_input(path, &fd);

    if (code)
        return code;
    code = read_log(rank, fd, shown);
    if (fd != STDIN_FILENO)
        close(fd);
    if (code)
        return code;
    if (!rank->is_recording)
        return check_log(rank, shown);
    if (shown == path)
        return vti_rank_recording(rank, path);
    if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
        return vti_rank_recording(rank, "/dev/stdin");
    return vti_fail(VTI_E_READ, "%s: is a recording; it cannot be read from a pipe, give its name",
                    shown);
}
