/*
 * report.h - everything that a recording holds, as one page.
 *
 * Up to `events` spans are written one by one; of more than that the short ones are folded, and a note says so. Sums (tables span_stats,
 * paths, functions, calls, lines) are those of all spans and calls in every case.
 */
#ifndef VENTURI_PAGE_REPORT_H
#define VENTURI_PAGE_REPORT_H

#include "analyze/energy.h"
#include "export/export.h"

#include <stdbool.h>
#include <stdint.h>

#define VTI_PAGE_EVENTS 2000000 /* unless something else is asked for */

struct vti_page_options {
    uint64_t events; /* rows of spans, of async spans, of counters, of marks; UINT64_MAX: all */
    bool has_no_source;
    bool is_growing;                 /* who asks knows that it is still being recorded */
    struct vti_energy_stated stated; /* in the place of what the recording has */
    void (*progress)(void *arg, const char *what); /* called when a part begins; or NULL */
    void *progress_arg;
};

/* 0 or a negative code with the usual message. */
int vti_page_report(vt_recording *recording, const struct vti_page_options *options,
                    const struct vti_sink *sink);

/* The same of a file of cProfile (.prof) or line_profiler (.lprof). */
int vti_page_report_file(const char *path, const struct vti_page_options *options,
                         const struct vti_sink *sink);

#endif
