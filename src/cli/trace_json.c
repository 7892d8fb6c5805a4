/*
 * trace_json.c - one trace as JSON of our own: nanoseconds, full names, spans as a flat list in depth-first order, because nesting has no bound
 * and readers of JSON have one.
 */
#include "analyze/values.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/uuid.h"
#include "cli/trace.h"

#include <stdlib.h>
#include <string.h>

#define ATTRS_FEW 16u /* facts of a span that are compared with each other */

void vti_trace_json_value(struct vti_json *json, const struct vti_value *value)
{
    switch (value->type) {
    case VTI_VALUE_INT:
        vti_json_int(json, value->i);
        break;
    case VTI_VALUE_UINT:
        vti_json_uint(json, value->u);
        break;
    case VTI_VALUE_DOUBLE:
        vti_json_double(json, value->d);
        break;
    case VTI_VALUE_TEXT:
        vti_json_bytes(json, value->text.data, value->text.len);
        break;
    case VTI_VALUE_NONE:
        vti_json_null(json);
        break;
    }
}

static void add_id(struct vti_json *json, const char *key, const uint8_t id[16])
{
    char text[VTI_UUID_TEXT];

    vti_uuid_text(id, text);
    vti_json_key(json, key);
    vti_json_bytes(json, text, sizeof text - 1);
}

/* Of a key that comes several times the last one counts. */
static void add_attrs(struct vti_json *json, const struct vti_trace_span *span)
{
    bool is_few = span->attr_count <= ATTRS_FEW;
    bool few[ATTRS_FEW] = {false};
    bool *is_again = is_few ? few : calloc(span->attr_count, sizeof *is_again);
    struct vti_map *keys = NULL;

    if (!is_again || (!is_few && vti_map_create(&keys))) {
        json->out->failed = true;
        goto out;
    }
    for (uint32_t i = span->attr_count; i-- > 0;) {
        const char *key = span->attrs[i].key;
        int is_new = 1;

        if (!is_few && vti_map_add(keys, key, strlen(key), &is_new) < 0)
            json->out->failed = true;
        for (uint32_t k = i + 1; k < span->attr_count && is_few && is_new; k++)
            is_new = span->attrs[k].key != key && strcmp(span->attrs[k].key, key);
        is_again[i] = !is_new;
    }
    for (uint32_t i = 0; i < span->attr_count; i++) {
        if (is_again[i])
            continue;
        vti_json_key(json, span->attrs[i].key);
        vti_trace_json_value(json, &span->attrs[i].value);
    }
out:
    vti_map_free(keys);
    if (!is_few)
        free(is_again);
}

static void add_span(struct vti_json *json, const struct vti_trace_view *view, uint32_t at)
{
    const struct vti_trace_span *span = &view->trace->spans[at];

    vti_json_object(json);
    add_id(json, "id", span->id);
    if (span->parent == VTI_NO_SPAN)
        add_id(json, "parent", span->parent_id);
    else
        add_id(json, "parent", view->trace->spans[span->parent].id);
    vti_json_add_uint(json, "depth", span->depth);
    vti_json_add_string(json, "name", span->name);
    vti_json_add_uint(json, "process", span->process);
    vti_json_add_string(json, "thread", span->thread);
    vti_json_add_int(json, "begin_ns", span->begin_ns - view->trace->begin_ns);
    vti_json_add_int(json, "duration_ns", span->end_ns - span->begin_ns);
    vti_json_add_int(json, "self_ns", span->self_ns);
    vti_json_add_bool(json, "critical", span->is_critical);
    vti_json_add_bool(json, "finished", span->is_finished);
    vti_json_add_bool(json, "orphan", span->is_orphan);
    vti_json_key(json, "error");
    if (span->has_error) {
        vti_json_object(json);
        vti_json_add_string(json, "type", span->error_type);
        vti_json_add_string(json, "message", span->error_message);
        vti_json_object_end(json);
    } else {
        vti_json_null(json);
    }
    vti_json_key(json, "attrs");
    vti_json_object(json);
    add_attrs(json, span);
    vti_json_object_end(json);
    vti_json_object_end(json);
}

static void add_processes(struct vti_json *json, const struct vti_trace_view *view)
{
    const struct vti_traces *traces = view->traces;

    vti_json_key(json, "processes");
    vti_json_array(json);
    for (size_t i = 0; i < traces->process_count; i++) {
        const struct vti_trace_process *process = &traces->processes[i];

        vti_json_object(json);
        vti_json_add_string(json, "service", process->service);
        vti_json_add_string(json, "project", process->project);
        vti_json_add_string(json, "host", process->host);
        vti_json_add_uint(json, "pid", process->pid);
        vti_json_add_string(json, "file", view->files[process->recording]);
        vti_json_add_int(json, "skew_ns", process->skew_ns);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

void vti_trace_json_errors(struct vti_json *json, const struct vti_trace *trace)
{
    vti_json_key(json, "errors");
    if (trace->knows_errors)
        vti_json_uint(json, trace->error_count);
    else
        vti_json_null(json);
}

static void add_facts(struct vti_json *json, const struct vti_trace_view *view)
{
    const struct vti_trace *trace = view->trace;
    char moment[VTI_MOMENT_BYTES];

    add_id(json, "trace", trace->base);
    vti_json_add_string(json, "begin", vti_moment_text(moment, trace->begin_ns));
    vti_json_add_int(json, "begin_ns", trace->begin_ns);
    vti_json_add_int(json, "duration_ns", trace->end_ns - trace->begin_ns);
    vti_json_add_uint(json, "span_count", trace->span_count);
    vti_trace_json_errors(json, trace);
    vti_json_add_uint(json, "unfinished", trace->unfinished_count);
    vti_json_add_uint(json, "orphans", trace->orphan_count);
    vti_json_add_uint(json, "services", trace->service_count);
    vti_json_add_uint(json, "hosts", trace->host_count);
    vti_json_key(json, "notes");
    vti_json_array(json);
    for (size_t at = 0; at < view->notes.len;) {
        const char *note = (const char *)view->notes.data + at;

        vti_json_string(json, note);
        at += strlen(note) + 1;
    }
    vti_json_array_end(json);
}

void vti_trace_json(struct vti_trace_output *out, const struct vti_trace_view *view)
{
    struct vti_json json;

    vti_json_init(&json, &out->text);
    vti_json_object(&json);
    add_facts(&json, view);
    add_processes(&json, view);
    vti_json_key(&json, "spans");
    vti_json_array(&json);
    for (uint32_t i = 0; i < view->trace->span_count && !out->code; i++) {
        if (view->trace->spans[i].depth >= view->depth)
            continue;
        add_span(&json, view, i);
        vti_trace_output_step(out);
    }
    vti_json_array_end(&json);
    vti_json_object_end(&json);
    vti_buf_add_u8(&out->text, '\n');
}
