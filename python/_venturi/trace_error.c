/*
 * trace_error.c - exceptions and values of the program as texts.
 *
 * What the program's __str__ and __repr__ do is theirs: they may raise, and they are asked only when somebody wants to know.
 */
#include "trace.h"

enum { TEXT_MAX = 2048 };

static PyObject *empty_text;

int vti_py_error_init(void)
{
    if (!empty_text)
        empty_text = PyUnicode_FromString("");
    return empty_text ? 0 : -1;
}

PyObject *vti_py_text_of(PyObject *value, bool is_repr)
{
    PyObject *text;
    PyObject *cut;
    struct vti_py_asking asking;

    vti_py_ask_begin(&asking);
    text = is_repr ? PyObject_Repr(value) : PyObject_Str(value);
    vti_py_ask_end(&asking);
    if (!text) {
        vti_py_trace_forgive();
        text = PyUnicode_FromFormat("<unprintable %s object>", Py_TYPE(value)->tp_name);
        if (!text) {
            vti_py_trace_forgive();
            return Py_NewRef(empty_text);
        }
    }
    if (vti_py_likely(PyUnicode_GET_LENGTH(text) <= TEXT_MAX))
        return text;
    cut = PyUnicode_Substring(text, 0, TEXT_MAX);
    if (!cut) {
        vti_py_trace_forgive();
        cut = Py_NewRef(empty_text);
    }
    Py_DECREF(text);
    return cut;
}

/* The name of a class: with its module, unless it is one of Python's own. */
static PyObject *type_name(PyTypeObject *type)
{
    PyObject *module = PyObject_GetAttrString((PyObject *)type, "__module__");
    PyObject *name = PyObject_GetAttrString((PyObject *)type, "__name__");
    PyObject *text = NULL;

    if (name && module && PyUnicode_Check(module) &&
        PyUnicode_CompareWithASCIIString(module, "builtins"))
        text = PyUnicode_FromFormat("%U.%S", module, name);
    else if (name)
        text = PyObject_Str(name);
    if (!text) {
        vti_py_trace_forgive();
        text = PyUnicode_FromString(type->tp_name);
    }
    Py_XDECREF(module);
    Py_XDECREF(name);
    return text;
}

PyObject *vti_py_error_info(PyObject *error)
{
    PyObject *type = type_name(Py_TYPE(error));
    PyObject *message = vti_py_text_of(error, false);
    PyObject *info = PyDict_New();

    if (!info || !type || PyDict_SetItemString(info, "etype", type) ||
        PyDict_SetItemString(info, "message", message)) {
        vti_py_trace_forgive();
        Py_CLEAR(info);
    }
    Py_XDECREF(type);
    Py_DECREF(message);
    return info;
}

int vti_py_two(const char *function, const char *const names[2], PyObject *const *args,
               Py_ssize_t count, PyObject *keywords, PyObject *values[2])
{
    Py_ssize_t more = keywords ? PyTuple_GET_SIZE(keywords) : 0;

    if (count + more > 2) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most 2 arguments (%zd given)", function,
                     count + more);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        values[i] = args[i];
    for (Py_ssize_t i = 0; i < more; i++) {
        PyObject *key = PyTuple_GET_ITEM(keywords, i);
        int which = !PyUnicode_CompareWithASCIIString(key, names[0])   ? 0
                    : !PyUnicode_CompareWithASCIIString(key, names[1]) ? 1
                                                                       : -1;

        if (which < 0 || values[which]) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected or repeated argument '%U'",
                         function, key);
            return -1;
        }
        values[which] = args[count + i];
    }
    if (!values[0]) {
        PyErr_Format(PyExc_TypeError, "%s() misses its argument '%s'", function, names[0]);
        return -1;
    }
    return 0;
}
