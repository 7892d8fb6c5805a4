/*
 * trace_compat.c - one trace as osprofiler's report: the same keys in the same order, whole milliseconds, both payloads of each span.
 *
 * Byte for byte what `osprofiler trace show --json` prints of the same notifications: Python's JSON with an indent of two, in ASCII. Some two
 * kilobytes a span, so text is added in pieces that are as long as they can be.
 */
#include "base/error.h"
#include "base/hash.h"
#include "base/uuid.h"
#include "cli/python_json.h"
#include "cli/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEPTH_MOST 1000 /* levels of spans; readers of JSON give up before */
#define PARTS_MOST 8    /* of a key between dots */
#define GROUPED_MOST 64 /* facts of a span whose order is looked at */

struct writing {
    struct vti_trace_output *out;
    const struct vti_trace_view *view;
    struct vti_python_json json;
};

/* ---- facts: keys with dots become objects inside each other ----------------------------------- */

struct nest {
    struct vti_bytes parts[PARTS_MOST]; /* that are open */
    unsigned depth;
    bool is_first;
};

static unsigned split_key(const char *key, struct vti_bytes parts[PARTS_MOST])
{
    unsigned count = 0;

    while (count < PARTS_MOST - 1) {
        const char *dot = strchr(key, '.');

        if (!dot || dot == key || !dot[1])
            break;
        parts[count++] = (struct vti_bytes){key, (size_t)(dot - key)};
        key = dot + 1;
    }
    parts[count++] = (struct vti_bytes){key, strlen(key)};
    return count;
}

