/*
 * graph_callbacks.h - dask's callbacks, and the older pair of start_callback and end_callback, called by the engine.
 *
 * All of them run in the thread that called get(). One that raises ends the run with its exception.
 */
#ifndef VENTURI_PY_GRAPH_CALLBACKS_H
#define VENTURI_PY_GRAPH_CALLBACKS_H

#include "graph_run.h"

/* What the engine has to call; all NULL if there is nothing to tell. */
VTI_PY_HIDDEN void vti_py_callbacks_for(struct vti_py_run *run, struct vt_callbacks *callbacks);

/* Before the graph is read: start(dsk), which may change it. -1 with an exception. */
VTI_PY_HIDDEN int vti_py_callbacks_start(struct vti_py_run *run);

/* When all is over, for those that were told of the start. An exception that is set is kept, unless one of them raises. */
VTI_PY_HIDDEN void vti_py_callbacks_finish(struct vti_py_run *run);

#endif
