/* items.h - items of work that a Python program counts. */
#ifndef VENTURI_PY_ITEMS_H
#define VENTURI_PY_ITEMS_H

#include "interpreter.h"

PyObject *vti_py_items(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *vti_py_items_total(PyObject *self, PyObject *unused);

#endif
