/*
 * graph_view_keys.h - a view, and which keys are in it. Of graph_views.c.
 */
#ifndef VENTURI_PY_GRAPH_VIEW_KEYS_H
#define VENTURI_PY_GRAPH_VIEW_KEYS_H

#include "graph_views.h"

struct vti_py_view {
    PyObject_HEAD struct vti_py_source *source; /* owned */
    const struct vti_py_entry *entry;
    uint32_t node; /* the keys near this one; VTI_PY_NO_KEY: of the whole run */
};

/* The number of a key. 1: it is in it, 0: it is not, -1 with an exception. The caller holds the run. */
VTI_PY_HIDDEN int vti_py_view_find(const struct vti_py_view *view, PyObject *key, uint32_t *number);

VTI_PY_HIDDEN Py_ssize_t vti_py_view_length(const struct vti_py_view *view);

/* A new list, NULL with an exception. */
VTI_PY_HIDDEN PyObject *vti_py_view_keys(const struct vti_py_view *view);

#endif
