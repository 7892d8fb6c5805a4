/* stats_traces.h - what spans of traces spent in others of their trace; for the statistics. */
#ifndef VENTURI_ANALYZE_STATS_TRACES_H
#define VENTURI_ANALYZE_STATS_TRACES_H

#include "venturi/read.h"

/* How much of a span went to its children, and how much of it is inside of a span of its own site: all or nothing. 0 to go on. */
typedef int vti_stats_trace_span(uint32_t site, int64_t inside_ns, int64_t nested_ns, void *arg);

/* Tells of each span that the filter lets through, and that has ended if `is_timed_only`. 0 or a negative code. */
int vti_stats_traces(vt_recording *recording, const struct vt_filter *filter, bool is_timed_only,
                     vti_stats_trace_span *each, void *arg);

#endif
