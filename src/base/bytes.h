/* bytes.h - little-endian numbers at any address, and a bounded reader over untrusted bytes. */
#ifndef VENTURI_BASE_BYTES_H
#define VENTURI_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint16_t vti_get_u16(const uint8_t *at);
uint32_t vti_get_u32(const uint8_t *at);
uint64_t vti_get_u64(const uint8_t *at);
void vti_put_u16(uint8_t *at, uint16_t value);
void vti_put_u32(uint8_t *at, uint32_t value);
void vti_put_u64(uint8_t *at, uint64_t value);

/* The sum, or the largest number if it is more than that: numbers that come from files must not wrap. */
uint64_t vti_add_capped(uint64_t a, uint64_t b);

/* The same of times, which end at the largest and the smallest number. */
int64_t vti_ns_add(int64_t a, int64_t b);

/*
 * Reads forward from `at`, never past `end`. After the first read that does not fit, `failed` stays
 * set and every further read gives zero, so a parser looks at `failed` once, after its last field.
 */
struct vti_reader {
    const uint8_t *at;
    const uint8_t *end;
    bool failed;
};

void vti_reader_init(struct vti_reader *reader, const void *bytes, size_t count);
uint8_t vti_reader_u8(struct vti_reader *reader);
uint16_t vti_reader_u16(struct vti_reader *reader);
uint32_t vti_reader_u32(struct vti_reader *reader);
uint64_t vti_reader_u64(struct vti_reader *reader);
uint64_t vti_reader_varint(struct vti_reader *reader);
int64_t vti_reader_signed(struct vti_reader *reader);

/* A varint that must not exceed `most`, else the reader fails. For counts and lengths. */
uint64_t vti_reader_count(struct vti_reader *reader, uint64_t most);

/* `count` raw bytes in place, or NULL. */
const uint8_t *vti_reader_bytes(struct vti_reader *reader, size_t count);

/* A varint length and that many bytes, in place, not terminated. NULL and *len 0 on failure. */
const char *vti_reader_string(struct vti_reader *reader, size_t *len);

size_t vti_reader_left(const struct vti_reader *reader);

#endif
