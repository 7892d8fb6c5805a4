/*
 * ship_state.c - how far each recording is sent: a small text file with a checksum, replaced as a whole.
 *
 * If it is lost or damaged everything is sent again, under the same ids.
 */
#include "store/ship_impl.h"

#include "base/crc32c.h"
#include "base/error.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_LINE "venturi-ship 1\n"
#define FILES_MOST 1000000

static int make_room(struct vti_ship_state *state)
{
    if (state->count == state->capacity) {
        size_t capacity = state->capacity ? state->capacity * 2 : 16;
        void *more = reallocarray(state->files, capacity, sizeof *state->files);

        if (!more)
            return VTI_E_NOMEM;
        state->files = more;
        state->capacity = capacity;
    }
    return 0;
}

struct vti_ship_file *vti_ship_state_find(struct vti_ship_state *state, const char *name)
{
    for (size_t i = 0; i < state->count; i++)
        if (!strcmp(state->files[i].name, name))
            return &state->files[i];
    return NULL;
}

struct vti_ship_file *vti_ship_state_file(struct vti_ship_state *state, const char *name,
                                          const uint8_t id[VTI_UUID])
{
    struct vti_ship_file *file = vti_ship_state_find(state, name);

    if (file && !memcmp(file->id, id, VTI_UUID))
        return file;
    if (!file) {
        char *copy = strdup(name);

        if (!copy || make_room(state)) {
            free(copy);
            return NULL;
        }
        file = &state->files[state->count++];
        file->name = copy;
    }
    *file = (struct vti_ship_file){.name = file->name, .is_there = true};
    memcpy(file->id, id, VTI_UUID);
    return file;
}

void vti_ship_state_forget(struct vti_ship_state *state, size_t at)
{
    free(state->files[at].name);
    memmove(&state->files[at], &state->files[at + 1], (--state->count - at) * sizeof *state->files);
}

