/* trace_text.c - one trace as a tree for the terminal. */
#include "analyze/values.h"
#include "base/error.h"
#include "base/uuid.h"
#include "cli/prose.h"
#include "cli/render.h"
#include "cli/trace.h"

#include <stdio.h>
#include <string.h>

#define INDENT_MOST 20 /* levels; deeper ones, and those without room, say how deep they are */
#define DETAIL_MOST 48 /* columns */
#define MESSAGE_MOST 60
#define WIDE_ENOUGH 112 /* columns in which an error has room beside its span */
#define COLUMNS 6
#define NUMBERS 30 /* columns of mark, start, time and self, with those between */
#define SERVICE_MOST 20
#define SPAN_LEAST 16 /* columns for the name of a span, whatever the rest takes */

/* How the tree fits into the terminal. */
struct layout {
    bool has_room;    /* for errors beside their spans */
    bool has_service; /* a column of them */
    size_t span_most; /* columns of the span; SIZE_MAX: any */
    uint32_t indent_most;
};

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

static void indent(struct vti_buf *out, const struct vti_trace_span *span,
                   const struct layout *layout)
{
    for (uint32_t i = 0; i < span->depth && i < layout->indent_most; i++)
        vti_buf_add_text(out, "  ");
    if (span->depth > layout->indent_most)
        vti_buf_printf(out, "(%u) ", span->depth);
}

static void add_span_text(struct vti_buf *out, const struct vti_trace_view *view, uint32_t at,
                          const struct layout *layout)
{
    const struct vti_trace_span *span = &view->trace->spans[at];
    struct vti_buf detail = {0};

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
        if (span->is_own_parent)
            vti_buf_add_text(out, "  (it is said to be inside of itself)");
        else
            vti_buf_printf(out, "  (its parent %s is missing)", id);
    }
    if (span->has_error && layout->has_room) {
        vti_buf_add_text(out, "  ");
        add_error(out, span);
    }
    if (span->depth + 1 >= view->depth && span->first_child != VTI_NO_SPAN)
        vti_buf_printf(out, "  [%u inside]", count_inside(view->trace, at));
}

