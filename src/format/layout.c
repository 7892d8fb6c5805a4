/* layout.c - the fixed parts of a recording, byte by byte as docs/format.md has them. */
#include "format/layout.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"

#include <string.h>

static const uint8_t file_magic[8] = {0x89, 'V', 'T', '\r', '\n', 0x1a, '\n', 0};
static const uint8_t block_magic[4] = {'V', 'T', 'B', '1'};
static const uint8_t trailer_magic[8] = {'V', 'T', 'E', 'N', 'D', 0, 0, 0};

static const char *const kind_names[VTI_KIND_COUNT] = {
    [VTI_META] = "META",
    [VTI_HOST] = "HOST",
    [VTI_PROCESS] = "PROCESS",
    [VTI_TRACK] = "TRACK",
    [VTI_CLOCK] = "CLOCK",
    [VTI_CLOCK_LINK] = "CLOCK_LINK",
    [VTI_STRINGS] = "STRINGS",
    [VTI_SOURCES] = "SOURCES",
    [VTI_SITES] = "SITES",
    [VTI_EVENTS] = "EVENTS",
    [VTI_ASYNC] = "ASYNC",
    [VTI_SAMPLES] = "SAMPLES",
    [VTI_CALL_TREE] = "CALL_TREE",
    [VTI_LINES] = "LINES",
    [VTI_TASKS] = "TASKS",
    [VTI_EDGES] = "EDGES",
    [VTI_COUNTERS] = "COUNTERS",
    [VTI_ENERGY] = "ENERGY",
    [VTI_ALLOCATIONS] = "ALLOCATIONS",
    [VTI_LOSSES] = "LOSSES",
    [VTI_INDEX] = "INDEX",
    [VTI_END] = "END",
    [VTI_DURATIONS] = "DURATIONS",
    [VTI_COSTS] = "COSTS",
    [VTI_PROFILE] = "PROFILE",
    [VTI_SAMPLING] = "SAMPLING",
    [VTI_LINE_DURATIONS] = "LINE_DURATIONS",
    [VTI_LINE_CALLEES] = "LINE_CALLEES",
    [VTI_RESOURCES] = "RESOURCES",
    [VTI_THREAD_CPU] = "THREAD_CPU",
    [VTI_STEPS] = "STEPS",
};

const char *vti_kind_name(unsigned kind)
{
    return kind < VTI_KIND_COUNT ? kind_names[kind] : NULL;
}

void vti_file_header_write(uint8_t to[VTI_FILE_HEADER_BYTES], const struct vti_file_header *header)
{
    memset(to, 0, VTI_FILE_HEADER_BYTES);
    memcpy(to, file_magic, sizeof file_magic);
    vti_put_u16(to + 8, header->major);
    vti_put_u16(to + 10, header->minor);
    vti_put_u32(to + 12, VTI_FILE_HEADER_BYTES);
    vti_put_u64(to + 16, header->incompatible);
    vti_put_u64(to + 24, header->compatible);
    vti_put_u64(to + 32, header->created_ns);
    memcpy(to + 40, header->id, sizeof header->id);
    vti_put_u32(to + 60, vti_crc32c(to, 60));
}

int vti_file_header_parse(const uint8_t *at, size_t left, struct vti_file_header *header)
{
    if (left < sizeof file_magic || memcmp(at, file_magic, sizeof file_magic))
        return vti_fail(VTI_E_NOT_RECORDING, "not a Venturi recording");
    if (left < VTI_FILE_HEADER_BYTES)
        return vti_fail(VTI_E_DAMAGED, "byte %zu: cut off in the file header", left);
    if (vti_get_u32(at + 60) != vti_crc32c(at, 60))
        return vti_fail(VTI_E_DAMAGED, "byte 0: checksum of the file header differs");
    header->major = vti_get_u16(at + 8);
    header->minor = vti_get_u16(at + 10);
    header->incompatible = vti_get_u64(at + 16);
    header->compatible = vti_get_u64(at + 24);
    header->created_ns = vti_get_u64(at + 32);
    memcpy(header->id, at + 40, sizeof header->id);
    if (header->major != VTI_VERSION_MAJOR)
        return vti_fail(VTI_E_UNSUPPORTED, "format version %u.%u; this tool reads version %u",
                        header->major, header->minor, VTI_VERSION_MAJOR);
    if (header->incompatible || vti_get_u32(at + 12) != VTI_FILE_HEADER_BYTES)
        return vti_fail(VTI_E_UNSUPPORTED,
                        "uses features that this tool does not know (bits %#llx)",
                        (unsigned long long)header->incompatible);
    return 0;
}

void vti_block_header_write(uint8_t to[VTI_BLOCK_HEADER_BYTES], struct vti_block_header *header,
                            const void *payload)
{
    header->payload_crc = vti_crc32c(payload, header->payload_bytes);
    memcpy(to, block_magic, sizeof block_magic);
    to[4] = header->kind;
    to[5] = header->flags;
    vti_put_u16(to + 6, 0);
    vti_put_u32(to + 8, header->payload_bytes);
    vti_put_u32(to + 12, header->count);
    vti_put_u32(to + 16, header->owner);
    vti_put_u32(to + 20, header->summary_bytes);
    vti_put_u64(to + 24, header->first);
    vti_put_u64(to + 32, header->last);
    vti_put_u32(to + 40, header->payload_crc);
    vti_put_u32(to + 44, vti_crc32c(to, 44));
}

bool vti_block_header_parse(const uint8_t *at, size_t left, struct vti_block_header *header)
{
    if (left < VTI_BLOCK_HEADER_BYTES || memcmp(at, block_magic, sizeof block_magic) ||
        vti_get_u32(at + 44) != vti_crc32c(at, 44))
        return false;
    header->kind = at[4];
    header->flags = at[5];
    header->payload_bytes = vti_get_u32(at + 8);
    header->count = vti_get_u32(at + 12);
    header->owner = vti_get_u32(at + 16);
    header->summary_bytes = vti_get_u32(at + 20);
    header->first = vti_get_u64(at + 24);
    header->last = vti_get_u64(at + 32);
    header->payload_crc = vti_get_u32(at + 40);
    return header->payload_bytes <= VTI_PAYLOAD_MAX &&
           header->summary_bytes <= header->payload_bytes;
}

uint64_t vti_block_bytes(const struct vti_block_header *header)
{
    uint64_t payload = ((uint64_t)header->payload_bytes + VTI_BLOCK_ALIGN - 1) / VTI_BLOCK_ALIGN;

    return VTI_BLOCK_HEADER_BYTES + payload * VTI_BLOCK_ALIGN;
}

void vti_trailer_write(uint8_t to[VTI_TRAILER_BYTES], const struct vti_trailer *trailer)
{
    memcpy(to, trailer_magic, sizeof trailer_magic);
    vti_put_u64(to + 8, trailer->end_offset);
    vti_put_u32(to + 16, trailer->block_count);
    vti_put_u32(to + 20, vti_crc32c(to, 20));
}

bool vti_trailer_parse(const uint8_t *at, struct vti_trailer *trailer)
{
    if (memcmp(at, trailer_magic, sizeof trailer_magic) ||
        vti_get_u32(at + 20) != vti_crc32c(at, 20))
        return false;
    trailer->end_offset = vti_get_u64(at + 8);
    trailer->block_count = vti_get_u32(at + 16);
    return true;
}
