/*
 * facts.c - entries of the small blocks. Field order is that of docs/format.md; a reader never looks at
 * anything beyond the payload it was given.
 */
#include "format/facts.h"

#include <string.h>

#define ANCHOR_BYTES 28

struct vti_bytes vti_bytes_of(const char *text)
{
    return (struct vti_bytes){text ? text : "", text ? strlen(text) : 0};
}

void vti_bytes_put(struct vti_buf *out, struct vti_bytes bytes)
{
    vti_buf_add_varint(out, bytes.len);
    vti_buf_add(out, bytes.data, bytes.len);
}

struct vti_bytes vti_bytes_get(struct vti_reader *in)
{
    struct vti_bytes bytes;

    bytes.data = vti_reader_string(in, &bytes.len);
    if (!bytes.data)
        bytes.data = "";
    return bytes;
}

static uint32_t get_u32(struct vti_reader *in)
{
    return (uint32_t)vti_reader_count(in, UINT32_MAX);
}

void vti_meta_write(struct vti_buf *out, const struct vti_meta_fact *fact)
{
    vti_bytes_put(out, fact->key);
    vti_bytes_put(out, fact->value);
}

bool vti_meta_read(struct vti_reader *in, struct vti_meta_fact *fact)
{
    fact->key = vti_bytes_get(in);
    fact->value = vti_bytes_get(in);
    return !in->failed;
}

void vti_host_write(struct vti_buf *out, const struct vti_host_fact *fact)
{
    vti_buf_add_varint(out, fact->host);
    vti_bytes_put(out, fact->name);
    vti_bytes_put(out, fact->os);
    vti_bytes_put(out, fact->cpu);
    vti_buf_add_varint(out, fact->cpu_count);
}

bool vti_host_read(struct vti_reader *in, struct vti_host_fact *fact)
{
    fact->host = get_u32(in);
    fact->name = vti_bytes_get(in);
    fact->os = vti_bytes_get(in);
    fact->cpu = vti_bytes_get(in);
    fact->cpu_count = get_u32(in);
    return !in->failed;
}

void vti_process_write(struct vti_buf *out, const struct vti_process_fact *fact)
{
    vti_buf_add_varint(out, fact->process);
    vti_buf_add_varint(out, fact->host);
    vti_buf_add_varint(out, fact->domain);
    vti_buf_add_varint(out, fact->pid);
    vti_buf_add_varint(out, fact->parent_pid);
    vti_buf_add_varint(out, fact->parent_plus_one);
    vti_buf_add_varint(out, fact->start);
    vti_buf_add_varint(out, fact->end);
    vti_buf_add_varint(out, fact->how);
    vti_buf_add_varint(out, fact->status);
    vti_bytes_put(out, fact->name);
    vti_bytes_put(out, fact->command);
    vti_buf_add_varint(out, fact->pair_millis);
    vti_buf_add_varint(out, fact->inner_millis);
}

bool vti_process_read(struct vti_reader *in, struct vti_process_fact *fact)
{
    fact->process = get_u32(in);
    fact->host = get_u32(in);
    fact->domain = get_u32(in);
    fact->pid = get_u32(in);
    fact->parent_pid = get_u32(in);
    fact->parent_plus_one = get_u32(in);
    fact->start = vti_reader_varint(in);
    fact->end = vti_reader_varint(in);
    fact->how = get_u32(in);
    fact->status = get_u32(in);
    fact->name = vti_bytes_get(in);
    fact->command = vti_bytes_get(in);
    fact->pair_millis = vti_reader_varint(in);
    fact->inner_millis = vti_reader_varint(in);
    return !in->failed;
}

void vti_track_write(struct vti_buf *out, const struct vti_track_fact *fact)
{
    vti_buf_add_varint(out, fact->track);
    vti_buf_add_varint(out, fact->process);
    vti_buf_add_varint(out, fact->type);
    vti_buf_add_varint(out, fact->tid);
    vti_buf_add_varint(out, fact->start);
    vti_buf_add_varint(out, fact->end);
    vti_bytes_put(out, fact->name);
}

