/* lines_trace.h - the hooks for lines, as lines_entry.c and greenlets.c see them. */
#ifndef VENTURI_PY_LINES_TRACE_H
#define VENTURI_PY_LINES_TRACE_H

#include "interpreter.h"

/* Another stack goes on in this thread. */
void vti_py_lines_switched(void);

#if !VTI_PY_HAS_MONITORING
/* A profiled function is about to be called by this thread: its frame is to be seen. Gives what
 * vti_py_lines_release() takes when it has returned. */
unsigned vti_py_lines_hold(void);
void vti_py_lines_release(unsigned before);
#endif

#endif
