/* repair.c - puts the checksums of a recording right: see repair.h. */
#include "repair.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "format/layout.h"

#include <string.h>

void vti_fuzz_repair(uint8_t *bytes, size_t size)
{
    if (size < VTI_FILE_HEADER_BYTES)
        return;
    memcpy(bytes, "\x89VT\r\n\x1a\n", 8);
    vti_put_u16(bytes + 8, VTI_VERSION_MAJOR);
    vti_put_u32(bytes + 12, VTI_FILE_HEADER_BYTES);
    vti_put_u64(bytes + 16, 0);
    vti_put_u32(bytes + 60, vti_crc32c(bytes, 60));
    for (size_t at = VTI_FILE_HEADER_BYTES; at + VTI_BLOCK_HEADER_BYTES <= size;) {
        size_t left = size - at - VTI_BLOCK_HEADER_BYTES;
        uint32_t payload = vti_get_u32(bytes + at + 8);

        if (memcmp(bytes + at, "VTB1", 4)) {
            at += VTI_BLOCK_ALIGN;
            continue;
        }
        if (payload <= left)
            vti_put_u32(bytes + at + 40, vti_crc32c(bytes + at + VTI_BLOCK_HEADER_BYTES, payload));
        vti_put_u32(bytes + at + 44, vti_crc32c(bytes + at, 44));
        /* Blocks inside of one that is too long, or has too short a length, are put right too. */
        at += payload <= left && payload < 65536
                  ? VTI_BLOCK_HEADER_BYTES +
                        (payload + VTI_BLOCK_ALIGN - 1) / VTI_BLOCK_ALIGN * VTI_BLOCK_ALIGN
                  : VTI_BLOCK_ALIGN;
    }
    if (size >= VTI_FILE_HEADER_BYTES + VTI_TRAILER_BYTES) {
        uint8_t *trailer = bytes + size - VTI_TRAILER_BYTES;

        if (!memcmp(trailer, "VTEND", 5))
            vti_put_u32(trailer + 20, vti_crc32c(trailer, 20));
    }
}
