/*
 * graph_read.h - a graph as dask writes it becomes a graph of the engine: only what the wanted keys need, every task a template.
 */
#ifndef VENTURI_PY_GRAPH_READ_H
#define VENTURI_PY_GRAPH_READ_H

#include "graph_keys.h"
#include "graph_template.h"

#include <stdbool.h>
#include <venturi/graph.h>

/* A graph that was read. Numbers of keys are those of the engine's nodes. */
struct vti_py_graph {
    struct vti_py_keys keys;
    struct vti_py_template **templates; /* by number; NULL: it is data */
    uint32_t room;
    uint32_t task_count;
    vt_graph *graph;
};

/* How it is read, and what the engine is told. */
struct vti_py_reading {
    PyObject *dsk;   /* a dict */
    PyObject *known; /* a dict of values beside it, or NULL */
    bool
        has_texts; /* the engine gets the keys as texts: somebody records, or an error is to be told */
    vt_function *function; /* that runs a task; its `user` is the template */
    /* The value of data. -1 with an exception. */
    int (*literal)(PyObject *value, struct vt_datum *literal, void *with);
    /* More about a task that was added; may be NULL. -1 with an exception. */
    int (*added)(struct vti_py_graph *graph, uint32_t number, void *with);
    void *with;
};

/* Reads what the wanted keys need: a list without lists inside. -1 with an exception that names the key. */
VTI_PY_HIDDEN int vti_py_graph_read(struct vti_py_graph *graph,
                                    const struct vti_py_reading *reading, PyObject *wanted);
VTI_PY_HIDDEN void vti_py_graph_fini(struct vti_py_graph *graph);

#endif
