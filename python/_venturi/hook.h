/*
 * hook.h - the hook of this interpreter: sys.monitoring (monitoring.c) or the evaluation of frames (frames.c). Only
 * one of the two is built.
 */
#ifndef VENTURI_PY_HOOK_H
#define VENTURI_PY_HOOK_H

#include "interpreter.h"

#include <stdbool.h>

/* Switches the hook on; if it is on, adds built-in functions. 0, or -1 with an exception. */
int vti_py_hook_start(bool has_builtins);

/* Functions that were ignored may be wanted now. 0, or -1 with an exception. */
int vti_py_hook_look_again(void);
void vti_py_hook_stop(void);

/* How often other threads may have made calls that it did not see. */
extern unsigned long vti_py_unseen VTI_PY_HIDDEN;

/* "monitoring" or "frame"; the id of the tool, -1: none. */
const char *vti_py_hook_kind(void);
int vti_py_hook_tool(void);

#endif
