/*
 * lines_out.c - messages to files and standard output: one a line, or JSON objects as the rows of a CSV file.
 *
 * Whole lines are written at once and appended, so that several processes may share a file.
 */
#include "base/buf.h"
#include "base/error.h"
#include "step/csv_row.h"
#include "step/step.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT_BYTES 65536 /* is written when there is more */

struct lines_out {
    struct vt_producer producer;
    char *path; /* owned */
    int fd;
    bool is_csv;
    struct vti_buf out; /* whole lines */
    struct vti_csv_names names;
};

static int write_kept(struct lines_out *self)
{
    size_t done = 0;

    while (done < self->out.len) {
        ssize_t wrote = write(self->fd, self->out.data + done, self->out.len - done);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            int code = vti_fail_errno(errno == ENOSPC ? VTI_E_DISK_FULL : VTI_E_WRITE,
                                      "%s: cannot write", self->path);

            memmove(self->out.data, self->out.data + done, self->out.len - done);
            self->out.len -= done;
            return code;
        }
        done += (size_t)wrote;
    }
    vti_buf_clear(&self->out);
    return 0;
}

/* Columns are those of the first object; their names are written where the file is empty. */
static int begin_rows(struct lines_out *self, const struct vt_message *message)
{
    int code = vti_csv_names_of(&self->names, message->data, message->bytes);
    struct stat status;

    if (!code && !fstat(self->fd, &status) && (!S_ISREG(status.st_mode) || !status.st_size))
        vti_csv_names_write(&self->names, &self->out);
    return code;
}

static int send_line(struct vt_producer *producer, const struct vt_message *message)
{
    struct lines_out *self = (struct lines_out *)producer;
    int code = 0;

    if (self->is_csv) {
        if (!self->names.count)
            code = begin_rows(self, message);
        if (!code)
            code = vti_csv_from_json(&self->names, message->data, message->bytes, &self->out);
    } else {
        if (memchr(message->data, '\n', message->bytes))
            return vti_fail(VTI_E_USAGE, "%s: a message with a line's end in it", self->path);
        vti_buf_add(&self->out, message->data, message->bytes);
        vti_buf_add_u8(&self->out, '\n');
    }
    if (!code && self->out.failed)
        code = vti_fail(VTI_E_NOMEM, "%s: no memory for a message", self->path);
    return code || self->out.len < KEPT_BYTES ? code : write_kept(self);
}

static int flush(struct vt_producer *producer, int timeout_ms)
{
    (void)timeout_ms;
    return write_kept((struct lines_out *)producer);
}

static void close_out(struct vt_producer *producer)
{
    struct lines_out *self = (struct lines_out *)producer;

    if (self->fd >= 0)
        write_kept(self);
    if (self->fd > STDERR_FILENO)
        close(self->fd);
    vti_csv_names_fini(&self->names);
    vti_buf_fini(&self->out);
    free(self->path);
    free(self);
}

int vti_step_open_lines_out(struct vt_producer **producer, const char *path, bool is_csv,
                            const struct vt_setting *settings)
{
    struct lines_out *self = calloc(1, sizeof *self);
    int code = 0;

    (void)settings;
    if (!self)
        return vti_fail(VTI_E_NOMEM, "no memory for a producer");
    self->producer = (struct vt_producer){.send = send_line, .flush = flush, .close = close_out};
    self->is_csv = is_csv;
    self->path = strdup(strcmp(path, "-") ? path : "standard output");
    self->fd = strcmp(path, "-") ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)
                                 : STDOUT_FILENO;
    if (!self->path)
        code = vti_fail(VTI_E_NOMEM, "no memory for a producer");
    else if (self->fd < 0)
        code = vti_fail_errno(VTI_E_OPEN, "%s: cannot open", path);
    if (code)
        close_out(&self->producer);
    else
        *producer = &self->producer;
    return code;
}
