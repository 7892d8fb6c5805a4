/* trace_dot.c - one trace in the language of graphviz: a node for each span, and one for the whole. */
#include "base/number.h"
#include "base/utf8.h"
#include "cli/render.h"
#include "cli/trace.h"

#include <stdlib.h>
#include <string.h>

#define DETAIL_MOST 40

/* Inside quotes; graphviz reads backslashes in labels. */
static void add_quoted(struct vti_buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"' || text[i] == '\\')
            vti_buf_add_u8(out, '\\');
        vti_buf_add_u8(out, (uint8_t)text[i]);
    }
}

static void add_safe(struct vti_buf *out, const char *text, size_t len, size_t most)
{
    struct vti_buf safe = {0};
    struct vti_buf fitted = {0};

    vti_text_safe(&safe, text, len);
    vti_text_fit(&fitted, (const char *)safe.data, safe.len, most);
    add_quoted(out, (const char *)fitted.data, fitted.len);
    vti_buf_fini(&safe);
    vti_buf_fini(&fitted);
}

static void add_node(struct vti_buf *out, const struct vti_trace_view *view, uint32_t at)
{
    const struct vti_trace_span *span = &view->trace->spans[at];
    const char *service = view->traces->processes[span->process].service;
    struct vti_buf detail = {0};
    char time[VTI_NUMBER_BYTES];

    vti_buf_printf(out, "\t%u [label=\"", at + 1);
    if (*service) {
        add_safe(out, service, strlen(service), DETAIL_MOST);
        vti_buf_add_u8(out, ':');
    }
    add_safe(out, span->name, strlen(span->name), 2 * DETAIL_MOST);
    vti_buf_printf(out, " - %s", vti_text_duration(time, (double)(span->end_ns - span->begin_ns)));
    vti_trace_detail(&detail, span);
    if (detail.len) {
        vti_buf_add_text(out, "\\n");
        add_safe(out, (const char *)detail.data, detail.len, DETAIL_MOST);
    }
    vti_buf_fini(&detail);
    vti_buf_add_u8(out, '"');
    if (span->has_error)
        vti_buf_add_text(out, " color=red");
    if (span->is_critical)
        vti_buf_add_text(out, " penwidth=2");
    if (!span->is_finished)
        vti_buf_add_text(out, " style=dashed");
    vti_buf_printf(out, "]\n\t%u -> %u\n", span->parent == VTI_NO_SPAN ? 0 : span->parent + 1,
                   at + 1);
}

void vti_trace_dot(struct vti_trace_output *out, const struct vti_trace_view *view)
{
    const struct vti_trace *trace = view->trace;
    char time[VTI_NUMBER_BYTES];

    vti_text_duration(time, (double)(trace->end_ns - trace->begin_ns));
    vti_buf_printf(&out->text, "digraph {\n\t0 [label=\"total - %s\"]\n", time);
    for (uint32_t i = 0; i < trace->span_count && !out->code; i++) {
        if (trace->spans[i].depth >= view->depth)
            continue;
        add_node(&out->text, view, i);
        vti_trace_output_step(out);
    }
    vti_buf_add_text(&out->text, "}\n");
}
