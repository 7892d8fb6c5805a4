/*
 * dead_letters.c - documents that a store will never take, each on a line of JSON with the reason, to be looked at and sent
 * again (venturi ship --replay).
 */
#include "store/ship_impl.h"

#include "base/error.h"
#include "base/json.h"
#include "base/json_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *const kinds[] = {"step", "trace", "sample"};

/* ---- writing --------------------------------------------------------------------------------- */

static void write_letter(struct vti_buf *out, const struct vti_batch *batch,
                         const struct vti_document *document)
{
    struct vti_json json;
    struct timespec now;
    char id[VTI_UUID_HEX], when[VTI_TIME_TEXT];

    clock_gettime(CLOCK_REALTIME, &now);
    vti_uuid_hex(document->id, id);
    vti_json_init(&json, out);
    vti_json_object(&json);
    vti_time_text(when, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec / 1000000 * 1000000);
    vti_json_add_string(&json, "time", when);
    vti_json_add_int(&json, "status", document->status);
    vti_json_add_string(&json, "reason", vti_batch_reason(batch, document));
    vti_json_add_string(&json, "index", document->index);
    vti_json_add_string(&json, "id", id);
    vti_json_add_string(&json, "kind",
                        document->kind == VTI_DOCUMENT_STEP    ? kinds[0]
                        : document->kind == VTI_DOCUMENT_TRACE ? kinds[1]
                                                               : kinds[2]);
    vti_json_add_int(&json, "time_ns", document->time_ns);
    vti_buf_add_text(out, ",\"document\":");
    vti_buf_add(out, vti_batch_body(batch, document), document->body_len);
    vti_buf_add_text(out, "}\n");
}

static int append(const char *path, const struct vti_buf *out, uint64_t *bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    off_t before = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    size_t at = 0;
    int code = 0;

    while (before >= 0 && at < out->len) {
        ssize_t wrote = write(fd, out->data + at, out->len - at);

        if (wrote < 0 && errno != EINTR)
            break;
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    if (before < 0 || at < out->len || fdatasync(fd)) {
        code = vti_fail_errno(errno == ENOSPC || errno == EDQUOT ? VTI_E_DISK_FULL : VTI_E_WRITE,
                              "%s: cannot write", path);
        if (before >= 0 && ftruncate(fd, before))
            code = VTI_E_WRITE; /* said already */
    } else {
        *bytes = (uint64_t)before + out->len;
    }
    if (fd >= 0)
        close(fd);
    return code;
}

int vti_dead_write(const char *path, const struct vti_batch *batch, uint64_t *bytes,
                   uint64_t *count)
{
    struct vti_buf out = {0};
    uint64_t dead = 0;
    int code = 0;

    for (size_t i = 0; i < batch->count; i++)
        if (batch->documents[i].fate == VTI_FATE_DEAD) {
            write_letter(&out, batch, &batch->documents[i]);
            dead++;
        }
    if (out.failed)
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    else if (dead)
        code = append(path, &out, bytes);
    if (!code)
        *count += dead;
    vti_buf_fini(&out);
    return code;
}

void vti_dead_cut(const char *path, uint64_t bytes)
{
    struct stat stat_;

    if (!stat(path, &stat_) && S_ISREG(stat_.st_mode) && (uint64_t)stat_.st_size > bytes &&
        truncate(path, (off_t)bytes))
        return; /* then a letter may be there twice: under the same id */
}

/* ---- reading --------------------------------------------------------------------------------- */

struct letter {
    struct vti_buf index, id, kind;
    const char *body;
    size_t body_len;
    int64_t time_ns;
};

static bool read_letter(struct letter *letter, struct vti_json_scan *scan, struct vti_buf *key)
{
    bool is_first = true;

    if (!vti_json_take(scan, '{'))
        return false;
    while (vti_json_next_key(scan, &is_first, key)) {
        const char *name = (const char *)key->data;
        char next = vti_json_peek(scan);
        struct vti_buf *to = next != '"'                                  ? NULL
                             : key->len == 5 && !memcmp(name, "index", 5) ? &letter->index
                             : key->len == 2 && !memcmp(name, "id", 2)    ? &letter->id
                             : key->len == 4 && !memcmp(name, "kind", 4)  ? &letter->kind
                                                                          : NULL;

        if (to) {
            vti_json_scan_string(scan, to);
        } else if (key->len == 7 && !memcmp(name, "time_ns", 7)) {
            const char *text;
            size_t len;

            if (vti_json_scan_number(scan, &text, &len))
                letter->time_ns = strtoll(text, NULL, 10);
        } else {
            bool is_body = next == '{' && key->len == 8 && !memcmp(name, "document", 8);
            const char *begin = scan->at;

            vti_json_skip(scan);
            if (is_body) {
                letter->body = begin;
                letter->body_len = (size_t)(scan->at - begin);
            }
        }
    }
    return !scan->failed && !vti_json_peek(scan) && letter->body && letter->index.len &&
           letter->id.len == 32;
}

int vti_dead_read(struct vti_batch *batch, const char *line, size_t len, struct vti_map *names)
{
    struct vti_json_scan scan = {.at = line, .end = line + len};
    struct letter letter = {.time_ns = 0};
    struct vti_buf key = {0};
    struct vti_document *document;
    int code = 1;

    if (read_letter(&letter, &scan, &key)) {
        size_t at = batch->text.len;
        uint32_t kind = VTI_DOCUMENT_STEP;
        int is_new;
        int64_t name = vti_map_add(names, letter.index.data, letter.index.len, &is_new);

        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (letter.kind.len == strlen(kinds[i]) &&
                !memcmp(letter.kind.data, kinds[i], letter.kind.len))
                kind = 1u << i;
        vti_buf_add(&batch->text, letter.body, letter.body_len);
        document = name < 0 ? NULL : vti_batch_add(batch, kind, at);
        if (document) {
            vti_uuid_parse(document->id, (const char *)letter.id.data, letter.id.len);
            document->time_ns = letter.time_ns;
            document->index = vti_map_key(names, (uint32_t)name, &(size_t){0});
        }
        code = document ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");
    }
    vti_buf_fini(&letter.index);
    vti_buf_fini(&letter.id);
    vti_buf_fini(&letter.kind);
    vti_buf_fini(&key);
    return code;
}
