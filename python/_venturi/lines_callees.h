/* lines_callees.h - how long the functions take that a profiled function calls, line by line. */
#ifndef VENTURI_PY_LINES_CALLEES_H
#define VENTURI_PY_LINES_CALLEES_H

#include "interpreter.h"

#include <stdbool.h>

/* Asked for; set before the hook for lines is switched on. */
extern bool vti_py_lines_have_callees VTI_PY_HIDDEN;

/* A frame begins or goes on; it ends or is suspended. Of any function: those that a profiled one has called
 * are picked out. */
void vti_py_callee_begin(const vti_py_frame *frame);
void vti_py_callee_end(const vti_py_frame *frame);

#endif
