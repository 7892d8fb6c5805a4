/* from_rows.c - what a store has summed up, as venturi-fetch writes it, becomes what commands show. */
#include "analyze/traces_impl.h"
#include "base/error.h"
#include "base/json_scan.h"
#include "base/uuid.h"
#include "cli/from_store.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define SERVICES_MOST 64u

struct rows {
    struct vti_json_scan scan;
    struct vti_buf key, text;
};

static int64_t take_integer(struct rows *rows)
{
    char first = vti_json_peek(&rows->scan);
    const char *text;
    size_t len;

    if (first != '-' && (first < '0' || first > '9')) {
        vti_json_skip(&rows->scan);
        return -1;
    }
    return vti_json_scan_number(&rows->scan, &text, &len) ? strtoll(text, NULL, 10) : -1;
}

static double take_double(struct rows *rows)
{
    char first = vti_json_peek(&rows->scan);
    const char *text;
    size_t len;

    if (first != '-' && (first < '0' || first > '9')) {
        vti_json_skip(&rows->scan);
        return __builtin_nan("");
    }
    return vti_json_scan_number(&rows->scan, &text, &len) ? strtod(text, NULL) : __builtin_nan("");
}

static bool key_is(const struct rows *rows, const char *name)
{
    return !strcmp((const char *)rows->key.data, name);
}

/* Into the array that stands under `name`; false: there is none. */
static bool enter(struct rows *rows, const struct vti_buf *text, const char *name)
{
    bool is_first = true;

    *rows = (struct rows){
        .scan = {.at = (const char *)text->data, .end = (const char *)text->data + text->len}};
    vti_json_take(&rows->scan, '{');
    while (vti_json_next_key(&rows->scan, &is_first, &rows->key)) {
        if (key_is(rows, name) && vti_json_peek(&rows->scan) == '[')
            return vti_json_take(&rows->scan, '[');
        vti_json_skip(&rows->scan);
    }
    return false;
}

static int leave(struct rows *rows, int code)
{
    if (!code && rows->scan.failed)
        code = vti_fail(VTI_E_DAMAGED, "what venturi-fetch has written is no JSON");
    vti_buf_fini(&rows->key);
    vti_buf_fini(&rows->text);
    return code;
}

/* ---- traces ---------------------------------------------------------------------------------- */

/* A process for the service, unless the trace has it: nobody must meet a service twice. */
static int add_service(struct vti_traces *traces, struct rows *rows, uint32_t *processes,
                       uint32_t *count)
{
    const char *service = vti_traces_text(traces, (const char *)rows->text.data, rows->text.len);
    int64_t process;
    bool is_new;

    for (uint32_t i = 0; service && i < *count; i++)
        if (traces->processes[processes[i]].service == service)
            return 0;
    process = vti_traces_process(traces, (uint32_t)traces->trace_count, *count, &is_new);
    if (!service || process < 0)
        return VTI_E_NOMEM;
    traces->processes[process].service = service;
    processes[(*count)++] = (uint32_t)process;
    return 0;
}

/* Each service becomes a process of the trace, with a span. */
static int take_services(struct vti_traces *traces, struct rows *rows, struct vti_trace *trace)
{
    uint32_t processes[SERVICES_MOST];
    uint32_t count = 0;
    bool is_first = true;
    int code = 0;

    if (vti_json_peek(&rows->scan) != '[' || trace->service_count) {
        vti_json_skip(&rows->scan);
        return 0;
    }
    vti_json_take(&rows->scan, '[');
    while (!code && vti_json_next_item(&rows->scan, &is_first)) {
        if (vti_json_peek(&rows->scan) != '"' || count == SERVICES_MOST) {
            vti_json_skip(&rows->scan);
            continue;
        }
        vti_json_scan_string(&rows->scan, &rows->text);
        code = add_service(traces, rows, processes, &count);
    }
    if (code || !count)
        return code;
    trace->spans = vti_traces_alloc(traces, count * sizeof *trace->spans);
    if (!trace->spans)
        return VTI_E_NOMEM;
    memset(trace->spans, 0, count * sizeof *trace->spans);
    for (uint32_t i = 0; i < count; i++)
        trace->spans[i].process = processes[i];
    trace->service_count = count;
    return 0;
}

