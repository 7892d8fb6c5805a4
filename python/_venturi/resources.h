/* resources.h - CPU and memory of this process and of all below it, read by a thread that needs no interpreter. */
#ifndef VENTURI_PY_RESOURCES_H
#define VENTURI_PY_RESOURCES_H

#include "interpreter.h"

extern PyTypeObject vti_py_resources_type;

#endif
