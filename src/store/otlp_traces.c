/*
 * otlp_traces.c - spans as OTLP has them: one message each, with what was said at its begin and its end as attributes.
 *
 * Ids are those of the trace: 128 bits of the base, the last 64 of a span; a root has no parent.
 */
#include "base/error.h"
#include "import/json_value.h"
#include "store/otlp.h"

#include <stdlib.h>
#include <string.h>

enum { KIND_INTERNAL = 1, KIND_SERVER = 2, KIND_CLIENT = 3 };
enum { STATUS_ERROR = 2 };

struct writing {
    struct vti_wire wire;
    const struct vti_trace_detail *span;
    unsigned kind;
};

#define SAYS(writing, field) vti_trace_detail_text((writing)->span, (writing)->span->field)
#define TEXT(wire, number, name, text) vti_wire_text((wire), (number), (name), (text), strlen(text))
#define ATTR(wire, number, key, text)                                                              \
    vti_wire_attr_text((wire), (number), (key), sizeof(key) - 1, (text), strlen(text))

/* ---- one span -------------------------------------------------------------------------------- */

static bool begins(const char *key, size_t len, const char *with)
{
    return len > strlen(with) && !memcmp(key, with, strlen(with));
}

static int add_fact(const char *key, size_t len, const struct vti_value *value, void *arg)
{
    struct writing *writing = arg;

    if ((len == 4 && !memcmp(key, "host", 4)) || (len == 5 && !memcmp(key, "etype", 5)) ||
        (len == 7 && !memcmp(key, "message", 7)))
        return 0; /* of the resource, and of the error */
    if (begins(key, len, "request."))
        writing->kind = KIND_SERVER;
    else if (begins(key, len, "requests.") || begins(key, len, "db."))
        writing->kind = KIND_CLIENT;
    switch (value->type) {
    case VTI_VALUE_INT:
        vti_wire_attr_int(&writing->wire, 9, key, len, value->i);
        break;
    case VTI_VALUE_UINT:
        vti_wire_attr_int(&writing->wire, 9, key, len, (int64_t)value->u);
        break;
    case VTI_VALUE_DOUBLE:
        vti_wire_attr_double(&writing->wire, 9, key, len, value->d);
        break;
    case VTI_VALUE_TEXT:
        vti_wire_attr_text(&writing->wire, 9, key, len, value->text.data, value->text.len);
        break;
    case VTI_VALUE_NONE:
        break;
    }
    return 0;
}

static void add_facts(struct writing *writing, const char *info)
{
    struct vti_json_scan scan = {.at = info, .end = info + strlen(info)};

    vti_json_flatten(&scan, "", add_fact, writing);
}

static void add_error(struct writing *writing)
{
    struct vti_wire *wire = &writing->wire;
    const char *type = SAYS(writing, error_type);
    const char *message = SAYS(writing, error_message);
    size_t begin;

    if (!writing->span->has_failed)
        return;
    vti_wire_list(wire, "events");
    begin = vti_wire_item(wire, 11);
    vti_wire_u64(wire, 1, "timeUnixNano", (uint64_t)writing->span->end_ns);
    TEXT(wire, 2, "name", "exception");
    vti_wire_list(wire, "attributes");
    ATTR(wire, 3, "exception.type", type);
    ATTR(wire, 3, "exception.message", message);
    vti_wire_list_end(wire);
    vti_wire_end(wire, begin);
    vti_wire_list_end(wire);
    begin = vti_wire_message(wire, 15, "status");
    TEXT(wire, 2, "message", *message ? message : type);
    vti_wire_enum(wire, 3, "code", STATUS_ERROR);
    vti_wire_end(wire, begin);
}

