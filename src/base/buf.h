/*
 * buf.h - a growing byte buffer.
 *
 * An append that cannot get memory leaves the buffer as it was and sets `failed`; later appends do
 * nothing. Writers therefore append freely and look at `failed` once, at the end.
 */
#ifndef VENTURI_BASE_BUF_H
#define VENTURI_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vti_buf {
    uint8_t *data; /* owned */
    size_t len;
    size_t capacity;
    bool failed;
};

/* A zeroed struct is a valid empty buffer; vti_buf_init() does the same. */
void vti_buf_init(struct vti_buf *buf);
void vti_buf_fini(struct vti_buf *buf);

/* Forgets the contents, keeps the memory, clears `failed`. */
void vti_buf_clear(struct vti_buf *buf);

/* Room for `more` bytes at data + len, or NULL. The caller writes there and adds to `len`. */
uint8_t *vti_buf_reserve(struct vti_buf *buf, size_t more);

void vti_buf_add(struct vti_buf *buf, const void *bytes, size_t count);
void vti_buf_add_zeros(struct vti_buf *buf, size_t count);
void vti_buf_add_u8(struct vti_buf *buf, uint8_t value);
void vti_buf_add_u16(struct vti_buf *buf, uint16_t value); /* little endian, as all that follow */
void vti_buf_add_u32(struct vti_buf *buf, uint32_t value);
void vti_buf_add_u64(struct vti_buf *buf, uint64_t value);
void vti_buf_add_varint(struct vti_buf *buf, uint64_t value);
void vti_buf_add_signed(struct vti_buf *buf, int64_t value); /* zigzag varint */

/* A varint length and the bytes; NULL counts as "". */
void vti_buf_add_string(struct vti_buf *buf, const char *text);
void vti_buf_add_text(struct vti_buf *buf, const char *text); /* the bytes alone, for text output */
void vti_buf_add_decimal(struct vti_buf *buf, int64_t value); /* as text */
void vti_buf_add_decimal_u(struct vti_buf *buf, uint64_t value);
void vti_buf_printf(struct vti_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
