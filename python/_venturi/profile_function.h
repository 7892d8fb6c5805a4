/* profile_function.h - the profile function of a thread (Python 3.9 to 3.11), for what the evaluation of frames does
 * not show: built-in functions, and calls below the floor of the stack. */
#ifndef VENTURI_PY_PROFILE_FUNCTION_H
#define VENTURI_PY_PROFILE_FUNCTION_H

#include "interpreter.h"

#include <stdbool.h>

/* Whether built-in functions are recorded: then the profile function stays. */
extern bool vti_py_has_builtins VTI_PY_HIDDEN;

int vti_py_profile_function(PyObject *with, PyFrameObject *frame, int what, PyObject *argument);

/* Sets it for the running thread, in front of one that is there, and takes it away again. A set
 * exception stays as it is. */
void vti_py_profile_function_set(PyThreadState *thread);
void vti_py_profile_function_unset(PyThreadState *thread);

#endif
