/*
 * dead_letters.c - documents that a store will never take, each on a line of JSON with the reason, to be looked at and sent
 * again (venturi ship --replay).
 */
#include "store/ship_impl.h"

#include "base/error.h"
#include "base/json.h"
#include "base/json_scan.h"
#include "base/realtime.h"
#include "store/dead_span.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const kinds[] = {"step", "trace", "sample"};

/* ---- writing --------------------------------------------------------------------------------- */

static void write_letter(struct vti_buf *out, const struct vti_batch *batch,
                         const struct vti_document *document)
{
    const void *detail = vti_batch_detail(batch, document);
    struct vti_json json;
    char id[VTI_UUID_HEX], when[VTI_TIME_TEXT];

    vti_uuid_hex(document->id, id);
    vti_json_init(&json, out);
    vti_json_object(&json);
    vti_time_text(when, vti_realtime_ns() / 1000000 * 1000000);
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
    if (detail && document->kind == VTI_DOCUMENT_TRACE)
        vti_dead_span_write(&json, detail);
    vti_buf_add_text(out, ",\"document\":");
    vti_buf_add(out, vti_batch_body(batch, document), document->body_len);
    vti_buf_add_text(out, "}\n");
}

static bool ends_a_line(int fd, off_t size)
{
    char last = '\n';

    return !size || (pread(fd, &last, 1, size - 1) == 1 && last == '\n');
}

/* A line that somebody left without its end gets it: nothing is ever written into another letter. */
static int append(const char *path, const struct vti_buf *out, uint64_t *bytes)
{
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    off_t before = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    size_t at = before >= 0 && ends_a_line(fd, before) ? 1 : 0; /* the first byte ends one */
    off_t after = before + (off_t)(out->len - at);
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
        *bytes = (uint64_t)after;
    }
    if (fd >= 0)
        close(fd);
    return code;
}

static bool is_known(const struct vti_map *known, const struct vti_document *document)
{
    return known && vti_map_find(known, document->id, VTI_UUID) >= 0;
}

int vti_dead_write(const char *path, const struct vti_batch *batch, const struct vti_map *known,
                   uint64_t *bytes, uint64_t *count)
{
    struct vti_buf out = {0};
    uint64_t dead = 0;
    int code = 0;

    vti_buf_add_u8(&out, '\n');
    for (size_t i = 0; i < batch->count; i++)
        if (batch->documents[i].fate == VTI_FATE_DEAD) {
            if (!is_known(known, &batch->documents[i]))
                write_letter(&out, batch, &batch->documents[i]);
            dead++;
        }
    if (out.failed)
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    else if (out.len > 1)
        code = append(path, &out, bytes);
    if (!code)
        *count += dead;
    vti_buf_fini(&out);
    return code;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct letter {
    struct vti_buf index, id, kind;
    struct vti_bytes body;
    struct vti_dead_span span;
    int64_t time_ns;
};

static bool is_key(const struct vti_buf *key, const char *name)
{
    return key->len == strlen(name) && !memcmp(key->data, name, key->len);
}

static int64_t take_number(struct vti_json_scan *scan)
{
    const char *text;
    size_t len;

    return vti_json_scan_number(scan, &text, &len) ? strtoll(text, NULL, 10) : 0;
}

/* Of which process it is, and whether it will end. */
static void read_span(struct letter *letter, struct vti_json_scan *scan, struct vti_buf *key)
{
    bool is_first = true;

    vti_json_take(scan, '{');
    while (vti_json_next_key(scan, &is_first, key)) {
        char next = vti_json_peek(scan);

        if (is_key(key, "pid") && next >= '0' && next <= '9') {
            letter->span.pid = (uint32_t)take_number(scan);
        } else {
            letter->span.is_open |= is_key(key, "is_open") && next == 't';
            vti_json_skip(scan);
        }
    }
}

static struct vti_bytes take_object(struct vti_json_scan *scan)
{
    const char *begin = scan->at;

    vti_json_skip(scan);
    return (struct vti_bytes){begin, (size_t)(scan->at - begin)};
}

static bool read_letter(struct letter *letter, struct vti_json_scan *scan, struct vti_buf *key)
{
    bool is_first = true;

    if (!vti_json_take(scan, '{'))
        return false;
    while (vti_json_next_key(scan, &is_first, key)) {
        char next = vti_json_peek(scan);
        struct vti_buf *to = next != '"'            ? NULL
                             : is_key(key, "index") ? &letter->index
                             : is_key(key, "id")    ? &letter->id
                             : is_key(key, "kind")  ? &letter->kind
                                                    : NULL;

        if (to)
            vti_json_scan_string(scan, to);
        else if (is_key(key, "time_ns"))
            letter->time_ns = take_number(scan);
        else if (next == '{' && is_key(key, "document"))
            letter->body = take_object(scan);
        else if (next == '{' && is_key(key, "begin_info"))
            letter->span.begin_info = take_object(scan);
        else if (next == '{' && is_key(key, "span"))
            read_span(letter, scan, key);
        else
            vti_json_skip(scan);
    }
    return !scan->failed && !vti_json_peek(scan) && letter->body.len && letter->index.len &&
           letter->id.len == 32;
}

static void fini_letter(struct letter *letter)
{
    vti_buf_fini(&letter->index);
    vti_buf_fini(&letter->id);
    vti_buf_fini(&letter->kind);
}

/* 0 is no kind: somebody has edited it. */
static uint32_t kind_of(const struct letter *letter)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is_key(&letter->kind, kinds[i]))
            return 1u << i;
    return letter->kind.len ? 0 : VTI_DOCUMENT_STEP;
}