/* What is shortened is the text, never what is in front of it: that says where in the tree it is. */
static void add_label(struct vti_buf *out, const struct vti_trace_view *view, uint32_t at,
                      const struct layout *layout)
{
    struct vti_buf text = {0};
    size_t taken;

    indent(out, &view->trace->spans[at], layout);
    taken = out->len;
    add_span_text(&text, view, at, layout);
    vti_text_fit(out, (const char *)text.data, text.len,
                 layout->span_most > taken + 3 ? layout->span_most - taken : 3);
    vti_buf_fini(&text);
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* A line below a span, in the last column. */
static void add_below(struct vti_table *table, const struct layout *layout,
                      const struct vti_buf *text)
{
    for (unsigned i = !layout->has_service; i < COLUMNS - 1; i++)
        vti_table_text(table, "");
    vti_table_bytes(table, (const char *)text->data, text->len);
}

/* Not moved to the right: in a narrow table the type would be what is left out. */
static void add_error_row(struct vti_table *table, const struct vti_trace_span *span,
                          const struct layout *layout)
{
    struct vti_buf label = {0};

    add_error(&label, span);
    add_below(table, layout, &label);
    vti_buf_fini(&label);
}

static void add_value(struct vti_buf *out, const struct vti_value *value)
{
    struct vti_json json;

    if (value->type == VTI_VALUE_TEXT) {
        vti_buf_add(out, value->text.data, value->text.len);
        return;
    }
    vti_json_init(&json, out);
    vti_trace_json_value(&json, value);
}

static void add_fact_rows(struct vti_table *table, const struct vti_trace_view *view,
                          const struct vti_trace_span *span, const struct layout *layout)
{
    const struct vti_trace_process *process = &view->traces->processes[span->process];
    struct vti_buf row = {0};

    indent(&row, span, layout);
    vti_buf_add_text(&row, "| ");
    if (process->is_imported)
        vti_buf_printf(&row, "of %s", view->files[process->recording]);
    else
        vti_buf_printf(&row, "process %u on %s, thread %s", process->pid, process->host,
                       span->thread);
    add_below(table, layout, &row);
    for (uint32_t i = 0; i < span->attr_count; i++) {
        vti_buf_clear(&row);
        indent(&row, span, layout);
        vti_buf_printf(&row, "| %s: ", span->attrs[i].key);
        add_value(&row, &span->attrs[i].value);
        add_below(table, layout, &row);
    }
    vti_buf_fini(&row);
}

static void add_row(struct vti_table *table, const struct vti_trace_view *view, uint32_t at,
                    const struct layout *layout)
{
    const struct vti_trace_span *span = &view->trace->spans[at];
    const char *service = view->traces->processes[span->process].service;
    struct vti_buf label = {0};

    vti_table_text(table, span->is_critical ? "*" : "");
    vti_table_time(table, (double)(span->begin_ns - view->trace->begin_ns));
    vti_table_time(table, (double)(span->end_ns - span->begin_ns));
    vti_table_time(table, (double)span->self_ns);
    if (layout->has_service) {
        add_fitted(&label, service, strlen(service),
                   layout->span_most == SIZE_MAX ? SIZE_MAX : SERVICE_MOST);
        vti_table_bytes(table, (const char *)label.data, label.len);
        vti_buf_clear(&label);
    }
    add_label(&label, view, at, layout);
    vti_table_bytes(table, (const char *)label.data, label.len);
    vti_buf_fini(&label);
    if (span->has_error && !layout->has_room)
        add_error_row(table, span, layout);
    if (view->has_attrs)
        add_fact_rows(table, view, span, layout);
}

static struct layout lay_out(const struct vti_trace_view *view, unsigned width)
{
    const struct vti_trace *trace = view->trace;
    struct layout layout = {.has_room = !width || width >= WIDE_ENOUGH,
                            .has_service = true,
                            .span_most = SIZE_MAX,
                            .indent_most = INDENT_MOST};
    size_t taken = NUMBERS;
    size_t longest = strlen("Service");

    if (!width)
        return layout;
    layout.has_service = layout.has_room || trace->service_count > 1;
    for (uint32_t i = 0; i < trace->span_count && longest < SERVICE_MOST; i++) {
        const char *service = view->traces->processes[trace->spans[i].process].service;
        size_t wide = vti_text_width(service, strlen(service));

        longest = wide > longest ? wide : longest;
    }
    if (layout.has_service)
        taken += 2 + (longest < SERVICE_MOST ? longest : SERVICE_MOST);
    layout.span_most = width > taken + SPAN_LEAST ? width - taken : SPAN_LEAST;
    if (layout.span_most / 4 < INDENT_MOST)
        layout.indent_most = (uint32_t)(layout.span_most / 4);
    return layout;
}

/* Sentences of harmless text, broken where the terminal ends. */
static void add_prose(struct vti_buf *out, const struct vti_buf *text, unsigned width,
                      size_t column)
{
    vti_prose_wrap(out, (const char *)text->data, text->len, width ? width : SIZE_MAX, column);
    vti_buf_add_u8(out, '\n');
}

static void add_counts(struct vti_buf *out, const struct vti_trace_view *view, bool has_service)
{
    const struct vti_trace *trace = view->trace;
    const char *service = view->traces->processes[trace->spans[0].process].service;
    char time[VTI_NUMBER_BYTES];

    vti_buf_printf(out, "%s, ", vti_text_duration(time, (double)(trace->end_ns - trace->begin_ns)));
    vti_prose_plural(out, trace->span_count, "span");
    vti_buf_add_text(out, ", ");
    if (has_service) {
        vti_prose_plural(out, trace->service_count, "service");
    } else {
        vti_buf_add_text(out, "service ");
        vti_text_safe(out, service, strlen(service));
    }
    vti_buf_add_text(out, ", ");
    if (trace->host_count)
        vti_prose_plural(out, trace->host_count, "host");
    else
        vti_buf_add_text(out, "host not known");
    vti_buf_add_text(out, ", ");
    if (trace->knows_errors)
        vti_prose_plural(out, trace->error_count, "error");
    else
        vti_buf_add_text(out, "errors not known (a log)");
    if (trace->unfinished_count)
        vti_buf_printf(out, ", %u unfinished", trace->unfinished_count);
    vti_buf_add_text(out, "; * is on the critical path");
}

static void add_head(struct vti_buf *out, const struct vti_trace_view *view, unsigned width,
                     bool has_service)
{
    struct vti_buf text = {0};
    char id[VTI_UUID_TEXT];
    char when[VTI_MOMENT_BYTES];

    vti_uuid_text(view->trace->base, id);
    vti_buf_printf(&text, "trace %s, %s", id, vti_moment_text(when, view->trace->begin_ns));
    add_prose(out, &text, width, 0);
    vti_buf_clear(&text);
    add_counts(&text, view, has_service);
    add_prose(out, &text, width, 0);
    vti_buf_add_u8(out, '\n');
    out->failed |= text.failed;
    vti_buf_fini(&text);
}

static void add_notes(struct vti_buf *out, const struct vti_trace_view *view, unsigned width)
{
    static const char label[] = "note: ";
    struct vti_buf text = {0};

    if (view->notes.len)
        vti_buf_add_u8(out, '\n');
    for (size_t at = 0; at < view->notes.len;) {
        const char *note = (const char *)view->notes.data + at;

        vti_buf_clear(&text);
        vti_text_safe(&text, note, strlen(note));
        vti_buf_add_text(out, label);
        add_prose(out, &text, width, sizeof label - 1);
        at += strlen(note) + 1;
    }
    out->failed |= text.failed;
    vti_buf_fini(&text);
}

void vti_trace_text(struct vti_trace_output *out, const struct vti_trace_view *view)
{
    static const struct vti_column columns[COLUMNS] = {{"", VTI_LEFT},        {"Start", VTI_RIGHT},
                                                       {"Time", VTI_RIGHT},   {"Self", VTI_RIGHT},
                                                       {"Service", VTI_LEFT}, {"Span", VTI_LEFT}};
    static const struct vti_column fewer[] = {{"", VTI_LEFT},
                                              {"Start", VTI_RIGHT},
                                              {"Time", VTI_RIGHT},
                                              {"Self", VTI_RIGHT},
                                              {"Span", VTI_LEFT}};
    unsigned width = vti_terminal_width(stdout);
    const struct layout layout = lay_out(view, width);
    struct vti_table *table;
    int code = vti_table_create(&table, layout.has_service ? columns : fewer,
                                COLUMNS - !layout.has_service);

    if (code) {
        out->code = code;
        return;
    }
    vti_table_keep_last(table, SPAN_LEAST / 2);
    for (uint32_t i = 0; i < view->trace->span_count; i++)
        if (view->trace->spans[i].depth < view->depth)
            add_row(table, view, i, &layout);
    add_head(&out->text, view, width, layout.has_service);
    code = vti_table_render(table, &out->text, width);
    add_notes(&out->text, view, width);
    vti_table_free(table);
    if (code && !out->code)
        out->code = code;
    vti_trace_output_step(out);
}
