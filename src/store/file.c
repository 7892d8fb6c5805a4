/*
 * file.c - documents as lines of JSON at the end of a file: file:///var/log/traces.jsonl. `venturi trace --from file://…` reads traces back.
 *
 * A line is whole or not there: what a crash has left of one is cut off before more is written, and what may have been written before is looked for at
 * the end of the file.
 */
#include "base/error.h"
#include "base/hash.h"
#include "store/documents_traces.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_BACK (64u << 20) /* bytes at most, for documents that may be there */

struct vti_store {
    const struct vti_store_settings *settings; /* borrowed */
    int fd;
    struct vti_buf text;
};

static int open_store(struct vti_store **store, const struct vti_store_settings *settings)
{
    struct stat status;

    if (!settings->path || !settings->path[0] || (settings->host && settings->host[0]))
        return vti_fail(VTI_E_USAGE, "%s: which file? file:///folder/name.jsonl", settings->shown);
    *store = calloc(1, sizeof **store);
    if (!*store)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    (*store)->settings = settings;
    (*store)->fd = open(settings->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if ((*store)->fd < 0 || fstat((*store)->fd, &status)) {
        free(*store);
        *store = NULL;
        return vti_fail_errno(VTI_E_USAGE, "%s: cannot be opened for writing", settings->path);
    }
    if (!S_ISREG(status.st_mode)) {
        close((*store)->fd);
        free(*store);
        *store = NULL;
        return vti_fail(VTI_E_USAGE, "%s: is no plain file", settings->path);
    }
    return 0;
}

static void close_store(struct vti_store *store)
{
    if (!store)
        return;
    close(store->fd);
    vti_buf_fini(&store->text);
    free(store);
}

/* What stands at the end of the file, into `text`. */
static int read_end(struct vti_store *store, size_t bytes, off_t *size)
{
    off_t end = lseek(store->fd, 0, SEEK_END);
    size_t want;
    uint8_t *to;

    vti_buf_clear(&store->text);
    if (end < 0)
        return vti_fail_errno(VTI_E_READ, "%s", store->settings->path);
    *size = end;
    want = (off_t)bytes < end ? bytes : (size_t)end;
    to = vti_buf_reserve(&store->text, want + 1);
    if (!to)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    while (store->text.len < want) {
        ssize_t got = pread(store->fd, to + store->text.len, want - store->text.len,
                            end - (off_t)(want - store->text.len));

        if (got <= 0)
            return vti_fail_errno(VTI_E_READ, "%s", store->settings->path);
        store->text.len += (size_t)got;
    }
    return 0;
}

/* The rest of a line that was never ended is taken away. */
static int end_line(struct vti_store *store)
{
    off_t size;
    int code = read_end(store, VTI_DOCUMENT_MOST + 1, &size);
    const uint8_t *newline;

    if (code || !store->text.len || store->text.data[store->text.len - 1] == '\n')
        return code;
    newline = memrchr(store->text.data, '\n', store->text.len);
    size -= (off_t)(store->text.len - (newline ? (size_t)(newline - store->text.data) + 1 : 0));
    if (ftruncate(store->fd, size))
        return vti_fail_errno(VTI_E_WRITE, "%s", store->settings->path);
    return 0;
}

/* Documents that are lines of the file already are done. */
static int pass_over(struct vti_store *store, struct vti_batch *batch, struct vti_answer *answer)
{
    size_t back = batch->text.len * 2 + batch->count * 2 + VTI_DOCUMENT_MOST;
    struct vti_map *lines;
    off_t size;
    int code = read_end(store, back < LOOK_BACK ? back : LOOK_BACK, &size);

    if (code)
        return code;
    if (vti_map_create(&lines))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t at = 0; at < store->text.len && !code;) {
        const uint8_t *begin = store->text.data + at;
        const uint8_t *newline = memchr(begin, '\n', store->text.len - at);
        uint64_t hash[2];
        int is_new;

        if (!newline)
            break;
        hash[0] = vti_hash(begin, (size_t)(newline - begin));
        hash[1] = (uint64_t)(newline - begin);
        code = vti_map_add(lines, hash, sizeof hash, &is_new) < 0 ? VTI_E_NOMEM : 0;
        at += (size_t)(newline - begin) + 1;
    }
    for (size_t i = 0; i < batch->count && !code; i++) {
        struct vti_document *document = &batch->documents[i];
        uint64_t hash[2] = {vti_hash(vti_batch_body(batch, document), document->body_len),
                            document->body_len};

        if (document->fate == VTI_FATE_WAITING && vti_map_find(lines, hash, sizeof hash) >= 0) {
            vti_batch_done(batch, document);
            answer->repeated++;
        }
    }
    vti_map_free(lines);
    return code ? vti_fail(code, "out of memory") : 0;
}

static void fill(struct vti_store *store, struct vti_batch *batch)
{
    vti_buf_clear(&store->text);
    for (size_t i = 0; i < batch->count; i++) {
        struct vti_document *document = &batch->documents[i];
        const struct vti_trace_detail *detail = vti_trace_detail_of(batch, document);

        if (document->fate != VTI_FATE_WAITING)
            continue;
        if (detail && detail->part == VTI_TRACE_ERROR) { /* an index is nothing for a file */
            vti_batch_pass(document);
            continue;
        }
        vti_buf_add(&store->text, vti_batch_body(batch, document), document->body_len);
        vti_buf_add_u8(&store->text, '\n');
    }
}

static int write_all(struct vti_store *store)
{
    size_t done = 0;

    while (done < store->text.len) {
        ssize_t got = write(store->fd, store->text.data + done, store->text.len - done);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        done += (size_t)got;
    }
    return store->text.len && fdatasync(store->fd) ? -1 : 0;
}

static int send_batch(struct vti_store *store, struct vti_batch *batch, struct vti_answer *answer)
{
    int code;

    while (flock(store->fd, LOCK_EX) && errno == EINTR)
        continue;
    code = end_line(store);
    if (!code && batch->may_repeat)
        code = pass_over(store, batch, answer);
    if (!code)
        fill(store, batch);
    if (!code && store->text.failed)
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    if (!code &&
        write_all(
            store)) { /* a full disk may have room again: the part of a line is cut off then */
        answer->outcome = VTI_OUTCOME_AWAY;
        answer->may_have_arrived = true;
        vti_fail_errno(VTI_E_WRITE, "%s: cannot be written", store->settings->path);
        strncat(answer->why, vti_error_message(VTI_E_WRITE), sizeof answer->why - 1);
    } else if (!code) {
        answer->bytes = store->text.len;
        answer->requests = 1;
        for (size_t i = 0; i < batch->count; i++)
            if (batch->documents[i].fate == VTI_FATE_WAITING)
                vti_batch_done(batch, &batch->documents[i]);
    }
    flock(store->fd, LOCK_UN);
    return code;
}

const struct vti_store_type vti_store_file = {
    .name = "file",
    .schemes = "file",
    .about = "lines of JSON at the end of a file",
    .kinds = VTI_DOCUMENT_STEP | VTI_DOCUMENT_TRACE | VTI_DOCUMENT_SAMPLE,
    .open = open_store,
    .send = send_batch,
    .close = close_store,
};
