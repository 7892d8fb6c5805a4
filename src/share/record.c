/* record.c - data that does not fit in one record. No allocation, safe in a signal handler. */
#include "share/record.h"

#include <string.h>

void vti_record_get(const struct vti_record *from, struct vti_record *to)
{
    to->ticks = __atomic_load_n(&from->ticks, __ATOMIC_ACQUIRE);
    to->id = __atomic_load_n(&from->id, __ATOMIC_RELAXED);
    to->tag = __atomic_load_n(&from->tag, __ATOMIC_RELAXED);
}

unsigned vti_payload_count(size_t bytes)
{
    return (unsigned)((bytes + VTI_PAYLOAD_DATA - 1) / VTI_PAYLOAD_DATA);
}

void vti_payload_put(struct vti_record *to, const void *data, size_t bytes)
{
    const uint8_t *from = data;

    for (; bytes >= VTI_PAYLOAD_DATA; to++) { /* whole ones, with moves of constant length */
        uint8_t *raw = (uint8_t *)to;

        memcpy(raw, from + 8, 7);
        raw[7] = 0x80 | VTI_PAYLOAD_DATA;
        memcpy(raw + 8, from, 8);
        from += VTI_PAYLOAD_DATA;
        bytes -= VTI_PAYLOAD_DATA;
    }
    if (bytes) {
        size_t len = bytes;
        uint8_t raw[sizeof *to] = {0};

        memcpy(raw + 8, from, len < 8 ? len : 8);
        if (len > 8)
            memcpy(raw, from + 8, len - 8);
        raw[7] = (uint8_t)(0x80 | len);
        memcpy(to, raw, sizeof raw);
    }
}

int vti_payload_get(const struct vti_record *from, unsigned count, uint8_t *to)
{
    size_t total = 0;

    for (unsigned i = 0; i < count; i++) {
        struct vti_record seen;
        uint8_t raw[sizeof seen];
        size_t len;

        vti_record_get(&from[i], &seen);
        memcpy(raw, &seen, sizeof raw);
        len = raw[7] & 0x7f;
        if (!(raw[7] & 0x80) || len > VTI_PAYLOAD_DATA)
            return -1;
        /* All of it, whatever its length: there is room, and moves of constant length are quick. */
        memcpy(to + total, raw + 8, 8);
        memcpy(to + total + 8, raw, VTI_PAYLOAD_DATA - 8);
        total += len;
    }
    return (int)total;
}
