/* recording.h - recordings that a program starts itself, and what it hands over to them. NULL: with an exception. */
#ifndef VENTURI_PY_RECORDING_H
#define VENTURI_PY_RECORDING_H

#include "interpreter.h"

PyObject *vti_py_session_start(PyObject *module, PyObject *path);
PyObject *vti_py_session_spool(PyObject *module, PyObject *path);
PyObject *vti_py_session_stop(PyObject *module, PyObject *unused);
PyObject *vti_py_session_flush(PyObject *module, PyObject *unused);

/* (file, text as bytes); whether it was taken. */
PyObject *vti_py_session_give(PyObject *module, PyObject *args);

#endif
