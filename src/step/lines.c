/*
 * lines.c - messages from files and standard input: one a line, or the rows of a CSV file as JSON objects.
 *
 * What is read at once stands in one buffer, and messages point into it; it moves when it grows, so places are kept as offsets until
 * all of a batch is there. A line has a limit, so that a file of another kind does not fill the memory.
 */
#include "base/buf.h"
#include "base/error.h"
#include "step/csv_row.h"
#include "step/step.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_BYTES 65536
#define LINE_MOST ((size_t)64 << 20)
#define PARTS_MOST 65536

struct lines {
    struct vt_consumer consumer;
    char *path; /* owned */
    int fd;
    bool is_csv, is_over, is_quoted; /* quoted: within a field, where a line's end is none */
    uint64_t number;                 /* of the line that was read last */
    uint64_t taken;                  /* lines that are messages, ours or another part's */
    uint64_t part, parts;
    struct vti_buf in;      /* read, not handed out yet: from `begin` on */
    size_t begin, scanned;  /* up to where it is known to hold no line's end */
    struct vti_buf objects; /* rows as JSON */
    struct vti_csv_names names;
};

/* More bytes into the buffer. 1: there are; 0: none in that time; VT_CONSUMER_END; or an error. */
static int read_more(struct lines *self, int timeout_ms)
{
    struct pollfd wait = {self->fd, POLLIN, 0};
    uint8_t *room;
    ssize_t got;

    if (self->in.len - self->begin > LINE_MOST)
        return vti_fail(VTI_E_LIMIT, "%s: line %llu is longer than %zu MiB", self->path,
                        (unsigned long long)self->number + 1, LINE_MOST >> 20);
    got = poll(&wait, 1, timeout_ms);
    if (got == 0 || (got < 0 && errno == EINTR))
        return 0;
    room = vti_buf_reserve(&self->in, CHUNK_BYTES);
    if (!room)
        return vti_fail(VTI_E_NOMEM, "%s: no memory for line %llu", self->path,
                        (unsigned long long)self->number + 1);
    got = read(self->fd, room, CHUNK_BYTES);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN
                   ? 0
                   : vti_fail_errno(VTI_E_READ, "%s: cannot read", self->path);
    self->in.len += (size_t)got;
    return got ? 1 : VT_CONSUMER_END;
}

/* Where the line at `begin` ends within what was read, or (size_t)-1. */
static size_t find_end(struct lines *self)
{
    const uint8_t *data = self->in.data;
    const uint8_t *end;

    if (!self->is_csv) {
        end = self->scanned < self->in.len
                  ? memchr(data + self->scanned, '\n', self->in.len - self->scanned)
                  : NULL;
        self->scanned = end ? (size_t)(end - data) + 1 : self->in.len;
        return end ? (size_t)(end - data) : (size_t)-1;
    }
    while (self->scanned < self->in.len) {
        uint8_t c = data[self->scanned++];

        if (c == '"')
            self->is_quoted = !self->is_quoted;
        else if (c == '\n' && !self->is_quoted)
            return self->scanned - 1;
    }
    return (size_t)-1;
}

/* The next line that is not empty, as offsets into the buffer. 1, 0, VT_CONSUMER_END or an error. */
static int next_line(struct lines *self, size_t *from, size_t *to, int timeout_ms)
{
    for (;;) {
        size_t end = find_end(self);

        if (end == (size_t)-1 && !self->is_over) {
            int code = read_more(self, timeout_ms);

            if (code == VT_CONSUMER_END)
                self->is_over = true;
            else if (code != 1)
                return code;
            continue;
        }
        if (end == (size_t)-1 && self->begin == self->in.len)
            return VT_CONSUMER_END;
        if (end == (size_t)-1 && self->is_quoted)
            return vti_fail(VTI_E_DAMAGED, "%s: a quote in row %llu is not closed", self->path,
                            (unsigned long long)self->number + 1);
        *from = self->begin;
        *to = end == (size_t)-1 ? self->in.len : end;
        self->begin = self->scanned;
        self->number++;
        if (*to > *from && self->in.data[*to - 1] == '\r')
            (*to)--;
        if (*to > *from)
            return 1;
    }
}

