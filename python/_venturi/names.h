/* names.h - what people call a function: its qualified name. */
#ifndef VENTURI_PY_NAMES_H
#define VENTURI_PY_NAMES_H

#include "interpreter.h"

/* New reference, never NULL. `frame` is one that is about to run the code; NULL: none is known. */
PyObject *vti_py_name_of_code(PyCodeObject *code, const vti_py_frame *frame);

#endif
