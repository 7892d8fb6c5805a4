/*
 * graph_process.h - tasks of Python in other processes: functions and values travel as pickled bytes.
 *
 * What a task gives is pickled where it ran and unpickled where it is needed; the process that called get() unpickles only what was
 * asked for.
 */
#ifndef VENTURI_PY_GRAPH_PROCESS_H
#define VENTURI_PY_GRAPH_PROCESS_H

#include "graph_run.h"

/* How a graph is read whose tasks run elsewhere; `with` is the run. */
VTI_PY_HIDDEN void vti_py_process_reading(struct vti_py_reading *reading);

/* What runs a task in a worker (graph_worker.c). */
#define VTI_PY_FUNCTION "venturi.python"
VTI_PY_HIDDEN int vti_py_worker_run(struct vt_call *call);

/* A list of strings as an argv; PyMem_Free() it, the texts are the list's. NULL with an exception. */
VTI_PY_HIDDEN const char **vti_py_process_command(PyObject *list);

/* Raises what a task left behind, or an error of its own if it could not leave anything: it took too long, its process died. */
VTI_PY_HIDDEN void vti_py_process_raise(struct vti_py_run *run,
                                        const struct vt_run_failure *failure);

#endif
