/*
 * graph_template.h - a task as it is computed: a function and its arguments, in which the values of other tasks are put in.
 *
 * Made once from what dask writes (graph_compile.c), then filled at each run of the task. A template is a head (a function, a type, …)
 * and parts; a part is a constant, the value of a dependency by its place, or another template.
 */
#ifndef VENTURI_PY_GRAPH_TEMPLATE_H
#define VENTURI_PY_GRAPH_TEMPLATE_H

#include "interpreter.h"

#include <stdbool.h>
#include <stdint.h>

enum vti_py_template_type {
    VTI_PY_SAME, /* the value of its only part */
    VTI_PY_CALL, /* head(*parts); the last ones by name if `names` */
    VTI_PY_LIST,
    VTI_PY_TUPLE,
    VTI_PY_SET,
    VTI_PY_DICT, /* key, value, key, value, … */
    VTI_PY_CAST, /* head([parts]): a kind of container */
    VTI_PY_NODE /* head({dependency: value}): a class of dask that is not known here; parts are key, value, … as of a dict */
};

struct vti_py_template;

struct vti_py_part {
    PyObject *constant;            /* owned, or NULL */
    struct vti_py_template *inner; /* owned, or NULL */
    uint32_t place;                /* of a dependency, if neither */
};

struct vti_py_template {
    PyObject *head;  /* owned, or NULL */
    PyObject *names; /* of keyword arguments: a tuple, owned, or NULL */
    uint32_t count;
    uint8_t type;
    struct vti_py_part parts[];
};

/* With room for so many parts, all of them empty. NULL with an exception. */
VTI_PY_HIDDEN struct vti_py_template *vti_py_template_new(enum vti_py_template_type type,
                                                          PyObject *head, size_t count);
VTI_PY_HIDDEN void vti_py_template_free(struct vti_py_template *template);

/* For the garbage collector: visits all objects in it. */
VTI_PY_HIDDEN int vti_py_template_visit(const struct vti_py_template *template, visitproc visit,
                                        void *arg);

/* Computes it; `values` are those of its dependencies. NULL with an exception. */
VTI_PY_HIDDEN PyObject *vti_py_template_fill(const struct vti_py_template *template,
                                             PyObject *const *values);

/* The function that it calls in the end, borrowed, or NULL. */
VTI_PY_HIDDEN PyObject *vti_py_template_function(const struct vti_py_template *template);

/* As tuples that can be pickled, and back; its functions are added to, and taken from, a list. `places` is how many dependencies there
 * are. NULL with an exception. */
VTI_PY_HIDDEN PyObject *vti_py_template_pack(const struct vti_py_template *template,
                                             PyObject *heads);
VTI_PY_HIDDEN struct vti_py_template *vti_py_template_unpack(PyObject *packed, PyObject *heads,
                                                             uint32_t places);

#endif