static int take_trace(struct vti_traces *traces, struct rows *rows, struct vti_trace *trace)
{
    const char *root = "";
    bool is_first = true;
    int64_t duration_ns = 0;
    int code = 0;

    vti_json_take(&rows->scan, '{');
    while (!code && vti_json_next_key(&rows->scan, &is_first, &rows->key)) {
        if (key_is(rows, "trace") && vti_json_peek(&rows->scan) == '"') {
            vti_json_scan_string(&rows->scan, &rows->text);
            vti_uuid_parse(trace->base, (const char *)rows->text.data, rows->text.len);
        } else if (key_is(rows, "root") && vti_json_peek(&rows->scan) == '"') {
            vti_json_scan_string(&rows->scan, &rows->text);
            root = vti_traces_text(traces, (const char *)rows->text.data, rows->text.len);
            code = root ? 0 : VTI_E_NOMEM;
        } else if (key_is(rows, "services")) {
            code = take_services(traces, rows, trace);
        } else if (key_is(rows, "begin_ns")) {
            trace->begin_ns = vti_traces_bounded(take_integer(rows));
        } else if (key_is(rows, "duration_ns")) {
            duration_ns = vti_traces_bounded(take_integer(rows));
        } else if (key_is(rows, "spans")) {
            trace->span_count = (uint32_t)take_integer(rows);
        } else if (key_is(rows, "errors")) {
            trace->error_count = (uint32_t)take_integer(rows);
        } else if (key_is(rows, "unfinished")) {
            trace->unfinished_count = (uint32_t)take_integer(rows);
        } else if (key_is(rows, "hosts")) {
            trace->host_count = (uint32_t)take_integer(rows);
        } else {
            vti_json_skip(&rows->scan);
        }
    }
    if (!code && !trace->service_count)
        code = VTI_E_DAMAGED;
    if (code)
        return code;
    trace->spans[0].name = root;
    trace->end_ns = trace->begin_ns + duration_ns;
    trace->knows_errors = true;
    return 0;
}

static int by_begin(const void *left, const void *right)
{
    const struct vti_trace *a = left, *b = right;

    return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

int vti_rows_traces(struct vti_traces *traces, const struct vti_buf *text)
{
    struct vti_trace_owned *owned;
    bool is_first = true;
    struct rows rows;
    int code = vti_traces_start(traces);

    if (!code && !enter(&rows, text, "traces"))
        rows.scan.failed = true;
    owned = code ? NULL : traces->owned;
    while (!code && vti_json_next_item(&rows.scan, &is_first)) {
        struct vti_trace trace = {.span_count = 0};

        code = vti_json_peek(&rows.scan) == '{' ? take_trace(traces, &rows, &trace) : VTI_E_DAMAGED;
        if (!code && vti_grow(&traces->traces, traces->trace_count, &owned->trace_room,
                              sizeof *traces->traces))
            code = VTI_E_NOMEM;
        if (!code)
            traces->traces[traces->trace_count++] = trace;
    }
    code = leave(&rows, code);
    if (!code && traces->trace_count)
        qsort(traces->traces, traces->trace_count, sizeof *traces->traces, by_begin);
    if (code)
        vti_traces_fini(traces);
    return code;
}

/* ---- names ----------------------------------------------------------------------------------- */

static int take_name(struct vti_rank *rank, struct rows *rows)
{
    struct vti_rank_row row = {0};
    struct vti_buf name = {0};
    bool is_first = true;
    const struct {
        const char *key;
        double *to;
    } times[] = {{"total", &row.total}, {"max", &row.max}, {"avg", &row.avg},  {"min", &row.min},
                 {"p50", &row.p50},     {"p99", &row.p99}, {"self", &row.self}};
    const struct {
        const char *key;
        uint64_t *to;
    } counts[] = {{"count", &row.count}, {"unfinished", &row.unfinished}, {"errors", &row.errors}};
    int code;

    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        *times[i].to = __builtin_nan("");
    vti_json_take(&rows->scan, '{');
    while (vti_json_next_key(&rows->scan, &is_first, &rows->key)) {
        bool is_taken = false;

        if (key_is(rows, "name") && vti_json_peek(&rows->scan) == '"') {
            vti_json_scan_string(&rows->scan, &name);
            continue;
        }
        for (size_t i = 0; i < sizeof times / sizeof *times && !is_taken; i++)
            if (key_is(rows, times[i].key)) {
                *times[i].to = take_double(rows);
                is_taken = true;
            }
        for (size_t i = 0; i < sizeof counts / sizeof *counts && !is_taken; i++)
            if (key_is(rows, counts[i].key)) {
                int64_t number = take_integer(rows);

                *counts[i].to = number > 0 ? (uint64_t)number : 0;
                is_taken = true;
            }
        if (!is_taken)
            vti_json_skip(&rows->scan);
    }
    row.name = (const char *)name.data;
    row.len = name.len;
    code = name.len ? vti_rank_add(rank, &row) : 0;
    vti_buf_fini(&name);
    return code;
}

int vti_rows_rank(struct vti_rank *rank, const struct vti_buf *text)
{
    bool is_first = true;
    struct rows rows;
    int code = 0;

    if (!enter(&rows, text, "names"))
        rows.scan.failed = true;
    while (!code && vti_json_next_item(&rows.scan, &is_first))
        code = vti_json_peek(&rows.scan) == '{' ? take_name(rank, &rows)
                                                : vti_fail(VTI_E_DAMAGED, "a row is no object");
    return leave(&rows, code);
}
