/* trace_page.h - `venturi trace show --html`: traces as a page of their own. */
#ifndef VENTURI_CLI_TRACE_PAGE_H
#define VENTURI_CLI_TRACE_PAGE_H

#include "analyze/traces.h"
#include "cli/page_output.h"

struct vti_trace_page {
    const struct vti_traces
        *traces; /* all that the page shows: it opens at the only one, or at a list of several */
    const char *const *files; /* which they come from: the page goes in the place of none */
    size_t file_count;
    struct vti_page_output output; /* path "-": standard output */
};

/* An exit code, after one line on stderr. */
int vti_trace_page(const struct vti_trace_page *request);

#endif
