/*
 * graph_source.h - where the tasks of a run stand, as dask has it: what the dictionary for callbacks and the views in it look at.
 *
 * Live while the run is on. Who still has it when that is over has a small copy of how it ended, and holds no more than dask's own
 * dictionary would: the keys, and the values that were left. Looking runs Python code (keys are hashed and compared), during which the
 * run may end: hold the source's run meanwhile.
 */
#ifndef VENTURI_PY_GRAPH_SOURCE_H
#define VENTURI_PY_GRAPH_SOURCE_H

#include "graph_run.h"

/* Sets of phases. */
enum {
    VTI_PY_WAITING = 1 << VT_PHASE_WAITING,
    VTI_PY_READY = 1 << VT_PHASE_READY,
    VTI_PY_RUNNING = 1 << VT_PHASE_RUNNING,
    VTI_PY_FINISHED = 1 << VT_PHASE_FINISHED,
    VTI_PY_RELEASED = 1 << VT_PHASE_RELEASED,
    VTI_PY_FAILED = 1 << VT_PHASE_FAILED,
    VTI_PY_UNDONE = VTI_PY_WAITING | VTI_PY_READY | VTI_PY_RUNNING,
    VTI_PY_ANY = VTI_PY_UNDONE | VTI_PY_FINISHED | VTI_PY_RELEASED | VTI_PY_FAILED
};

struct vti_py_kept; /* how it ended */

struct vti_py_source {
    PyObject_HEAD struct vti_py_run *run; /* owned; NULL: it is over */
    struct vti_py_kept *kept;             /* NULL: it is not, or there was no memory */
};

extern VTI_PY_HIDDEN PyTypeObject vti_py_source_type;

/* Of a run that has begun. NULL with an exception. */
VTI_PY_HIDDEN struct vti_py_source *vti_py_source_new(struct vti_py_run *run);

/* Nothing changes any more: keeps how it stands, and gives up the run. An exception that is set stays. */
VTI_PY_HIDDEN void vti_py_source_keep(struct vti_py_source *source);

/* So that the run stays while one looks; NULL if it is over. To be given to Py_XDECREF(). */
VTI_PY_HIDDEN PyObject *vti_py_source_hold(const struct vti_py_source *source);

/* Keys have numbers from 0. A key is borrowed. */
VTI_PY_HIDDEN uint32_t vti_py_source_count(const struct vti_py_source *source);
VTI_PY_HIDDEN PyObject *vti_py_source_key(const struct vti_py_source *source, uint32_t number);

/* VTI_PY_NO_KEY: there is none, or with an exception: it cannot be hashed or compared. */
VTI_PY_HIDDEN uint32_t vti_py_source_find(const struct vti_py_source *source, PyObject *key);

/* Whether it is in one of some phases, and whether it is computed. */
VTI_PY_HIDDEN bool vti_py_source_is_in(const struct vti_py_source *source, uint32_t number,
                                       unsigned phases);
VTI_PY_HIDDEN bool vti_py_source_is_task(const struct vti_py_source *source, uint32_t number);

/* Tasks in some phases. */
VTI_PY_HIDDEN uint64_t vti_py_source_tasks(const struct vti_py_source *source, unsigned phases);

/* What it depends on or what depends on it; how many. */
VTI_PY_HIDDEN size_t vti_py_source_near(const struct vti_py_source *source, uint32_t number,
                                        bool is_down, const uint32_t **numbers);

/* What can begin, from the one that is next; VTI_PY_NO_KEY: no more. */
VTI_PY_HIDDEN uint32_t vti_py_source_ready(const struct vti_py_source *source, uint32_t place);

/* A new reference. NULL: it is not there, or with an exception. */
VTI_PY_HIDDEN PyObject *vti_py_source_value(const struct vti_py_source *source, uint32_t number);

#endif
