/*
 * callback.c - callbacks of sys.monitoring: objects of a type of our own with a slot for the vector call. Calling a
 * built-in function instead costs 5 to 7 ns more for each event.
 */
#include "callback.h"

#if VTI_PY_HAS_MONITORING

#include <stddef.h>

struct callback {
    PyObject_HEAD vectorcallfunc call;
};

static PyTypeObject callback_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "venturi._venturi.callback",
    .tp_basicsize = sizeof(struct callback),
    .tp_vectorcall_offset = offsetof(struct callback, call),
    .tp_call = PyVectorcall_Call,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
};

/* A call of sys.monitoring that returns a number; None counts as 0. */
static long number_of(PyObject *result)
{
    long number = -1;

    if (result)
        number = result == Py_None ? 0 : PyLong_AsLong(result);
    Py_XDECREF(result);
    return number;
}

PyObject *vti_py_monitoring(void)
{
    PyObject *module = PySys_GetObject("monitoring");

    if (!module)
        PyErr_SetString(PyExc_RuntimeError, "sys.monitoring is gone");
    return module;
}

/* That which a program is least likely to want for itself first: 5 is kept for optimizers, of which there are none; 4 and 3
 * are for everybody, who begin with 3; 1 and 0 belong to coverage and debuggers. 2 is cProfile's. */
int vti_py_tool_claim(int *tool, const char *name)
{
    static const int ids[] = {5, 4, 3, 1, 0};
    PyObject *monitoring = vti_py_monitoring();

    if (!monitoring || PyType_Ready(&callback_type))
        return -1;
    for (size_t i = 0; *tool < 0 && i < sizeof ids / sizeof *ids; i++) {
        PyObject *done = PyObject_CallMethod(monitoring, "use_tool_id", "is", ids[i], name);

        if (done)
            *tool = ids[i];
        else if (!PyErr_ExceptionMatches(PyExc_ValueError))
            return -1;
        PyErr_Clear();
        Py_XDECREF(done);
    }
    if (*tool < 0)
        PyErr_SetString(PyExc_RuntimeError, "all tool ids of sys.monitoring are taken");
    return *tool < 0 ? -1 : 0;
}

void vti_py_tool_free(int *tool)
{
    PyObject *monitoring = vti_py_monitoring();

    if (monitoring)
        Py_XDECREF(PyObject_CallMethod(monitoring, "free_tool_id", "i", *tool));
    *tool = -1;
}

long vti_py_event_register(int tool, const struct vti_py_event *event, bool is_on)
{
    PyObject *monitoring = vti_py_monitoring();
    PyObject *all = monitoring ? PyObject_GetAttrString(monitoring, "events") : NULL;
    long bit = all ? number_of(PyObject_GetAttrString(all, event->name)) : -1;
    PyObject *callback = Py_NewRef(Py_None);

    Py_XDECREF(all);
    if (is_on) {
        Py_SETREF(callback, (PyObject *)PyObject_New(struct callback, &callback_type));
        if (callback)
            ((struct callback *)callback)->call = event->call;
    }
    if (bit < 0 || !callback) {
        Py_XDECREF(callback);
        return -1;
    }
    Py_XDECREF(PyObject_CallMethod(monitoring, "register_callback", "ilO", tool, bit, callback));
    Py_DECREF(callback);
    return PyErr_Occurred() ? -1 : bit;
}

int vti_py_events_set(int tool, long events)
{
    PyObject *monitoring = vti_py_monitoring();

    if (!monitoring)
        return -1;
    return number_of(PyObject_CallMethod(monitoring, "set_events", "il", tool, events)) < 0 ? -1
                                                                                            : 0;
}

int vti_py_events_restart(void)
{
    PyObject *monitoring = vti_py_monitoring();

    if (!monitoring)
        return -1;
    return number_of(PyObject_CallMethod(monitoring, "restart_events", NULL)) < 0 ? -1 : 0;
}

#endif
