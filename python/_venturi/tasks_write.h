/* tasks_write.h - runs of task graphs, as Python knows them, as a recording of their own. */
#ifndef VENTURI_PY_TASKS_WRITE_H
#define VENTURI_PY_TASKS_WRITE_H

#include "interpreter.h"

/* tasks_write(path, runs, resources=(), command=""); None, or NULL with an exception. */
PyObject *vti_py_tasks_write(PyObject *module, PyObject *args, PyObject *keywords);

#endif
