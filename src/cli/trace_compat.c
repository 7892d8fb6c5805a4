/*
 * trace_compat.c - one trace as osprofiler's report: the same keys in the same order, whole milliseconds, both payloads of each span.
 *
 * Byte for byte what `osprofiler trace show --json` prints of the same notifications: Python's JSON with an indent of two, in ASCII. Some two
 * kilobytes a span, so text is added in pieces that are as long as they can be.
 */
#include "base/error.h"
#include "base/hash.h"
#include "base/uuid.h"
#include "cli/trace.h"
#include "export/python_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEPTH_MOST 1000 /* levels of spans; readers of JSON give up before */

/* A span as its notifications came: by the time that they say, then by file and by when it began there. */
struct arrival {
    int64_t begin_ns;
    uint64_t order;
    uint32_t recording, span;
};

struct writing {
    struct vti_trace_output *out;
    const struct vti_trace_view *view;
    struct vti_python_json json;
    struct vti_python_facts facts;
    int64_t begin_ns;             /* of the first span */
    struct arrival *arrivals;     /* owned, as is the rest; all spans */
    uint32_t *first, *next, root; /* children of each span as they came; VTI_NO_SPAN: none */
};

/* ---- spans ----------------------------------------------------------------------------------- */

/* What the process says of itself stands elsewhere in the report. */
static bool is_wanted(const struct vti_trace_attr *attr, bool is_stop)
{
    if (attr->is_of_begin == is_stop || !strcmp(attr->key, "host"))
        return false;
    return is_stop || (strcmp(attr->key, "service") && strcmp(attr->key, "project"));
}

static void time_text(char to[64], int64_t realtime_ns)
{
    static __thread time_t last = -1;
    static __thread struct tm when;
    time_t seconds = (time_t)(realtime_ns / 1000000000);

    if (seconds != last && gmtime_r(&seconds, &when))
        last = seconds;
    snprintf(to, 64, "%04d-%02d-%02dT%02d:%02d:%02d.%06d", when.tm_year + 1900, when.tm_mon + 1,
             when.tm_mday, when.tm_hour, when.tm_min, when.tm_sec,
             (int)(realtime_ns % 1000000000 / 1000));
}

/* The report knows nothing of clocks that were moved. */
static int64_t unmoved(const struct writing *writing, const struct vti_trace_span *span, int64_t ns)
{
    return ns - writing->view->traces->processes[span->process].skew_ns;
}

struct texts { /* of a span, which its two payloads have in common */
    char id[VTI_UUID_TEXT], parent[VTI_UUID_TEXT], base[VTI_UUID_TEXT];
};

static void add_id(struct writing *writing, bool *is_first, const char *key, const char *id)
{
    vti_python_json_key(&writing->json, is_first, key, strlen(key));
    vti_buf_add_u8(writing->json.text, '"');
    vti_buf_add(writing->json.text, id, VTI_UUID_TEXT - 1);
    vti_buf_add_u8(writing->json.text, '"');
}

static void add_point(struct writing *writing, const struct vti_trace_span *span, bool is_stop)
{
    vti_python_json_escaped(writing->json.text, span->name, strlen(span->name));
    vti_buf_add_text(writing->json.text, is_stop ? "-stop" : "-start");
}

/* One that was said may be empty. */
static void add_project(struct writing *writing, bool *is_first,
                        const struct vti_trace_process *process)
{
    if (process->has_project)
        vti_python_json_member(&writing->json, is_first, "project", process->project);
    else
        vti_python_json_maybe(&writing->json, is_first, "project", process->project);
}

/* A notification as the service sent it. */
static void add_payload(struct writing *writing, const struct vti_trace_span *span,
                        const struct texts *texts, bool is_stop)
{
    const struct vti_trace_process *process = &writing->view->traces->processes[span->process];
    bool is_first = true;
    char when[64];
    int code = vti_python_facts_start(&writing->facts);

    vti_python_json_open(&writing->json, '{');
    vti_python_json_key(&writing->json, &is_first, "name", 4);
    vti_buf_add_u8(writing->json.text, '"');
    add_point(writing, span, is_stop);
    vti_buf_add_u8(writing->json.text, '"');
    add_id(writing, &is_first, "base_id", texts->base);
    add_id(writing, &is_first, "trace_id", texts->id);
    add_id(writing, &is_first, "parent_id", texts->parent);
    time_text(when, unmoved(writing, span, is_stop ? span->end_ns : span->begin_ns));
    vti_python_json_member(&writing->json, &is_first, "timestamp", when);
    vti_python_json_key(&writing->json, &is_first, "info", 4);
    vti_python_json_open(&writing->json, '{');
    for (uint32_t i = 0; i < span->attr_count && !code; i++)
        if (is_wanted(&span->attrs[i], is_stop))
            code = vti_python_facts_add(&writing->facts, &span->attrs[i]);
    if (!code)
        code = vti_python_facts_write(&writing->facts, &writing->json, process->host);
    if (code && !writing->out->code)
        writing->out->code = vti_fail(code, "out of memory");
    vti_python_json_close(&writing->json, '}');
    add_project(writing, &is_first, process);
    vti_python_json_maybe(&writing->json, &is_first, "service", process->service);
    vti_python_json_close(&writing->json, '}');
}

