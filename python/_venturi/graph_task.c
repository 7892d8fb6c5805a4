/*
 * graph_task.c - see graph_task.h. Called a million times: nothing here may cost more than it must.
 */
#include "graph_task.h"

#include "graph_errors.h"

#include <time.h>

enum { FEW = 16, TURN_MS = 5 };

static _Thread_local PyThreadState *left;      /* while the lock is given up */
static _Thread_local PyGILState_STATE ensured; /* of a thread of the engine */
static _Thread_local PyObject *entered;        /* its context */
static _Thread_local uint64_t turn_ms;         /* when it got the lock */

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void vti_py_thread_leave(void *user)
{
    (void)user;
    left = PyEval_SaveThread();
}

void vti_py_thread_return(void *user)
{
    PyEval_RestoreThread(left);
    turn_ms = now_ms();
    if (PyErr_CheckSignals())
        vti_py_run_stop(user);
}

/* Tasks see the context variables of the caller; each thread has a copy of its own. The run stays for as long as its threads do: one
 * whose task never ends may be left behind. */
void vti_py_thread_begin(void *user)
{
    struct vti_py_run *run = user;

    ensured = PyGILState_Ensure();
    Py_INCREF(run);
    turn_ms = now_ms();
    entered = run->context ? PyContext_Copy(run->context) : NULL;
    if (entered && PyContext_Enter(entered))
        Py_CLEAR(entered);
    PyErr_Clear();
}

void vti_py_thread_end(void *user)
{
    if (entered && PyContext_Exit(entered))
        PyErr_Clear();
    Py_CLEAR(entered);
    Py_DECREF((PyObject *)user);
    PyGILState_Release(ensured);
}

/* Others get a turn; signals that came meanwhile are looked at. */
static void breathe(struct vti_py_run *run)
{
    uint64_t now = now_ms();

    if (vti_py_likely(now - turn_ms < TURN_MS))
        return;
    vti_py_thread_leave(run);
    vti_py_thread_return(run);
}

/* Nearly always with the lock; what a thread that was left behind drops last may be without. */
static void drop(void *data, void *with)
{
    PyGILState_STATE state;

    (void)with;
    if (vti_py_likely(PyGILState_Check())) {
        Py_DECREF((PyObject *)data);
        return;
    }
    state = PyGILState_Ensure();
    Py_DECREF((PyObject *)data);
    PyGILState_Release(state);
}

struct vt_datum vti_py_value(PyObject *object, size_t size)
{
    return (struct vt_datum){
        .type = VT_DATUM_OBJECT, .as.data = object, .size = size, .destroy = drop};
}

/* The run holds it, where the garbage collector sees it. */
int vti_py_task_literal(PyObject *value, struct vt_datum *literal, void *with)
{
    struct vti_py_run *run = with;

    *literal = (struct vt_datum){.type = VT_DATUM_OBJECT, .as.data = value};
    if (!run->literals)
        run->literals = PyList_New(0);
    return run->literals ? PyList_Append(run->literals, value) : -1;
}

/* What an array says of itself; 0 if the object's class says nothing. */
static size_t size_of(PyObject *object)
{
    static PyObject *name;
    PyObject *bytes;
    size_t size = 0;

    if (!name && !(name = PyUnicode_InternFromString("nbytes"))) {
        PyErr_Clear();
        return 0;
    }
    if (!_PyType_Lookup(Py_TYPE(object), name))
        return 0;
    bytes = PyObject_GetAttr(object, name);
    if (bytes && PyLong_Check(bytes))
        size = PyLong_AsSize_t(bytes);
    Py_XDECREF(bytes);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        size = 0;
    }
    return size;
}

/* The exception goes along with the failure. What is no error, but an end of the program, ends the run at once. */
static int fail(struct vt_call *call, struct vti_py_run *run)
{
    PyObject *key = run->graph.keys.keys[call->task].key;
    PyObject *exception;
    char where[80];
    char line[400];

    PyOS_snprintf(where, sizeof where, "worker %lu (thread %lu)", (unsigned long)call->worker,
                  PyThread_get_thread_ident());
    vti_py_error_name(key, where);
    exception = vti_py_error_take();
    vti_py_error_line(exception, line, sizeof line);
    if (!PyErr_GivenExceptionMatches(exception, PyExc_Exception)) {
        vti_py_error_give(Py_NewRef(exception));
        vti_py_run_stop(run);
    }
    call->failure = vti_py_value(exception, 0);
    return vt_call_fail(call, "%s", line);
}

int vti_py_task_run(struct vt_call *call)
{
    struct vti_py_run *run = vt_run_user(call->run);
    PyObject *few[FEW];
    PyObject **values = few;
    PyObject *result = NULL;

    if (call->arg_count > FEW)
        values = PyMem_RawMalloc(call->arg_count * sizeof *values);
    if (!values)
        PyErr_NoMemory();
    for (size_t i = 0; values && i < call->arg_count; i++)
        values[i] = call->args[i]->as.data;
    if (values)
        result = vti_py_template_fill(call->user, values);
    if (values != few)
        PyMem_RawFree(values);
    if (call->worker < run->workers)
        run->idents[call->worker] = PyThread_get_thread_ident();
    if (!result)
        return fail(call, run);
    call->result = vti_py_value(result, run->is_measured ? size_of(result) : 0);
    breathe(run);
    return 0;
}