void vti_ship_state_fini(struct vti_ship_state *state)
{
    while (state->count)
        free(state->files[--state->count].name);
    free(state->files);
    free(state->path);
    memset(state, 0, sizeof *state);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_file_line(struct vti_ship_state *state, const char *line)
{
    char hex[33];
    unsigned done;
    uint64_t sent, lost;
    int at = 0;
    uint8_t id[VTI_UUID];
    struct vti_ship_file *file;

    if (sscanf(line, "file %32[0-9a-f] %1u %" SCNu64 " %" SCNu64 " %n", hex, &done, &sent, &lost,
               &at) != 4 ||
        !at || !line[at] || strlen(hex) != 32 || state->count >= FILES_MOST)
        return false;
    vti_uuid_parse(id, hex, 32);
    file = vti_ship_state_file(state, line + at, id);
    if (!file)
        return false;
    file->is_done = done;
    file->sent = sent;
    file->lost = lost;
    file->is_there = false;
    return true;
}

static bool read_position(struct vti_ship_state *state, const char *line)
{
    char name[32];
    struct vti_position at;
    uint64_t *words = at.words;

    if (!state->count || sscanf(line, "at %31s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, name,
                                &words[0], &words[1], &words[2], &words[3]) != 5)
        return false;
    for (size_t i = 0; i < VTI_MAKERS_MOST && vti_maker_at(i); i++)
        if (!strcmp(vti_maker_at(i)->name, name))
            state->files[state->count - 1].at[i] = at;
    return true; /* of a maker that is not built in: no matter */
}

/* Of all that are done with, or, below one, of that file. */
static bool read_unsent(struct vti_ship_state *state, const char *line)
{
    uint64_t *to = state->count ? &state->files[state->count - 1].unsent : &state->counts.unsent;

    return sscanf(line, "unsent %" SCNu64, to) == 1;
}

static bool read_told(struct vti_ship_state *state, const char *line)
{
    struct vti_ship_file *file = state->count ? &state->files[state->count - 1] : NULL;

    return file && sscanf(line, "told %" SCNu64 " %" SCNu64 " %" SCNu32, &file->told,
                          &file->beyond.outside, &file->beyond.kinds) == 3;
}

static bool read_line(struct vti_ship_state *state, const char *line)
{
    struct vti_ship_counts *counts = &state->counts;

    if (!strncmp(line, "counts ", 7))
        return sscanf(line,
                      "counts %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                      " %" SCNu64 " %" SCNu64 " %" SCNu64,
                      &counts->shipped, &counts->repeated, &counts->retried, &counts->dead,
                      &counts->lost, &counts->bytes, &counts->requests, &state->given_back,
                      &state->dead_bytes) == 9;
    if (!strncmp(line, "file ", 5))
        return read_file_line(state, line);
    if (!strncmp(line, "unsent ", 7))
        return read_unsent(state, line);
    if (!strncmp(line, "told ", 5))
        return read_told(state, line);
    if (!strncmp(line, "at ", 3))
        return read_position(state, line);
    return true; /* of a newer version */
}

static bool read_all(struct vti_ship_state *state, char *text, size_t len)
{
    uint32_t crc;
    char *last, *at = text + strlen(FIRST_LINE);

    if (len < strlen(FIRST_LINE) + 13 || strncmp(text, FIRST_LINE, strlen(FIRST_LINE)))
        return false;
    last = text + len - 13; /* "crc 01234567\n" */
    if (sscanf(last, "crc %8" SCNx32 "\n", &crc) != 1 ||
        crc != vti_crc32c(text, (size_t)(last - text)))
        return false;
    while (at < last) {
        char *end = memchr(at, '\n', (size_t)(last - at));

        if (!end)
            return false;
        *end = 0;
        if (!read_line(state, at))
            return false;
        at = end + 1;
    }
    return true;
}

int vti_ship_state_load(struct vti_ship_state *state, const char *path)
{
    struct vti_mapping map;
    char *text;
    bool is_good;

    memset(state, 0, sizeof *state);
    state->path = strdup(path);
    if (!state->path)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (access(path, F_OK) && errno == ENOENT)
        return 0;
    if (vti_mapping_open(&map, path))
        return vti_fail_errno(VTI_E_OPEN, "%s: cannot read", path);
    text = malloc(map.size + 1);
    if (text) {
        memcpy(text, map.size ? (const char *)map.data : "", map.size);
        text[map.size] = 0;
    }
    is_good = text && read_all(state, text, map.size);
    free(text);
    vti_mapping_close(&map);
    if (is_good)
        return 0;
    vti_ship_state_fini(state);
    state->path = strdup(path);
    return state->path ? vti_fail(VTI_E_DAMAGED, "%s: is damaged", path)
                       : vti_fail(VTI_E_NOMEM, "out of memory");
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_file(struct vti_buf *out, const struct vti_ship_file *file)
{
    char hex[VTI_UUID_HEX];

    vti_uuid_hex(file->id, hex);
    vti_buf_printf(out, "file %s %d %" PRIu64 " %" PRIu64 " %s\n", hex, file->is_done, file->sent,
                   file->lost, file->name);
    if (file->unsent)
        vti_buf_printf(out, "unsent %" PRIu64 "\n", file->unsent);
    vti_buf_printf(out, "told %" PRIu64 " %" PRIu64 " %" PRIu32 "\n", file->told,
                   file->beyond.outside, file->beyond.kinds);
    for (size_t i = 0; i < VTI_MAKERS_MOST && vti_maker_at(i); i++)
        vti_buf_printf(out, "at %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                       vti_maker_at(i)->name, file->at[i].words[0], file->at[i].words[1],
                       file->at[i].words[2], file->at[i].words[3]);
}

static void write_all(struct vti_buf *out, const struct vti_ship_state *state, const char *target)
{
    const struct vti_ship_counts *counts = &state->counts;

    vti_buf_add_text(out, FIRST_LINE);
    vti_buf_printf(out, "target %s\n", target);
    vti_buf_printf(out,
                   "counts %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                   " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                   counts->shipped, counts->repeated, counts->retried, counts->dead, counts->lost,
                   counts->bytes, counts->requests, state->given_back, state->dead_bytes);
    if (counts->unsent)
        vti_buf_printf(out, "unsent %" PRIu64 "\n", counts->unsent);
    for (size_t i = 0; i < state->count; i++)
        write_file(out, &state->files[i]);
    if (!out->failed)
        vti_buf_printf(out, "crc %08" PRIx32 "\n", vti_crc32c(out->data, out->len));
}

static bool write_whole(int fd, const uint8_t *bytes, size_t count)
{
    while (count) {
        ssize_t wrote = write(fd, bytes, count);

        if (wrote < 0 && errno != EINTR)
            return false;
        if (wrote > 0) {
            bytes += wrote;
            count -= (size_t)wrote;
        }
    }
    return true;
}

static void sync_folder(const char *path)
{
    char copy[PATH_MAX];
    int fd;

    snprintf(copy, sizeof copy, "%s", path);
    fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

/* Under another name first: whoever is killed in between leaves the old one. */
static bool replace(const char *path, const struct vti_buf *out)
{
    char part[PATH_MAX + 8];
    int fd;
    bool is_good;

    snprintf(part, sizeof part, "%s.new", path);
    fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    is_good = fd >= 0 && write_whole(fd, out->data, out->len) && !fdatasync(fd) &&
              !rename(part, path);
    if (!is_good) {
        int why = errno;

        unlink(part);
        errno = why;
    }
    if (fd >= 0)
        close(fd);
    return is_good;
}

/* In its place, which it has: for a full disk. Who is killed in between leaves one that is damaged. */
static bool overwrite(const char *path, const struct vti_buf *out)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    bool is_good = fd >= 0 && write_whole(fd, out->data, out->len) &&
                   !ftruncate(fd, (off_t)out->len) && !fdatasync(fd);

    if (fd >= 0)
        close(fd);
    return is_good;
}

int vti_ship_state_save(const struct vti_ship_state *state, const char *target)
{
    struct vti_buf out = {0};
    bool is_new = access(state->path, F_OK) != 0;
    int code = 0;

    write_all(&out, state, target);
    if (out.failed) {
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    } else if (!replace(state->path, &out)) {
        bool is_full = errno == ENOSPC || errno == EDQUOT;
        int why = errno;

        if (!is_full || is_new || !overwrite(state->path, &out)) {
            errno = why;
            code = vti_fail_errno(is_full ? VTI_E_DISK_FULL : VTI_E_WRITE, "%s: cannot write",
                                  state->path);
        }
    }
    if (!code && is_new)
        sync_folder(state->path);
    vti_buf_fini(&out);
    return code;
}
