/* traces_self.h - how much of a span of a trace went to its children, for tables that show spans one by one. */
#ifndef VENTURI_ANALYZE_TRACES_SELF_H
#define VENTURI_ANALYZE_TRACES_SELF_H

#include "venturi/read.h"

struct vti_trace_selves;

/* Reads the whole recording. 0 or a negative code, and then there is nothing to free. */
int vti_trace_selves_load(struct vti_trace_selves **selves, vt_recording *recording);
void vti_trace_selves_free(struct vti_trace_selves *selves);

/* Takes from the own times of a span what its children in the recording took, as the statistics do. */
void vti_trace_selves_apply(const struct vti_trace_selves *selves, struct vt_span *span);

#endif
