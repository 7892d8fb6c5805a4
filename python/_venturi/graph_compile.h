/*
 * graph_compile.h - what dask writes for a key becomes a template: old tuples and lists, and today's objects.
 *
 * graph_read.c walks over the keys; this reads one value at a time and says which other keys it names.
 */
#ifndef VENTURI_PY_GRAPH_COMPILE_H
#define VENTURI_PY_GRAPH_COMPILE_H

#include "graph_keys.h"
#include "graph_template.h"

#include <stdbool.h>

/* What is kept for each number while a graph is read. */
struct vti_py_slot {
    PyObject *value;  /* owned until it has been read */
    uint32_t seen_by; /* the node that named it last, + 1 */
    uint32_t place;   /* among what that one needs */
    bool is_known;    /* a value from outside, not to be read */
};

struct vti_py_builder {
    PyObject *dsk;   /* a dict */
    PyObject *known; /* a dict of values beside it, or NULL */
    struct vti_py_keys *keys;
    struct vti_py_slot *slots;
    uint32_t room;
    uint32_t current; /* the node that is being read */
    uint32_t *needs;  /* what it needs, each once */
    uint32_t need_count, need_room;
    bool is_deep;      /* as today's dask: keys in tuples and sets count */
    bool has_odd_keys; /* an argument of any type may be a key */
};

/* Reads the value of the current node into a part: a constant if it is data. -1 with an exception. */
VTI_PY_HIDDEN int vti_py_compile(struct vti_py_builder *builder, PyObject *value,
                                 struct vti_py_part *part);

/* The number of a key that somebody names; it is added if it is new. VTI_PY_NO_KEY with an exception: there is no such key. */
VTI_PY_HIDDEN uint32_t vti_py_builder_number(struct vti_py_builder *builder, PyObject *key);

/* The same if it is a key of this graph: 1; 0 if not, -1 with an exception. */
VTI_PY_HIDDEN int vti_py_builder_probe(struct vti_py_builder *builder, PyObject *object,
                                       uint32_t *number);

/* The current node needs it: its place. -1 with an exception. */
VTI_PY_HIDDEN int64_t vti_py_builder_need(struct vti_py_builder *builder, uint32_t number);

#endif
