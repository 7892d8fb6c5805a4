/* protobuf.c - writes protocol buffer messages into a buffer. */
#include "base/protobuf.h"

#include "base/utf8.h"
#include "base/varint.h"

#include <string.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static void add_tag(struct vti_buf *out, unsigned field, enum wire_type type)
{
    vti_buf_add_varint(out, (uint64_t)field << 3 | type);
}

void vti_proto_varint(struct vti_buf *out, unsigned field, uint64_t value)
{
    add_tag(out, field, WIRE_VARINT);
    vti_buf_add_varint(out, value);
}

void vti_proto_fixed64(struct vti_buf *out, unsigned field, uint64_t value)
{
    add_tag(out, field, WIRE_FIXED64);
    vti_buf_add_u64(out, value);
}

void vti_proto_double(struct vti_buf *out, unsigned field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    vti_proto_fixed64(out, field, bits);
}

void vti_proto_bytes(struct vti_buf *out, unsigned field, const void *bytes, size_t len)
{
    add_tag(out, field, WIRE_BYTES);
    vti_buf_add_varint(out, len);
    vti_buf_add(out, bytes, len);
}

void vti_proto_string(struct vti_buf *out, unsigned field, const char *text, size_t len)
{
    size_t begin;

    if (vti_utf8_good(text, len) == len) {
        vti_proto_bytes(out, field, text, len);
        return;
    }
    begin = vti_proto_begin(out, field);
    vti_utf8_repair(out, text, len);
    vti_proto_end(out, begin);
}

size_t vti_proto_begin(struct vti_buf *out, unsigned field)
{
    add_tag(out, field, WIRE_BYTES);
    return out->len;
}

void vti_proto_end(struct vti_buf *out, size_t begin)
{
    uint8_t length[VTI_VARINT_MAX];
    size_t len = out->len - begin;
    size_t count = vti_varint_put(length, len);

    if (!vti_buf_reserve(out, count))
        return;
    memmove(out->data + begin + count, out->data + begin, len);
    memcpy(out->data + begin, length, count);
    out->len += count;
}
