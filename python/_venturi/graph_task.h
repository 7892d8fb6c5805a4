/*
 * graph_task.h - the function that the engine calls for each task in this process, and what its threads do about the interpreter lock.
 *
 * The lock is held from a thread's first task to its last, bookkeeping of the engine included: taking it for each task costs more than
 * a task does. It is given up while a thread waits, and every few milliseconds so that others get a turn.
 */
#ifndef VENTURI_PY_GRAPH_TASK_H
#define VENTURI_PY_GRAPH_TASK_H

#include "graph_run.h"

VTI_PY_HIDDEN int vti_py_task_run(struct vt_call *call);

/* A value that holds a reference, which is taken over. */
VTI_PY_HIDDEN struct vt_datum vti_py_value(PyObject *object, size_t size);
VTI_PY_HIDDEN int vti_py_task_literal(PyObject *value, struct vt_datum *literal, void *with);

/* The hooks of vt_run_options. `user` is the run. */
VTI_PY_HIDDEN void vti_py_thread_begin(void *user);
VTI_PY_HIDDEN void vti_py_thread_end(void *user);
VTI_PY_HIDDEN void vti_py_thread_leave(void *user);
VTI_PY_HIDDEN void vti_py_thread_return(void *user);

#endif
