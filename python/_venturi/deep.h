/* deep.h - calls so deep that the hook of frames must not use the C stack any further (Python 3.9 to 3.11). */
#ifndef VENTURI_PY_DEEP_H
#define VENTURI_PY_DEEP_H

#include "interpreter.h"

#include <stdbool.h>

/* The floor has been reached: whether it could be moved. */
bool vti_py_deep_retreat(void);

/* Evaluates a frame below the floor of the stack, and whatever it calls. */
PyObject *vti_py_evaluate_deep(PyThreadState *thread, vti_py_frame *frame, int is_throw);

/* An event of the profile function while the thread is down there. */
void vti_py_deep_event(PyFrameObject *frame, int what);

/* Whether such an event is one of those that are not counted because the stack has come to its end. Asked for each that
 * would be, once. */
bool vti_py_deep_is_lost(int what);

#endif
