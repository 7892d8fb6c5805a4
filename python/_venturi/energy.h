/* energy.h - a meter of venturi/energy.h for Python. */
#ifndef VENTURI_PY_ENERGY_H
#define VENTURI_PY_ENERGY_H

#include "interpreter.h"

extern PyTypeObject vti_py_meter_type;

PyObject *vti_py_grid_intensity(PyObject *self, PyObject *country);
PyObject *vti_py_grid_source(PyObject *self, PyObject *unused);

#endif
