/*
 * csv.c - one row for each span, for spreadsheets and data frames.
 *
 * Times are as measured. The attributes of a span are one JSON object, its ids in a trace the last columns.
 */
#include "base/csv.h"
#include "analyze/traces_self.h"
#include "analyze/values.h"
#include "base/error.h"
#include "base/uuid.h"
#include "export/export.h"

#include <string.h>

struct csv {
    vt_recording *recording;
    const struct vti_sink *sink;
    struct vti_buf out;
    struct vti_buf scratch;
    struct vti_trace_selves *selves; /* owned; NULL: no span of a trace yet */
};

static void add_text(struct csv *csv, const char *text)
{
    vti_csv_text(&csv->out, text, strlen(text));
    vti_buf_add_u8(&csv->out, ',');
}

static void add_number(struct csv *csv, int64_t number)
{
    vti_buf_add_decimal(&csv->out, number);
    vti_buf_add_u8(&csv->out, ',');
}

/* What has gathered in `scratch` as one field. */
static void add_scratch(struct csv *csv)
{
    csv->out.failed |= csv->scratch.failed;
    vti_csv_text(&csv->out, (const char *)csv->scratch.data, csv->scratch.len);
    vti_buf_clear(&csv->scratch);
}

static void add_site(struct csv *csv, const struct vt_span *span)
{
    struct vt_site_info site;

    vt_recording_site_by_id(csv->recording, span->site, &site);
    add_text(csv, site.name);
    add_text(csv, site.function);
    add_text(csv, site.file);
    if (site.line)
        vti_buf_add_decimal_u(&csv->out, site.line);
    vti_buf_add_u8(&csv->out, ',');
}

static void add_attrs(struct csv *csv, const struct vt_span *span)
{
    struct vti_json json;

    if (!span->attr_count)
        return;
    vti_json_init(&json, &csv->scratch);
    vti_json_object(&json);
    vti_json_attrs(&json, csv->recording, span);
    vti_json_object_end(&json);
    add_scratch(csv);
}

/* Empty for what has none. */
static void add_ids(struct csv *csv, const struct vt_span *span)
{
    const uint8_t *const ids[] = {span->trace_base, span->trace_span, span->trace_parent};
    char text[VTI_UUID_TEXT];

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        vti_buf_add_u8(&csv->out, ',');
        if (!span->has_trace || vti_uuid_is_zero(ids[i]))
            continue;
        vti_uuid_text(ids[i], text);
        vti_buf_add_text(&csv->out, text);
    }
}

/* Own time as the statistics have it: of a span of a trace without its children, wherever they ran. */
static int own_time(struct csv *csv, const struct vt_span *span, int64_t *self_ns)
{
    struct vt_span copy = *span;
    int code = 0;

    if (span->has_trace && !csv->selves)
        code = vti_trace_selves_load(&csv->selves, csv->recording);
    if (!code && span->has_trace)
        vti_trace_selves_apply(csv->selves, &copy);
    *self_ns = copy.self_ns;
    return code;
}

static int add_span(const struct vt_span *span, void *arg)
{
    struct csv *csv = arg;
    struct vt_track_info track;
    struct vt_process_info process;
    int64_t self_ns;
    int code = own_time(csv, span, &self_ns);

    if (code)
        return code;
    vt_recording_track_by_id(csv->recording, span->track, &track);
    vt_recording_process_by_id(csv->recording, track.process, &process);
    add_number(csv, span->begin_ns);
    add_number(csv, span->end_ns - span->begin_ns);
    add_number(csv, self_ns);
    add_text(csv, process.name);
    add_number(csv, process.pid);
    add_text(csv, track.name);
    add_number(csv, track.tid);
    add_number(csv, span->depth);
    add_site(csv, span);
    if (span->has_error) {
        vti_error_text(&csv->scratch, span);
        add_scratch(csv);
    }
    vti_buf_add_u8(&csv->out, ',');
    add_attrs(csv, span);
    add_ids(csv, span);
    vti_buf_add_u8(&csv->out, '\n');
    return vti_sink_offer(csv->sink, &csv->out);
}

static int run(vt_recording *recording, const struct vti_export_options *options,
               const struct vti_sink *sink)
{
    struct csv csv = {.recording = recording, .sink = sink};
    int code;

    vti_buf_add_text(&csv.out, "begin_ns,duration_ns,self_ns,process,pid,thread,tid,depth,"
                               "name,function,file,line,error,attributes,"
                               "base_id,trace_id,parent_trace_id\n");
    code = vt_recording_spans(recording, &options->range, add_span, &csv);
    if (!code)
        code = vti_sink_flush(sink, &csv.out);
    vti_buf_fini(&csv.out);
    vti_buf_fini(&csv.scratch);
    vti_trace_selves_free(csv.selves);
    return code;
}

const struct vti_exporter vti_export_csv = {
    .name = "csv",
    .summary = "a row a span, for spreadsheets and data frames",
    .extension = "csv",
    .is_of_events = true,
    .run = run,
};
