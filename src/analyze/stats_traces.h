/* stats_traces.h - what spans of traces spent in others of their trace; for the statistics. */
#ifndef VENTURI_ANALYZE_STATS_TRACES_H
#define VENTURI_ANALYZE_STATS_TRACES_H

#include "venturi/read.h"

/* Tells of each span that begins in the filter's time how much of it went to its children. 0 or a negative code. */
int vti_stats_traces(vt_recording *recording, const struct vt_filter *filter,
                     int (*each)(uint32_t site, int64_t inside_ns, void *arg), void *arg);

#endif
