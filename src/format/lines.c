/* lines.c - entries of the blocks that hold lines: LINES, LINE_DURATIONS, LINE_CALLEES, SOURCES. */
#include "format/lines.h"

static uint32_t get_u32(struct vti_reader *in)
{
    return (uint32_t)vti_reader_count(in, UINT32_MAX);
}

void vti_line_write(struct vti_buf *out, const struct vti_line_fact *fact)
{
    vti_buf_add_varint(out, fact->node);
    vti_buf_add_varint(out, fact->site);
    vti_buf_add_varint(out, fact->line);
    vti_buf_add_varint(out, fact->statement);
    vti_buf_add_varint(out, fact->time);
    vti_buf_add_varint(out, fact->events);
    vti_buf_add_varint(out, fact->hits);
    vti_buf_add_varint(out, fact->total);
    vti_buf_add_varint(out, fact->inner);
    vti_buf_add_varint(out, fact->suspended);
    vti_buf_add_varint(out, fact->resumes);
    vti_buf_add_varint(out, fact->shortest_plus_one);
    vti_buf_add_varint(out, fact->longest);
    vti_buf_add_varint(out, fact->open_plus_one);
}

bool vti_line_read(struct vti_reader *in, struct vti_line_fact *fact)
{
    fact->node = get_u32(in);
    fact->site = get_u32(in);
    fact->line = get_u32(in);
    fact->statement = get_u32(in);
    fact->time = get_u32(in);
    fact->events = vti_reader_varint(in);
    fact->hits = vti_reader_varint(in);
    fact->total = vti_reader_varint(in);
    fact->inner = vti_reader_varint(in);
    fact->suspended = vti_reader_varint(in);
    fact->resumes = vti_reader_varint(in);
    fact->shortest_plus_one = vti_reader_varint(in);
    fact->longest = vti_reader_varint(in);
    fact->open_plus_one = vti_reader_varint(in);
    return !in->failed && fact->node && fact->time <= VTI_LINE_MIXED;
}

void vti_line_durations_write(struct vti_buf *out, const struct vti_line_durations_fact *fact)
{
    vti_buf_add_varint(out, fact->node);
    vti_duration_counts_write(out, fact->durations.counts);
}

bool vti_line_durations_read(struct vti_reader *in, struct vti_line_durations_fact *fact)
{
    fact->node = get_u32(in);
    fact->durations.site = 0;
    return vti_duration_counts_read(in, fact->durations.counts) && fact->node;
}

void vti_line_callee_write(struct vti_buf *out, const struct vti_line_callee_fact *fact)
{
    vti_buf_add_varint(out, fact->node);
    vti_buf_add_varint(out, fact->site);
    vti_buf_add_varint(out, fact->calls);
    vti_buf_add_varint(out, fact->total);
}

bool vti_line_callee_read(struct vti_reader *in, struct vti_line_callee_fact *fact)
{
    fact->node = get_u32(in);
    fact->site = get_u32(in);
    fact->calls = vti_reader_varint(in);
    fact->total = vti_reader_varint(in);
    return !in->failed && fact->node;
}

static void put_text(struct vti_buf *out, const char *text, size_t len)
{
    vti_buf_add_varint(out, len);
    vti_buf_add(out, text, len);
}

void vti_source_write(struct vti_buf *out, const struct vti_source_fact *fact)
{
    vti_buf_add_varint(out, fact->process_plus_one);
    put_text(out, fact->file, fact->file_len);
    put_text(out, fact->text, fact->text_len);
}

bool vti_source_read(struct vti_reader *in, struct vti_source_fact *fact)
{
    fact->process_plus_one = get_u32(in);
    fact->file = vti_reader_string(in, &fact->file_len);
    fact->text = vti_reader_string(in, &fact->text_len);
    return !in->failed && fact->file && fact->text;
}
