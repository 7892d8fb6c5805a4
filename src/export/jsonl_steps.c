/*
 * jsonl_steps.c - messages that steps have dealt with, one JSON object a line. Times are of the recording, as those of events, and beside them
 * those of the machine's clock, which are what stores are told.
 */
#include "export/jsonl_steps.h"

#include "analyze/values.h"
#include "model/span_walk.h"
#include "model/step_log.h"

static void add_known(struct vti_json *json, const char *key, uint64_t value)
{
    if (value != VTI_STEP_UNKNOWN)
        vti_json_add_uint(json, key, value);
    else
        vti_json_add_null(json, key);
}

void vti_json_step_extra(struct vti_json *json, struct vti_buf *out, const struct vti_step *step)
{
    vti_json_key(json, "extra");
    if (!step->is_json) {
        vti_json_bytes(json, step->extra.data, step->extra.len);
        return;
    }
    vti_json_object(json);
    vti_buf_add(out, step->extra.data, step->extra.len);
    vti_json_object_end(json);
}

static void add_step(struct vti_buf *out, const struct vti_step *step)
{
    struct vti_json json;

    vti_json_init(&json, out);
    vti_json_object(&json);
    vti_json_add_string(&json, "type", "step");
    vti_json_add_uint(&json, "process", step->process);
    vti_json_add_uint(&json, "number", step->number);
    vti_json_add_uint(&json, "site", step->site);
    vti_json_add_string(&json, "source", step->source);
    vti_json_add_string(&json, "prefix", step->prefix);
    vti_json_add_string(&json, "survey", *step->survey ? step->survey : NULL);
    vti_json_add_bool(&json, "metrics", step->is_metrics);
    vti_json_add_bool(&json, "failed", step->is_failed);
    vti_json_add_uint(&json, "messages", step->messages);
    vti_json_add_int(&json, "begin_ns", step->begin_ns);
    vti_json_add_int(&json, "time_ns", step->time_ns);
    vti_json_add_int(&json, "received_ns", step->received_ns);
    vti_json_add_int(&json, "sent_ns", step->sent_ns);
    add_known(&json, "execute_ns", step->execute_ns);
    add_known(&json, "pre_ns", step->pre_ns);
    add_known(&json, "post_ns", step->post_ns);
    add_known(&json, "produce_ns", step->produce_ns);
    if (step->lag_ns != VTI_STEP_LAG_UNKNOWN)
        vti_json_add_int(&json, "lag_ns", step->lag_ns);
    else
        vti_json_add_null(&json, "lag_ns");
    vti_json_add_bool(&json, "cut", step->is_cut);
    vti_json_step_extra(&json, out, step);
    vti_json_object_end(&json);
    vti_buf_add_u8(out, '\n');
}

int vti_jsonl_steps(vt_recording *recording, const struct vt_filter *range,
                    const struct vti_sink *sink, struct vti_buf *out)
{
    struct vti_step_log log;
    struct vti_step step;
    int code = 0;
    int got = 0;

    vti_step_log_init(&log, recording, NULL);
    while (!code && (got = vti_step_log_next(&log, &step)) > 0) {
        if (!vti_filter_overlaps(range, step.begin_ns, step.time_ns))
            continue;
        add_step(out, &step);
        code = vti_sink_offer(sink, out);
    }
    vti_step_log_fini(&log);
    return code ? code : got;
}
