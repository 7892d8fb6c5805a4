/* buf.c - a growing byte buffer. */
#include "base/buf.h"

#include "base/varint.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void vti_buf_init(struct vti_buf *buf)
{
    memset(buf, 0, sizeof *buf);
}

void vti_buf_fini(struct vti_buf *buf)
{
    free(buf->data);
    memset(buf, 0, sizeof *buf);
}

void vti_buf_clear(struct vti_buf *buf)
{
    buf->len = 0;
    buf->failed = false;
}

uint8_t *vti_buf_reserve(struct vti_buf *buf, size_t more)
{
    size_t wanted;
    uint8_t *grown;

    if (buf->failed || more > SIZE_MAX / 2 - buf->len) {
        buf->failed = true;
        return NULL;
    }
    if (buf->data && buf->len + more <= buf->capacity)
        return buf->data + buf->len;
    wanted = buf->capacity ? buf->capacity : 256;
    while (wanted < buf->len + more)
        wanted *= 2;
    grown = realloc(buf->data, wanted);
    if (!grown) {
        buf->failed = true;
        return NULL;
    }
    buf->data = grown;
    buf->capacity = wanted;
    return buf->data + buf->len;
}

void vti_buf_add(struct vti_buf *buf, const void *bytes, size_t count)
{
    uint8_t *to = vti_buf_reserve(buf, count);

    if (!to || count == 0)
        return;
    memcpy(to, bytes, count);
    buf->len += count;
}

void vti_buf_add_zeros(struct vti_buf *buf, size_t count)
{
    uint8_t *to = vti_buf_reserve(buf, count);

    if (!to || count == 0)
        return;
    memset(to, 0, count);
    buf->len += count;
}

static void add_little_endian(struct vti_buf *buf, uint64_t value, unsigned bytes)
{
    uint8_t *to = vti_buf_reserve(buf, bytes);

    if (!to)
        return;
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
    buf->len += bytes;
}

void vti_buf_add_u8(struct vti_buf *buf, uint8_t value)
{
    add_little_endian(buf, value, 1);
}

void vti_buf_add_u16(struct vti_buf *buf, uint16_t value)
{
    add_little_endian(buf, value, 2);
}

void vti_buf_add_u32(struct vti_buf *buf, uint32_t value)
{
    add_little_endian(buf, value, 4);
}

void vti_buf_add_u64(struct vti_buf *buf, uint64_t value)
{
    add_little_endian(buf, value, 8);
}

void vti_buf_add_varint(struct vti_buf *buf, uint64_t value)
{
    uint8_t *to = vti_buf_reserve(buf, VTI_VARINT_MAX);

    if (to)
        buf->len += vti_varint_put(to, value);
}

void vti_buf_add_signed(struct vti_buf *buf, int64_t value)
{
    vti_buf_add_varint(buf, vti_zigzag(value));
}

void vti_buf_add_string(struct vti_buf *buf, const char *text)
{
    size_t len = text ? strlen(text) : 0;

    vti_buf_add_varint(buf, len);
    vti_buf_add(buf, text, len);
}

void vti_buf_add_text(struct vti_buf *buf, const char *text)
{
    vti_buf_add(buf, text, strlen(text));
}

void vti_buf_add_decimal_u(struct vti_buf *buf, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    vti_buf_add(buf, digits + at, sizeof digits - at);
}

void vti_buf_add_decimal(struct vti_buf *buf, int64_t value)
{
    if (value < 0)
        vti_buf_add_u8(buf, '-');
    vti_buf_add_decimal_u(buf, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void vti_buf_printf(struct vti_buf *buf, const char *format, ...)
{
    va_list args;
    va_list again;
    int needed;
    uint8_t *to;

    va_start(args, format);
    va_copy(again, args);
    needed = vsnprintf(NULL, 0, format, args);
    va_end(args);
    to = needed >= 0 ? vti_buf_reserve(buf, (size_t)needed + 1) : NULL;
    if (to) {
        vsnprintf((char *)to, (size_t)needed + 1, format, again);
        buf->len += (size_t)needed;
    }
    va_end(again);
}
