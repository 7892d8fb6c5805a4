/*
 * graph_worker.c - the side of a worker process: `python -c … venturi.dask._worker` calls graph_worker(), which takes tasks until there are
 * no more. The interpreter lock is held during tasks only.
 */
#include "graph_errors.h"
#include "graph_get.h"
#include "graph_process.h"

#include <stdlib.h>

static PyObject *pickling; /* dumps, loads, unpack, pack_error */

/* pickling.method(object) */
static PyObject *ask(const char *method, PyObject *object)
{
    PyObject *name = PyUnicode_InternFromString(method);
    PyObject *answer = name ? PyObject_CallMethodOneArg(pickling, name, object) : NULL;

    Py_XDECREF(name);
    return answer;
}

/* The bytes as an object, without a copy: they are read while this is called. */
static PyObject *loads(const char *method, const void *data, size_t size)
{
    PyObject *view = PyMemoryView_FromMemory((char *)(uintptr_t)data, (Py_ssize_t)size, PyBUF_READ);
    PyObject *object = view ? ask(method, view) : NULL;

    Py_XDECREF(view);
    return object;
}

static void drop_values(PyObject **values, size_t count)
{
    while (count)
        Py_DECREF(values[--count]);
    PyMem_Free(values);
}

/* The values of its arguments; NULL with an exception. */
static PyObject **load_values(const struct vt_call *call)
{
    PyObject **values = PyMem_New(PyObject *, call->arg_count + 1);
    size_t count = 0;

    if (!values)
        PyErr_NoMemory();
    for (; values && count < call->arg_count; count++) {
        const struct vt_datum *value = call->args[count];

        values[count] = loads("loads", value->as.data, value->size);
        if (!values[count]) {
            drop_values(values, count);
            return NULL;
        }
    }
    return values;
}

/* pickling.unpack() gives (packed, heads). */
static struct vti_py_template *load_template(const struct vt_call *call)
{
    struct vti_py_template *template = NULL;
    PyObject *packed, *heads, *both;
    uint64_t size;

    if (!call->user) {
        PyErr_SetString(PyExc_ValueError, "this is no task of Python");
        return NULL;
    }
    memcpy(&size, call->user, sizeof size);
    both = loads("unpack", (const char *)call->user + sizeof size, (size_t)size);
    if (both && PyTuple_Check(both) && PyArg_ParseTuple(both, "OO!", &packed, &PyList_Type, &heads))
        template = vti_py_template_unpack(packed, heads, (uint32_t)call->arg_count);
    Py_XDECREF(both);
    return template;
}

/* Leaves bytes as the result; -1 with an exception, or without one if there is no room, which the engine says. */
static int leave(struct vt_call *call, PyObject *result)
{
    PyObject *bytes = ask("dump_result", result);
    void *room = NULL;

    if (bytes && PyBytes_Check(bytes)) {
        room = vt_call_bytes(call, (size_t)PyBytes_GET_SIZE(bytes));
        if (room)
            memcpy(room, PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));
    }
    Py_XDECREF(bytes);
    return room ? 0 : -1;
}

static void free_bytes(void *data, void *with)
{
    (void)with;
    free(data);
}

/* The exception travels as bytes, its text beside it. */
static int fail(struct vt_call *call)
{
    PyObject *exception = vti_py_error_take();
    PyObject *bytes;
    char line[1000];

    if (!exception)
        return vt_call_fail(call, "no room for its result");
    vti_py_error_line(exception, line, sizeof line);
    bytes = ask("pack_error", exception);
    if (bytes && PyBytes_Check(bytes)) {
        size_t size = (size_t)PyBytes_GET_SIZE(bytes);
        void *copy = malloc(size + 1);

        if (copy) {
            memcpy(copy, PyBytes_AS_STRING(bytes), size);
            call->failure = vt_datum_bytes(copy, size, free_bytes, NULL);
        }
    }
    Py_XDECREF(bytes);
    Py_DECREF(exception);
    PyErr_Clear();
    return vt_call_fail(call, "%s", line);
}

int vti_py_worker_run(struct vt_call *call)
{
    PyGILState_STATE state = PyGILState_Ensure();
    struct vti_py_template *template = load_template(call);
    PyObject **values = template ? load_values(call) : NULL;
    PyObject *result = values ? vti_py_template_fill(template, values) : NULL;
    int code = 0;

    if (values)
        drop_values(values, call->arg_count);
    vti_py_template_free(template);
    if (!result || leave(call, result))
        code = fail(call);
    Py_XDECREF(result);
    PyGILState_Release(state);
    return code;
}

PyObject *vti_py_graph_worker(PyObject *module, PyObject *given)
{
    int code;

    (void)module;
    Py_XSETREF(pickling, Py_NewRef(given));
    if (vt_function_register(VTI_PY_FUNCTION, vti_py_worker_run)) {
        PyErr_SetString(PyExc_RuntimeError, "the function of a worker cannot be registered");
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    code = vt_worker_main();
    Py_END_ALLOW_THREADS;
    return PyLong_FromLong(code);
}
