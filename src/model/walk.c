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

static bool start_block(struct vti_walk *walk)
{
    struct vti_block_header header;
    const uint8_t *payload;

    if (!vti_blocks_read_at(walk->recording, walk->track, walk->next++, &walk->entry, &header,
                            &payload))
        return false;
    if (vti_decoder_init(&walk->decoder, &header, payload)) {
        vti_blocks_spoil(walk->recording, walk->track, &walk->entry,
                         "start of the block does not parse");
        return false;
    }
    walk->in_block = true;
    return true;
}

int vti_walk_block(struct vti_walk *walk, int got)
{
    walk->in_block = false;
    if (got < 0)
        vti_blocks_spoil(walk->recording, walk->track, &walk->entry,
                         "events of the block do not parse");
    while (walk->next < walk->end)
        if (start_block(walk))
            return VTI_WALK_BLOCK;
    return VTI_WALK_END;
}

int vti_walk_next(struct vti_walk *walk, struct vti_event *event)
{
    int got = walk->in_block ? vti_decoder_next(&walk->decoder, event) : 0;

    return got > 0 ? VTI_WALK_EVENT : vti_walk_block(walk, got);
}
