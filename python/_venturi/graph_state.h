/*
 * graph_state.h - _venturi.State: the dictionary that callbacks are given, as dask makes it. What is in it is made when somebody looks, and
 * is live from then on.
 *
 * It may be kept for as long as one likes: it then tells how the run ended.
 */
#ifndef VENTURI_PY_GRAPH_STATE_H
#define VENTURI_PY_GRAPH_STATE_H

#include "graph_run.h"

extern VTI_PY_HIDDEN PyTypeObject vti_py_state_type;

/* A new reference, NULL with an exception. */
VTI_PY_HIDDEN PyObject *vti_py_state_new(struct vti_py_run *run);

/* A run has failed: nothing changes any more, though values are about to go. Does nothing without a state. */
VTI_PY_HIDDEN void vti_py_state_fix(struct vti_py_run *run);

/* The run is over and gives its state up. Does nothing without a state. */
VTI_PY_HIDDEN void vti_py_state_leave(struct vti_py_run *run);

#endif
