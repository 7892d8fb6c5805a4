/* snapshot.c - what has changed in the chunks of a thread since the last walk over them goes into blocks. */
#include "drain/snapshot.h"

#include "drain/target.h"

#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX 4096u /* of one block */

uint64_t vti_snapshot_load(const uint64_t *from)
{
    return __atomic_load_n(from, __ATOMIC_RELAXED);
}

uint32_t vti_snapshot_load32(const uint32_t *from)
{
    return __atomic_load_n(from, __ATOMIC_RELAXED);
}

static uint64_t digest(const void *words, size_t bytes)
{
    uint64_t sum = 0x9e3779b97f4a7c15u;
    uint64_t word;

    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        memcpy(&word, (const char *)words + i, 8);
        sum = (sum ^ word) * 0xc2b2ae3d27d4eb4fu;
        sum ^= sum >> 29;
    }
    return sum ? sum : 1;
}

bool vti_snapshot_was_written(const struct vti_snapshot *snapshot)
{
    return snapshot->at < snapshot->copy->seen_room && snapshot->copy->seen[snapshot->at];
}

bool vti_snapshot_is_changed(struct vti_snapshot *snapshot, const void *words, size_t bytes)
{
    struct vti_tree_copy *copy = snapshot->copy;
    uint64_t sum = digest(words, bytes);

    if (snapshot->at >= copy->seen_room) {
        size_t room = copy->seen_room ? 2 * copy->seen_room : 256;
        uint64_t *grown;

        while (room <= snapshot->at)
            room *= 2;
        grown = realloc(copy->seen, room * sizeof *grown);
        if (!grown)
            return true;
        memset(grown + copy->seen_room, 0, (room - copy->seen_room) * sizeof *grown);
        copy->seen = grown;
        copy->seen_room = room;
    }
    if (copy->seen[snapshot->at] == sum)
        return false;
    copy->seen[snapshot->at] = sum;
    return true;
}

static void flush(struct vti_snapshot *snapshot, enum vti_batch_type type)
{
    static const enum vti_kind kinds[VTI_BATCH_COUNT] = {
        [VTI_BATCH_CALLS] = VTI_CALL_TREE,
        [VTI_BATCH_DURATIONS] = VTI_DURATIONS,
        [VTI_BATCH_SAMPLES] = VTI_SAMPLES,
        [VTI_BATCH_LINES] = VTI_LINES,
        [VTI_BATCH_LINE_DURATIONS] = VTI_LINE_DURATIONS,
        [VTI_BATCH_LINE_CALLEES] = VTI_LINE_CALLEES};
    struct vti_batch *batch = &snapshot->batches[type];

    if (batch->count)
        vti_recorder_owned(snapshot->process->recorder, kinds[type], snapshot->track,
                           &batch->entries, batch->count, snapshot->ticks);
    snapshot->bytes += batch->entries.len;
    vti_buf_clear(&batch->entries);
    batch->count = 0;
}

void vti_snapshot_added(struct vti_snapshot *snapshot, enum vti_batch_type type)
{
    if (++snapshot->batches[type].count == ENTRIES_MAX)
        flush(snapshot, type);
}

void vti_snapshot_end(struct vti_snapshot *snapshot)
{
    for (int i = 0; i < VTI_BATCH_COUNT; i++) {
        flush(snapshot, (enum vti_batch_type)i);
        vti_buf_fini(&snapshot->batches[i].entries);
    }
}
