/*
 * graph_names.h - keys as texts, and what tasks of a kind are called: as dask does it, so that the colours are those of its pages.
 */
#ifndef VENTURI_PY_GRAPH_NAMES_H
#define VENTURI_PY_GRAPH_NAMES_H

#include "graph_template.h"

#include <stddef.h>

#define VTI_PY_NAME_MAX 128

/* The name of a task, in `room`: the key without its token ("sum-aggregate" of ('sum-aggregate-0f12…', 0)); the function's if the key
 * has no such thing. Never fails, runs no Python code. */
VTI_PY_HIDDEN const char *vti_py_task_name(PyObject *key, const struct vti_py_template *template,
                                           char room[VTI_PY_NAME_MAX]);

/* The same for whoever has the function only, or NULL. */
VTI_PY_HIDDEN const char *vti_py_name_of(PyObject *key, PyObject *function,
                                         char room[VTI_PY_NAME_MAX]);

/* The text of a key: itself, or its repr. A new reference to bytes or NULL with an exception. */
VTI_PY_HIDDEN PyObject *vti_py_key_text(PyObject *key);

#endif
