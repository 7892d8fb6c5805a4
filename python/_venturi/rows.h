/* rows.h - the table of functions as Python gets it: a list of tuples. */
#ifndef VENTURI_PY_ROWS_H
#define VENTURI_PY_ROWS_H

#include "interpreter.h"

#include "analyze/profile.h"

/* New reference, or NULL with an exception. */
PyObject *vti_py_rows(const struct vti_profile *profile);

/* Of the durations of several rows together, as each row has them, between two bounds in seconds (None: unknown): three
 * percentiles. New reference, or NULL with an exception. */
PyObject *vti_py_percentiles(PyObject *parts, PyObject *shortest, PyObject *longest);

/* A new text, whatever the bytes are. */
PyObject *vti_py_text(const char *bytes);

/* The exception for an error code of the library, with its message. Returns NULL. */
PyObject *vti_py_raise(int code);

#endif
