/*
 * graph_keys.h - the keys of a graph and their numbers, in the order in which they were first met.
 *
 * Keys are any hashable objects, compared as a dict does. A dict of numbers would do the same at three times the price.
 */
#ifndef VENTURI_PY_GRAPH_KEYS_H
#define VENTURI_PY_GRAPH_KEYS_H

#include "interpreter.h"

#include <stdbool.h>
#include <stdint.h>

#define VTI_PY_NO_KEY UINT32_MAX

struct vti_py_key {
    PyObject *key; /* owned */
    Py_hash_t hash;
};

/* All zero: none. */
struct vti_py_keys {
    struct vti_py_key *keys;
    uint32_t count, room;
    uint32_t *slots; /* number + 1; 0: free */
    uint32_t slot_mask;
};

/* The number of a key, added if it is new. VTI_PY_NO_KEY with an exception: it cannot be hashed or compared, or no memory. */
VTI_PY_HIDDEN uint32_t vti_py_keys_add(struct vti_py_keys *keys, PyObject *key);

/* The number of a key, VTI_PY_NO_KEY if there is none; with an exception as above. */
VTI_PY_HIDDEN uint32_t vti_py_keys_find(const struct vti_py_keys *keys, PyObject *key);

/* All of them once more. -1: no memory. */
VTI_PY_HIDDEN int vti_py_keys_copy(struct vti_py_keys *to, const struct vti_py_keys *from);

VTI_PY_HIDDEN void vti_py_keys_fini(struct vti_py_keys *keys);

#endif
