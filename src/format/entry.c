/* entry.c - entries with a type and a length, as docs/format.md has them. */
#include "format/entry.h"

void vti_entry_write(struct vti_buf *out, uint32_t type, const struct vti_buf *body)
{
    vti_buf_add_varint(out, type);
    vti_buf_add_varint(out, body->len);
    vti_buf_add(out, body->data, body->len);
    out->failed |= body->failed;
}

bool vti_entry_read(struct vti_reader *in, uint32_t *type, struct vti_reader *body)
{
    const uint8_t *bytes;
    uint64_t len;

    *type = (uint32_t)vti_reader_count(in, UINT32_MAX);
    len = vti_reader_count(in, vti_reader_left(in));
    bytes = vti_reader_bytes(in, (size_t)len);
    if (in->failed || !bytes)
        return false;
    vti_reader_init(body, bytes, (size_t)len);
    return true;
}

uint32_t vti_entry_id(struct vti_reader *in)
{
    return (uint32_t)vti_reader_count(in, UINT32_MAX - 1);
}
