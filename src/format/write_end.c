/*
 * write_end.c - the end of a recording: indexes, END, trailer.
 *
 * They are written in one piece. If the disk has no room for it the last events and tasks are cut off and
 * counted as lost; facts among them are read back first and written again. If room cannot be made the
 * file stays without an end, which readers take for a recording that was stopped.
 */
#include "base/error.h"
#include "format/writer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define TRIES 8
#define SLACK 4096 /* file systems give space in pages; doubled with every try */

static const uint64_t *fact_offsets(const struct vti_writer *writer, size_t *count)
{
    *count = writer->fact_offsets.len / sizeof(uint64_t);
    return (const uint64_t *)(const void *)writer->fact_offsets.data;
}

/* ---- the tail -------------------------------------------------------------------------------- */

/* Appends the INDEX blocks of all tracks that have events, and their file offsets to `offsets`. */
static int put_indexes(struct vti_writer *writer, struct vti_buf *tail, struct vti_buf *offsets)
{
    struct vti_written_track *track;
    int code = 0;

    for (size_t i = 0; !code && (track = vti_writer_track(writer, i)); i++) {
        uint64_t offset = writer->file_bytes + tail->len;

        if (vti_index_builder_count(track->index) == 0)
            continue;
        code = vti_index_builder_finish(track->index, tail);
        if (!code)
            vti_buf_add_u64(offsets, offset);
        else if (code == VTI_E_LIMIT) /* readers visit the track's blocks instead */
            code = 0;
    }
    return code;
}

static uint64_t last_tick(struct vti_writer *writer)
{
    struct vti_written_track *track;
    struct vti_index_entry entry;
    uint64_t last = 0;

    for (size_t i = 0; (track = vti_writer_track(writer, i)); i++)
        if (vti_index_builder_before(track->index, UINT64_MAX, &entry) && entry.last > last)
            last = entry.last;
    return last;
}

/* Appends the END block and the trailer. */
static void put_end(struct vti_writer *writer, struct vti_buf *tail, const struct vti_buf *indexes)
{
    struct vti_block_header header = {.kind = VTI_END, .last = last_tick(writer)};
    struct vti_trailer trailer = {.end_offset = writer->file_bytes + tail->len};
    size_t start = tail->len;
    uint8_t bytes[VTI_TRAILER_BYTES];
    struct vti_writer_stats stats;
    const uint64_t *facts;
    size_t fact_count;
    uint32_t index_count = (uint32_t)(indexes->len / sizeof(uint64_t));

    facts = fact_offsets(writer, &fact_count);
    vti_writer_stats(writer, &stats);
    vti_buf_add_zeros(tail, VTI_BLOCK_HEADER_BYTES);
    vti_buf_add_u64(tail, writer->events);
    vti_buf_add_u64(tail, writer->lost_events);
    vti_buf_add_u64(tail, header.last);
    vti_buf_add_u32(tail, (uint32_t)fact_count);
    vti_buf_add_u32(tail, index_count);
    for (size_t i = 0; i < fact_count; i++)
        vti_buf_add_u64(tail, facts[i]);
    vti_buf_add(tail, indexes->data, indexes->len);
    if (tail->failed)
        return;
    header.payload_bytes = (uint32_t)(tail->len - start - VTI_BLOCK_HEADER_BYTES);
    header.count = (uint32_t)fact_count + index_count;
    vti_block_header_write(tail->data + start, &header,
                           tail->data + start + VTI_BLOCK_HEADER_BYTES);
    trailer.block_count = stats.blocks + index_count + 1;
    vti_trailer_write(bytes, &trailer);
    vti_buf_add(tail, bytes, sizeof bytes);
    writer->end_blocks = index_count + 1;
}

static int write_tail(struct vti_writer *writer)
{
    struct vti_buf tail = {0};
    struct vti_buf indexes = {0};
    int code;

    writer->end_blocks = 0;
    code = put_indexes(writer, &tail, &indexes);
    if (!code)
        put_end(writer, &tail, &indexes);
    if (!code && (tail.failed || indexes.failed))
        code = vti_fail(VTI_E_NOMEM, "%s: no memory for the end of the recording", writer->path);
    if (!code)
        code = vti_writer_append(writer, tail.data, tail.len);
    if (code || writer->disk_error)
        writer->end_blocks = 0;
    vti_buf_fini(&tail);
    vti_buf_fini(&indexes);
    return code;
}

/* ---- making room ----------------------------------------------------------------------------- */

/* Appends the block at `offset` to what is gathered, or counts it as lost. */
static bool take_back(struct vti_writer *writer, uint64_t offset)
{
    uint8_t bytes[VTI_BLOCK_HEADER_BYTES];
    struct vti_block_header header;
    struct vti_buf block = {0};
    bool is_back = false;

    if (!vti_writer_read(writer, bytes, sizeof bytes, offset) ||
        !vti_block_header_parse(bytes, sizeof bytes, &header) ||
        !vti_buf_reserve(&block, vti_block_bytes(&header)))
        goto out;
    block.len = vti_block_bytes(&header);
    is_back = vti_writer_read(writer, block.data, block.len, offset);
    if (is_back && vti_writer_may_drop(&header, block.data))
        vti_writer_drop(writer, &header);
    else if (is_back)
        is_back = vti_writer_block(writer, &header, block.data) == 0;
out:
    vti_buf_fini(&block);
    return is_back;
}

