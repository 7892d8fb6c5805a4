/* pairs.h - pairs of instructions that Python 3.12 runs as one. Other versions have none that a hook could part. */
#ifndef VENTURI_PY_PAIRS_H
#define VENTURI_PY_PAIRS_H

#include "interpreter.h"

/* Finds out which pairs there are, once. 0, or -1 with an exception. */
int vti_py_pairs_learn(void);

/* Puts the pairs of a code object together again that the interpreter took apart for a hook. No exception may be
 * set. */
void vti_py_pairs_join(PyCodeObject *code);

/* The same for all code that runs now, in all threads. */
void vti_py_pairs_join_running(void);

#endif
