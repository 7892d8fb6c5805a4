/* functions.h - the functions that have an id, and what they are called. */
#ifndef VENTURI_PY_FUNCTIONS_H
#define VENTURI_PY_FUNCTIONS_H

#include "interpreter.h"

#include <stdint.h>

/* The texts are owned by the table, which keeps them for good. */
struct vti_py_function {
    PyObject *file;
    PyObject *name;
    PyObject *qualname;
    uint64_t identity; /* of its code */
    uint32_t line;
    uint32_t language;   /* enum vt_language; 0: no such function */
    uint32_t next_alike; /* link of a list of code.c */
};

/* Registers a function and keeps what is said about it. Its id; 0 while nobody records or without memory. */
uint32_t vti_py_function_add(const struct vti_py_function *function);

/* The same for a C function, whose id another hook asked for: by its symbol, or its module and offset. NULL if there
 * is no such function, or without memory. */
struct vti_py_function *vti_py_function_meet(uint32_t id);

/* NULL if the id is not one of ours. Valid until the next one is added. */
struct vti_py_function *vti_py_function(uint32_t id);

#endif
