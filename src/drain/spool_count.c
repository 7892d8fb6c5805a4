/* spool_count.c - how much a recording holds, from the headers of its blocks: closed or left by a drainer that was killed. */
#include "drain/spool.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/uuid.h"
#include "format/facts.h"
#include "format/layout.h"

#include <stdio.h>
#include <string.h>

#define CARRIED_MOST 1024 /* tracks of what is told again; one for each process */

struct count {
    struct vti_spool_sum *sum;
    uint32_t carried[CARRIED_MOST];
    uint32_t carried_count;
};

static void note_track(struct count *count, const struct vti_block_header *header,
                       const uint8_t *payload)
{
    const struct vti_bytes name = {VTI_TRACK_CARRIED, sizeof VTI_TRACK_CARRIED - 1};
    struct vti_track_fact fact;
    struct vti_reader in;

    vti_reader_init(&in, payload, header->payload_bytes);
    if (vti_track_read(&in, &fact) && fact.name.len == name.len &&
        !memcmp(fact.name.data, name.data, name.len) && count->carried_count < CARRIED_MOST)
        count->carried[count->carried_count++] = fact.track;
}

static bool is_carried(const struct count *count, uint32_t track)
{
    for (uint32_t i = 0; i < count->carried_count; i++)
        if (count->carried[i] == track)
            return true;
    return false;
}

static void add_block(struct count *count, const struct vti_block_header *header,
                      const uint8_t *payload)
{
    switch (header->kind) {
    case VTI_TRACK:
        note_track(count, header, payload);
        break;
    case VTI_EVENTS:
        if (!is_carried(count, header->owner))
            count->sum->events += header->count;
        break;
    case VTI_STEPS:
        count->sum->steps += header->count;
        break;
    case VTI_TASKS:
        count->sum->tasks += header->count;
        break;
    default:
        break;
    }
}

bool vti_spool_count(const struct vti_spool *spool, const char *name, struct vti_spool_sum *sum,
                     char recording[33])
{
    struct count count = {.sum = sum};
    struct vti_file_header file;
    struct vti_block_header header;
    struct vti_mapping mapping;
    char path[PATH_MAX + VTI_SPOOL_NAME + 1];
    size_t at = VTI_FILE_HEADER_BYTES;

    recording[0] = 0;
    snprintf(path, sizeof path, "%s/%s", spool->path, name);
    if (vti_mapping_open(&mapping, path))
        return false;
    if (vti_file_header_parse(mapping.data, mapping.size, &file)) {
        vti_mapping_close(&mapping);
        return false;
    }
    vti_uuid_hex(file.id, recording);
    while (at < mapping.size) {
        if (!vti_block_header_parse(mapping.data + at, mapping.size - at, &header) ||
            header.payload_bytes > mapping.size - at - VTI_BLOCK_HEADER_BYTES) {
            at += VTI_BLOCK_ALIGN;
            continue;
        }
        add_block(&count, &header, mapping.data + at + VTI_BLOCK_HEADER_BYTES);
        at += vti_block_bytes(&header);
    }
    vti_mapping_close(&mapping);
    return true;
}
