/*
 * varint.h - little-endian base-128 integers: 7 bits a byte, high bit set on all but the last.
 *
 * Reading is bounded: a number that runs past `end` or past 64 bits is refused, never read over.
 */
#ifndef VENTURI_BASE_VARINT_H
#define VENTURI_BASE_VARINT_H

#include <stddef.h>
#include <stdint.h>

#define VTI_VARINT_MAX 10

/* Writes at most VTI_VARINT_MAX bytes to `to`, returns how many. */
size_t vti_varint_put(uint8_t *to, uint64_t value);

/* Reads one number from [at, end). Returns the first byte after it, or NULL if it is cut or too long. */
const uint8_t *vti_varint_get(const uint8_t *at, const uint8_t *end, uint64_t *value);

/* Small magnitudes of either sign to small unsigned numbers, and back. */
uint64_t vti_zigzag(int64_t value);
int64_t vti_unzigzag(uint64_t value);

#endif
