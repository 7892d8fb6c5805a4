/* identity.h - by what two code objects are the same function. */
#ifndef VENTURI_PY_IDENTITY_H
#define VENTURI_PY_IDENTITY_H

#include "interpreter.h"

#include <stdint.h>

/* A number that equal code has in common. File, line and name are not part of it. An exception may be set. */
uint64_t vti_py_identity(PyCodeObject *code);

/* The instructions as they were compiled, and not as the interpreter has changed them since: bytes, a new reference. NULL
 * with an exception. */
PyObject *vti_py_identity_instructions(PyCodeObject *code);

#endif