/* Milliseconds as the report has them: of times that were cut to microseconds. */
static int64_t ms_of(const struct writing *writing, const struct vti_trace_span *span, int64_t ns)
{
    return (unmoved(writing, span, ns) / 1000 - writing->begin_ns / 1000) / 1000;
}

static void add_payload_key(struct writing *writing, bool *is_first,
                            const struct vti_trace_span *span, bool is_stop)
{
    vti_python_json_begin(&writing->json, is_first);
    vti_buf_add_text(writing->json.text, "meta.raw_payload.");
    add_point(writing, span, is_stop);
    vti_buf_add(writing->json.text, "\": ", 3);
}

static void add_info(struct writing *writing, const struct vti_trace_span *span,
                     const struct texts *texts)
{
    const struct vti_trace_process *process = &writing->view->traces->processes[span->process];
    bool is_first = true;

    vti_python_json_open(&writing->json, '{');
    vti_python_json_key(&writing->json, &is_first, "name", 4);
    vti_python_json_text(&writing->json, span->name, strcspn(span->name, "-"));
    add_project(writing, &is_first, process);
    vti_python_json_maybe(&writing->json, &is_first, "service", process->service);
    vti_python_json_maybe(&writing->json, &is_first, "host", process->host);
    add_payload_key(writing, &is_first, span, false);
    add_payload(writing, span, texts, false);
    vti_python_json_number(&writing->json, &is_first, "started",
                           ms_of(writing, span, span->begin_ns));
    if (span->is_finished) {
        add_payload_key(writing, &is_first, span, true);
        add_payload(writing, span, texts, true);
        vti_python_json_number(&writing->json, &is_first, "finished",
                               ms_of(writing, span, span->end_ns));
        vti_python_json_member(&writing->json, &is_first, "exception",
                               !span->has_error    ? "None"
                               : *span->error_type ? span->error_type
                                                   : "error");
    } else {
        vti_python_json_number(&writing->json, &is_first, "finished",
                               ms_of(writing, span, span->begin_ns));
    }
    vti_python_json_close(&writing->json, '}');
}

/* Everything of a node up to its children, which come next. */
static void open_node(struct writing *writing, const struct vti_trace_span *span)
{
    const struct vti_trace *trace = writing->view->trace;
    struct texts texts;
    bool is_first = true;

    vti_uuid_text(trace->base, texts.base);
    vti_uuid_text(span->id, texts.id);
    vti_uuid_text(span->parent == VTI_NO_SPAN ? span->parent_id : trace->spans[span->parent].id,
                  texts.parent);
    vti_python_json_line(&writing->json);
    vti_python_json_open(&writing->json, '{');
    vti_python_json_key(&writing->json, &is_first, "info", 4);
    add_info(writing, span, &texts);
    add_id(writing, &is_first, "trace_id", texts.id);
    add_id(writing, &is_first, "parent_id", texts.parent);
    vti_python_json_key(&writing->json, &is_first, "children", 8);
    vti_python_json_open(&writing->json, '[');
}

static void close_node(struct writing *writing, uint32_t at)
{
    if (writing->first[at] == VTI_NO_SPAN) {
        writing->json.level--;
        vti_buf_add_u8(writing->json.text, ']');
    } else {
        vti_python_json_close(&writing->json, ']');
    }
    vti_python_json_close(&writing->json, '}');
}

static void add_nodes(struct writing *writing)
{
    const struct vti_trace *trace = writing->view->trace;

    for (uint32_t at = writing->root; at != VTI_NO_SPAN && !writing->out->code;) {
        open_node(writing, &trace->spans[at]);
        if (writing->first[at] != VTI_NO_SPAN) {
            at = writing->first[at];
            continue;
        }
        while (at != VTI_NO_SPAN && writing->next[at] == VTI_NO_SPAN) {
            close_node(writing, at);
            at = trace->spans[at].parent;
        }
        if (at == VTI_NO_SPAN)
            break;
        close_node(writing, at);
        vti_buf_add_u8(writing->json.text, ',');
        at = writing->next[at];
        vti_trace_output_step(writing->out);
    }
}

/* ---- order ----------------------------------------------------------------------------------- */

static int by_arrival(const void *left, const void *right)
{
    const struct arrival *a = left;
    const struct arrival *b = right;

    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->recording != b->recording)
        return a->recording < b->recording ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->span < b->span ? -1 : a->span > b->span;
}

