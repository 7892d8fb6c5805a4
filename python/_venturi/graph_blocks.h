/*
 * graph_blocks.h - C graphs for other machines, as Python sends them there: cut into blocks, and a block computed.
 *
 * It stands apart from venturi/blocks.h, whose names are not those of venturi/read.h.
 */
#ifndef VENTURI_PY_GRAPH_BLOCKS_H
#define VENTURI_PY_GRAPH_BLOCKS_H

#include "interpreter.h"

/* graph_blocks(saved, wanted, seconds, cost): [(saved block, (key that it needs, …), (key that others need, …))]. */
VTI_PY_HIDDEN PyObject *vti_py_graph_blocks(PyObject *module, PyObject *args);

/* graph_block_run(saved block, {key: saved value}, [key], threads, is_unrecorded): ({key: saved value}, run as tasks_write() takes it), with
 * times in nanoseconds. */
VTI_PY_HIDDEN PyObject *vti_py_graph_block_run(PyObject *module, PyObject *args);

/* graph_value(saved value): None, an int, a float or bytes. */
VTI_PY_HIDDEN PyObject *vti_py_graph_value(PyObject *module, PyObject *saved);

#endif
