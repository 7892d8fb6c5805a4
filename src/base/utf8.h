/* utf8.h - one character at a time from bytes that claim to be UTF-8. */
#ifndef VENTURI_BASE_UTF8_H
#define VENTURI_BASE_UTF8_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at `at` (left > 0) and which it is; 0 if none is there: overlong,
 * surrogate, cut. */
size_t vti_utf8_get(const uint8_t *at, size_t left, uint32_t *character);

/* Appends the bytes; each that belongs to no character becomes U+FFFD. */
void vti_utf8_repair(struct vti_buf *out, const char *text, size_t len);

/* The same of a text, behind its size in 32 bits. */
void vti_utf8_repair_sized(struct vti_buf *out, const char *text);

/* How many bytes at the start are UTF-8: `len` if all are. */
size_t vti_utf8_good(const char *text, size_t len);

#endif
