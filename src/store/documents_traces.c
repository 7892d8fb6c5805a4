/*
 * documents_traces.c - the spans of traces in a recording become notifications as osprofiler sends them: its drivers and tools read them.
 *
 * Beyond osprofiler's words a begin says is_begin and is_root, and an end duration_ns, exact where timestamps have microseconds; its readers pass over
 * them. Where the
 * reading stands is the place of an event: to go on there after a start, all before it is read again in silence, because what is open is
 * known by that alone.
 */
#include "store/documents_traces.h"

#include "base/crc32c.h"
#include "base/error.h"
#include "export/python_facts.h"
#include "model/model.h"
#include "store/trace_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct traces {
    vt_recording *recording; /* borrowed */
    const char *index;
    char *error_index; /* owned, if it is not the usual one */
    struct vti_trace_opens opens;
    struct vti_position
        at; /* offset of the block, events of it that were read, spans told at the end */
    struct vti_position quiet; /* up to there nothing is told */
    bool is_open;              /* the block at hand */
    unsigned generation;
    struct vti_block_header header;
    struct vti_decoder decoder;
    struct vti_clock *clock;
    uint32_t process; /* id, of the block at hand */
    bool is_carried;
    struct vti_python_facts facts;
    struct vti_trace_attr *attrs; /* scratch */
    size_t attr_room;
    struct vti_buf detail, begin_info, end_info;
    uint64_t outside;             /* spans of no trace */
    struct vti_trace_open **left; /* owned: what is told at the end, in order */
    size_t left_count;
};

/* ---- opening and closing --------------------------------------------------------------------- */

static void close_traces(void *state)
{
    struct traces *traces = state;

    if (!traces)
        return;
    vti_trace_opens_fini(&traces->opens);
    vti_python_facts_fini(&traces->facts);
    vti_buf_fini(&traces->detail);
    vti_buf_fini(&traces->begin_info);
    vti_buf_fini(&traces->end_info);
    free(traces->attrs);
    free(traces->left);
    free(traces->error_index);
    free(traces);
}

static int open_traces(void **state, vt_recording *recording, const struct vti_position *from,
                       const struct vti_maker_options *options)
{
    struct traces *traces = calloc(1, sizeof *traces);

    if (!traces)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    traces->recording = recording;
    traces->quiet = *from;
    traces->at.words[0] = VTI_FILE_HEADER_BYTES;
    traces->index = options->index ? options->index : VTI_TRACE_INDEX;
    if (asprintf(&traces->error_index, "%s-error", traces->index) < 0)
        traces->error_index = NULL;
    if (!traces->error_index || vti_trace_opens_init(&traces->opens, recording)) {
        close_traces(traces);
        return vti_fail(VTI_E_NOMEM, "out of memory");
    }
    *state = traces;
    return 0;
}

static void position_traces(const void *state, struct vti_position *to)
{
    const struct traces *traces = state;

    *to = traces->at;
    for (unsigned i = 0; i < 3; i++) /* still in silence: no further back than it was */
        if (to->words[i] != traces->quiet.words[i]) {
            if (to->words[i] < traces->quiet.words[i])
                *to = traces->quiet;
            break;
        }
}

