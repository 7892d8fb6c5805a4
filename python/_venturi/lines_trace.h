/* lines_trace.h - the hooks for lines, as lines_entry.c, lines_generators.c and greenlets.c see them. */
#ifndef VENTURI_PY_LINES_TRACE_H
#define VENTURI_PY_LINES_TRACE_H

#include "interpreter.h"

#include <stdbool.h>

/* Another stack goes on in this thread. */
void vti_py_lines_switched(void);

#if !VTI_PY_HAS_MONITORING
struct vti_py_lines_hold {
    unsigned before;
    bool was_traced;
    bool is_deep; /* from here on calls are seen by the trace function */
};

/* A profiled function is about to be called by this thread, or a generator to go on: its frame is to be seen. Gives what
 * vti_py_lines_release() takes when that has returned. */
struct vti_py_lines_hold vti_py_lines_hold(void);
void vti_py_lines_release(struct vti_py_lines_hold hold);

/* Whether all frames are seen, whoever has made their functions. */
bool vti_py_lines_see_frames(void);

/* ---- lines_generators.c ------------------------------------------------------------------------ */

/* Once, before any is adopted; -1 with an exception. */
int vti_py_lines_generators_init(void);

/* A generator or coroutine that has just been made is seen whenever it goes on. Gives it back; NULL stays NULL. */
PyObject *vti_py_lines_generator_adopt(PyObject *made);

/* A static type as a subtype, to be made ready once its slots have been set. __class__ of its objects is the type itself. */
void vti_py_type_derive(PyTypeObject *type, PyTypeObject *base);
#endif

#endif