static void add_span(struct writing *writing)
{
    const struct vti_trace_detail *span = writing->span;
    struct vti_wire *wire = &writing->wire;
    size_t begin = vti_wire_item(wire, 2);

    writing->kind = KIND_INTERNAL;
    vti_wire_id(wire, 1, "traceId", span->ids.base, 16);
    vti_wire_id(wire, 2, "spanId", span->ids.span + 8, 8);
    if (memcmp(span->ids.parent, span->ids.base, 16))
        vti_wire_id(wire, 4, "parentSpanId", span->ids.parent + 8, 8);
    TEXT(wire, 5, "name", SAYS(writing, name));
    vti_wire_u64(wire, 7, "startTimeUnixNano", (uint64_t)span->begin_ns);
    vti_wire_u64(wire, 8, "endTimeUnixNano",
                 (uint64_t)(span->is_open ? span->begin_ns : span->end_ns));
    vti_wire_list(wire, "attributes");
    add_facts(writing, SAYS(writing, begin_info));
    if (span->is_open) /* OTLP knows no span without an end */
        vti_wire_attr_bool(wire, 9, "venturi.unfinished", 18, true);
    else
        add_facts(writing, SAYS(writing, end_info));
    vti_wire_list_end(wire);
    vti_wire_enum(wire, 6, "kind", writing->kind);
    add_error(writing);
    vti_wire_end(wire, begin);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const struct vti_batch *sorted; /* qsort has no argument for it */

static int by_resource(const struct vti_trace_detail *a, const struct vti_trace_detail *b)
{
    int way = strcmp(vti_trace_detail_text(a, a->service), vti_trace_detail_text(b, b->service));

    if (!way)
        way = strcmp(vti_trace_detail_text(a, a->project), vti_trace_detail_text(b, b->project));
    if (!way)
        way = strcmp(vti_trace_detail_text(a, a->host), vti_trace_detail_text(b, b->host));
    return way ? way : (a->pid > b->pid) - (a->pid < b->pid);
}

static int compare(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    int way = by_resource(vti_trace_detail_of(sorted, &sorted->documents[a]),
                          vti_trace_detail_of(sorted, &sorted->documents[b]));

    return way ? way : (a > b) - (a < b);
}

static void add_resource(struct writing *writing)
{
    struct vti_wire *wire = &writing->wire;
    size_t begin = vti_wire_message(wire, 1, "resource");

    vti_wire_list(wire, "attributes");
    ATTR(wire, 1, "service.name",
         *SAYS(writing, service) ? SAYS(writing, service) : "unknown_service");
    if (*SAYS(writing, project))
        ATTR(wire, 1, "service.namespace", SAYS(writing, project));
    if (*SAYS(writing, host))
        ATTR(wire, 1, "host.name", SAYS(writing, host));
    if (writing->span->pid)
        vti_wire_attr_int(wire, 1, "process.pid", 11, writing->span->pid);
    vti_wire_list_end(wire);
    vti_wire_end(wire, begin);
}

static void add_scope(struct vti_wire *wire)
{
    size_t begin = vti_wire_message(wire, 1, "scope");

    TEXT(wire, 1, "name", VTI_OTLP_SCOPE);
    TEXT(wire, 2, "version", VENTURI_VERSION);
    vti_wire_end(wire, begin);
}

int vti_otlp_spans(struct vti_buf *out, bool is_json, const struct vti_batch *batch, size_t *at,
                   size_t count)
{
    struct writing writing = {.kind = 0};
    size_t next;

    sorted = batch;
    if (count)
        qsort(at, count, sizeof *at, compare);
    vti_wire_init(&writing.wire, out, is_json);
    vti_wire_list(&writing.wire, "resourceSpans");
    for (size_t i = 0; i < count; i = next) {
        size_t resource = vti_wire_item(&writing.wire, 1), scope;
        const struct vti_trace_detail *first = vti_trace_detail_of(batch, &batch->documents[at[i]]);

        writing.span = first;
        add_resource(&writing);
        vti_wire_list(&writing.wire, "scopeSpans");
        scope = vti_wire_item(&writing.wire, 2);
        add_scope(&writing.wire);
        vti_wire_list(&writing.wire, "spans");
        for (next = i; next < count; next++) {
            writing.span = vti_trace_detail_of(batch, &batch->documents[at[next]]);
            if (by_resource(first, writing.span))
                break;
            add_span(&writing);
        }
        vti_wire_list_end(&writing.wire);
        vti_wire_end(&writing.wire, scope);
        vti_wire_list_end(&writing.wire);
        vti_wire_end(&writing.wire, resource);
    }
    vti_wire_list_end(&writing.wire);
    vti_wire_fini(&writing.wire);
    return out->failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}
