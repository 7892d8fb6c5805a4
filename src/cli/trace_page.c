/* trace_page.c - venturi trace show --html: traces as a page of their own. */
#include "cli/trace_page.h"

#include "cli/cmd.h"
#include "cli/stop.h"
#include "cli/trace.h"
#include "page/traces.h"

/* "GET /cart (wsgi)": many first spans have the same name, and what they say tells them apart. */
static void add_title(struct vti_buf *title, const struct vti_trace_span *span)
{
    vti_trace_detail(title, span);
    if (title->len)
        vti_buf_printf(title, " (%s)", span->name);
}

static int make(const struct vti_sink *sink, void *arg)
{
    const struct vti_trace_page *request = arg;
    const struct vti_traces *traces = request->traces;
    struct vti_buf title = {0};
    int code;

    if (traces->trace_count == 1 && traces->traces[0].span_count)
        add_title(&title, &traces->traces[0].spans[0]);
    code = vti_page_traces(traces, request->files, request->file_count, title.len ? &title : NULL,
                           sink);
    vti_buf_fini(&title);
    return code;
}

int vti_trace_page(const struct vti_trace_page *request)
{
    int code = 0;

    for (size_t i = 0; i < request->file_count && !code; i++)
        code = vti_page_output_check("trace", &request->output, request->files[i]);
    if (code)
        return code;
    code = vti_page_output_write("trace", &request->output, make, (void *)request);
    vti_stop_end();
    return code;
}
