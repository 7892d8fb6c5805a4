/* bytes.c - little-endian numbers, and a bounded reader over untrusted bytes. */
#include "base/bytes.h"

#include "base/varint.h"

uint16_t vti_get_u16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

uint32_t vti_get_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint64_t vti_get_u64(const uint8_t *at)
{
    return (uint64_t)vti_get_u32(at) | (uint64_t)vti_get_u32(at + 4) << 32;
}

void vti_put_u16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

void vti_put_u32(uint8_t *at, uint32_t value)
{
    vti_put_u16(at, (uint16_t)value);
    vti_put_u16(at + 2, (uint16_t)(value >> 16));
}

void vti_put_u64(uint8_t *at, uint64_t value)
{
    vti_put_u32(at, (uint32_t)value);
    vti_put_u32(at + 4, (uint32_t)(value >> 32));
}

uint64_t vti_add_capped(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

int64_t vti_ns_add(int64_t a, int64_t b)
{
    int64_t sum;

    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

void vti_reader_init(struct vti_reader *reader, const void *bytes, size_t count)
{
    reader->at = bytes;
    reader->end = reader->at + count;
    reader->failed = false;
}

const uint8_t *vti_reader_bytes(struct vti_reader *reader, size_t count)
{
    const uint8_t *start = reader->at;

    if (reader->failed || count > (size_t)(reader->end - reader->at)) {
        reader->failed = true;
        return NULL;
    }
    reader->at += count;
    return start;
}

uint8_t vti_reader_u8(struct vti_reader *reader)
{
    const uint8_t *at = vti_reader_bytes(reader, 1);

    return at ? *at : 0;
}

uint16_t vti_reader_u16(struct vti_reader *reader)
{
    const uint8_t *at = vti_reader_bytes(reader, 2);

    return at ? vti_get_u16(at) : 0;
}

uint32_t vti_reader_u32(struct vti_reader *reader)
{
    const uint8_t *at = vti_reader_bytes(reader, 4);

    return at ? vti_get_u32(at) : 0;
}

uint64_t vti_reader_u64(struct vti_reader *reader)
{
    const uint8_t *at = vti_reader_bytes(reader, 8);

    return at ? vti_get_u64(at) : 0;
}

uint64_t vti_reader_varint(struct vti_reader *reader)
{
    uint64_t value = 0;
    const uint8_t *next = reader->failed ? NULL : vti_varint_get(reader->at, reader->end, &value);

    if (!next) {
        reader->failed = true;
        return 0;
    }
    reader->at = next;
    return value;
}

int64_t vti_reader_signed(struct vti_reader *reader)
{
    return vti_unzigzag(vti_reader_varint(reader));
}

uint64_t vti_reader_count(struct vti_reader *reader, uint64_t most)
{
    uint64_t value = vti_reader_varint(reader);

    if (value > most) {
        reader->failed = true;
        return 0;
    }
    return value;
}

const char *vti_reader_string(struct vti_reader *reader, size_t *len)
{
    uint64_t count = vti_reader_count(reader, vti_reader_left(reader));
    const uint8_t *at = vti_reader_bytes(reader, (size_t)count);

    *len = at ? (size_t)count : 0;
    return (const char *)at;
}

size_t vti_reader_left(const struct vti_reader *reader)
{
    return reader->failed ? 0 : (size_t)(reader->end - reader->at);
}
