/*
 * dead_span.c - what a dead letter of a trace has to say beyond its document, for stores that need it: written beside the document, and read back
 * from both.
 *
 * The document is a notification as osprofiler sends it; of an end it does not tell what was said at the begin, nor of which process it is.
 */
#include "store/dead_span.h"

#include "base/error.h"
#include "base/json_scan.h"

#include <stdlib.h>
#include <string.h>

void vti_dead_span_write(struct vti_json *json, const struct vti_trace_detail *detail)
{
    vti_json_key(json, "span");
    vti_json_object(json);
    vti_json_add_uint(json, "pid", detail->pid);
    vti_json_add_bool(json, "is_open", detail->is_open);
    vti_json_object_end(json);
    if (detail->part == VTI_TRACE_END) {
        vti_json_key(json, "begin_info");
        vti_json_raw(json, vti_trace_detail_text(detail, detail->begin_info));
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reading {
    struct vti_json_scan scan;
    struct vti_buf key, name, base, span, parent, project, service, host, type, message;
    struct vti_bytes info;
    int64_t duration_ns;
};

static bool key_is(const struct reading *reading, const char *name)
{
    return !strcmp((const char *)reading->key.data, name);
}

/* Texts that are asked for by name; anything else is stepped over. */
static void take_text(struct reading *reading, struct vti_buf *to)
{
    if (to && vti_json_peek(&reading->scan) == '"')
        vti_json_scan_string(&reading->scan, to);
    else
        vti_json_skip(&reading->scan);
}

static void take_info(struct reading *reading)
{
    const char *begin;
    bool is_first = true;

    if (vti_json_peek(&reading->scan) != '{') {
        vti_json_skip(&reading->scan);
        return;
    }
    begin = reading->scan.at;
    vti_json_take(&reading->scan, '{');
    while (vti_json_next_key(&reading->scan, &is_first, &reading->key))
        take_text(reading, key_is(reading, "host")      ? &reading->host
                           : key_is(reading, "etype")   ? &reading->type
                           : key_is(reading, "message") ? &reading->message
                                                        : NULL);
    reading->info = (struct vti_bytes){begin, (size_t)(reading->scan.at - begin)};
}

static void take_member(struct reading *reading)
{
    char first = vti_json_peek(&reading->scan);
    const char *text;
    size_t len;

    if (key_is(reading, "info"))
        take_info(reading);
    else if (key_is(reading, "duration_ns") && first >= '0' && first <= '9')
        reading->duration_ns = vti_json_scan_number(&reading->scan, &text, &len)
                                   ? strtoll(text, NULL, 10)
                                   : 0;
    else
        take_text(reading, key_is(reading, "name")        ? &reading->name
                           : key_is(reading, "base_id")   ? &reading->base
                           : key_is(reading, "trace_id")  ? &reading->span
                           : key_is(reading, "parent_id") ? &reading->parent
                           : key_is(reading, "project")   ? &reading->project
                           : key_is(reading, "service")   ? &reading->service
                                                          : NULL);
}

static bool is_id(const struct vti_buf *text, uint8_t id[VTI_UUID])
{
    return text->len == VTI_UUID_TEXT - 1 &&
           vti_uuid_parse(id, (const char *)text->data, text->len);
}

/* Cuts the end off the name; false: it has no such end. */
static bool ends(struct vti_buf *name, const char *with)
{
    size_t len = strlen(with);

    if (name->len <= len || memcmp(name->data + name->len - len, with, len))
        return false;
    name->len -= len;
    name->data[name->len] = 0;
    return true;
}

/* Which part of which span it is; false: it is no notification. An error's has the id of its trace alone. */
static bool identify(struct reading *reading, struct vti_trace_detail *detail)
{
    if (!is_id(&reading->base, detail->ids.base))
        return false;
    detail->part = VTI_TRACE_ERROR;
    if (!reading->name.len)
        return true;
    if (ends(&reading->name, "-stop"))
        detail->part = VTI_TRACE_END;
    else if (ends(&reading->name, "-start"))
        detail->part = VTI_TRACE_BEGIN;
    else
        return false;
    return is_id(&reading->span, detail->ids.span) && is_id(&reading->parent, detail->ids.parent);
}

static uint32_t put(struct vti_buf *to, const void *text, size_t len)
{
    uint32_t at = (uint32_t)to->len;

    vti_buf_add(to, len ? text : "", len);
    vti_buf_add_u8(to, 0);
    return at;
}

static int add(struct vti_batch *batch, struct vti_document *document,
               const struct vti_dead_span *more, const struct reading *reading,
               struct vti_trace_detail *detail)
{
    static const struct vti_bytes nothing = {"{}", 2};
    bool is_end = detail->part == VTI_TRACE_END;
    struct vti_bytes said = reading->info.len ? reading->info : nothing;
    struct vti_bytes begin = is_end ? more->begin_info : said, end = is_end ? said : nothing;
    struct vti_buf bytes = {0};
    int code;

    if (!begin.len)
        begin = nothing;
    detail->pid = more->pid;
    detail->is_open = more->is_open;
    detail->has_failed = reading->type.len > 0;
    detail->end_ns = document->time_ns;
    detail->begin_ns = document->time_ns - (is_end ? reading->duration_ns : 0);
    vti_buf_add(&bytes, detail, sizeof *detail);
    detail->name = put(&bytes, reading->name.data, reading->name.len);
    detail->service = put(&bytes, reading->service.data, reading->service.len);
    detail->project = put(&bytes, reading->project.data, reading->project.len);
    detail->host = put(&bytes, reading->host.data, reading->host.len);
    detail->error_type = put(&bytes, reading->type.data, reading->type.len);
    detail->error_message = put(&bytes, reading->message.data, reading->message.len);
    detail->begin_info = put(&bytes, begin.data, begin.len);
    detail->end_info = put(&bytes, end.data, end.len);
    code = VTI_E_NOMEM;
    if (!bytes.failed) {
        memcpy(bytes.data, detail, sizeof *detail);
        code = vti_batch_add_detail(batch, document, bytes.data, bytes.len);
    }
    vti_buf_fini(&bytes);
    return code;
}

int vti_dead_span_read(struct vti_batch *batch, struct vti_document *document,
                       const struct vti_dead_span *more)
{
    const char *body = vti_batch_body(batch, document);
    struct reading reading = {.scan = {.at = body, .end = body + document->body_len}};
    struct vti_buf *const texts[] = {
        &reading.key,     &reading.name,    &reading.base, &reading.span, &reading.parent,
        &reading.project, &reading.service, &reading.host, &reading.type, &reading.message};
    struct vti_trace_detail detail = {.part = VTI_TRACE_ERROR};
    bool is_first = true;
    int code = 0;

    vti_json_take(&reading.scan, '{');
    while (vti_json_next_key(&reading.scan, &is_first, &reading.key))
        take_member(&reading);
    if (!reading.scan.failed && identify(&reading, &detail))
        code = add(batch, document, more, &reading, &detail);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        vti_buf_fini(texts[i]);
    return code;
}