/* Puts the facts from `offset` on in front of those that still wait. All or nothing. */
static bool take_facts_back(struct vti_writer *writer, uint64_t offset)
{
    struct vti_buf waiting = writer->gathered;
    struct vti_buf waiting_queue = writer->queue;
    size_t count;
    const uint64_t *facts = fact_offsets(writer, &count);
    bool is_back = true;

    memset(&writer->gathered, 0, sizeof writer->gathered);
    memset(&writer->queue, 0, sizeof writer->queue);
    for (size_t i = 0; i < count && is_back; i++)
        if (facts[i] >= offset)
            is_back = take_back(writer, facts[i]);
    if (is_back) {
        vti_buf_add(&writer->gathered, waiting.data, waiting.len);
        vti_buf_add(&writer->queue, waiting_queue.data, waiting_queue.len);
        is_back = !writer->gathered.failed && !writer->queue.failed;
    }
    vti_buf_fini(is_back ? &waiting : &writer->gathered);
    vti_buf_fini(is_back ? &waiting_queue : &writer->queue);
    if (!is_back) {
        writer->gathered = waiting;
        writer->queue = waiting_queue;
        return false;
    }
    while (count && facts[count - 1] >= offset)
        count--;
    writer->fact_offsets.len = count * sizeof(uint64_t);
    return true;
}

/* Whether tasks, or what they depend on, stand at `offset`. */
static bool is_of_tasks(const struct vti_writer *writer, uint64_t offset)
{
    uint8_t bytes[VTI_BLOCK_HEADER_BYTES + 1];
    struct vti_block_header header;

    return vti_writer_read(writer, bytes, sizeof bytes, offset) &&
           vti_block_header_parse(bytes, VTI_BLOCK_HEADER_BYTES, &header) &&
           vti_writer_may_drop(&header, bytes);
}

/* The last block of tasks up to `limit`, or else the first one after it; 0: there is none. */
static uint64_t find_tasks(const struct vti_writer *writer, uint64_t limit)
{
    size_t count;
    const uint64_t *facts = fact_offsets(writer, &count);
    size_t after = count;

    while (after && facts[after - 1] > limit)
        after--;
    for (size_t i = after; i-- > 0;)
        if (is_of_tasks(writer, facts[i]))
            return facts[i];
    for (size_t i = after; i < count; i++)
        if (is_of_tasks(writer, facts[i]))
            return facts[i];
    return 0;
}

/* The block to cut at so that at least `need` bytes come free; false without any of events or tasks. */
static bool find_cut(struct vti_writer *writer, uint64_t need, uint64_t *offset)
{
    uint64_t limit = writer->file_bytes > need ? writer->file_bytes - need : 0;
    struct vti_written_track *track;
    struct vti_index_entry entry;
    uint64_t tasks = find_tasks(writer, limit);
    uint64_t best = tasks <= limit ? tasks : 0;
    uint64_t earliest = tasks ? tasks : UINT64_MAX;

    for (size_t i = 0; (track = vti_writer_track(writer, i)); i++) {
        if (vti_index_builder_before(track->index, limit + 1, &entry) && entry.offset > best)
            best = entry.offset;
        if (vti_index_builder_from(track->index, 0, &entry) && entry.offset < earliest)
            earliest = entry.offset;
    }
    *offset = best ? best : earliest;
    return *offset != UINT64_MAX;
}

static bool make_room(struct vti_writer *writer, uint64_t need)
{
    struct vti_written_track *track;
    struct vti_index_entry from;
    struct vti_index_entry last;
    uint64_t offset;

    if (!find_cut(writer, need, &offset) || !take_facts_back(writer, offset))
        return false;
    for (size_t i = 0; (track = vti_writer_track(writer, i)); i++) {
        uint64_t events;

        if (!vti_index_builder_from(track->index, offset, &from))
            continue;
        vti_index_builder_before(track->index, UINT64_MAX, &last);
        events = vti_index_builder_cut(track->index, offset);
        vti_writer_lose(writer, track, events, from.first, last.last);
        writer->events -= events;
    }
    writer->file_bytes = offset;
    return ftruncate(writer->fd, (off_t)offset) == 0;
}

/* ---- closing --------------------------------------------------------------------------------- */

static int write_end(struct vti_writer *writer)
{
    for (unsigned try = 0;; try++) {
        size_t gathered = writer->gathered.len;
        int code = vti_writer_write(writer);
        uint64_t need = writer->gathered.len; /* facts; events that did not fit are gone already */

        /* There may be room for the facts without what was dropped. */
        if (!code && writer->disk_error && need < gathered)
            code = vti_writer_write(writer);
        if (!code && writer->is_index_broken)
            code = vti_fail(VTI_E_NOMEM, "%s: no memory for its index", writer->path);
        if (!code && !writer->disk_error) {
            code = write_tail(writer);
            need = writer->short_by;
        }
        if (code || !writer->disk_error)
            return code;
        if (try == TRIES || !make_room(writer, need + ((uint64_t)SLACK << try))) {
            errno = writer->disk_error;
            return vti_fail_errno(VTI_E_DISK_FULL, "%s: no room for the end of the recording",
                                  writer->path);
        }
    }
}

int vti_writer_close(struct vti_writer *writer, struct vti_writer_stats *stats)
{
    int code;

    writer->most_bytes = 0;
    code = writer->is_let_go ? vti_writer_write(writer) : write_end(writer);
    if (!code)
        code = vti_writer_check_file(writer);

    /* EINVAL: what cannot be synchronized, such as /dev/null. */
    if (!code && fsync(writer->fd) && errno != EINVAL && errno != EROFS)
        code = vti_fail_errno(errno == ENOSPC || errno == EDQUOT ? VTI_E_DISK_FULL : VTI_E_WRITE,
                              "%s: cannot write", writer->path);
    if (stats)
        vti_writer_stats(writer, stats);
    vti_writer_free(writer);
    return code;
}
