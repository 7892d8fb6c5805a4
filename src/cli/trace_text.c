/* trace_text.c - one trace as a tree for the terminal. */
#include "analyze/values.h"
#include "base/error.h"
#include "base/uuid.h"
#include "cli/prose.h"
#include "cli/render.h"
#include "cli/trace.h"

#include <stdio.h>
#include <string.h>

#define INDENT_MOST 20 /* levels; deeper ones say how deep they are */
#define DETAIL_MOST 48 /* columns */
#define MESSAGE_MOST 60
#define WIDE_ENOUGH 112 /* columns in which an error has room beside its span */
#define COLUMNS 6

/* ---- what a span did ------------------------------------------------------------------------- */

static const struct vti_value *text_of(const struct vti_trace_span *span, const char *key)
{
    for (uint32_t i = 0; i < span->attr_count; i++)
        if (!strcmp(span->attrs[i].key, key) && span->attrs[i].value.type == VTI_VALUE_TEXT)
            return &span->attrs[i].value;
    return NULL;
}

void vti_trace_detail(struct vti_buf *out, const struct vti_trace_span *span)
{
    static const char *const pairs[][2] = {{"request.method", "request.path"},
                                           {"requests.method", "requests.path"},
                                           {"requests.method", "requests.url"},
                                           {NULL, "db.statement"},
                                           {NULL, "function.name"}};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct vti_value *first = pairs[i][0] ? text_of(span, pairs[i][0]) : NULL;
        const struct vti_value *second = text_of(span, pairs[i][1]);

        if (!second || (pairs[i][0] && !first))
            continue;
        if (first) {
            vti_buf_add(out, first->text.data, first->text.len);
            vti_buf_add_u8(out, ' ');
        }
        vti_buf_add(out, second->text.data, second->text.len);
        return;
    }
}

/* Of any bytes, harmless and not too long. */
static void add_fitted(struct vti_buf *out, const char *text, size_t len, size_t most)
{
    struct vti_buf safe = {0};

    vti_text_safe(&safe, text, len);
    vti_text_fit(out, (const char *)safe.data, safe.len, most);
    vti_buf_fini(&safe);
}

static void add_error(struct vti_buf *out, const struct vti_trace_span *span)
{
    const char *type = span->error_type;
    const char *message = span->error_message;

    vti_buf_add_text(out, "! ");
    if (*type)
        add_fitted(out, type, strlen(type), MESSAGE_MOST);
    if (*type && *message)
        vti_buf_add_text(out, ": ");
    if (*message)
        add_fitted(out, message, strlen(message), MESSAGE_MOST);
    if (!*type && !*message)
        vti_buf_add_text(out, "failed");
}

/* How many spans are inside the one at `at`, at any depth. */
static uint32_t count_inside(const struct vti_trace *trace, uint32_t at)
{
    uint32_t next = at + 1;

    while (next < trace->span_count && trace->spans[next].depth > trace->spans[at].depth)
        next++;
    return next - at - 1;
}

