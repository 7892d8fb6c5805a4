/* builtins.h - built-in functions: their ids and names. */
#ifndef VENTURI_PY_BUILTINS_H
#define VENTURI_PY_BUILTINS_H

#include "interpreter.h"

#include <stdint.h>

/*
 * The id of what is called if that is a built-in function or method, 0 for everything else. `self` is the first
 * argument, with which a method of a type is called; NULL: there is none. As in cProfile, functions with the same
 * definition are the same.
 */
uint32_t vti_py_builtin_id(PyObject *called, PyObject *self);

#endif
