/*
 * write.c - a recording being written: blocks are gathered in memory and appended in whole blocks.
 *
 * What a full disk refuses: events and tasks are dropped and counted, facts stay in the queue until they fit. Blocks become part of the index only when they are in the file. Every write
 * names its offset, so that a failed one leaves nothing that the next does not overwrite.
 */
#include "format/write.h"

#include "base/error.h"
#include "base/realtime.h"
#include "format/decode.h"
#include "format/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define RETRY_NS 100000000 /* a disk that was full is tried again at most this often */

static int64_t monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int no_memory(const struct vti_writer *writer)
{
    return vti_fail(VTI_E_NOMEM, "%s: out of memory", writer->path);
}

static bool has_space(struct vti_buf *buf, size_t more)
{
    if (vti_buf_reserve(buf, more))
        return true;
    buf->failed = false;
    return false;
}

struct vti_written_track *vti_writer_track(struct vti_writer *writer, size_t at)
{
    struct vti_written_track *tracks = (struct vti_written_track *)(void *)writer->tracks.data;

    return at < writer->tracks.len / sizeof *tracks ? tracks + at : NULL;
}

struct vti_written_track *vti_writer_find_track(struct vti_writer *writer, uint32_t track)
{
    struct vti_written_track added = {.track = track};
    int64_t at = vti_map_find(writer->track_ids, &track, sizeof track);
    int is_new;

    if (at >= 0)
        return vti_writer_track(writer, (size_t)at);
    if (!has_space(&writer->tracks, sizeof added) || vti_index_builder_create(&added.index, track))
        return NULL;
    if (vti_map_add(writer->track_ids, &track, sizeof track, &is_new) < 0) {
        vti_index_builder_free(added.index);
        return NULL;
    }
    vti_buf_add(&writer->tracks, &added, sizeof added);
    return vti_writer_track(writer, writer->tracks.len / sizeof added - 1);
}

static int gather_file_header(struct vti_writer *writer)
{
    struct vti_file_header header = {.major = VTI_VERSION_MAJOR, .minor = VTI_VERSION_MINOR};
    struct vti_queued queued = {.bytes = VTI_FILE_HEADER_BYTES};
    uint8_t bytes[VTI_FILE_HEADER_BYTES];

    header.created_ns = (uint64_t)vti_realtime_ns();
    if (getrandom(header.id, sizeof header.id, 0) != sizeof header.id)
        return vti_fail_errno(VTI_E_SYSTEM, "%s: no random number for its id", writer->path);
    vti_file_header_write(bytes, &header);
    vti_buf_add(&writer->gathered, bytes, sizeof bytes);
    vti_buf_add(&writer->queue, &queued, sizeof queued);
    return writer->gathered.failed || writer->queue.failed ? no_memory(writer) : 0;
}

int vti_writer_create(struct vti_writer **result, int fd, const char *path)
{
    struct vti_writer *writer = calloc(1, sizeof *writer);
    int code = 0;

    if (!writer) {
        close(fd);
        return vti_fail(VTI_E_NOMEM, "%s: out of memory", path);
    }
    writer->fd = fd;
    writer->path = strdup(path);
    if (!writer->path || vti_map_create(&writer->track_ids)) {
        code = vti_fail(VTI_E_NOMEM, "%s: out of memory", path);
        goto out;
    }
    code = gather_file_header(writer);
    if (!code)
        code = vti_writer_write(writer);
out:
    if (code)
        vti_writer_free(writer);
    else
        *result = writer;
    return code;
}

void vti_writer_free(struct vti_writer *writer)
{
    if (!writer)
        return;
    for (size_t i = 0; vti_writer_track(writer, i); i++)
        vti_index_builder_free(vti_writer_track(writer, i)->index);
    if (writer->fd >= 0)
        close(writer->fd);
    vti_map_free(writer->track_ids);
    vti_buf_fini(&writer->tracks);
    vti_buf_fini(&writer->lost_entries);
    vti_buf_fini(&writer->fact_offsets);
    vti_buf_fini(&writer->queue);
    vti_buf_fini(&writer->gathered);
    free(writer->path);
    free(writer);
}

void vti_writer_abandon(struct vti_writer *writer)
{
    vti_writer_free(writer);
}

/* ---- gathering ------------------------------------------------------------------------------- */

int vti_writer_block(struct vti_writer *writer, const struct vti_block_header *header,
                     const uint8_t *block)
{
    struct vti_queued queued = {.header = *header, .bytes = vti_block_bytes(header)};

    if (!has_space(&writer->queue, sizeof queued) || !has_space(&writer->gathered, queued.bytes))
        return no_memory(writer);
    vti_buf_add(&writer->gathered, block, queued.bytes);
    vti_buf_add(&writer->queue, &queued, sizeof queued);
    return 0;
}