static bool is_quiet(const struct traces *traces)
{
    const uint64_t *at = traces->at.words, *quiet = traces->quiet.words;

    return at[0] < quiet[0] || (at[0] == quiet[0] && at[1] <= quiet[1]);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static size_t time_text(char to[48], int64_t ns)
{
    static __thread time_t last = -1;
    static __thread struct tm when;
    time_t seconds = (time_t)(ns / 1000000000);

    if (seconds != last && gmtime_r(&seconds, &when))
        last = seconds;
    return (size_t)snprintf(to, 48, "%04d-%02d-%02dT%02d:%02d:%02d.%06d", when.tm_year + 1900,
                            when.tm_mon + 1, when.tm_mday, when.tm_hour, when.tm_min, when.tm_sec,
                            (int)(ns % 1000000000 / 1000));
}

/* Facts of the begin or of the end as an object, as they were before their keys were joined by dots; the host is among them. */
static int write_info(struct traces *traces, struct vti_buf *to, const struct vti_trace_open *span,
                      bool is_end)
{
    struct vti_python_json json = {.text = to, .is_line = true};
    struct vti_trace_attr attr;
    size_t count = 0;
    int code = vti_python_facts_start(&traces->facts);

    vti_buf_clear(to);
    for (size_t at = 0; vti_trace_open_fact(span, &at, &attr);)
        if (attr.is_of_begin != is_end && vti_trace_open_is_said(&attr) == 0) {
            if (vti_grow(&traces->attrs, count, &traces->attr_room, sizeof *traces->attrs))
                return VTI_E_NOMEM;
            traces->attrs[count++] = attr;
        }
    for (size_t i = 0; i < count && !code; i++)
        code = vti_python_facts_add(&traces->facts, &traces->attrs[i]);
    vti_buf_add_u8(to, '{');
    if (!code)
        code = vti_python_facts_write(&traces->facts, &json, span->place->host);
    vti_buf_add_u8(to, '}');
    return code || to->failed ? VTI_E_NOMEM : 0;
}

static uint32_t put_text(struct traces *traces, const char *text)
{
    uint32_t at = (uint32_t)traces->detail.len;

    vti_buf_add(&traces->detail, text, strlen(text) + 1);
    return at;
}

static void make_detail(struct traces *traces, const struct vti_trace_open *span,
                        enum vti_trace_part part)
{
    struct vti_trace_detail *detail;
    struct vti_trace_detail told = {.ids = span->ids,
                                    .part = part,
                                    .is_open = !span->has_end,
                                    .has_failed = span->has_failed ||
                                                  *vti_trace_open_text(span, "etype"),
                                    .begin_ns = span->begin_ns,
                                    .end_ns = span->end_ns,
                                    .recording = span->place->number,
                                    .pid = span->place->pid};

    vti_buf_clear(&traces->detail);
    vti_buf_add(&traces->detail, &told, sizeof told);
    told.name = put_text(traces, span->name);
    told.service = put_text(traces, span->place->service);
    told.project = put_text(traces, span->place->project);
    told.host = put_text(traces, span->place->host);
    told.error_type = put_text(traces, vti_trace_open_text(span, "etype"));
    told.error_message = put_text(traces, vti_trace_open_text(span, "message"));
    told.begin_info = (uint32_t)traces->detail.len;
    vti_buf_add(&traces->detail, traces->begin_info.data, traces->begin_info.len);
    vti_buf_add_u8(&traces->detail, 0);
    told.end_info = (uint32_t)traces->detail.len;
    vti_buf_add(&traces->detail, traces->end_info.data, traces->end_info.len);
    vti_buf_add_u8(&traces->detail, 0);
    detail = (struct vti_trace_detail *)traces->detail.data;
    if (!traces->detail.failed)
        *detail = told;
}

/* ---- documents ------------------------------------------------------------------------------- */

static void add_id(struct vti_buf *text, const char *key, const uint8_t id[16])
{
    char hex[VTI_UUID_TEXT];

    vti_uuid_text(id, hex);
    vti_buf_add_text(text, key);
    vti_buf_add(text, hex, VTI_UUID_TEXT - 1);
    vti_buf_add_u8(text, '"');
}

static void add_maybe(struct vti_buf *text, const char *key, const char *value, bool is_said)
{
    vti_buf_add_text(text, key);
    if (!is_said) {
        vti_buf_add(text, "null", 4);
        return;
    }
    vti_buf_add_u8(text, '"');
    vti_python_json_escaped(text, value, strlen(value));
    vti_buf_add_u8(text, '"');
}

static void write_body(struct traces *traces, struct vti_buf *text,
                       const struct vti_trace_open *span, enum vti_trace_part part)
{
    bool is_end = part == VTI_TRACE_END;
    const struct vti_buf *info = is_end ? &traces->end_info : &traces->begin_info;
    char when[48];
    size_t len = time_text(when, part == VTI_TRACE_BEGIN ? span->begin_ns : span->end_ns);

    if (part == VTI_TRACE_ERROR) {
        add_id(text, "{\"base_id\":\"", span->ids.base);
    } else {
        vti_buf_add_text(text, "{\"name\":\"");
        vti_python_json_escaped(text, span->name, strlen(span->name));
        vti_buf_add_text(text, is_end ? "-stop\"" : "-start\"");
        add_id(text, ",\"base_id\":\"", span->ids.base);
        add_id(text, ",\"trace_id\":\"", span->ids.span);
        add_id(text, ",\"parent_id\":\"", span->ids.parent);
    }
    vti_buf_add_text(text, ",\"timestamp\":\"");
    vti_buf_add(text, when, len);
    vti_buf_add_u8(text, '"');
    if (part != VTI_TRACE_ERROR) {
        vti_buf_add_text(text, ",\"info\":");
        vti_buf_add(text, info->data, info->len);
        add_maybe(text, ",\"project\":", span->place->project, span->place->has_project);
        add_maybe(text, ",\"service\":", span->place->service, true);
        if (is_end) {
            vti_buf_add_text(text, ",\"duration_ns\":");
            vti_buf_add_decimal(text, span->end_ns - span->begin_ns);
        } else {
            vti_buf_add_text(text, ",\"is_begin\":true");
            if (!memcmp(span->ids.parent, span->ids.base, sizeof span->ids.base))
                vti_buf_add_text(text, ",\"is_root\":true");
        }
    }
    vti_buf_add_u8(text, '}');
}

static int add_document(struct traces *traces, struct vti_batch *batch,
                        const struct vti_trace_open *span, enum vti_trace_part part)
{
    uint64_t halves[2];
    size_t body_at = batch->text.len;
    struct vti_document *document;

    write_body(traces, &batch->text, span, part);
    document = vti_batch_add(batch, VTI_DOCUMENT_TRACE, body_at);
    if (!document)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    memcpy(halves, span->ids.span, sizeof halves);
    /* Of the trace, not of the recording: one that was recorded twice is told once. */
    vti_document_id(document->id, span->ids.base, halves[0], halves[1], part);
    document->time_ns = part == VTI_TRACE_BEGIN ? span->begin_ns : span->end_ns;
    document->index = part == VTI_TRACE_ERROR ? traces->error_index : traces->index;
    make_detail(traces, span, part);
    if (traces->detail.failed)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    return vti_batch_add_detail(batch, document, traces->detail.data, traces->detail.len);
}

/* All that there is to tell of a span. One that ran outside of any trace (nobody called trace.init()) is none of osprofiler's, nor of OTLP's: all such
 * spans of all programs would be one trace. */
static int tell(struct traces *traces, struct vti_batch *batch, const struct vti_trace_open *span)
{
    int code = 0;

    if (vti_uuid_is_zero(span->ids.base)) {
        traces->outside++;
        return 0;
    }
    if (write_info(traces, &traces->begin_info, span, false) ||
        write_info(traces, &traces->end_info, span, true))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (!span->is_carried)
        code = add_document(traces, batch, span, VTI_TRACE_BEGIN);
    if (!code && span->has_end)
        code = add_document(traces, batch, span, VTI_TRACE_END);
    if (!code && span->has_end && (span->has_failed || *vti_trace_open_text(span, "etype")))
        code = add_document(traces, batch, span, VTI_TRACE_ERROR);
    return code;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int open_block(struct traces *traces, const uint8_t *payload)
{
    struct vti_facts *facts = &traces->recording->facts;
    int64_t track = vti_ids_find(&facts->track_ids, traces->header.owner);
    struct vti_event event = {0};

    if (track < 0 ||
        vti_crc32c(payload, traces->header.payload_bytes) != traces->header.payload_crc ||
        vti_decoder_init(&traces->decoder, &traces->header, payload))
        return 0;
    traces->clock = vti_track_clock(traces->recording, facts->tracks[track]);
    traces->process = facts->tracks[track]->process;
    traces->is_carried = vti_track_is_carried(facts->tracks[track]);
    for (uint64_t i = 0; i < traces->at.words[1]; i++) /* after a refresh: where it was */
        if (vti_decoder_next(&traces->decoder, &event) <= 0)
            break;
    traces->is_open = true;
    traces->generation = traces->recording->generation;
    return 1;
}

/* The block at hand, or the next one of events; false: there is none yet. */
static bool find_block(struct traces *traces)
{
    const vt_recording *recording = traces->recording;
    uint64_t end = recording->is_scanned ? recording->scanned_to : recording->map.size;
    const uint8_t *payload;

    if (traces->is_open && traces->generation == recording->generation)
        return true;
    traces->is_open = false;
    while (traces->at.words[0] < end) {
        uint64_t bytes = VTI_BLOCK_ALIGN;

        if (vti_block_find(recording, traces->at.words[0], &traces->header, &payload)) {
            if (traces->header.kind == VTI_EVENTS && open_block(traces, payload))
                return true;
            bytes = vti_block_bytes(&traces->header);
        }
        traces->at = (struct vti_position){{traces->at.words[0] + bytes, 0, 0, 0}};
    }
    return false;
}

static void leave_block(struct traces *traces)
{
    traces->at = (struct vti_position){
        {traces->at.words[0] + vti_block_bytes(&traces->header), 0, 0, 0}};
    traces->is_open = false;
}

/* One event; what it makes complete is told. */
static int take_event(struct traces *traces, struct vti_batch *batch, const struct vti_event *event)
{
    struct vti_trace_open *done[2];
    int code;

    traces->outside += event->kind == VTI_EVENT_BEGIN && !is_quiet(traces);
    if (event->kind != VTI_EVENT_ASYNC_BEGIN && event->kind != VTI_EVENT_ASYNC_END &&
        event->kind != VTI_EVENT_ASYNC_ATTR)
        return 0;
    code = vti_trace_opens_take(&traces->opens, event, traces->process, traces->header.owner,
                                traces->clock, traces->is_carried, done);
    for (unsigned i = 0; i < 2 && !code; i++) {
        if (!done[i])
            continue;
        if (done[i]->has_trace && !is_quiet(traces))
            code = tell(traces, batch, done[i]);
        vti_trace_opens_remove(&traces->opens, done[i]);
    }
    return code;
}

/* What never ended: once nothing more will come. In an order that is the same each time. */
static int tell_rest(struct traces *traces, struct vti_batch *batch,
                     const struct vti_batch_limits *limits)
{
    int code = 0;

    if (!traces->left && vti_trace_opens_list(&traces->opens, &traces->left, &traces->left_count))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (traces->at.words[2] < traces->quiet.words[2] &&
        traces->at.words[0] == traces->quiet.words[0])
        traces->at.words[2] = traces->quiet.words[2];
    while (traces->at.words[2] < traces->left_count) {
        if (batch->count >= limits->documents || batch->text.len >= limits->bytes)
            return 1;
        code = tell(traces, batch, traces->left[traces->at.words[2]++]);
        if (code)
            return code;
    }
    return 0;
}

static int next_traces(void *state, struct vti_batch *batch, const struct vti_batch_limits *limits,
                       bool is_final)
{
    struct traces *traces = state;
    struct vti_event event = {0};

    while (find_block(traces)) {
        int got = 0;

        while (batch->count < limits->documents && batch->text.len < limits->bytes &&
               (got = vti_decoder_next(&traces->decoder, &event)) > 0) {
            int code;

            traces->at.words[1]++;
            code = take_event(traces, batch, &event);
            if (code)
                return code;
        }
        if (got > 0 || batch->count >= limits->documents || batch->text.len >= limits->bytes)
            return 1;
        leave_block(traces);
    }
    return is_final ? tell_rest(traces, batch, limits) : 0;
}

static uint64_t outside_traces(const void *state)
{
    const struct traces *traces = state;

    return traces->outside;
}

const struct vti_maker vti_maker_traces = {
    .name = "traces",
    .kinds = VTI_DOCUMENT_TRACE,
    .open = open_traces,
    .next = next_traces,
    .position = position_traces,
    .outside = outside_traces,
    .close = close_traces,
};
