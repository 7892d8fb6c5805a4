/*
 * lprof.c - the lines of functions as the file of line_profiler: a pickled LineStats, under the name of its class that
 * versions 3 to 5 all find.
 *
 * Statements stand on their first lines, as `venturi lines` shows them, unless line events are asked for. A line that was never hit is left out, because
 * the viewer divides by the hits.
 */
#include "analyze/lines.h"
#include "base/error.h"
#include "base/utf8.h"
#include "export/export.h"

#include <math.h>
#include <string.h>

static void add_text(struct vti_buf *out, const char *text)
{
    vti_buf_add_u8(out, 'X');
    vti_utf8_repair_sized(out, text);
}

/* One beyond 31 bits is a row of bytes, the last of which has the sign. */
static void add_count(struct vti_buf *out, uint64_t count)
{
    unsigned bytes = 1;

    if (count <= INT32_MAX) {
        vti_buf_add_u8(out, 'J');
        vti_buf_add_u32(out, (uint32_t)count);
        return;
    }
    while (bytes < 8 && count >> (8 * bytes - 1))
        bytes++;
    bytes += bytes == 8 && count >> 63;
    vti_buf_add_u8(out, 0x8a);
    vti_buf_add_u8(out, (uint8_t)bytes);
    for (unsigned i = 0; i < bytes; i++)
        vti_buf_add_u8(out, i < 8 ? (uint8_t)(count >> (8 * i)) : 0);
}

static void add_seconds(struct vti_buf *out, double seconds)
{
    uint64_t bits;

    memcpy(&bits, &seconds, sizeof bits);
    vti_buf_add_u8(out, 'G');
    vti_buf_add_u64(out, __builtin_bswap64(bits));
}

static void add_line(struct vti_buf *out, const struct vti_lines_line *line)
{
    uint64_t hits = line->hits ? line->hits : line->events;

    if (!hits)
        return;
    add_count(out, line->line);
    add_count(out, hits);
    add_count(out, line->time < 1.8e19 ? (uint64_t)rint(line->time) : UINT64_MAX);
    vti_buf_add_u8(out, 0x87);
}

static void add_function(struct vti_buf *out, const struct vti_lines_function *function)
{
    add_text(out, function->file);
    add_count(out, function->line);
    add_text(out, function->name);
    vti_buf_add_text(out, "\x87](");
    for (size_t i = 0; i < function->line_count; i++)
        add_line(out, &function->lines[i]);
    vti_buf_add_u8(out, 'e');
}

static int run(vt_recording *recording, const struct vti_export_options *options,
               const struct vti_sink *sink)
{
    const struct vti_lines_options what = {.is_plain = true, .is_compat = options->is_compat};
    struct vti_lines lines;
    struct vti_buf out = {0};
    int code = vti_lines_load(&lines, recording, &what);

    if (code)
        return code;
    if (!lines.function_count)
        code = vti_fail(VTI_E_EMPTY, "holds no lines of functions (record with `venturi run -l`)");
    vti_buf_add_text(&out, "\x80\x02"
                           "cline_profiler._line_profiler\nLineStats\n)\x81}(");
    add_text(&out, "timings");
    vti_buf_add_text(&out, "}(");
    for (size_t i = 0; i < lines.function_count && !code; i++) {
        add_function(&out, &lines.functions[i]);
        code = vti_sink_offer(sink, &out);
    }
    vti_buf_add_u8(&out, 'u');
    add_text(&out, "unit");
    add_seconds(&out, lines.unit_s);
    vti_buf_add_text(&out, "ub.");
    if (!code)
        code = vti_sink_flush(sink, &out);
    vti_buf_fini(&out);
    vti_lines_fini(&lines);
    return code;
}

const struct vti_exporter vti_export_lprof = {
    .name = "lprof",
    .summary = "lines of functions, for line_profiler",
    .extension = "lprof",
    .is_binary = true,
    .run = run,
};
