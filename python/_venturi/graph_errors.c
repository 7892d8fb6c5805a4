/*
 * graph_errors.c - see graph_errors.h.
 */
#include "graph_errors.h"

#include <string.h>

const char *vti_py_type_name(PyTypeObject *type)
{
    const char *dot = strrchr(type->tp_name, '.');

    return dot ? dot + 1 : type->tp_name;
}

PyObject *vti_py_error_take(void)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    if (!type)
        return NULL;
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback)
        PyException_SetTraceback(value, traceback);
    Py_DECREF(type);
    Py_XDECREF(traceback);
    return value;
}

void vti_py_error_give(PyObject *exception)
{
    PyObject *type = Py_NewRef((PyObject *)Py_TYPE(exception));

    PyErr_Restore(type, exception, PyException_GetTraceback(exception));
}

static void add_note(PyObject *exception, PyObject *key, const char *where)
{
#if PY_VERSION_HEX >= 0x030b0000
    PyObject *note = where ? PyUnicode_FromFormat("task %R, %s", key, where)
                           : PyUnicode_FromFormat("task %R", key);
    PyObject *done = note ? PyObject_CallMethod(exception, "add_note", "O", note) : NULL;

    Py_XDECREF(note);
    Py_XDECREF(done);
    PyErr_Clear();
#else
    (void)exception, (void)key, (void)where;
#endif
}

void vti_py_error_name(PyObject *key, const char *where)
{
    PyObject *exception = vti_py_error_take();
    PyObject *named = PyObject_GetAttrString(exception, "__venturi_key__");

    if (!named) {
        PyErr_Clear();
        if (PyObject_SetAttrString(exception, "__venturi_key__", key))
            PyErr_Clear();
        add_note(exception, key, where);
    }
    Py_XDECREF(named);
    vti_py_error_give(exception);
}

void vti_py_error_line(PyObject *exception, char *room, size_t size)
{
    PyObject *text = PyObject_Str(exception);
    const char *said = text ? PyUnicode_AsUTF8(text) : NULL;

    PyOS_snprintf(room, size, "%s%s%s", vti_py_type_name(Py_TYPE(exception)),
                  said && *said ? ": " : "", said ? said : "");
    for (char *c = room; *c; c++)
        if (*c == '\n')
            *c = ' ';
    Py_XDECREF(text);
    PyErr_Clear();
}
