/* calibrate.h - what our own hooks cost: measured in the program itself, so that it can be taken off. */
#ifndef VENTURI_PY_CALIBRATE_H
#define VENTURI_PY_CALIBRATE_H

#include "interpreter.h"

#include <stdbool.h>

/* In ticks for one call: added by us in all, and that part of it which a call of nothing shows as its
 * own duration. */
struct vti_py_cost {
    double pair;
    double inner;
};

/* Before the hooks are switched on, and after: some ms in all. Leaves nothing in the tree of calls. Does nothing
 * while nobody records, and the second time. 0, or -1 with an exception. */
int vti_py_calibrate_before(bool has_builtins);
int vti_py_calibrate_after(bool has_builtins);

/* Of a language (enum vt_language); zero if it is not known. */
struct vti_py_cost vti_py_cost(unsigned language);

#endif