int vti_writer_put(struct vti_writer *writer, struct vti_buf *out, struct vti_block_header *header,
                   const struct vti_buf *payload)
{
    uint64_t bytes;
    uint8_t *to;

    if (payload->len > VTI_PAYLOAD_MAX)
        return vti_fail(VTI_E_LIMIT, "%s: %s block of %zu bytes", writer->path,
                        vti_kind_name(header->kind), payload->len);
    header->payload_bytes = (uint32_t)payload->len;
    bytes = vti_block_bytes(header);
    if (payload->failed || !has_space(out, bytes))
        return no_memory(writer);
    to = out->data + out->len;
    memset(to, 0, bytes);
    if (payload->len)
        memcpy(to + VTI_BLOCK_HEADER_BYTES, payload->data, payload->len);
    vti_block_header_write(to, header, to + VTI_BLOCK_HEADER_BYTES);
    out->len += bytes;
    return 0;
}

static int gather(struct vti_writer *writer, struct vti_queued *queued,
                  const struct vti_buf *payload)
{
    int code;

    if (!has_space(&writer->queue, sizeof *queued))
        return no_memory(writer);
    code = vti_writer_put(writer, &writer->gathered, &queued->header, payload);
    if (code)
        return code;
    queued->bytes = vti_block_bytes(&queued->header);
    vti_buf_add(&writer->queue, queued, sizeof *queued);
    return 0;
}

int vti_writer_facts(struct vti_writer *writer, enum vti_kind kind, const struct vti_buf *payload,
                     uint32_t count, uint64_t first, uint64_t last)
{
    struct vti_queued queued = {
        .header = {.kind = (uint8_t)kind, .count = count, .first = first, .last = last}};

    return gather(writer, &queued, payload);
}

int vti_writer_owned(struct vti_writer *writer, enum vti_kind kind, uint32_t owner,
                     const struct vti_buf *payload, uint32_t count, uint64_t last)
{
    struct vti_queued queued = {
        .header = {.kind = (uint8_t)kind, .owner = owner, .count = count, .last = last}};

    return gather(writer, &queued, payload);
}

int vti_writer_loss(struct vti_writer *writer, const struct vti_loss_fact *loss)
{
    struct vti_buf payload = {0};
    int code;

    vti_loss_write(&payload, loss);
    code = vti_writer_facts(writer, VTI_LOSSES, &payload, 1, 0, 0);
    vti_buf_fini(&payload);
    if (loss->reason != VTI_LOSS_SLICED) /* left out on purpose, not lost */
        writer->lost_events += loss->events;
    return code;
}

/* What the encoder could not take into the block. */
static int state_dropped(struct vti_writer *writer, const struct vti_block_header *header,
                         enum vti_loss_reason reason, uint64_t events)
{
    struct vti_loss_fact loss = {.reason = reason,
                                 .track_plus_one = header->owner + 1,
                                 .events = events,
                                 .first = header->first,
                                 .last = header->last};

    return events ? vti_writer_loss(writer, &loss) : 0;
}

int vti_writer_events(struct vti_writer *writer, struct vti_encoder *encoder)
{
    struct vti_queued queued = {0};
    struct vti_summary summary;
    int code;
    int deep_code;

    if (!has_space(&writer->queue, sizeof queued))
        return no_memory(writer);
    code = vti_encoder_cut(encoder, &writer->gathered, &queued.header, &summary);
    if (code < 0)
        writer->gathered.failed = false;
    if (code <= 0)
        return code;
    queued.bytes = vti_block_bytes(&queued.header);
    vti_buf_add(&writer->queue, &queued, sizeof queued);
    code = state_dropped(writer, &queued.header, VTI_LOSS_BUFFERS,
                         vti_encoder_take_dropped(encoder));
    deep_code = state_dropped(writer, &queued.header, VTI_LOSS_DEPTH,
                              vti_encoder_take_too_deep(encoder));
    return code ? code : deep_code;
}

uint64_t vti_writer_buffered(const struct vti_writer *writer)
{
    return writer->gathered.len;
}

