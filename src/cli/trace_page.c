/* trace_page.c - venturi trace show --html: traces as a page of their own. */
#include "cli/trace_page.h"

#include "cli/cmd.h"
#include "cli/stop.h"
#include "page/traces.h"

static int make(const struct vti_sink *sink, void *arg)
{
    const struct vti_trace_page *request = arg;

    return vti_page_traces(request->traces, request->files, request->file_count, sink);
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
