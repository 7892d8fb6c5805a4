/* tasks_put.h - runs of task graphs, as Python knows them, into the recording of this process. */
#ifndef VENTURI_PY_TASKS_PUT_H
#define VENTURI_PY_TASKS_PUT_H

#include "interpreter.h"

/* tasks_put(runs): runs as those of tasks_write(). How many tasks there was no room for; None if nobody records; NULL with an exception. */
PyObject *vti_py_tasks_put(PyObject *module, PyObject *runs);

#endif