bool vti_track_read(struct vti_reader *in, struct vti_track_fact *fact)
{
    fact->track = get_u32(in);
    fact->process = get_u32(in);
    fact->type = get_u32(in);
    fact->tid = get_u32(in);
    fact->start = vti_reader_varint(in);
    fact->end = vti_reader_varint(in);
    fact->name = vti_bytes_get(in);
    return !in->failed;
}

void vti_clock_write(struct vti_buf *out, const struct vti_clock_fact *fact)
{
    vti_buf_add_varint(out, fact->domain);
    vti_buf_add_varint(out, fact->host);
    vti_buf_add_varint(out, fact->type);
    vti_buf_add_varint(out, fact->anchor_count);
    for (uint32_t i = 0; i < fact->anchor_count; i++) {
        vti_buf_add_u64(out, fact->anchors[i].ticks);
        vti_buf_add_u64(out, fact->anchors[i].monotonic_ns);
        vti_buf_add_u64(out, fact->anchors[i].realtime_ns);
        vti_buf_add_u32(out, fact->anchors[i].error_ns);
    }
}

bool vti_clock_read(struct vti_reader *in, struct vti_clock_fact *fact)
{
    fact->domain = get_u32(in);
    fact->host = get_u32(in);
    fact->type = get_u32(in);
    fact->anchor_count = get_u32(in);
    fact->anchors = NULL;
    if (fact->anchor_count > vti_reader_left(in) / ANCHOR_BYTES)
        in->failed = true;
    return !in->failed;
}

bool vti_anchor_read(struct vti_reader *in, struct vti_anchor *anchor)
{
    anchor->ticks = vti_reader_u64(in);
    anchor->monotonic_ns = vti_reader_u64(in);
    anchor->realtime_ns = vti_reader_u64(in);
    anchor->error_ns = vti_reader_u32(in);
    return !in->failed;
}

void vti_clock_link_write(struct vti_buf *out, const struct vti_clock_link_fact *fact)
{
    vti_buf_add_varint(out, fact->a);
    vti_buf_add_varint(out, fact->b);
    vti_buf_add_signed(out, fact->offset_ns);
    vti_buf_add_varint(out, fact->error_ns);
}

bool vti_clock_link_read(struct vti_reader *in, struct vti_clock_link_fact *fact)
{
    fact->a = get_u32(in);
    fact->b = get_u32(in);
    fact->offset_ns = vti_reader_signed(in);
    fact->error_ns = vti_reader_varint(in);
    return !in->failed;
}

void vti_site_write(struct vti_buf *out, const struct vti_site_fact *fact)
{
    vti_buf_add_varint(out, fact->site);
    vti_buf_add_varint(out, fact->type);
    vti_bytes_put(out, fact->name);
    vti_bytes_put(out, fact->function);
    vti_bytes_put(out, fact->file);
    vti_buf_add_varint(out, fact->line);
    vti_bytes_put(out, fact->unit);
}

bool vti_site_read(struct vti_reader *in, struct vti_site_fact *fact)
{
    fact->site = get_u32(in);
    fact->type = get_u32(in);
    fact->name = vti_bytes_get(in);
    fact->function = vti_bytes_get(in);
    fact->file = vti_bytes_get(in);
    fact->line = get_u32(in);
    fact->unit = vti_bytes_get(in);
    return !in->failed;
}

void vti_loss_write(struct vti_buf *out, const struct vti_loss_fact *fact)
{
    vti_buf_add_varint(out, fact->reason);
    vti_buf_add_varint(out, fact->process_plus_one);
    vti_buf_add_varint(out, fact->track_plus_one);
    vti_buf_add_varint(out, fact->events);
    vti_buf_add_varint(out, fact->first);
    vti_buf_add_varint(out, fact->last);
    vti_buf_add_varint(out, fact->flags);
}

bool vti_loss_read(struct vti_reader *in, struct vti_loss_fact *fact)
{
    fact->reason = get_u32(in);
    fact->process_plus_one = get_u32(in);
    fact->track_plus_one = get_u32(in);
    fact->events = vti_reader_varint(in);
    fact->first = vti_reader_varint(in);
    fact->last = vti_reader_varint(in);
    fact->flags = get_u32(in);
    return !in->failed;
}
