/*
 * documents_steps.c - what steps have dealt with becomes documents as APF's were: source, @timestamp, execution_time, and all
 * that its later versions had, in an index of the day of @timestamp.
 */
#include "store/documents.h"
#include "store/documents_extras.h"

#include "base/error.h"
#include "base/json.h"
#include "model/step_log.h"

#include <stdlib.h>
#include <string.h>

#define FIXED_BYTES 640 /* of a document without its names and extras */

struct steps {
    vt_recording *recording; /* borrowed */
    struct vti_step_log log;
    struct vti_maker_options options;
    struct vti_index_names indices;
    uint8_t recording_id[VTI_UUID];
    bool has_names; /* `names` is of the two that follow */
    uint32_t names_site, names_process;
    struct vti_buf names; /* members that are the same for all of a step in a process */
    struct vti_extras extras;
};

static int open_steps(void **state, vt_recording *recording, const struct vti_position *from,
                      const struct vti_maker_options *options)
{
    const struct vti_step_place place = {.offset = from->words[0], .entry = from->words[1]};
    struct steps *steps = calloc(1, sizeof *steps);

    if (!steps)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    steps->recording = recording;
    steps->options = *options;
    memcpy(steps->recording_id, recording->header.id, sizeof steps->recording_id);
    vti_step_log_init(&steps->log, recording, &place);
    *state = steps;
    return 0;
}

static void close_steps(void *state)
{
    struct steps *steps = state;

    if (!steps)
        return;
    vti_step_log_fini(&steps->log);
    vti_index_names_fini(&steps->indices);
    vti_buf_fini(&steps->names);
    vti_extras_fini(&steps->extras);
    free(steps);
}

static void position_steps(const void *state, struct vti_position *to)
{
    const struct steps *steps = state;
    struct vti_step_place place = vti_step_log_place(&steps->log);

    *to = (struct vti_position){{place.offset, place.entry}};
}

static uint64_t lost_steps(void *state)
{
    const struct steps *steps = state;

    return vti_steps_lost(steps->recording);
}

/* ---- members --------------------------------------------------------------------------------- */

/* Seconds, exact to the nanosecond. */
static char *put_seconds(char *to, uint64_t ns)
{
    uint64_t whole = ns / 1000000000;
    unsigned rest = (unsigned)(ns % 1000000000);
    char digits[20];
    int count = 0;

    do
        digits[count++] = (char)('0' + whole % 10);
    while (whole /= 10);
    while (count)
        *to++ = digits[--count];
    *to++ = '.';
    for (unsigned unit = 100000000; unit; unit /= 10) {
        *to++ = (char)('0' + rest / unit);
        rest %= unit;
        if (!rest)
            break;
    }
    return to;
}

static char *put_text(char *to, const char *text, size_t len)
{
    memcpy(to, text, len);
    return to + len;
}
#define PUT(to, text) put_text((to), (text), sizeof(text) - 1)

static char *put_phase(char *to, const char *name, size_t len, uint64_t ns)
{
    if (ns == VTI_STEP_UNKNOWN)
        return to;
    return put_seconds(put_text(to, name, len), ns);
}
#define PUT_PHASE(to, name, ns) put_phase((to), (name), sizeof(name) - 1, (ns))

static char *put_time(char *to, int64_t time_ns)
{
    *to++ = '"';
    to += vti_time_text(to, time_ns);
    *to++ = '"';
    return to;
}

static char *put_count(char *to, uint64_t count)
{
    char digits[20];
    int len = 0;

    do
        digits[len++] = (char)('0' + count % 10);
    while (count /= 10);
    while (len)
        *to++ = digits[--len];
    return to;
}

/* Source, survey, host and process, which a step says again and again. */
static void make_names(struct steps *steps, const struct vti_step *step)
{
    struct vti_json json;

    vti_buf_clear(&steps->names);
    vti_json_init(&json, &steps->names);
    vti_json_object(&json);
    vti_json_add_string(&json, "source", step->source);
    if (*step->survey)
        vti_json_add_string(&json, "survey", step->survey);
    if (*step->host) {
        vti_json_key(&json, "host");
        vti_json_object(&json);
        vti_json_add_string(&json, "name", step->host);
        vti_json_object_end(&json);
    }
    if (step->pid) {
        vti_json_key(&json, "process");
        vti_json_object(&json);
        vti_json_add_uint(&json, "pid", step->pid);
        if (*step->process_name)
            vti_json_add_string(&json, "name", step->process_name);
        vti_json_object_end(&json);
    }
    steps->names_site = step->site;
    steps->names_process = step->process;
    steps->has_names = !steps->names.failed;
}