static int put_in_order(struct writing *writing)
{
    const struct vti_trace *trace = writing->view->trace;
    size_t count = trace->span_count;

    writing->arrivals = malloc((count + 1) * sizeof *writing->arrivals);
    writing->first = malloc((count + 1) * sizeof *writing->first);
    writing->next = malloc((count + 1) * sizeof *writing->next);
    writing->root = VTI_NO_SPAN;
    if (!writing->arrivals || !writing->first || !writing->next)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < count; i++) {
        const struct vti_trace_span *span = &trace->spans[i];

        writing->first[i] = VTI_NO_SPAN;
        writing->arrivals[i] = (struct arrival){
            unmoved(writing, span, span->begin_ns), span->order,
            writing->view->traces->processes[span->process].recording, i};
    }
    if (count)
        qsort(writing->arrivals, count, sizeof *writing->arrivals, by_arrival);
    writing->begin_ns = count ? writing->arrivals[0].begin_ns : 0;
    for (size_t i = count; i-- > 0;) {
        uint32_t at = writing->arrivals[i].span;
        uint32_t parent = trace->spans[at].parent;
        uint32_t *first = parent == VTI_NO_SPAN ? &writing->root : &writing->first[parent];

        writing->next[at] = *first;
        *first = at;
    }
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct stat {
    uint64_t count;
    int64_t duration;
};

static int add_stats(struct writing *writing)
{
    const struct vti_trace *trace = writing->view->trace;
    struct stat *stats = calloc(trace->span_count + 1u, sizeof *stats);
    struct vti_map *names = NULL;
    bool is_first = true;
    int is_new;
    int code = stats ? vti_map_create(&names) : VTI_E_NOMEM;

    for (uint32_t i = 0; i < trace->span_count && !code; i++) {
        const struct vti_trace_span *span = &trace->spans[writing->arrivals[i].span];
        int64_t at = vti_map_add(names, span->name, strcspn(span->name, "-"), &is_new);

        if (at < 0) {
            code = VTI_E_NOMEM;
            break;
        }
        stats[at].count++;
        if (span->is_finished)
            stats[at].duration += ms_of(writing, span, span->end_ns) -
                                  ms_of(writing, span, span->begin_ns);
    }
    for (uint32_t i = 0; !code && i < vti_map_count(names); i++) {
        bool is_inner_first = true;
        size_t len;
        const char *name = vti_map_key(names, i, &len);

        vti_python_json_key(&writing->json, &is_first, name, len);
        vti_python_json_open(&writing->json, '{');
        vti_python_json_number(&writing->json, &is_inner_first, "count", (int64_t)stats[i].count);
        vti_python_json_number(&writing->json, &is_inner_first, "duration", stats[i].duration);
        vti_python_json_close(&writing->json, '}');
    }
    vti_map_free(names);
    free(stats);
    return code;
}

static void add_total(struct writing *writing)
{
    const struct vti_trace *trace = writing->view->trace;
    int64_t last_begin = 0, last = 0;
    bool is_first = true;

    for (uint32_t i = 0; i < trace->span_count; i++) {
        const struct vti_trace_span *span = &trace->spans[i];
        int64_t begin = ms_of(writing, span, span->begin_ns);
        int64_t end = span->is_finished ? ms_of(writing, span, span->end_ns) : begin;

        last_begin = begin > last_begin ? begin : last_begin;
        last = end > last ? end : last;
    }
    vti_python_json_open(&writing->json, '{');
    vti_python_json_member(&writing->json, &is_first, "name", "total");
    vti_python_json_number(&writing->json, &is_first, "started", 0);
    vti_python_json_number(&writing->json, &is_first, "finished", last);
    vti_python_json_number(&writing->json, &is_first, "last_trace_started", last_begin);
    vti_python_json_close(&writing->json, '}');
}

void vti_trace_compat(struct vti_trace_output *out, const struct vti_trace_view *view)
{
    struct writing writing = {.out = out, .view = view, .json = {.text = &out->text}};
    bool is_first = true;

    for (uint32_t i = 0; i < view->trace->span_count; i++)
        if (view->trace->spans[i].depth > DEPTH_MOST) {
            out->code = vti_fail(VTI_E_LIMIT,
                                 "more than %d spans inside each other: no reader takes such a "
                                 "report, use --json",
                                 DEPTH_MOST);
            return;
        }
    out->code = put_in_order(&writing);
    if (out->code)
        goto out;
    vti_python_json_open(&writing.json, '{');
    vti_python_json_key(&writing.json, &is_first, "info", 4);
    add_total(&writing);
    vti_python_json_key(&writing.json, &is_first, "children", 8);
    vti_python_json_open(&writing.json, '[');
    add_nodes(&writing);
    vti_python_json_close(&writing.json, ']');
    vti_python_json_key(&writing.json, &is_first, "stats", 5);
    vti_python_json_open(&writing.json, '{');
    if (!out->code)
        out->code = add_stats(&writing);
    vti_python_json_close(&writing.json, '}');
    vti_python_json_close(&writing.json, '}');
    vti_buf_add_u8(&out->text, '\n');
out:
    vti_python_facts_fini(&writing.facts);
    free(writing.arrivals);
    free(writing.first);
    free(writing.next);
}
