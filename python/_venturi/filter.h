/* filter.h - which functions are recorded. */
#ifndef VENTURI_PY_FILTER_H
#define VENTURI_PY_FILTER_H

#include "interpreter.h"

#include <stdbool.h>

/* Once, before the rest: learns which folders are ours and the standard library's. */
void vti_py_filter_init(PyObject *module);

/* Sequences of texts; NULL or empty: no such condition. 0, or -1 with an exception: then nothing has
 * changed. */
int vti_py_filter_set(bool only_mine, PyObject *include, PyObject *exclude);

/* Whether calls of a function are not recorded. Asked once for each code object. */
bool vti_py_filter_ignores(PyObject *file, PyObject *qualname);

#endif