static void add_label(struct vti_buf *out, const struct vti_trace_view *view, uint32_t at,
                      bool has_room)
{
    const struct vti_trace_span *span = &view->trace->spans[at];
    struct vti_buf detail = {0};

    for (uint32_t i = 0; i < span->depth && i < INDENT_MOST; i++)
        vti_buf_add_text(out, "  ");
    if (span->depth > INDENT_MOST)
        vti_buf_printf(out, "(%u) ", span->depth);
    vti_text_safe(out, span->name, strlen(span->name));
    vti_trace_detail(&detail, span);
    if (detail.len) {
        vti_buf_add_text(out, "  ");
        add_fitted(out, (const char *)detail.data, detail.len, DETAIL_MOST);
    }
    vti_buf_fini(&detail);
    if (!span->is_finished)
        vti_buf_add_text(out, "  (unfinished)");
    if (span->is_orphan) {
        char id[VTI_UUID_TEXT];

        vti_uuid_text(span->parent_id, id);
        vti_buf_printf(out, "  (its parent %s is missing)", id);
    }
    if (span->has_error && has_room) {
        vti_buf_add_text(out, "  ");
        add_error(out, span);
    }
    if (span->depth + 1 >= view->depth && span->first_child != VTI_NO_SPAN)
        vti_buf_printf(out, "  [%u inside]", count_inside(view->trace, at));
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* Below the span and not moved to the right: in a narrow table the type would be what is left out. */
static void add_error_row(struct vti_table *table, const struct vti_trace_span *span)
{
    struct vti_buf label = {0};

    for (unsigned i = 0; i < COLUMNS - 1; i++)
        vti_table_text(table, "");
    add_error(&label, span);
    vti_table_bytes(table, (const char *)label.data, label.len);
    vti_buf_fini(&label);
}

static void add_row(struct vti_table *table, const struct vti_trace_view *view, uint32_t at,
                    bool has_room)
{
    const struct vti_trace_span *span = &view->trace->spans[at];
    struct vti_buf label = {0};

    vti_table_text(table, span->is_critical ? "*" : "");
    vti_table_time(table, (double)(span->begin_ns - view->trace->begin_ns));
    vti_table_time(table, (double)(span->end_ns - span->begin_ns));
    vti_table_time(table, (double)span->self_ns);
    vti_table_text(table, view->traces->processes[span->process].service);
    add_label(&label, view, at, has_room);
    vti_table_bytes(table, (const char *)label.data, label.len);
    vti_buf_fini(&label);
    if (span->has_error && !has_room)
        add_error_row(table, span);
}

static void add_head(struct vti_buf *out, const struct vti_trace_view *view)
{
    const struct vti_trace *trace = view->trace;
    char id[VTI_UUID_TEXT];
    char when[VTI_MOMENT_BYTES];
    char time[VTI_NUMBER_BYTES];

    vti_uuid_text(trace->base, id);
    vti_moment_text(when, trace->begin_ns);
    vti_text_duration(time, (double)(trace->end_ns - trace->begin_ns));
    vti_buf_printf(out, "trace %s, %s\n%s, ", id, when, time);
    vti_prose_plural(out, trace->span_count, "span");
    vti_buf_add_text(out, ", ");
    vti_prose_plural(out, trace->service_count, "service");
    vti_buf_add_text(out, ", ");
    vti_prose_plural(out, trace->host_count, "host");
    vti_buf_add_text(out, ", ");
    vti_prose_plural(out, trace->error_count, "error");
    if (trace->unfinished_count)
        vti_buf_printf(out, ", %u unfinished", trace->unfinished_count);
    vti_buf_add_text(out, "; * is on the critical path\n\n");
}

static void add_notes(struct vti_buf *out, const struct vti_trace_view *view)
{
    if (view->notes.len)
        vti_buf_add_u8(out, '\n');
    for (size_t at = 0; at < view->notes.len;) {
        const char *note = (const char *)view->notes.data + at;

        vti_buf_add_text(out, "note: ");
        vti_text_safe(out, note, strlen(note));
        vti_buf_add_u8(out, '\n');
        at += strlen(note) + 1;
    }
}

void vti_trace_text(struct vti_trace_output *out, const struct vti_trace_view *view)
{
    static const struct vti_column columns[COLUMNS] = {{"", VTI_LEFT},        {"Start", VTI_RIGHT},
                                                       {"Time", VTI_RIGHT},   {"Self", VTI_RIGHT},
                                                       {"Service", VTI_LEFT}, {"Span", VTI_LEFT}};
    unsigned width = vti_terminal_width(stdout);
    struct vti_table *table;
    int code = vti_table_create(&table, columns, COLUMNS);

    if (code) {
        out->code = code;
        return;
    }
    for (uint32_t i = 0; i < view->trace->span_count; i++)
        if (view->trace->spans[i].depth < view->depth)
            add_row(table, view, i, !width || width >= WIDE_ENOUGH);
    add_head(&out->text, view);
    code = vti_table_render(table, &out->text, width);
    add_notes(&out->text, view);
    vti_table_free(table);
    if (code && !out->code)
        out->code = code;
    vti_trace_output_step(out);
}
