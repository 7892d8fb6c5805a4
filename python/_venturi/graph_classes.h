/*
 * graph_classes.h - which of dask's classes an object is of: those of dask._task_spec, if that module is loaded.
 *
 * dask is never imported here: without its module no such object can exist.
 */
#ifndef VENTURI_PY_GRAPH_CLASSES_H
#define VENTURI_PY_GRAPH_CLASSES_H

#include "interpreter.h"

#include <stdbool.h>

enum vti_py_class {
    VTI_PY_IS_PLAIN, /* none of them */
    VTI_PY_IS_TASK,  /* func, args, kwargs */
    VTI_PY_IS_ALIAS, /* target */
    VTI_PY_IS_DATA,  /* value */
    VTI_PY_IS_LIST,  /* args */
    VTI_PY_IS_TUPLE,
    VTI_PY_IS_SET,
    VTI_PY_IS_DICT,
    VTI_PY_IS_REF,  /* key */
    VTI_PY_IS_OTHER /* dependencies, and it is called with their values */
};

/* Names of their attributes, ready for looking them up; made by vti_py_classes_look(). */
struct vti_py_attributes {
    PyObject *func, *args, *kwargs, *key, *target, *value, *dependencies;
};
extern VTI_PY_HIDDEN struct vti_py_attributes vti_py_attributes;

/* Looks for the module again. -1 with an exception. */
VTI_PY_HIDDEN int vti_py_classes_look(void);

/* Whether there are such classes: graphs of old tuples are then read as that dask reads them. */
VTI_PY_HIDDEN bool vti_py_classes_are_there(void);

/* Whether a dask is loaded that has no such classes yet: any hashable argument may then be a key. */
VTI_PY_HIDDEN bool vti_py_classes_are_old(void);

VTI_PY_HIDDEN enum vti_py_class vti_py_class_of(PyObject *object);

#endif
