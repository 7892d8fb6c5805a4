/* report_page.h - what `venturi report -o` was asked for. */
#ifndef VENTURI_CLI_REPORT_PAGE_H
#define VENTURI_CLI_REPORT_PAGE_H

#include "cli/energy_options.h"
#include "cli/page_output.h"

struct vti_report_page {
    const char *file;
    struct vti_page_output output;
    const char *events; /* as it was typed, or NULL */
    bool has_no_source, is_growing;
    struct vti_energy_stated stated; /* checked */
};

/* An exit code, after one line on stderr. */
int vti_report_page(const struct vti_report_page *request);

#endif
