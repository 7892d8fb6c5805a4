/*
 * graph_get.h - what the module has of task graphs: _venturi.graph_get() and the types that go with it. venturi.dask is their face.
 */
#ifndef VENTURI_PY_GRAPH_GET_H
#define VENTURI_PY_GRAPH_GET_H

#include "interpreter.h"

extern VTI_PY_HIDDEN PyTypeObject vti_py_run_type;
extern VTI_PY_HIDDEN PyTypeObject vti_py_state_type;

/* The types of what is in a State. -1 with an exception. */
VTI_PY_HIDDEN int vti_py_views_init(void);

/* Computes keys of a graph. */
VTI_PY_HIDDEN PyObject *vti_py_graph_get(PyObject *module, PyObject *args, PyObject *keywords);

/* What venturi.dask._worker calls: takes tasks until there are no more. */
VTI_PY_HIDDEN PyObject *vti_py_graph_worker(PyObject *module, PyObject *pickling);

#endif
