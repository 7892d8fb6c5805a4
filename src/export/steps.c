/*
 * steps.c - one row for each message, or batch, that a step has dealt with, for spreadsheets and data frames.
 *
 * Times are nanoseconds since 1970 by the clock of the machine. What a step has said beside is one JSON object, the last column.
 */
#include "base/csv.h"
#include "export/export.h"
#include "model/span_walk.h"
#include "model/step_log.h"

#include <string.h>

static void add_text(struct vti_buf *out, const char *text)
{
    vti_csv_text(out, text, strlen(text));
    vti_buf_add_u8(out, ',');
}

static void add_number(struct vti_buf *out, int64_t number)
{
    vti_buf_add_decimal(out, number);
    vti_buf_add_u8(out, ',');
}

/* Empty for what there was none of. */
static void add_known(struct vti_buf *out, uint64_t number)
{
    if (number != VTI_STEP_UNKNOWN)
        vti_buf_add_decimal_u(out, number);
    vti_buf_add_u8(out, ',');
}

static void add_extra(struct vti_buf *out, struct vti_buf *scratch, const struct vti_step *step)
{
    if (!step->extra.len)
        return;
    vti_buf_clear(scratch);
    if (step->is_json)
        vti_buf_add_u8(scratch, '{');
    vti_buf_add(scratch, step->extra.data, step->extra.len);
    if (step->is_json)
        vti_buf_add_u8(scratch, '}');
    out->failed |= scratch->failed;
    vti_csv_text(out, (const char *)scratch->data, scratch->len);
}

static void add_step(struct vti_buf *out, struct vti_buf *scratch, const struct vti_step *step)
{
    add_number(out, step->received_ns);
    add_number(out, step->sent_ns);
    add_text(out, step->source);
    add_text(out, step->prefix);
    add_text(out, step->survey);
    add_text(out, step->host);
    add_number(out, step->pid);
    add_known(out, step->number);
    add_text(out, step->is_metrics ? "metrics" : step->is_failed ? "failed" : "done");
    add_known(out, step->is_metrics ? VTI_STEP_UNKNOWN : step->messages);
    add_known(out, step->execute_ns);
    add_known(out, step->pre_ns);
    add_known(out, step->post_ns);
    add_known(out, step->produce_ns);
    if (step->lag_ns != VTI_STEP_LAG_UNKNOWN)
        vti_buf_add_decimal(out, step->lag_ns);
    vti_buf_add_u8(out, ',');
    add_extra(out, scratch, step);
    vti_buf_add_u8(out, '\n');
}

static int run(vt_recording *recording, const struct vti_export_options *options,
               const struct vti_sink *sink)
{
    struct vti_step_log log;
    struct vti_step step;
    struct vti_buf out = {0};
    struct vti_buf scratch = {0};
    int code = 0;
    int got = 0;

    vti_buf_add_text(&out, "received_ns,sent_ns,source,prefix,survey,host,pid,number,state,"
                           "messages,execute_ns,pre_ns,post_ns,produce_ns,lag_ns,extra\n");
    vti_step_log_init(&log, recording, NULL);
    while (!code && (got = vti_step_log_next(&log, &step)) > 0) {
        if (!vti_filter_overlaps(&options->range, step.begin_ns, step.time_ns))
            continue;
        add_step(&out, &scratch, &step);
        code = vti_sink_offer(sink, &out);
    }
    if (!code)
        code = got < 0 ? got : vti_sink_flush(sink, &out);
    vti_step_log_fini(&log);
    vti_buf_fini(&out);
    vti_buf_fini(&scratch);
    return code;
}

const struct vti_exporter vti_export_steps = {
    .name = "steps",
    .summary = "a row a message of a step, as CSV",
    .extension = "csv",
    .run = run,
};
