/* news.h - who is told of trace points, and what the program says that it is; for trace.c. */
#ifndef VENTURI_CONTEXT_NEWS_H
#define VENTURI_CONTEXT_NEWS_H

#include "context/state.h"

#include <time.h>

bool vti_trace_is_heard(void);
int64_t vti_trace_now(clockid_t clock); /* nanoseconds */

/* A text that may be NULL, cut where a character ends if there is no room. */
void vti_trace_copy(char *to, size_t room, const char *from);

/* Duration -1: it opens. */
void vti_trace_tell(struct vti_trace_state *own, const struct vti_trace_open *open,
                    int64_t duration_ns);

/* What is said where a trace enters the process, so that a reader of several files can tell whose spans these are; how many facts
 * that are. */
#define VTI_ENTERING_FACTS 3
size_t vti_trace_entering(struct vt_trace_fact to[VTI_ENTERING_FACTS]);

#endif
