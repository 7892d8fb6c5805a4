/*
 * walk.c - the events of one track, block by block.
 *
 * Every block is checked before its first event is given. One that does not parse is noted as
 * damage, and the walk goes on with the next, whose open stack tells the caller where it stands.
 */
#include "model/model.h"

void vti_walk_init(struct vti_walk *walk, struct vt_recording *recording, struct vti_track *track,
                   uint64_t first, uint64_t end)
{
    uint64_t count = vti_blocks_count(track);

    walk->recording = recording;
    walk->track = track;
    walk->clock = vti_track_clock(recording, track);
    walk->next = first;
    walk->end = end < count ? end : count;
    walk->in_block = false;
}

bool vti_blocks_open(struct vt_recording *recording, struct vti_track *track, uint64_t at,
                     struct vti_index_entry *entry, struct vti_decoder *decoder)
{
    struct vti_block_header header;
    const uint8_t *payload;

    if (at >= vti_blocks_count(track) ||
        !vti_blocks_read_at(recording, track, at, entry, &header, &payload))
        return false;
    if (vti_decoder_init(decoder, &header, payload) == 0)
        return true;
    vti_blocks_spoil(recording, track, entry, "start of the block does not parse");
    return false;
}

uint32_t vti_blocks_depth(struct vt_recording *recording, struct vti_track *track, uint64_t at)
{
    struct vti_index_entry entry;
    struct vti_decoder decoder;

    return vti_blocks_open(recording, track, at, &entry, &decoder)
               ? vti_decoder_stack_count(&decoder)
               : 0;
}

int vti_walk_block(struct vti_walk *walk, int got)
{
    walk->in_block = false;
    if (got < 0)
        vti_blocks_spoil(walk->recording, walk->track, &walk->entry,
                         "events of the block do not parse");
    while (walk->next < walk->end && !walk->in_block)
        walk->in_block = vti_blocks_open(walk->recording, walk->track, walk->next++, &walk->entry,
                                         &walk->decoder);
    return walk->in_block ? VTI_WALK_BLOCK : VTI_WALK_END;
}

int vti_walk_next(struct vti_walk *walk, struct vti_event *event)
{
    int got = walk->in_block ? vti_decoder_next(&walk->decoder, event) : 0;

    return got > 0 ? VTI_WALK_EVENT : vti_walk_block(walk, got);
}
