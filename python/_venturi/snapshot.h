/* snapshot.h - how far the calls of this process had got at some time. */
#ifndef VENTURI_PY_SNAPSHOT_H
#define VENTURI_PY_SNAPSHOT_H

#include "interpreter.h"

#include <venturi/hook.h>

struct vti_py_snapshot {
    PyObject_HEAD struct vt_call_node *nodes; /* parents before their children */
    uint32_t *order;                          /* their indices, by thread and number */
    size_t node_count;
    struct vt_call_durations *durations; /* by thread and function */
    size_t duration_count;
    struct vt_call_thread *threads;
    size_t thread_count;
    double ticks_per_second;
    uint64_t lost_calls;
};

extern PyTypeObject vti_py_snapshot_type;

/* New reference, or NULL with an exception. */
PyObject *vti_py_snapshot_take(void);

/* The index of a place; -1: it was not there yet (or no snapshot). */
int64_t vti_py_snapshot_find(const struct vti_py_snapshot *snapshot, uint32_t thread,
                             uint32_t node);

/* Durations of the same function and thread; NULL: there were none yet (or no snapshot). */
const struct vt_call_durations *vti_py_snapshot_durations(const struct vti_py_snapshot *snapshot,
                                                          const struct vt_call_durations *like);

#endif
