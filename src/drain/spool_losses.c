/*
 * spool_losses.c - the file `losses` of a spool: a line for each recording that gave way to the limit.
 *
 * A line is there, on the disk, before its recording is gone. When the file has become long its older half becomes one line with
 * the sums; that replaces the file in one step, so that readers need no lock.
 */
#include "drain/spool.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/json.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LONG_BYTES (1u << 20)
#define STATE_MOST (64 << 20) /* bytes of a shipper's state that is looked at */

static void add_time(struct vti_json *json)
{
    time_t now = time(NULL);
    struct tm utc;
    char text[32];

    gmtime_r(&now, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    vti_json_add_string(json, "time", text);
}

static void add_sum(struct vti_json *json, const struct vti_spool_sum *sum)
{
    vti_json_add_uint(json, "bytes", sum->bytes);
    vti_json_add_uint(json, "events", sum->events);
    vti_json_add_uint(json, "steps", sum->steps);
    vti_json_add_uint(json, "tasks", sum->tasks);
}

/* ---- a long file --------------------------------------------------------------------------------- */

static uint64_t number_of(const char *line, const char *key)
{
    const char *at = strstr(line, key);

    return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static void take_line(const char *line, struct vti_spool_sum *sum)
{
    uint64_t files = number_of(line, "\"files\":");

    sum->files += files ? files : 1;
    sum->bytes += number_of(line, "\"bytes\":");
    sum->events += number_of(line, "\"events\":");
    sum->steps += number_of(line, "\"steps\":");
    sum->tasks += number_of(line, "\"tasks\":");
}

/* Appends the file, and a zero behind it. */
static bool read_all(int fd, size_t bytes, struct vti_buf *text)
{
    uint8_t *to = vti_buf_reserve(text, bytes + 1);
    size_t done = 0;

    while (to && done < bytes) {
        ssize_t got = pread(fd, to + done, bytes - done, (off_t)done);

        if (got <= 0)
            break;
        done += (size_t)got;
    }
    text->len += done;
    vti_buf_add_u8(text, 0);
    return !text->failed;
}

/* Whether no later line is of the same recording: asked from the last line to the first. */
static bool is_last_of_its(struct vti_map *met, const char *line, size_t len)
{
    static const char key[] = "\"recording\":\"";
    const char *id = memmem(line, len, key, strlen(key));
    const char *end;
    int is_new = 0;

    if (!id || !met)
        return true;
    id += strlen(key);
    end = memchr(id, '"', len - (size_t)(id - line));
    return !end || end == id || vti_map_add(met, id, (size_t)(end - id), &is_new) < 0 || is_new;
}

/* The states of shippers, one behind the other: they name recordings of which a part was sent. */
static void read_states(const struct vti_spool *spool, struct vti_buf *states)
{
    int fd = openat(spool->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *at;

    while (folder && (at = readdir(folder))) {
        size_t len = strlen(at->d_name);
        struct stat status;
        int state;

        if (strncmp(at->d_name, "ship-", 5) || len < 11 || strcmp(at->d_name + len - 6, ".state"))
            continue;
        state = openat(spool->folder, at->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (state >= 0 && !fstat(state, &status) && S_ISREG(status.st_mode) &&
            status.st_size < STATE_MOST)
            read_all(state, (size_t)status.st_size, states);
        if (state >= 0)
            close(state);
    }
    if (folder)
        closedir(folder);
    else if (fd >= 0)
        close(fd);
}

/* Whether its recording can still be told of: it is there all the same, and will be lost again; or a shipper has sent a part of it. */
static bool is_needed(const struct vti_spool *spool, const struct vti_buf *states, const char *line)
{
    char name[VTI_SPOOL_NAME] = "", id[33] = "";
    const char *at = strstr(line, "\"file\":\"");

    if (at)
        sscanf(at, "\"file\":\"%63[^\"]", name);
    at = strstr(line, "\"recording\":\"");
    if (at)
        sscanf(at, "\"recording\":\"%32[^\"]", id);
    return (vti_spool_is_name(name) && !faccessat(spool->folder, name, F_OK, 0)) ||
           (*id && states->len && memmem(states->data, states->len, id, strlen(id)));
}

/* Lines before `rest`: those that are needed to `kept`, sums over the others; one that a later one of its recording has replaced does not count. */
static void sum_older(const struct vti_spool *spool, char *text, const char *rest,
                      struct vti_spool_sum *sum, struct vti_buf *kept)
{
    char *end = memrchr(text, '\n', strlen(text));
    struct vti_buf states = {0};
    struct vti_map *met = NULL;

    (void)!vti_map_create(&met); /* without memory all lines count */
    read_states(spool, &states);
    while (end) {
        char *before = memrchr(text, '\n', (size_t)(end - text));
        const char *line = before ? before + 1 : text;

        if (is_last_of_its(met, line, (size_t)(end - line)) && line < rest) {
            *end = 0;
            if (is_needed(spool, &states, line)) {
                vti_buf_add(kept, line, (size_t)(end - line));
                vti_buf_add_u8(kept, '\n');
            } else {
                take_line(line, sum);
            }
        }
        end = before;
    }
    vti_buf_fini(&states);
    vti_map_free(met);
}

/* The older half as one line, then the rest. */
static void fold_text(const struct vti_spool *spool, char *text, struct vti_buf *to)
{
    struct vti_spool_sum sum = {0};
    struct vti_buf kept = {0};
    struct vti_json json;
    const char *rest = strchr(text + strlen(text) / 2, '\n');

    if (!rest) /* one line, and no end */
        rest = text;
    else
        rest++;
    sum_older(spool, text, rest, &sum, &kept);
    vti_json_init(&json, to);
    vti_json_object(&json);
    add_time(&json);
    vti_json_add_uint(&json, "files", sum.files);
    add_sum(&json, &sum);
    vti_json_object_end(&json);
    vti_buf_add_u8(to, '\n');
    vti_buf_add(to, kept.data, kept.len);
    to->failed |= kept.failed;
    vti_buf_fini(&kept);
    vti_buf_add(to, rest, strlen(rest));
}

static void replace(const struct vti_spool *spool, const struct vti_buf *text)
{
    int fd = openat(spool->folder, ".losses.new",
                    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool is_whole;

    if (fd < 0)
        return;
    is_whole = !text->failed && write(fd, text->data, text->len) == (ssize_t)text->len &&
               !fsync(fd);
    close(fd);
    if (!is_whole || renameat(spool->folder, ".losses.new", spool->folder, "losses"))
        unlinkat(spool->folder, ".losses.new", 0);
}

static void fold(const struct vti_spool *spool)
{
    int fd = openat(spool->folder, "losses", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct vti_buf text = {0};
    struct vti_buf to = {0};
    struct stat status;

    if (fd < 0)
        return;
    if (!fstat(fd, &status) && status.st_size > LONG_BYTES &&
        read_all(fd, (size_t)status.st_size, &text)) {
        fold_text(spool, (char *)text.data, &to);
        replace(spool, &to);
    }
    close(fd);
    vti_buf_fini(&text);
    vti_buf_fini(&to);
}

/* ---- a line ------------------------------------------------------------------------------------ */

/* What an earlier writer could not finish gets its end, so that our line is one. */
static void end_line(int fd)
{
    struct stat status;
    char last;

    if (!fstat(fd, &status) && status.st_size && pread(fd, &last, 1, status.st_size - 1) == 1 &&
        last != '\n')
        (void)!write(fd, "\n", 1);
}

bool vti_spool_note_loss(struct vti_spool *spool, const char *name, const char *recording,
                         const struct vti_spool_sum *sum)
{
    struct vti_buf line = {0};
    struct vti_json json;
    bool is_noted;
    int fd;

    fold(spool);
    fd = openat(spool->folder, "losses", O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                0600);
    if (fd < 0)
        return false;
    vti_json_init(&json, &line);
    vti_json_object(&json);
    add_time(&json);
    vti_json_add_string(&json, "file", name);
    vti_json_add_string(&json, "recording", recording);
    vti_json_key(&json, "run");
    vti_json_bytes(&json, name + 24, 12);
    add_sum(&json, sum);
    vti_json_object_end(&json);
    vti_buf_add_u8(&line, '\n');
    end_line(fd);
    is_noted = !line.failed && write(fd, line.data, line.len) == (ssize_t)line.len && !fsync(fd);
    close(fd);
    vti_buf_fini(&line);
    return is_noted;
}
