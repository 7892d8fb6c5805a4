/* report.h - what `venturi report` has gathered; between its two ways of showing it. */
#ifndef VENTURI_CLI_REPORT_H
#define VENTURI_CLI_REPORT_H

#include "analyze/overview.h"
#include "analyze/profile.h"
#include "base/json.h"

struct vti_report {
    vt_recording *recording; /* borrowed */
    struct vt_recording_info info;
    struct vt_stats stats; /* in the order asked for */
    struct vti_overview overview;
    struct vti_profile functions; /* those that were recorded as spans are among the spans */
    struct vti_ids distorted;     /* owned; sites whose figures losses put wrong */
    int64_t overhead_ns;          /* our own cost in all spans together */
    double overhead_share;
    const char *sort; /* NULL: nothing was asked for */
    size_t limit;     /* rows of spans, and of functions */
    bool is_raw;      /* our own cost is left in */
};

/* Headline, tables and the line of trust on standard output. 0 or a negative code. */
int vti_report_print(const struct vti_report *report);

/* The table of functions, if there are any. 0 or a negative code. */
int vti_report_print_functions(const struct vti_report *report);
void vti_report_json_functions(struct vti_json *json, const struct vti_report *report);

/* Everything as one JSON object on standard output. 0 or a negative code. */
int vti_report_json(const struct vti_report *report);

#endif
