/*
 * scan.c - walks over the blocks of a file that has no usable end: growing, or its writer was
 * stopped.
 *
 * Only block headers are trusted here, each by its checksum; payloads of event blocks are checked
 * when they are first used. Bytes that are no block are stepped over in units of 8 and noted as
 * damage.
 */
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "model/model.h"

bool vti_block_find(const struct vt_recording *recording, uint64_t offset,
                    struct vti_block_header *header, const uint8_t **payload)
{
    uint64_t size = recording->map.size;

    if (offset % VTI_BLOCK_ALIGN || offset < VTI_FILE_HEADER_BYTES || offset >= size ||
        !vti_block_header_parse(recording->map.data + offset, size - offset, header) ||
        vti_block_bytes(header) > size - offset)
        return false;
    *payload = recording->map.data + offset + VTI_BLOCK_HEADER_BYTES;
    return true;
}

int vti_block_take(struct vt_recording *recording, uint64_t offset,
                   const struct vti_block_header *header, const uint8_t *payload)
{
    uint64_t end = offset + vti_block_bytes(header);
    int result;

    switch (header->kind) {
    case VTI_META:
    case VTI_HOST:
    case VTI_PROCESS:
    case VTI_TRACK:
    case VTI_CLOCK:
    case VTI_CLOCK_LINK:
    case VTI_SITES:
    case VTI_LOSSES:
    case VTI_CALL_TREE:
    case VTI_DURATIONS:
    case VTI_COSTS:
    case VTI_PROFILE:
    case VTI_SAMPLES:
    case VTI_SAMPLING:
    case VTI_LINES:
    case VTI_LINE_DURATIONS:
    case VTI_LINE_CALLEES:
    case VTI_SOURCES:
    case VTI_RESOURCES:
    case VTI_ENERGY:
    case VTI_THREAD_CPU:
    case VTI_TASKS:
    case VTI_EDGES:
    case VTI_STEPS:
    case VTI_END:
        break;
    case VTI_INDEX:
        return 0; /* repeats what the event blocks say */
    default:
        recording->unknown_blocks++;
        return 0;
    }
    if (vti_crc32c(payload, header->payload_bytes) != header->payload_crc) {
        vti_damage_note(recording, offset, end, "block checksum differs");
        return 0;
    }
    if (header->kind == VTI_END) {
        if (header->payload_bytes >= 16)
            recording->end_lost_events = vti_get_u64(payload + 8);
        return 0;
    }
    result = vti_facts_take(&recording->facts, header, payload);
    if (result != VTI_E_DAMAGED)
        return result;
    vti_damage_note(recording, offset, end, "entries of the block do not parse");
    return 0;
}

/* The next place at or after `at` where a block starts; the size of the file if there is none. */
static uint64_t find_next(const struct vt_recording *recording, uint64_t at)
{
    uint64_t size = recording->map.size;
    struct vti_block_header header;

    for (; at < size; at += VTI_BLOCK_ALIGN)
        if (vti_block_header_parse(recording->map.data + at, size - at, &header))
            return at;
    return size;
}

static bool is_trailer(const struct vt_recording *recording, uint64_t at)
{
    struct vti_trailer trailer;

    return recording->map.size - at >= VTI_TRAILER_BYTES &&
           vti_trailer_parse(recording->map.data + at, &trailer) && trailer.end_offset < at;
}

/* What the file ends with is no whole block. If the file is growing the rest may still come. */
static void note_tail(struct vt_recording *recording, uint64_t at, const char *what)
{
    vti_damage_note(recording, at, recording->map.size, what);
    recording->has_tail_damage = true;
}

/* One block or one stretch of damage; returns where to go on, `at` itself to stop. */
static uint64_t step(struct vt_recording *recording, uint64_t at, bool take_facts, int *result)
{
    uint64_t size = recording->map.size;
    struct vti_block_header header;
    const uint8_t *payload;
    uint64_t next;

    if (vti_block_find(recording, at, &header, &payload)) {
        if (header.kind == VTI_EVENTS)
            *result = vti_blocks_add(recording, at, &header, payload);
        else if (take_facts)
            *result = vti_block_take(recording, at, &header, payload);
        recording->block_count++;
        return at + vti_block_bytes(&header);
    }
    if (is_trailer(recording, at)) {
        recording->is_closed = size - at == VTI_TRAILER_BYTES;
        return at + VTI_TRAILER_BYTES;
    }
    if (size - at < VTI_BLOCK_HEADER_BYTES ||
        vti_block_header_parse(recording->map.data + at, size - at, &header)) {
        note_tail(recording, at, "cut off in the middle of a block");
        return at;
    }
    next = find_next(recording, at + VTI_BLOCK_ALIGN);
    if (next == size) {
        note_tail(recording, at, "not a block");
        return at;
    }
    vti_damage_note(recording, at, next, "not a block");
    return next;
}

int64_t vti_scan(struct vt_recording *recording, bool take_facts)
{
    uint64_t at = recording->scanned_to;
    uint64_t before = take_facts ? recording->block_count : 0;
    int result = 0;

    if (recording->has_tail_damage)
        vti_damage_drop_last(&recording->damage);
    recording->has_tail_damage = false;
    if (!take_facts)
        recording->block_count = 0;
    while (at < recording->map.size && !result) {
        uint64_t next = step(recording, at, take_facts, &result);

        if (next == at)
            break;
        at = next;
    }
    recording->scanned_to = at;
    return result ? result : (int64_t)(recording->block_count - before);
}
