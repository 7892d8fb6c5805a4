/*
 * fact_blocks.c - the blocks of facts as they stand in the file.
 *
 * A closed recording lists them in its END block; else all block headers are visited. What is
 * damaged is on the recording's list already and is stepped over here.
 */
#include "model/fact_blocks.h"

#include "base/crc32c.h"

#include <string.h>

#define END_FIXED_BYTES 32 /* before the offsets */

struct visit {
    int (*each)(const struct vti_block_header *header, const uint8_t *payload, void *arg);
    void *arg;
};

static bool is_of_facts(unsigned kind)
{
    return (kind >= VTI_META && kind <= VTI_CLOCK_LINK) || kind == VTI_SITES ||
           kind == VTI_LOSSES || kind == VTI_CALL_TREE || kind == VTI_DURATIONS ||
           kind == VTI_COSTS || kind == VTI_PROFILE || kind == VTI_SAMPLES ||
           kind == VTI_SAMPLING || kind == VTI_LINES || kind == VTI_LINE_DURATIONS ||
           kind == VTI_LINE_CALLEES || kind == VTI_SOURCES || kind == VTI_RESOURCES ||
           kind == VTI_TASKS || kind == VTI_EDGES || kind == VTI_ENERGY || kind == VTI_THREAD_CPU ||
           kind == VTI_STEPS;
}

/* Bytes of the block at `offset`, 0 if there is none. */
static uint64_t visit_block(const vt_recording *recording, uint64_t offset,
                            const struct visit *visit, int *result)
{
    struct vti_block_header header;
    const uint8_t *payload;

    if (!vti_block_find(recording, offset, &header, &payload))
        return 0;
    if (is_of_facts(header.kind) && vti_crc32c(payload, header.payload_bytes) == header.payload_crc)
        *result = visit->each(&header, payload, visit->arg);
    return vti_block_bytes(&header);
}

static int visit_all(const vt_recording *recording, const struct visit *visit)
{
    uint64_t offset = VTI_FILE_HEADER_BYTES;
    int result = 0;

    while (offset < recording->map.size && !result) {
        uint64_t bytes = visit_block(recording, offset, visit, &result);

        offset += bytes ? bytes : VTI_BLOCK_ALIGN;
    }
    return result;
}

/* The list in the END block was checked when the recording was opened by it. */
static int visit_listed(const vt_recording *recording, const struct visit *visit)
{
    const uint8_t *map = recording->map.data;
    struct vti_block_header header;
    struct vti_trailer trailer;
    const uint8_t *end;
    int result = 0;

    if (!vti_trailer_parse(map + recording->map.size - VTI_TRAILER_BYTES, &trailer) ||
        !vti_block_find(recording, trailer.end_offset, &header, &end) ||
        header.payload_bytes < END_FIXED_BYTES)
        return visit_all(recording, visit);
    for (uint64_t i = 0; i < vti_get_u32(end + 24) && !result; i++) {
        uint64_t at = END_FIXED_BYTES + 8 * i;

        if (at + 8 > header.payload_bytes)
            break;
        visit_block(recording, vti_get_u64(end + at), visit, &result);
    }
    return result;
}

int vti_fact_blocks(const vt_recording *recording,
                    int (*each)(const struct vti_block_header *header, const uint8_t *payload,
                                void *arg),
                    void *arg)
{
    struct visit visit = {each, arg};

    return recording->is_scanned ? visit_all(recording, &visit) : visit_listed(recording, &visit);
}

struct meta_search {
    const char *key;
    struct vti_bytes *value;
    bool is_found;
};

static int look_for_meta(const struct vti_block_header *header, const uint8_t *payload, void *arg)
{
    struct meta_search *search = arg;
    struct vti_meta_fact meta;
    struct vti_reader in;

    if (header->kind != VTI_META)
        return 0;
    vti_reader_init(&in, payload, header->payload_bytes);
    for (uint32_t i = 0; i < header->count && vti_meta_read(&in, &meta); i++)
        if (meta.key.len == strlen(search->key) &&
            !memcmp(meta.key.data, search->key, meta.key.len)) {
            *search->value = meta.value;
            search->is_found = true;
        }
    return 0;
}

bool vti_recording_meta(const vt_recording *recording, const char *key, struct vti_bytes *value)
{
    struct meta_search search = {.key = key, .value = value};

    vti_fact_blocks(recording, look_for_meta, &search);
    return search.is_found;
}

uint64_t vti_clock_tick_at(struct vti_clock *clock, int64_t ns)
{
    uint64_t low = 0;
    uint64_t high = UINT64_MAX;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (vti_clock_ns(clock, middle) < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