void vti_writer_limit(struct vti_writer *writer, uint64_t bytes)
{
    writer->most_bytes = bytes;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* How many bytes went in; errno in disk_error if not all. */
static size_t write_bytes(struct vti_writer *writer, const uint8_t *bytes, size_t count)
{
    size_t done = 0;

    writer->disk_error = 0;
    if (writer->most_bytes && writer->file_bytes + count > writer->most_bytes) {
        writer->disk_error = EFBIG;
        writer->tried_ns = monotonic_ns();
        writer->short_by = count;
        return 0;
    }
    while (done < count) {
        ssize_t wrote = pwrite(writer->fd, bytes + done, count - done,
                               (off_t)(writer->file_bytes + done));

        if (wrote > 0) {
            done += (size_t)wrote;
        } else if (wrote == 0 || errno != EINTR) {
            writer->disk_error = wrote == 0 ? ENOSPC : errno;
            writer->tried_ns = monotonic_ns();
            writer->short_by = count - done;
            break;
        }
    }
    return done;
}

/* Cuts off what a failed write left behind the last whole block. If that fails the next write
 * overwrites it, and a reader sees a block that is cut off. */
static int after_write(struct vti_writer *writer)
{
    int error = writer->disk_error;

    if (!error)
        return 0;
    if (ftruncate(writer->fd, (off_t)writer->file_bytes))
        errno = error;
    if (error == ENOSPC || error == EDQUOT || error == EFBIG)
        return 0;
    errno = error;
    return vti_fail_errno(VTI_E_WRITE, "%s: cannot write at byte %llu", writer->path,
                          (unsigned long long)writer->file_bytes);
}

int vti_writer_append(struct vti_writer *writer, const void *bytes, size_t count)
{
    if (write_bytes(writer, bytes, count) == count)
        writer->file_bytes += count;
    return after_write(writer);
}

void vti_writer_note_fact(struct vti_writer *writer, uint64_t offset)
{
    vti_buf_add(&writer->fact_offsets, &offset, sizeof offset);
    if (writer->fact_offsets.failed)
        writer->is_index_broken = true;
}

/* A gathered block is in the file now. */
static void accept(struct vti_writer *writer, const struct vti_queued *queued, const uint8_t *block)
{
    struct vti_written_track *track;
    struct vti_summary summary;

    if (queued->header.kind == VTI_EVENTS) {
        track = vti_writer_find_track(writer, queued->header.owner);
        if (!track ||
            vti_summary_parse(&queued->header, block + VTI_BLOCK_HEADER_BYTES, &summary) ||
            vti_index_builder_add(track->index, writer->file_bytes, &queued->header, &summary))
            writer->is_index_broken = true;
        writer->events += queued->header.count;
    } else if (queued->header.kind != 0) {
        vti_writer_note_fact(writer, writer->file_bytes);
    }
    writer->tasks += queued->header.kind == VTI_TASKS ? queued->header.count : 0;
    writer->steps += queued->header.kind == VTI_STEPS ? queued->header.count : 0;
    writer->file_bytes += queued->bytes;
}

static bool is_reading(unsigned kind)
{
    return kind == VTI_RESOURCES || kind == VTI_ENERGY || kind == VTI_THREAD_CPU;
}

/* The first `done` bytes of what was gathered are in the file. Of the rest the facts stay. */
static void settle(struct vti_writer *writer, size_t done)
{
    struct vti_queued *queue = (struct vti_queued *)(void *)writer->queue.data;
    size_t count = writer->queue.len / sizeof *queue;
    size_t kept_count = 0;
    size_t kept = 0;
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        struct vti_queued queued = queue[i];
        uint8_t *block = writer->gathered.data + at;

        at += queued.bytes;
        if (at <= done) {
            accept(writer, &queued, block);
        } else if (vti_writer_may_drop(&queued.header, block)) {
            vti_writer_drop(writer, &queued.header);
        } else if (!is_reading(queued.header.kind)) { /* they are not worth the wait */
            memmove(writer->gathered.data + kept, block, queued.bytes);
            kept += queued.bytes;
            queue[kept_count++] = queued;
        }
    }
    writer->queue.len = kept_count * sizeof *queue;
    writer->gathered.len = kept;
}

int vti_writer_write(struct vti_writer *writer)
{
    size_t done = 0;
    int code = 0;

    if (writer->is_let_go) {
        vti_writer_forget(writer);
        return 0;
    }
    /* Without its header the file has no place for anything else, not even for losses. */
    if (writer->file_bytes)
        code = vti_writer_losses(writer);
    else
        writer->disk_error = 0;
    if (code == VTI_E_NOMEM)
        return code;
    if (!code && !writer->disk_error)
        done = write_bytes(writer, writer->gathered.data, writer->gathered.len);
    settle(writer, done);
    return code ? code : after_write(writer);
}

int vti_writer_flush(struct vti_writer *writer)
{
    if (writer->disk_error && monotonic_ns() - writer->tried_ns < RETRY_NS)
        return 0;
    return vti_writer_write(writer);
}

void vti_writer_stats(const struct vti_writer *writer, struct vti_writer_stats *stats)
{
    const struct vti_written_track *tracks = (const void *)writer->tracks.data;

    *stats = (struct vti_writer_stats){
        .bytes = writer->file_bytes,
        .events = writer->events,
        .lost_events = writer->lost_events,
        .disk_lost = writer->disk_lost,
        .disk_lost_tasks = writer->disk_lost_tasks,
        .disk_lost_steps = writer->disk_lost_steps,
        .gone = writer->is_gone ? writer->events + writer->tasks + writer->steps : 0,
        .gone_tasks = writer->is_gone ? writer->tasks : 0,
        .gone_steps = writer->is_gone ? writer->steps : 0,
        .disk_error = writer->disk_error,
        .blocks = (uint32_t)(writer->fact_offsets.len / sizeof(uint64_t)) + writer->end_blocks,
    };
    for (size_t i = 0; i < writer->tracks.len / sizeof *tracks; i++)
        stats->blocks += (uint32_t)vti_index_builder_count(tracks[i].index);
}
