/*
 * recording.c - opens, refreshes and closes a recording.
 *
 * A closed recording is opened from its end: trailer, END, facts, INDEX blocks; event blocks are
 * not touched. Anything else is scanned from the start. The file is mapped: if somebody cuts it off
 * while it is open, reading the missing part raises SIGBUS; a writer of ours never shortens what
 * was written.
 */
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "model/model.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define END_FIXED_BYTES 32

static _Thread_local int last_code;

int vti_read_result(int code)
{
    if (code < 0)
        last_code = code;
    return code;
}

const char *vt_read_error(void)
{
    return last_code ? vti_error_message(last_code) : "";
}

const char *vt_read_hint(void)
{
    return last_code ? vti_error_hint(last_code) : "";
}

/* The file header. One whose checksum is wrong is damage like any other if a block follows it. */
static int take_header(struct vt_recording *recording)
{
    const struct vti_mapping *map = &recording->map;
    struct vti_block_header first;
    char why[256];
    int result;

    if (map->size == 0)
        return vti_fail(VTI_E_NOT_RECORDING, "%s: not a Venturi recording (the file is empty)",
                        recording->path);
    result = vti_file_header_parse(map->data, map->size, &recording->header);
    if (!result || result == VTI_E_NOMEM)
        return result;
    if (result != VTI_E_UNSUPPORTED && map->size > VTI_FILE_HEADER_BYTES &&
        vti_block_header_parse(map->data + VTI_FILE_HEADER_BYTES, map->size - VTI_FILE_HEADER_BYTES,
                               &first)) {
        memset(&recording->header, 0, sizeof recording->header);
        vti_damage_note(recording, 0, VTI_FILE_HEADER_BYTES, "file header is damaged");
        return 0;
    }
    if (result == VTI_E_NOT_RECORDING && map->size > 2 && map->data[0] == 0x1f &&
        map->data[1] == 0x8b)
        return vti_fail(result, "%s: compressed with gzip: gunzip it first", recording->path);
    if (result == VTI_E_NOT_RECORDING)
        return vti_fail(result, "%s: not a Venturi recording (it does not begin like one)",
                        recording->path);
    snprintf(why, sizeof why, "%s", vti_error_message(result));
    return vti_fail(result, "%s: %s", recording->path, why);
}

/* The END block that the trailer points at, if both are right and nothing stands between them. */
static bool find_end(const struct vt_recording *recording, struct vti_trailer *trailer,
                     struct vti_block_header *header, const uint8_t **payload)
{
    const struct vti_mapping *map = &recording->map;
    uint64_t end;

    if (map->size < VTI_FILE_HEADER_BYTES + VTI_BLOCK_HEADER_BYTES + VTI_TRAILER_BYTES)
        return false;
    end = map->size - VTI_TRAILER_BYTES;
    return vti_trailer_parse(map->data + end, trailer) &&
           vti_block_find(recording, trailer->end_offset, header, payload) &&
           header->kind == VTI_END && trailer->end_offset + vti_block_bytes(header) == end &&
           vti_crc32c(*payload, header->payload_bytes) == header->payload_crc &&
           header->payload_bytes >= END_FIXED_BYTES;
}

/* Takes in the blocks that END lists. False: something is not where END has it. */
static bool take_listed(struct vt_recording *recording, const uint8_t *end, uint32_t end_bytes,
                        int *result)
{
    uint64_t fact_count = vti_get_u32(end + 24);
    uint64_t index_count = vti_get_u32(end + 28);
    struct vti_block_header header;
    const uint8_t *payload;

    if ((fact_count + index_count) * 8 != end_bytes - END_FIXED_BYTES)
        return false;
    for (uint64_t i = 0; i < fact_count + index_count && !*result; i++) {
        uint64_t offset = vti_get_u64(end + END_FIXED_BYTES + 8 * i);

        if (!vti_block_find(recording, offset, &header, &payload) || header.kind == VTI_EVENTS ||
            (header.kind == VTI_INDEX) != (i >= fact_count))
            return false;
        *result = i < fact_count ? vti_block_take(recording, offset, &header, payload)
                                 : vti_blocks_place(recording, offset, &header, payload);
        if (*result == VTI_E_DAMAGED) {
            *result = 0;
            return false;
        }
    }
    return true;
}

