/*
 * write_losses.c - what a full disk refuses, and what is said of it: events of a track, tasks and steps of a process.
 *
 * Facts are never among it. Dependencies of tasks go without being counted: writers put them before their tasks, which then go too.
 */
#include "format/tasks.h"
#include "format/writer.h"

/* Of a process, since the last LOSSES entry: tasks, or steps. */
struct lost_entries {
    uint32_t process, reason;
    uint64_t count, first, last;
};

bool vti_writer_may_drop(const struct vti_block_header *header, const uint8_t *block)
{
    if (header->kind == VTI_TASKS) /* and not a block that begins with a run or a worker */
        return header->payload_bytes && block[VTI_BLOCK_HEADER_BYTES] == VTI_TASK_TASK;
    return header->kind == VTI_EVENTS || header->kind == VTI_EDGES || header->kind == VTI_STEPS;
}

void vti_writer_lose(struct vti_writer *writer, struct vti_written_track *track, uint64_t events,
                     uint64_t first, uint64_t last)
{
    writer->disk_lost += events;
    writer->lost_events += events;
    if (!track)
        return;
    if (track->lost_events == 0 || first < track->lost_first)
        track->lost_first = first;
    if (track->lost_events == 0 || last > track->lost_last)
        track->lost_last = last;
    track->lost_events += events;
}

static void lose_entries(struct vti_writer *writer, const struct vti_block_header *header,
                         uint32_t reason)
{
    struct lost_entries *all = (struct lost_entries *)(void *)writer->lost_entries.data;
    struct lost_entries lost = {header->owner, reason, header->count, header->first, header->last};
    size_t count = writer->lost_entries.len / sizeof *all;

    writer->disk_lost += header->count;
    writer->lost_events += header->count;
    for (size_t i = 0; i < count; i++) {
        if (all[i].process != header->owner || all[i].reason != reason)
            continue;
        all[i].first = all[i].first < lost.first ? all[i].first : lost.first;
        all[i].last = all[i].last > lost.last ? all[i].last : lost.last;
        all[i].count += lost.count;
        return;
    }
    vti_buf_add(&writer->lost_entries, &lost, sizeof lost);
    writer->lost_entries.failed = false; /* it is in the total all the same */
}

void vti_writer_drop(struct vti_writer *writer, const struct vti_block_header *header)
{
    if (header->kind == VTI_EVENTS) {
        vti_writer_lose(writer, vti_writer_find_track(writer, header->owner), header->count,
                        header->first, header->last);
    } else if (header->kind == VTI_TASKS) {
        writer->disk_lost_tasks += header->count;
        lose_entries(writer, header, VTI_LOSS_DISK);
    } else if (header->kind == VTI_STEPS) {
        writer->disk_lost_steps += header->count;
        lose_entries(writer, header, VTI_LOSS_STEPS_DISK);
    }
}

/* Entries for all that was lost since the last ones; how many. */
static uint32_t put_losses(struct vti_writer *writer, struct vti_buf *payload)
{
    const struct lost_entries *all = (const void *)writer->lost_entries.data;
    size_t processes = writer->lost_entries.len / sizeof *all;
    struct vti_written_track *track;
    uint32_t count = 0;

    for (size_t i = 0; (track = vti_writer_track(writer, i)); i++) {
        if (track->lost_events == 0)
            continue;
        vti_loss_write(payload, &(struct vti_loss_fact){.reason = VTI_LOSS_DISK,
                                                        .track_plus_one = track->track + 1,
                                                        .events = track->lost_events,
                                                        .first = track->lost_first,
                                                        .last = track->lost_last});
        count++;
    }
    for (size_t i = 0; i < processes; i++) {
        vti_loss_write(payload, &(struct vti_loss_fact){.reason = all[i].reason,
                                                        .process_plus_one = all[i].process + 1,
                                                        .events = all[i].count,
                                                        .first = all[i].first,
                                                        .last = all[i].last});
        count++;
    }
    return count;
}

int vti_writer_losses(struct vti_writer *writer)
{
    struct vti_block_header header = {.kind = VTI_LOSSES};
    struct vti_buf payload = {0};
    struct vti_buf block = {0};
    struct vti_written_track *track;
    int code = 0;

    header.count = put_losses(writer, &payload);
    if (header.count)
        code = vti_writer_put(writer, &block, &header, &payload);
    if (!code && header.count)
        code = vti_writer_append(writer, block.data, block.len);
    if (!code && header.count && !writer->disk_error) {
        vti_writer_note_fact(writer, writer->file_bytes - block.len);
        for (size_t i = 0; (track = vti_writer_track(writer, i)); i++)
            track->lost_events = 0;
        vti_buf_clear(&writer->lost_entries);
    }
    vti_buf_fini(&payload);
    vti_buf_fini(&block);
    return code;
}
