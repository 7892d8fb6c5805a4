/* batch.c - documents on their way to a store, and what became of each. */
#include "store/documents.h"

#include "base/error.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define REASON_MOST 500

void vti_batch_clear(struct vti_batch *batch)
{
    batch->count = 0;
    batch->may_repeat = false;
    vti_buf_clear(&batch->text);
    vti_buf_clear(&batch->details);
    vti_buf_clear(&batch->reasons);
}

void vti_batch_fini(struct vti_batch *batch)
{
    free(batch->documents);
    vti_buf_fini(&batch->text);
    vti_buf_fini(&batch->details);
    vti_buf_fini(&batch->reasons);
    memset(batch, 0, sizeof *batch);
}

struct vti_document *vti_batch_add(struct vti_batch *batch, uint32_t kind, size_t body_at)
{
    struct vti_document *document;

    if (batch->text.failed)
        return NULL;
    if (batch->count == batch->capacity) {
        size_t capacity = batch->capacity ? batch->capacity * 2 : 256;
        void *more = reallocarray(batch->documents, capacity, sizeof *batch->documents);

        if (!more)
            return NULL;
        batch->documents = more;
        batch->capacity = capacity;
    }
    document = &batch->documents[batch->count++];
    *document = (struct vti_document){.kind = kind,
                                      .index = "",
                                      .body_at = body_at,
                                      .body_len = batch->text.len - body_at,
                                      .detail_at = VTI_NOTHING,
                                      .reason_at = VTI_NOTHING};
    return document;
}

int vti_batch_add_detail(struct vti_batch *batch, struct vti_document *document, const void *detail,
                         size_t bytes)
{
    document->detail_at = batch->details.len;
    vti_buf_add(&batch->details, detail, bytes);
    vti_buf_add_zeros(&batch->details, -bytes & 7);
    return batch->details.failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}

const char *vti_batch_body(const struct vti_batch *batch, const struct vti_document *document)
{
    return (const char *)batch->text.data + document->body_at;
}

const void *vti_batch_detail(const struct vti_batch *batch, const struct vti_document *document)
{
    return document->detail_at == VTI_NOTHING ? NULL : batch->details.data + document->detail_at;
}

const char *vti_batch_reason(const struct vti_batch *batch, const struct vti_document *document)
{
    return document->reason_at == VTI_NOTHING || batch->reasons.failed
               ? ""
               : (const char *)batch->reasons.data + document->reason_at;
}

size_t vti_batch_waiting(const struct vti_batch *batch)
{
    size_t count = 0;

    for (size_t i = 0; i < batch->count; i++)
        count += batch->documents[i].fate == VTI_FATE_WAITING;
    return count;
}

/* What a server says ends up in files and on terminals: one line, valid text, not for ever. */
static size_t keep_reason(struct vti_batch *batch, const char *reason)
{
    struct vti_buf *to = &batch->reasons;
    size_t at = to->len;
    size_t len = strnlen(reason, REASON_MOST);

    for (int i = 0; i < 3 && len && (reason[len] & 0xc0) == 0x80; i++)
        len--; /* not within a character */
    vti_utf8_repair(to, reason, len);
    vti_buf_add_u8(to, 0);
    if (to->failed)
        return VTI_NOTHING;
    for (uint8_t *byte = to->data + at; *byte; byte++)
        if (*byte < ' ' || *byte == 0x7f)
            *byte = ' ';
    return at;
}

void vti_batch_done(struct vti_batch *batch, struct vti_document *document)
{
    (void)batch;
    document->fate = VTI_FATE_DONE;
}

void vti_batch_pass(struct vti_document *document)
{
    document->fate = VTI_FATE_PASSED;
}

void vti_batch_dead(struct vti_batch *batch, struct vti_document *document, int status,
                    const char *reason)
{
    document->fate = VTI_FATE_DEAD;
    document->status = status;
    document->reason_at = keep_reason(batch, reason);
}

void vti_batch_later(struct vti_batch *batch, struct vti_document *document, int status,
                     const char *reason)
{
    bool is_new = document->tries == 0 || document->status != status;

    document->fate = VTI_FATE_WAITING;
    document->status = status;
    document->tries++;
    if (is_new) /* one that is refused for an hour must not fill the memory with reasons */
        document->reason_at = keep_reason(batch, reason);
}