/* Opens from the end; false if that is not possible. */
static bool take_closed(struct vt_recording *recording, int *result)
{
    struct vti_trailer trailer;
    struct vti_block_header header;
    const uint8_t *payload;

    if (!find_end(recording, &trailer, &header, &payload))
        return false;
    recording->is_closed = true;
    if (!take_listed(recording, payload, header.payload_bytes, result)) {
        /* Start over by scanning, which finds out where the damage is. */
        vti_facts_fini(&recording->facts);
        vti_facts_init(&recording->facts);
        while (recording->damage.count &&
               recording->damage.items[recording->damage.count - 1].begin_offset > 0)
            vti_damage_drop_last(&recording->damage);
        recording->unknown_blocks = 0;
        return false;
    }
    recording->end_lost_events = vti_get_u64(payload + 8);
    recording->block_count = trailer.block_count;
    return true;
}

static int take_contents(struct vt_recording *recording)
{
    int result = take_header(recording);
    bool is_closed;
    int64_t found;

    if (result)
        return result;
    if (!take_closed(recording, &result)) {
        is_closed = recording->is_closed;
        recording->is_scanned = true;
        recording->scanned_to = VTI_FILE_HEADER_BYTES;
        found = vti_scan(recording, true);
        recording->is_closed |= is_closed;
        result = found < 0 ? (int)found : 0;
    }
    if (!result)
        result = vti_facts_resolve(&recording->facts, recording->header.created_ns);
    return result;
}

int vt_recording_open(vt_recording **result, const char *path)
{
    struct vt_recording *recording = calloc(1, sizeof *recording);
    int code;

    *result = NULL;
    if (!recording)
        return vti_read_result(vti_fail(VTI_E_NOMEM, "%s: out of memory", path));
    vti_facts_init(&recording->facts);
    recording->path = strdup(path);
    code = recording->path ? vti_mapping_open(&recording->map, path)
                           : vti_fail(VTI_E_NOMEM, "%s: out of memory", path);
    if (!code)
        code = take_contents(recording);
    if (code) {
        vt_recording_close(recording);
        return vti_read_result(code);
    }
    *result = recording;
    return 0;
}

int vti_recording_call(struct vt_recording *recording, const char *path)
{
    char *name = strdup(path);

    if (!name)
        return vti_fail(VTI_E_NOMEM, "%s: out of memory", path);
    free(recording->path);
    recording->path = name;
    return 0;
}

void vt_recording_close(vt_recording *recording)
{
    if (!recording)
        return;
    vti_tiles_free(recording->tiles);
    vti_facts_fini(&recording->facts);
    vti_damage_fini(&recording->damage);
    vti_mapping_close(&recording->map);
    free(recording->path);
    free(recording);
}

/* By the header as it was read: that of the open mapping changes with a file that somebody writes over. */
bool vti_recording_is_in(const struct vt_recording *recording, const struct vti_mapping *map)
{
    static const uint8_t none[sizeof recording->header.id];
    struct vti_file_header header;

    if (!memcmp(recording->header.id, none, sizeof none)) /* it was damaged from the beginning */
        return true;
    return !vti_file_header_parse(map->data, map->size, &header) &&
           !memcmp(header.id, recording->header.id, sizeof header.id);
}

/* Whether the new mapping continues the one that is open. */
static int check_continues(const struct vt_recording *recording, const struct vti_mapping *map)
{
    if (map->size < recording->map.size)
        return vti_fail(VTI_E_READ, "%s: became shorter, from %zu to %zu bytes", recording->path,
                        recording->map.size, map->size);
    if (!vti_recording_is_in(recording, map))
        return vti_fail(VTI_E_READ, "%s: was replaced by another file", recording->path);
    if (map->size > recording->map.size && !recording->is_scanned)
        return vti_fail(VTI_E_READ, "%s: grew after it was closed", recording->path);
    return 0;
}

int vt_recording_refresh(vt_recording *recording)
{
    struct vti_mapping map;
    int64_t found;
    int code = vti_mapping_open(&map, recording->path);

    if (code)
        return vti_read_result(code);
    code = check_continues(recording, &map);
    if (code || map.size == recording->map.size) {
        vti_mapping_close(&map);
        return vti_read_result(code);
    }
    vti_mapping_close(&recording->map);
    recording->map = map;
    recording->generation++;
    vti_tiles_free(recording->tiles);
    recording->tiles = NULL;
    found = vti_scan(recording, true);
    if (found < 0)
        return vti_read_result((int)found);
    code = vti_facts_resolve(&recording->facts, recording->header.created_ns);
    if (code)
        return vti_read_result(code);
    return found < INT_MAX ? (int)found : INT_MAX;
}
