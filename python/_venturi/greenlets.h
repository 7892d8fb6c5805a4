/* greenlets.h - stacks of greenlets are followed by the trace function of the package greenlet. */
#ifndef VENTURI_PY_GREENLETS_H
#define VENTURI_PY_GREENLETS_H

#include "interpreter.h"

#include <stdbool.h>

/* Once, before the rest. 0, or -1 with an exception. */
int vti_py_greenlets_init(void);

/* Whether this is the body of the module greenlet: once it has run, greenlets can be followed. */
bool vti_py_greenlets_comes_with(PyCodeObject *code);

/* Follows the greenlets of this thread, if the package is there. Sets no exception. */
void vti_py_greenlets_follow(void);

/* The package has been imported: all threads look for it. */
void vti_py_greenlets_came(void);

#endif
