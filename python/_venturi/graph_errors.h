/*
 * graph_errors.h - exceptions that say which key they are about, and by whom it was computed.
 */
#ifndef VENTURI_PY_GRAPH_ERRORS_H
#define VENTURI_PY_GRAPH_ERRORS_H

#include "interpreter.h"

#include <stddef.h>

/* The exception that is set gets the key as `__venturi_key__`, and from Python 3.11 on a note with it and with what is known of the worker (may
 * be NULL). Never fails: an exception that takes neither stays as it is. */
VTI_PY_HIDDEN void vti_py_error_name(PyObject *key, const char *where);

/* Takes the exception that is set: with its traceback, in one object. Never NULL while one is set. */
VTI_PY_HIDDEN PyObject *vti_py_error_take(void);

/* Raises it again, with its traceback; the reference is the interpreter's from then on. */
VTI_PY_HIDDEN void vti_py_error_give(PyObject *exception);

/* "ValueError: text", in `room`. */
VTI_PY_HIDDEN void vti_py_error_line(PyObject *exception, char *room, size_t size);

/* Without its module. */
VTI_PY_HIDDEN const char *vti_py_type_name(PyTypeObject *type);

#endif
