/* varint.c - little-endian base-128 integers. */
#include "base/varint.h"

size_t vti_varint_put(uint8_t *to, uint64_t value)
{
    size_t used = 0;

    while (value >= 0x80) {
        to[used++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    to[used++] = (uint8_t)value;
    return used;
}

const uint8_t *vti_varint_get(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
    uint64_t result = 0;

    for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
        uint8_t byte = *at++;

        if (shift == 63 && byte > 1)
            return NULL;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *value = result;
            return at;
        }
    }
    return NULL;
}

uint64_t vti_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

int64_t vti_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}
