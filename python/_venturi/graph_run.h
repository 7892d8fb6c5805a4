/*
 * graph_run.h - one computation as Python sees it: _venturi.Run, and what its parts share.
 *
 * Everything in it is read and written with the interpreter lock held. It lives as long as somebody holds it; the engine's run and
 * graph live as long.
 */
#ifndef VENTURI_PY_GRAPH_RUN_H
#define VENTURI_PY_GRAPH_RUN_H

#include "graph_read.h"

enum {
    VTI_PY_START,
    VTI_PY_START_STATE,
    VTI_PY_PRETASK,
    VTI_PY_POSTTASK,
    VTI_PY_FINISH,
    VTI_PY_HOOKS
};

/* Who is told. Lists of tuples of VTI_PY_HOOKS; the single ones may be NULL. All owned. */
struct vti_py_told {
    PyObject *hooks; /* a list of tuples */
    PyObject *start_callback;
    PyObject *end_callback;
    PyObject *error_callback;
    bool end_has_result; /* end_callback(key, result, dask, state, id) */
    Py_ssize_t started;  /* so many of `hooks` have been told of the start */
};

struct vti_py_run {
    PyObject_HEAD struct vti_py_graph graph;
    vt_run *run;         /* NULL: not yet, or it cannot be */
    PyObject *dsk;       /* as callbacks see it */
    PyObject *shown;     /* as start_callback and end_callback see it */
    PyObject *scheduler; /* its name */
    PyObject *stop;      /* the exception that ends the run, or NULL */
    PyObject *context;   /* the caller's context variables, or NULL */
    PyObject *state;     /* what callbacks are given, or NULL */
    PyObject *results;   /* a dict, kept if there is a state */
    PyObject *literals;  /* a list of values that were given */
    PyObject *pickling;  /* of other processes: an object with dumps, loads and pack, or NULL */
    struct vti_py_told told;
    vt_state *live; /* NULL until it has begun */
    unsigned workers;
    unsigned long *idents; /* by worker: its thread as Python knows it */
    double start_time, end_time;
    double timeout;   /* seconds of one try, 0: any */
    bool is_measured; /* somebody wants to know how large results are */
    bool is_over;
    bool has_failed;
    bool keeps_going; /* though a task has failed */
    bool reruns;      /* a task that failed is called again by the caller's thread */
};

extern VTI_PY_HIDDEN PyTypeObject vti_py_run_type;

/* A run with nothing in it. NULL with an exception. */
VTI_PY_HIDDEN struct vti_py_run *vti_py_run_new(void);

/* The exception that is set ends the run. Any thread that has the lock. */
VTI_PY_HIDDEN void vti_py_run_stop(struct vti_py_run *run);

/* Who ran it: the thread as Python knows it, or the process. NULL with an exception. */
VTI_PY_HIDDEN PyObject *vti_py_run_worker_id(const struct vti_py_run *run, uint32_t worker);

/* An object from a value of the engine: a new reference, NULL with an exception. */
VTI_PY_HIDDEN PyObject *vti_py_run_object(const struct vti_py_run *run,
                                          const struct vt_datum *value);

#endif
