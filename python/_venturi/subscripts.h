/* subscripts.h - Python 3.11.0 to 3.11.3: subscripts must not become fast, see subscripts.c. */
#ifndef VENTURI_PY_SUBSCRIPTS_H
#define VENTURI_PY_SUBSCRIPTS_H

#include "interpreter.h"

/* Before a code object runs. Nothing is done where nothing is needed. No exception may be set. */
void vti_py_subscripts_pin(PyCodeObject *code);

/* The same for all code that runs now, in all threads. */
void vti_py_subscripts_pin_running(void);

#endif
