/*
 * pstats.c - the function table as the file of Python's cProfile: one dictionary, in marshal's bytes that
 * every Python since 2.7 reads.
 *
 * Every caller is a row too, because viewers look it up.
 */
#include "base/error.h"
#include "base/utf8.h"
#include "export/call_kit.h"

#include <string.h>

static void add_text(struct vti_buf *out, const char *text)
{
    vti_buf_add_u8(out, 'u');
    vti_utf8_repair_sized(out, text);
}

/* One beyond 31 bits is a row of digits of 15 bits. */
static void add_count(struct vti_buf *out, uint64_t count)
{
    uint32_t digits = 0;

    if (count <= INT32_MAX) {
        vti_buf_add_u8(out, 'i');
        vti_buf_add_u32(out, (uint32_t)count);
        return;
    }
    for (uint64_t rest = count; rest; rest >>= 15)
        digits++;
    vti_buf_add_u8(out, 'l');
    vti_buf_add_u32(out, digits);
    for (; count; count >>= 15)
        vti_buf_add_u16(out, count & 0x7fff);
}

static void add_seconds(struct vti_buf *out, double seconds)
{
    uint64_t bits;

    memcpy(&bits, &seconds, sizeof bits);
    vti_buf_add_u8(out, 'g');
    vti_buf_add_u64(out, bits);
}

static void add_tuple(struct vti_buf *out, uint32_t count)
{
    vti_buf_add_u8(out, '(');
    vti_buf_add_u32(out, count);
}

static void add_key(struct vti_buf *out, const struct vti_profile_row *row)
{
    add_tuple(out, 3);
    add_text(out, row->file);
    add_count(out, row->line);
    add_text(out, row->name);
}

/* In a caller the order of the two counts is the other way round than in a row. */
static void add_caller(struct vti_buf *out, const struct vti_profile *profile,
                       const struct vti_profile_arc *arc)
{
    add_key(out, &profile->rows[arc->caller]);
    if (arc->is_count_only) {
        add_count(out, arc->numbers.calls);
        return;
    }
    add_tuple(out, 4);
    add_count(out, arc->numbers.calls);
    add_count(out, arc->numbers.primitive);
    add_seconds(out, arc->numbers.self_s);
    add_seconds(out, arc->numbers.total_s);
}

static void add_row(struct vti_buf *out, const struct vti_profile *profile,
                    const struct vti_profile_row *row)
{
    add_key(out, row);
    add_tuple(out, 5);
    add_count(out, row->numbers.primitive);
    add_count(out, row->numbers.calls);
    add_seconds(out, row->numbers.self_s);
    add_seconds(out, row->numbers.total_s);
    vti_buf_add_u8(out, '{');
    for (size_t i = 0; i < row->caller_count; i++)
        add_caller(out, profile, &profile->arcs[row->first_caller + i]);
    vti_buf_add_u8(out, '0');
}

static int run(vt_recording *recording, const struct vti_export_options *options,
               const struct vti_sink *sink)
{
    struct vti_profile profile;
    struct vti_buf out = {0};
    int code = vti_export_profile(&profile, recording);

    (void)options;
    if (code)
        return code;
    vti_buf_add_u8(&out, '{');
    for (size_t i = 0; i < profile.row_count && !code; i++) {
        add_row(&out, &profile, &profile.rows[i]);
        code = vti_sink_offer(sink, &out);
    }
    vti_buf_add_u8(&out, '0');
    if (!code)
        code = vti_sink_flush(sink, &out);
    vti_buf_fini(&out);
    vti_profile_fini(&profile);
    return code;
}

const struct vti_exporter vti_export_pstats = {
    .name = "pstats",
    .summary = "functions, for pstats and snakeviz",
    .extension = "prof",
    .is_binary = true,
    .run = run,
};