int vti_dead_read(struct vti_batch *batch, const char *line, size_t len, struct vti_map *names)
{
    struct vti_json_scan scan = {.at = line, .end = line + len};
    struct letter letter = {.time_ns = 0};
    struct vti_buf key = {0};
    struct vti_document *document;
    int code = 1;

    if (read_letter(&letter, &scan, &key) && kind_of(&letter)) {
        size_t at = batch->text.len;
        uint32_t kind = kind_of(&letter);
        int is_new;
        int64_t name = vti_map_add(names, letter.index.data, letter.index.len, &is_new);

        vti_buf_add(&batch->text, letter.body.data, letter.body.len);
        document = name < 0 ? NULL : vti_batch_add(batch, kind, at);
        if (document) {
            vti_uuid_parse(document->id, (const char *)letter.id.data, letter.id.len);
            document->time_ns = letter.time_ns;
            document->index = vti_map_key(names, (uint32_t)name, &(size_t){0});
        }
        code = document ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");
        if (!code && kind == VTI_DOCUMENT_TRACE)
            code = vti_dead_span_read(batch, document, &letter.span);
    }
    fini_letter(&letter);
    vti_buf_fini(&key);
    return code;
}

/* ---- those of before --------------------------------------------------------------------------- */

/* Where to look: behind what was written down, or all of it if somebody has changed the file since. */
static void seek_unwritten(FILE *file, uint64_t bytes)
{
    if (!bytes || bytes > INT64_MAX || fseeko(file, (off_t)bytes - 1, SEEK_SET) ||
        getc(file) != '\n')
        rewind(file);
}

static int note_id(struct vti_map *known, const char *line, size_t len)
{
    struct vti_json_scan scan = {.at = line, .end = line + len};
    struct letter letter = {.time_ns = 0};
    struct vti_buf key = {0};
    uint8_t id[VTI_UUID];
    int is_new, code = 0;

    if (read_letter(&letter, &scan, &key)) {
        vti_uuid_parse(id, (const char *)letter.id.data, letter.id.len);
        code = vti_map_add(known, id, sizeof id, &is_new) < 0 ? VTI_E_NOMEM : 0;
    }
    fini_letter(&letter);
    vti_buf_fini(&key);
    return code;
}

int vti_dead_known(struct vti_map **known, const char *path, uint64_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    int code = vti_map_create(known);

    if (file)
        seek_unwritten(file, bytes);
    while (file && !code && (len = getline(&line, &room, file)) > 0)
        code = note_id(*known, line, (size_t)len);
    free(line);
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    if (!code && !vti_map_count(*known)) {
        vti_map_free(*known);
        *known = NULL;
    }
    return code ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}