static char *put_measures(char *to, const struct vti_step *step)
{
    to = PUT_PHASE(to, ",\"execution_time\":", step->execute_ns);
    to = PUT(to, ",\"timestamp_received\":");
    to = put_time(to, step->received_ns);
    to = PUT(to, ",\"timestamp_sent\":");
    to = put_time(to, step->sent_ns);
    to = PUT(to, ",\"n_messages\":");
    to = put_count(to, step->messages);
    to = step->is_failed ? PUT(to, ",\"failed\":true") : PUT(to, ",\"failed\":false");
    to = PUT_PHASE(to, ",\"pre_execute_time\":", step->pre_ns);
    to = PUT_PHASE(to, ",\"post_execute_time\":", step->post_ns);
    to = PUT_PHASE(to, ",\"produce_time\":", step->produce_ns);
    if (step->lag_ns != VTI_STEP_LAG_UNKNOWN) {
        to = PUT(to, ",\"queue_time\":");
        if (step->lag_ns < 0)
            *to++ = '-';
        to = put_seconds(to, step->lag_ns < 0 ? -(uint64_t)step->lag_ns : (uint64_t)step->lag_ns);
    }
    return to;
}

/* ---- extras ---------------------------------------------------------------------------------- */

static void add_extra_text(struct vti_buf *text, const struct vti_step *step)
{
    struct vti_json json;

    vti_json_init(&json, text);
    vti_buf_add_text(text, ",\"extra_text\":");
    vti_json_bytes(&json, step->extra.data, step->extra.len);
}

/* ---- documents ------------------------------------------------------------------------------- */

static void write_body(struct steps *steps, struct vti_buf *text, const struct vti_step *step)
{
    char *room, *to;

    if (!steps->has_names || steps->names_site != step->site ||
        steps->names_process != step->process)
        make_names(steps, step);
    room = (char *)vti_buf_reserve(text, FIXED_BYTES + steps->names.len);
    if (!room || steps->names.failed) {
        text->failed = true;
        return;
    }
    to = PUT(room, "{\"@timestamp\":");
    to = put_time(to, step->sent_ns);
    *to++ = ',';
    to = put_text(to, (const char *)steps->names.data + 1, steps->names.len - 1);
    if (!step->is_metrics)
        to = put_measures(to, step);
    text->len += (size_t)(to - room);
    if (step->is_cut)
        vti_buf_add_text(text, ",\"extra_cut\":true");
    if (step->extra.len && step->is_json) /* on one line, too */
        vti_extras_add(&steps->extras, text, step->extra.data, step->extra.len, step->is_metrics);
    else if (step->extra.len)
        add_extra_text(text, step);
    vti_buf_add_u8(text, '}');
}

static int add_document(struct steps *steps, struct vti_batch *batch, const struct vti_step *step)
{
    const char *prefix = steps->options.prefix ? steps->options.prefix : step->prefix;
    size_t body_at = batch->text.len;
    struct vti_document *document;
    struct vti_step_detail detail = {.source = step->source,
                                     .prefix = prefix,
                                     .survey = step->survey,
                                     .host = step->host,
                                     .pid = step->pid,
                                     .is_failed = step->is_failed,
                                     .is_metrics = step->is_metrics,
                                     .messages = step->messages,
                                     .number = step->number,
                                     .received_ns = step->received_ns,
                                     .sent_ns = step->sent_ns,
                                     .execute_ns = step->execute_ns,
                                     .pre_ns = step->pre_ns,
                                     .post_ns = step->post_ns,
                                     .produce_ns = step->produce_ns,
                                     .lag_ns = step->lag_ns};

    write_body(steps, &batch->text, step);
    document = vti_batch_add(batch, VTI_DOCUMENT_STEP, body_at);
    if (!document)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    vti_document_id(document->id, steps->recording_id, VTI_DOCUMENT_STEP, step->process,
                    step->number);
    document->time_ns = step->sent_ns;
    document->index = vti_index_daily(&steps->indices, prefix, step->source, step->sent_ns);
    if (!document->index)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    return vti_batch_add_detail(batch, document, &detail, sizeof detail);
}

static int next_steps(void *state, struct vti_batch *batch, const struct vti_batch_limits *limits,
                      bool is_final)
{
    struct steps *steps = state;
    struct vti_step step;
    int got = 1;

    (void)is_final; /* an entry is whole when it is there */
    while (batch->count < limits->documents && batch->text.len < limits->bytes) {
        int code;

        got = vti_step_log_next(&steps->log, &step);
        if (got <= 0)
            return got;
        code = add_document(steps, batch, &step);
        if (code)
            return code;
    }
    return 1;
}

const struct vti_maker vti_maker_steps = {
    .name = "steps",
    .kinds = VTI_DOCUMENT_STEP,
    .open = open_steps,
    .next = next_steps,
    .position = position_steps,
    .lost = lost_steps,
    .close = close_steps,
};
