/*
 * trace_ask.c - code of the program that trace points call: a __repr__, a notifier.
 *
 * Trace points in it are none, or they would ask again. Whatever it makes current is not so afterwards. What it raises goes no further, except
 * what ends or interrupts the program: that is put aside until the trace point has done its work, and raised then.
 */
#include "trace.h"

int vti_py_asking_count;
int vti_py_aside_count;

static __thread struct {
    bool is_asking;
    PyObject *error; /* put aside; NULL: none */
} own __attribute__((tls_model("initial-exec")));

bool vti_py_thread_is_asking(void)
{
    return own.is_asking;
}

void vti_py_ask_begin(struct vti_py_asking *asking)
{
    asking->current = vti_py_node_count ? vti_py_node_current() : NULL;
    asking->was_asking = own.is_asking;
    own.is_asking = true;
    vti_py_asking_count++;
}

void vti_py_ask_end(struct vti_py_asking *asking)
{
    PyObject *type, *value, *traceback;
    struct vti_py_node *now;

    PyErr_Fetch(&type, &value, &traceback);
    own.is_asking = asking->was_asking;
    vti_py_asking_count--;
    now = vti_py_node_count ? vti_py_node_current() : NULL;
    if (now != asking->current)
        vti_py_node_set(asking->current);
    Py_XDECREF(now);
    Py_XDECREF(asking->current);
    PyErr_Restore(type, value, traceback);
}

void vti_py_trace_forgive(void)
{
    PyObject *type, *value, *traceback;

    if (vti_py_likely(!PyErr_Occurred()))
        return;
    if (PyErr_ExceptionMatches(PyExc_Exception) || own.error) {
        PyErr_Clear();
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value && traceback)
        (void)PyException_SetTraceback(value, traceback);
    own.error = value;
    if (value)
        vti_py_aside_count++;
    Py_XDECREF(type);
    Py_XDECREF(traceback);
}

bool vti_py_trace_raise_aside(void)
{
    PyObject *error = own.error;
    PyObject *type, *before, *traceback;

    if (!error)
        return false;
    own.error = NULL;
    vti_py_aside_count--;
    PyErr_Fetch(&type, &before, &traceback);
    PyErr_NormalizeException(&type, &before, &traceback);
    if (before && before != error)
        PyException_SetContext(error, Py_NewRef(before));
    Py_XDECREF(type);
    Py_XDECREF(before);
    Py_XDECREF(traceback);
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
    return true;
}
