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
    uint64_t hash; /* of the code object */
    uint32_t line;
    uint32_t language;  /* enum vt_language; 0: no such function */
    uint32_t next_dead; /* link of a list of code.c */
};

/* Registers a function and keeps what is said about it. Its id; 0 while nobody records or without memory. */
uint32_t vti_py_function_add(const struct vti_py_function *function);

/* NULL if the id is not one of ours. Valid until the next one is added. */
struct vti_py_function *vti_py_function(uint32_t id);

#endif
