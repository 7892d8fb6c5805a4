/*
 * graph_state.h - _venturi.State: how far a run has got, asked when somebody looks. venturi.dask._state makes dask's dictionary of it.
 *
 * It may be kept for as long as one likes: it then tells how the run ended.
 */
#ifndef VENTURI_PY_GRAPH_STATE_H
#define VENTURI_PY_GRAPH_STATE_H

#include "graph_run.h"

extern VTI_PY_HIDDEN PyTypeObject vti_py_state_type;

/* A new reference, NULL with an exception. */
VTI_PY_HIDDEN PyObject *vti_py_state_new(struct vti_py_run *run);

#endif
