/*
 * track_index.c - the event blocks of one track: where they are and what times they cover.
 *
 * They come from the INDEX block of a closed recording, which is used where it lies and checked
 * once before the first query (not when opening: it may be large), or from a scan. In the second
 * case the upper levels, which only windows need, are built in memory the first time and carried on
 * as a file grows.
 */
#include "base/crc32c.h"
#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

struct vti_clock *vti_track_clock(struct vt_recording *recording, const struct vti_track *track)
{
    return &recording->facts.clocks.clocks[track->clock];
}

bool vti_track_is_carried(const struct vti_track *track)
{
    return track->name && !strcmp(track->name, VTI_TRACK_CARRIED);
}

int64_t vti_track_end_ns(struct vt_recording *recording, const struct vti_track *track)
{
    struct vti_clock *clock = vti_track_clock(recording, track);
    int64_t last_ns = vti_blocks_count(track) ? track->last_ns : vti_clock_ns(clock, track->start);
    int64_t end_ns = track->end ? vti_clock_ns(clock, track->end) : last_ns;

    return end_ns > last_ns ? end_ns : last_ns;
}

uint64_t vti_blocks_count(const struct vti_track *track)
{
    const struct vti_blocks *blocks = &track->blocks;

    return blocks->index_at ? blocks->index.counts[0] : blocks->count;
}

void vti_blocks_at(const struct vti_track *track, uint64_t at, struct vti_index_entry *entry)
{
    const struct vti_blocks *blocks = &track->blocks;

    if (blocks->index_at)
        vti_index_entry_at(&blocks->index, at, entry);
    else
        *entry = blocks->entries[at];
}

int vti_blocks_place(struct vt_recording *recording, uint64_t offset,
                     const struct vti_block_header *header, const uint8_t *payload)
{
    struct vti_track *track = vti_facts_track(&recording->facts, header->owner);
    struct vti_index_entry entry;
    struct vti_index index;
    int result;

    if (!track)
        return VTI_E_NOMEM;
    result = vti_index_open(&index, header, payload);
    if (result)
        return result;
    if (index.counts[0] == 0)
        return 0;
    track->blocks.index = index;
    track->blocks.index_at = offset;
    vti_blocks_at(track, 0, &entry);
    track->first = entry.first;
    vti_blocks_at(track, index.counts[0] - 1, &entry);
    track->last = entry.last;
    return 0;
}

/* The numbers at the start of a summary. They are only believed after the payload's checksum is
 * known, but a block that turns out to be damaged takes them away again. */
static void peek_summary(const struct vti_block_header *header, const uint8_t *payload,
                         struct vti_index_entry *entry)
{
    struct vti_reader in;

    vti_reader_init(&in, payload, header->summary_bytes);
    vti_reader_varint(&in);
    entry->begins = (uint32_t)vti_reader_count(&in, header->count);
    vti_reader_varint(&in);
    vti_reader_varint(&in);
    entry->deepest = (uint32_t)vti_reader_count(&in, UINT32_MAX);
}

static void add_sums(struct vti_blocks *blocks, const struct vti_index_entry *entry)
{
    blocks->events += entry->events;
    blocks->begins += entry->begins;
    if (entry->deepest > blocks->deepest)
        blocks->deepest = entry->deepest;
}

int vti_blocks_add(struct vt_recording *recording, uint64_t offset,
                   const struct vti_block_header *header, const uint8_t *payload)
{
    struct vti_track *track = vti_facts_track(&recording->facts, header->owner);
    struct vti_blocks *blocks;
    struct vti_index_entry entry = {.offset = offset,
                                    .first = header->first,
                                    .last = header->last,
                                    .payload_bytes = header->payload_bytes,
                                    .events = header->count};

    if (!track)
        return VTI_E_NOMEM;
    blocks = &track->blocks;
    if (header->last < header->first || (blocks->count && header->first < track->last)) {
        vti_damage_note(recording, offset, offset + vti_block_bytes(header),
                        "block goes back in time");
        return 0;
    }
    if (vti_grow(&blocks->entries, blocks->count, &blocks->capacity, sizeof *blocks->entries))
        return VTI_E_NOMEM;
    peek_summary(header, payload, &entry);
    if (blocks->count == 0)
        track->first = entry.first;
    track->last = entry.last;
    blocks->entries[blocks->count++] = entry;
    add_sums(blocks, &entry);
    return 0;
}