static bool is_same(const struct vti_bytes *a, const struct vti_bytes *b)
{
    return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

static void add_fact(struct writing *writing, struct nest *nest, const struct vti_trace_attr *attr)
{
    struct vti_bytes parts[PARTS_MOST];
    unsigned count = split_key(attr->key, parts);
    unsigned same = 0;

    while (same < nest->depth && same < count - 1 && is_same(&nest->parts[same], &parts[same]))
        same++;
    for (; nest->depth > same; nest->depth--)
        vti_python_json_close(&writing->json, '}');
    for (; nest->depth < count - 1; nest->depth++) {
        vti_python_json_key(&writing->json, &nest->is_first, parts[nest->depth].data,
                            parts[nest->depth].len);
        vti_python_json_open(&writing->json, '{');
        nest->parts[nest->depth] = parts[nest->depth];
        nest->is_first = true;
    }
    vti_python_json_key(&writing->json, &nest->is_first, parts[count - 1].data,
                        parts[count - 1].len);
    vti_python_json_value(&writing->json, &attr->value);
}

/* What the process says of itself stands elsewhere in the report. */
static bool is_wanted(const struct vti_trace_attr *attr, bool is_stop)
{
    if (attr->is_of_begin == is_stop || !strcmp(attr->key, "host"))
        return false;
    return is_stop || (strcmp(attr->key, "service") && strcmp(attr->key, "project"));
}

static bool has_same_head(const char *a, const char *b)
{
    size_t len = strcspn(a, ".");

    return len == strcspn(b, ".") && !strncmp(a, b, len);
}

/* Facts whose keys begin alike come one after the other, whatever order they were said in. */
static void add_facts(struct writing *writing, struct nest *nest, const struct vti_trace_span *span,
                      bool is_stop)
{
    uint64_t done = 0;
    bool is_grouped = span->attr_count <= GROUPED_MOST;

    for (uint32_t i = 0; i < span->attr_count; i++) {
        if ((is_grouped && done >> i & 1) || !is_wanted(&span->attrs[i], is_stop))
            continue;
        add_fact(writing, nest, &span->attrs[i]);
        for (uint32_t k = i + 1; k < span->attr_count && is_grouped; k++)
            if (!(done >> k & 1) && is_wanted(&span->attrs[k], is_stop) &&
                has_same_head(span->attrs[i].key, span->attrs[k].key)) {
                add_fact(writing, nest, &span->attrs[k]);
                done |= UINT64_C(1) << k;
            }
    }
    for (; nest->depth > 0; nest->depth--) {
        vti_python_json_close(&writing->json, '}');
        nest->is_first = false;
    }
}

/* ---- spans ----------------------------------------------------------------------------------- */

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

/* A notification as the service sent it. */
static void add_payload(struct writing *writing, const struct vti_trace_span *span,
                        const struct texts *texts, bool is_stop)
{
    const struct vti_trace_process *process = &writing->view->traces->processes[span->process];
    struct nest nest = {.is_first = true};
    bool is_first = true;
    char when[64];

    vti_python_json_open(&writing->json, '{');
    vti_python_json_key(&writing->json, &is_first, "name", 4);
    vti_buf_add_u8(writing->json.text, '"');
    add_point(writing, span, is_stop);
    vti_buf_add_u8(writing->json.text, '"');
    add_id(writing, &is_first, "base_id", texts->base);
    add_id(writing, &is_first, "trace_id", texts->id);
    add_id(writing, &is_first, "parent_id", texts->parent);
    time_text(when, is_stop ? span->end_ns : span->begin_ns);
    vti_python_json_member(&writing->json, &is_first, "timestamp", when);
    vti_python_json_key(&writing->json, &is_first, "info", 4);
    vti_python_json_open(&writing->json, '{');
    add_facts(writing, &nest, span, is_stop);
    vti_python_json_maybe(&writing->json, &nest.is_first, "host", process->host);
    vti_python_json_close(&writing->json, '}');
    vti_python_json_maybe(&writing->json, &is_first, "project", process->project);
    vti_python_json_maybe(&writing->json, &is_first, "service", process->service);
    vti_python_json_close(&writing->json, '}');
}

/* Milliseconds as the report has them: of times that were cut to microseconds. */
static int64_t ms_since(const struct vti_trace *trace, int64_t ns)
{
    return (ns / 1000 - trace->begin_ns / 1000) / 1000;
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
    const struct vti_trace *trace = writing->view->trace;
    bool is_first = true;

    vti_python_json_open(&writing->json, '{');
    vti_python_json_key(&writing->json, &is_first, "name", 4);
    vti_python_json_text(&writing->json, span->name, strcspn(span->name, "-"));
    vti_python_json_maybe(&writing->json, &is_first, "project", process->project);
    vti_python_json_maybe(&writing->json, &is_first, "service", process->service);
    vti_python_json_maybe(&writing->json, &is_first, "host", process->host);
    add_payload_key(writing, &is_first, span, false);
    add_payload(writing, span, texts, false);
    vti_python_json_number(&writing->json, &is_first, "started", ms_since(trace, span->begin_ns));
    if (span->is_finished) {
        add_payload_key(writing, &is_first, span, true);
        add_payload(writing, span, texts, true);
        vti_python_json_number(&writing->json, &is_first, "finished",
                               ms_since(trace, span->end_ns));
        vti_python_json_member(&writing->json, &is_first, "exception",
                               !span->has_error    ? "None"
                               : *span->error_type ? span->error_type
                                                   : "error");
    } else {
        vti_python_json_number(&writing->json, &is_first, "finished",
                               ms_since(trace, span->begin_ns));
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

static void close_node(struct writing *writing, const struct vti_trace_span *span)
{
    if (span->first_child == VTI_NO_SPAN) {
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

    for (uint32_t i = 0; i < trace->span_count && !writing->out->code; i++) {
        const struct vti_trace_span *span = &trace->spans[i];
        uint32_t next_depth = i + 1 < trace->span_count ? span[1].depth : 0;
        uint32_t at = i;

        open_node(writing, span);
        if (span->first_child != VTI_NO_SPAN)
            continue;
        for (uint32_t depth = span->depth + 1; depth > next_depth; depth--) {
            close_node(writing, &trace->spans[at]);
            at = trace->spans[at].parent;
        }
        if (i + 1 < trace->span_count)
            vti_buf_add_u8(writing->json.text, ',');
        vti_trace_output_step(writing->out);
    }
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
        const struct vti_trace_span *span = &trace->spans[i];
        int64_t at = vti_map_add(names, span->name, strcspn(span->name, "-"), &is_new);

        if (at < 0) {
            code = VTI_E_NOMEM;
            break;
        }
        stats[at].count++;
        if (span->is_finished)
            stats[at].duration += ms_since(trace, span->end_ns) - ms_since(trace, span->begin_ns);
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
    int64_t last_begin = trace->begin_ns, last = trace->begin_ns;
    bool is_first = true;

    for (uint32_t i = 0; i < trace->span_count; i++) {
        const struct vti_trace_span *span = &trace->spans[i];
        int64_t end = span->is_finished ? span->end_ns : span->begin_ns;

        last_begin = span->begin_ns > last_begin ? span->begin_ns : last_begin;
        last = end > last ? end : last;
    }
    vti_python_json_open(&writing->json, '{');
    vti_python_json_member(&writing->json, &is_first, "name", "total");
    vti_python_json_number(&writing->json, &is_first, "started", 0);
    vti_python_json_number(&writing->json, &is_first, "finished", ms_since(trace, last));
    vti_python_json_number(&writing->json, &is_first, "last_trace_started",
                           ms_since(trace, last_begin));
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
}
