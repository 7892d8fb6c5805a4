/* check.c - looks at every block of a recording. Damage is otherwise found when a block is first
 * used. */
#include "analyze/check.h"

#include "model/model.h"

int vti_recording_check(vt_recording *recording)
{
    int code = vti_recording_prepare(recording);

    for (uint32_t i = 0; i < recording->facts.track_ids.count && !code; i++) {
        struct vti_track *track = recording->facts.tracks[i];

        for (uint64_t at = 0; at < vti_blocks_count(track); at++) {
            struct vti_block_header header;
            struct vti_index_entry entry;
            const uint8_t *payload;

            vti_blocks_at(track, at, &entry);
            vti_blocks_read(recording, track, &entry, &header, &payload);
        }
    }
    return code;
}