/* A row as an object behind the others; offsets into those then. */
static int convert(struct lines *self, size_t *from, size_t *to)
{
    size_t at = self->objects.len;
    int code = vti_csv_to_json(&self->names, (const char *)self->in.data + *from, *to - *from,
                               &self->objects);
    char why[256];

    if (code) {
        strncpy(why, vti_error_message(code), sizeof why - 1);
        why[sizeof why - 1] = 0;
        return vti_fail(code, "%s: row %llu: %s", self->path, (unsigned long long)self->number,
                        why);
    }
    *from = at;
    *to = self->objects.len;
    return 1;
}

/* The names of columns are the first row. */
static int read_names(struct lines *self, int timeout_ms)
{
    size_t from, to;
    int code = next_line(self, &from, &to, timeout_ms);

    if (code != 1)
        return code;
    code = vti_csv_names_read(&self->names, (const char *)self->in.data + from, to - from);
    return code ? code : 1;
}

/* The next message of ours. */
static int next_message(struct lines *self, size_t *from, size_t *to, int timeout_ms)
{
    for (;;) {
        int code = self->is_csv && !self->names.count ? read_names(self, timeout_ms) : 1;

        if (code == 1)
            code = next_line(self, from, to, timeout_ms);
        if (code != 1)
            return code;
        if (self->taken++ % self->parts == self->part)
            return self->is_csv ? convert(self, from, to) : 1;
    }
}

static void drop_read(struct lines *self)
{
    if (self->begin)
        memmove(self->in.data, self->in.data + self->begin, self->in.len - self->begin);
    self->in.len -= self->begin;
    self->scanned -= self->begin;
    self->begin = 0;
    vti_buf_clear(&self->objects);
}

static int receive(struct vt_consumer *consumer, struct vt_message *messages, size_t most,
                   int timeout_ms)
{
    struct lines *self = (struct lines *)consumer;
    const char *base;
    size_t count = 0;
    int code = 1;

    if (self->begin)
        drop_read(self);
    while (count < most) {
        size_t from, to;

        code = next_message(self, &from, &to, count ? 0 : timeout_ms);
        if (code != 1)
            break;
        messages[count++] = (struct vt_message){.data = (void *)(uintptr_t)from,
                                                .bytes = to - from};
    }
    if (!count || (code < 0 && code != VT_CONSUMER_END))
        return code;
    base = (const char *)(self->is_csv ? self->objects.data : self->in.data);
    for (size_t i = 0; i < count; i++)
        messages[i].data = base + (uintptr_t)messages[i].data;
    return (int)count;
}

static void close_lines(struct vt_consumer *consumer)
{
    struct lines *self = (struct lines *)consumer;

    if (self->fd > STDIN_FILENO)
        close(self->fd);
    vti_csv_names_fini(&self->names);
    vti_buf_fini(&self->objects);
    vti_buf_fini(&self->in);
    free(self->path);
    free(self);
}

/* A number of a setting, 0 ≤ it < `below`. */
static int read_setting(const struct vt_setting *settings, const char *name, uint64_t missing,
                        uint64_t below, uint64_t *to)
{
    const char *text = vti_step_setting(settings, name);
    char *end = NULL;

    *to = missing;
    if (!text)
        return 0;
    *to = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : below;
    if (*to >= below || (end && *end))
        return vti_fail(VTI_E_USAGE, "%s=%s: a number below %llu is wanted", name, text,
                        (unsigned long long)below);
    return 0;
}

int vti_step_open_lines(struct vt_consumer **consumer, const char *path, bool is_csv,
                        const struct vt_setting *settings)
{
    struct lines *self = calloc(1, sizeof *self);
    int code = 0;

    if (!self)
        return vti_fail(VTI_E_NOMEM, "no memory for a consumer");
    self->consumer = (struct vt_consumer){.receive = receive, .close = close_lines};
    self->is_csv = is_csv;
    self->path = strdup(strcmp(path, "-") ? path : "standard input");
    self->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (!self->path)
        code = vti_fail(VTI_E_NOMEM, "no memory for a consumer");
    else if (self->fd < 0)
        code = vti_fail_errno(VTI_E_OPEN, "%s: cannot open", path);
    if (!code)
        code = read_setting(settings, "parts", 1, PARTS_MOST, &self->parts);
    if (!code)
        code = read_setting(settings, "part", 0, self->parts ? self->parts : 1, &self->part);
    if (!self->parts)
        self->parts = 1;
    if (code)
        close_lines(&self->consumer);
    else
        *consumer = &self->consumer;
    return code;
}