/* Whether the INDEX block is whole and its entries are in order; adds up what they say. */
static bool check_index(struct vt_recording *recording, struct vti_track *track)
{
    struct vti_blocks *blocks = &track->blocks;
    struct vti_block_header header = {0};
    struct vti_index_entry entry;
    const uint8_t *payload;
    uint64_t last = 0;
    bool is_right;

    is_right = vti_block_find(recording, blocks->index_at, &header, &payload) &&
               vti_crc32c(payload, header.payload_bytes) == header.payload_crc;
    blocks->events = blocks->begins = blocks->deepest = 0;
    for (uint64_t i = 0; i < blocks->index.counts[0] && is_right; i++) {
        vti_blocks_at(track, i, &entry);
        is_right = entry.first >= last && entry.last >= entry.first;
        last = entry.last;
        add_sums(blocks, &entry);
    }
    if (!is_right)
        vti_damage_note(recording, blocks->index_at, blocks->index_at + vti_block_bytes(&header),
                        "index checksum or order is wrong");
    return is_right;
}

static int scan_instead(struct vt_recording *recording)
{
    struct vti_facts *facts = &recording->facts;
    bool was_closed = recording->is_closed;
    int64_t found;

    for (uint32_t i = 0; i < facts->track_ids.count; i++) {
        vti_blocks_fini(&facts->tracks[i]->blocks);
        facts->tracks[i]->first = facts->tracks[i]->last = 0;
    }
    recording->is_scanned = true;
    recording->scanned_to = VTI_FILE_HEADER_BYTES;
    found = vti_scan(recording, false);
    recording->is_closed = was_closed;
    if (found < 0)
        return (int)found;
    return vti_facts_resolve(facts, recording->header.created_ns);
}

int vti_recording_prepare(struct vt_recording *recording)
{
    struct vti_facts *facts = &recording->facts;
    bool is_right = true;
    int result = 0;

    if (recording->is_prepared)
        return 0;
    for (uint32_t i = 0; i < facts->track_ids.count && !recording->is_scanned; i++)
        if (facts->tracks[i]->blocks.index_at)
            is_right &= check_index(recording, facts->tracks[i]);
    if (!is_right)
        result = scan_instead(recording);
    recording->is_prepared = !result;
    return result;
}

