/*
 * graph_views.h - what is in the dictionary for callbacks: sets, dicts and a list that are looked up where the tasks of the run stand.
 *
 * They are read as dask's own are, and cannot be changed. Copies (copy(), the copy module, pickle, operators) are ordinary objects.
 */
#ifndef VENTURI_PY_GRAPH_VIEWS_H
#define VENTURI_PY_GRAPH_VIEWS_H

#include "graph_source.h"

/* One entry of the dictionary. */
struct vti_py_entry {
    const char *name;
    PyTypeObject *type;
    unsigned phases; /* of the keys in it */
    bool tasks_only;
    bool is_down; /* values are dependents, not dependencies */
    unsigned near_phases;
    bool is_stack; /* in the order in which they were made ready */
};

enum { VTI_PY_ENTRIES = 9 }; /* that are listed; dask had one more in 2015, which is still found */

extern VTI_PY_HIDDEN const struct vti_py_entry vti_py_entries[VTI_PY_ENTRIES + 1];

/* A new reference, NULL with an exception. */
VTI_PY_HIDDEN PyObject *vti_py_view_new(struct vti_py_source *source,
                                        const struct vti_py_entry *entry);

/* Makes the types ready, and tells collections.abc what they are. -1 with an exception. */
VTI_PY_HIDDEN int vti_py_views_init(void);

#endif
