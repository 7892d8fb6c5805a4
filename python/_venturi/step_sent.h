/* step_sent.h - when a message was sent to a step, as it says itself. */
#ifndef VENTURI_PY_STEP_SENT_H
#define VENTURI_PY_STEP_SENT_H

#include "interpreter.h"

#include <stdint.h>

/* Nanoseconds since 1970 of a number in units of `unit_ns`, of a datetime, or of a text like 2020-05-22T10:00:00.5+00:00 (UTC where it says
 * no zone). 0: it is none of these. Leaves no exception. */
int64_t vti_py_step_sent(PyObject *value, double unit_ns);

#endif