/* The first block that does not end before `ticks`, or before `ns` if there is a clock. */
static uint64_t find_block(const struct vti_track *track, uint64_t ticks, struct vti_clock *clock,
                           int64_t ns)
{
    struct vti_index_entry entry;
    uint64_t low = 0;
    uint64_t high = vti_blocks_count(track);

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        vti_blocks_at(track, middle, &entry);
        if (clock ? vti_clock_ns(clock, entry.last) < ns : entry.last < ticks)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t vti_blocks_from_ticks(const struct vti_track *track, uint64_t ticks)
{
    return find_block(track, ticks, NULL, 0);
}

uint64_t vti_blocks_from_ns(struct vt_recording *recording, const struct vti_track *track,
                            int64_t ns)
{
    return find_block(track, 0, vti_track_clock(recording, track), ns);
}

void vti_blocks_spoil(struct vt_recording *recording, struct vti_track *track,
                      const struct vti_index_entry *entry, const char *what)
{
    struct vti_block_header header = {.payload_bytes = entry->payload_bytes};
    uint64_t begin = entry->offset;
    uint64_t left;

    /* An entry of the index that points out of the file is damage of the index. */
    if (begin >= recording->map.size)
        begin = track->blocks.index_at;
    left = recording->map.size - begin;
    if (!vti_damage_note(
            recording, begin,
            begin + (vti_block_bytes(&header) < left ? vti_block_bytes(&header) : left), what))
        return;
    track->blocks.damaged_events += entry->events;
    track->blocks.damaged_begins += entry->begins;
}

/* Whether the block is what the entry says; its payload is not looked at. */
static const char *compare_block(struct vt_recording *recording, const struct vti_track *track,
                                 const struct vti_index_entry *entry,
                                 struct vti_block_header *header, const uint8_t **payload)
{
    if (!vti_block_find(recording, entry->offset, header, payload))
        return "no block where the index has one";
    if (header->kind != VTI_EVENTS || header->owner != track->id || header->first != entry->first ||
        header->last != entry->last || header->payload_bytes != entry->payload_bytes ||
        header->count != entry->events)
        return "block is not the one that the index has";
    return NULL;
}

bool vti_blocks_read(struct vt_recording *recording, struct vti_track *track,
                     const struct vti_index_entry *entry, struct vti_block_header *header,
                     const uint8_t **payload)
{
    const char *what = compare_block(recording, track, entry, header, payload);

    if (!what && vti_crc32c(*payload, header->payload_bytes) != header->payload_crc)
        what = "block checksum differs";
    if (what)
        vti_blocks_spoil(recording, track, entry, what);
    return !what;
}

/* The byte with the block's bit, or NULL without memory: then it is checked every time. */
static uint8_t *checked_byte(struct vti_blocks *blocks, uint64_t at)
{
    if (at / 8 >= blocks->checked_bytes) {
        size_t wanted = (size_t)at / 8 + 1 + blocks->checked_bytes;
        uint8_t *grown = realloc(blocks->checked, wanted);

        if (!grown)
            return NULL;
        memset(grown + blocks->checked_bytes, 0, wanted - blocks->checked_bytes);
        blocks->checked = grown;
        blocks->checked_bytes = wanted;
    }
    return &blocks->checked[at / 8];
}

bool vti_blocks_read_at(struct vt_recording *recording, struct vti_track *track, uint64_t at,
                        struct vti_index_entry *entry, struct vti_block_header *header,
                        const uint8_t **payload)
{
    uint8_t *byte = checked_byte(&track->blocks, at);
    uint8_t bit = (uint8_t)(1u << at % 8);

    vti_blocks_at(track, at, entry);
    if (byte && (*byte & bit))
        return !compare_block(recording, track, entry, header, payload);
    if (!vti_blocks_read(recording, track, entry, header, payload))
        return false;
    if (byte)
        *byte |= bit;
    return true;
}

/* Brings the builder up to the last block. A damaged one counts as empty, so that both count
 * alike. */
static int feed_builder(struct vt_recording *recording, struct vti_track *track)
{
    struct vti_blocks *blocks = &track->blocks;
    struct vti_block_header header;
    struct vti_index_entry entry;
    struct vti_summary summary;
    const uint8_t *payload;
    int result = 0;

    while (blocks->in_builder < blocks->count && !result) {
        bool is_read = vti_blocks_read_at(recording, track, blocks->in_builder, &entry, &header,
                                          &payload);

        if (is_read && vti_summary_parse(&header, payload, &summary)) {
            vti_blocks_spoil(recording, track, &entry, "summary of the block does not parse");
            is_read = false;
        }
        if (!is_read) {
            memset(&summary, 0, sizeof summary);
            header = (struct vti_block_header){.kind = VTI_EVENTS,
                                               .owner = track->id,
                                               .payload_bytes = entry.payload_bytes,
                                               .count = entry.events,
                                               .first = entry.first,
                                               .last = entry.last};
        }
        result = vti_index_builder_add(blocks->builder, entry.offset, &header, &summary);
        blocks->in_builder += !result;
    }
    return result;
}

int vti_blocks_index(struct vt_recording *recording, struct vti_track *track)
{
    struct vti_blocks *blocks = &track->blocks;
    struct vti_block_header header;
    int result;

    if (blocks->index_at || blocks->count == blocks->built_count)
        return 0;
    if (!blocks->builder) {
        result = vti_index_builder_create(&blocks->builder, track->id);
        if (result)
            return result;
    }
    result = feed_builder(recording, track);
    if (result)
        return result;
    vti_buf_clear(&blocks->built);
    result = vti_index_builder_finish(blocks->builder, &blocks->built);
    if (result)
        return result;
    if (!vti_block_header_parse(blocks->built.data, blocks->built.len, &header))
        return vti_fail(VTI_E_DAMAGED, "%s: cannot make an index of track %u", recording->path,
                        track->id);
    blocks->built_count = blocks->count;
    return vti_index_open(&blocks->index, &header, blocks->built.data + VTI_BLOCK_HEADER_BYTES);
}

void vti_blocks_fini(struct vti_blocks *blocks)
{
    free(blocks->entries);
    vti_index_builder_free(blocks->builder);
    vti_buf_fini(&blocks->built);
    free(blocks->checked);
    memset(blocks, 0, sizeof *blocks);
}
