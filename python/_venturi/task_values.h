/* task_values.h - what Python says of tasks, as C has it. -1: with an exception. */
#ifndef VENTURI_PY_TASK_VALUES_H
#define VENTURI_PY_TASK_VALUES_H

#include "interpreter.h"

#include <stdint.h>

/* Since 1970: a float of seconds, an int of nanoseconds, or None: 0. */
int vti_py_time_from(PyObject *value, int64_t *ns);

/* The same, None: unknown. */
int vti_py_cpu_from(PyObject *value, uint64_t *ns);

/* A number; None and all else that is no such number are unknown. Never fails. */
uint64_t vti_py_size_from(PyObject *value);

/* "done", "failed", "skipped", "cancelled", "timed out", "lost". */
int vti_py_state_from(PyObject *value, uint8_t *state);

/* "compute", "transfer", "disk-read", "disk-write", "deserialize". */
int vti_py_action_from(PyObject *value, uint8_t *action);

#endif
