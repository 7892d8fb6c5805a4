/* step_json.c - values of Python as JSON (step_json.h): bounded in depth and size, and never with an exception. */
#include "step_json.h"

#include <venturi/step_record.h>

#define DEPTH_MOST 16

/* Its UTF-8, which lives as long as the text and `*made`, which the caller gives back; NULL without memory. */
static const char *to_utf8(PyObject *text, Py_ssize_t *len, PyObject **made)
{
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, len);

    *made = NULL;
    if (utf8)
        return utf8;
    PyErr_Clear(); /* half of a pair of surrogates */
    *made = PyUnicode_AsEncodedString(text, "utf-8", "replace");
    PyErr_Clear();
    if (!*made)
        return NULL;
    *len = PyBytes_GET_SIZE(*made);
    return PyBytes_AS_STRING(*made);
}

static void add_text(struct vti_json *json, PyObject *text)
{
    Py_ssize_t len;
    PyObject *made;
    const char *utf8 = to_utf8(text, &len, &made);

    if (utf8)
        vti_json_bytes(json, utf8, (size_t)len);
    else
        vti_json_null(json);
    Py_XDECREF(made);
}

static void add_long(struct vti_json *json, PyObject *value)
{
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    PyObject *digits;

    if (!overflow && !(number == -1 && PyErr_Occurred())) {
        vti_json_int(json, number);
        return;
    }
    PyErr_Clear();
    digits = PyLong_Type.tp_repr(value); /* refuses more than some thousands of them */
    if (digits)
        vti_json_raw(json, PyUnicode_AsUTF8(digits));
    else
        vti_json_null(json);
    Py_XDECREF(digits);
    PyErr_Clear();
}

static bool is_too_much(const struct vti_json *json)
{
    return json->out->len > VT_STEP_EXTRA_MAX;
}

static void add_value(struct vti_json *json, PyObject *value, unsigned depth);

static void add_sequence(struct vti_json *json, PyObject *value, unsigned depth)
{
    vti_json_array(json);
    /* The size is asked for each time: to write an item may run the program's code. */
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value) && !is_too_much(json); i++) {
        PyObject *item = Py_NewRef(PySequence_Fast_GET_ITEM(value, i));

        add_value(json, item, depth + 1);
        Py_DECREF(item);
    }
    vti_json_array_end(json);
}

static void add_dict(struct vti_json *json, PyObject *value, unsigned depth)
{
    PyObject *items = PyDict_Items(value);

    vti_json_object(json);
    for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(items) && !is_too_much(json); i++) {
        PyObject *pair = PyList_GET_ITEM(items, i);

        vti_py_json_key(json, PyTuple_GET_ITEM(pair, 0));
        add_value(json, PyTuple_GET_ITEM(pair, 1), depth + 1);
    }
    vti_json_object_end(json);
    Py_XDECREF(items);
    PyErr_Clear();
}

/* The result of a method without arguments, or NULL without an exception. */
static PyObject *ask(PyObject *value, const char *method)
{
    PyObject *made = PyObject_CallMethod(value, method, NULL);

    PyErr_Clear();
    return made;
}

/* Times, numpy's scalars and arrays; else its text. */
static void add_other(struct vti_json *json, PyObject *value, unsigned depth)
{
    static const char *const methods[] = {"isoformat", "tolist", "item"};
    PyObject *made = NULL;

    for (unsigned i = 0; i < sizeof methods / sizeof *methods && !made && !PyType_Check(value); i++)
        made = ask(value, methods[i]);
    if (made && Py_TYPE(made) != Py_TYPE(value)) {
        add_value(json, made, depth + 1);
        Py_DECREF(made);
        return;
    }
    Py_XDECREF(made);
    made = PyObject_Str(value);
    if (made)
        add_text(json, made);
    else
        vti_json_null(json);
    Py_XDECREF(made);
    PyErr_Clear();
}

static void add_value(struct vti_json *json, PyObject *value, unsigned depth)
{
    if (PyUnicode_Check(value))
        add_text(json, value);
    else if (PyBool_Check(value))
        vti_json_bool(json, value == Py_True);
    else if (PyLong_Check(value))
        add_long(json, value);
    else if (PyFloat_Check(value))
        vti_json_double(json, PyFloat_AS_DOUBLE(value));
    else if (value == Py_None || depth >= DEPTH_MOST)
        vti_json_null(json);
    else if (PyList_Check(value) || PyTuple_Check(value))
        add_sequence(json, value, depth);
    else if (PyDict_Check(value))
        add_dict(json, value, depth);
    else
        add_other(json, value, depth);
}

void vti_py_json_value(struct vti_json *json, PyObject *value)
{
    add_value(json, value, 0);
}

void vti_py_json_key(struct vti_json *json, PyObject *key)
{
    PyObject *text = PyUnicode_Check(key) ? Py_NewRef(key) : PyObject_Str(key);
    PyObject *made = NULL;
    Py_ssize_t len;
    const char *utf8 = text ? to_utf8(text, &len, &made) : NULL;

    PyErr_Clear();
    if (utf8)
        vti_json_key_bytes(json, utf8, (size_t)len); /* a NUL does not end it */
    else
        vti_json_key(json, "?");
    Py_XDECREF(made);
    Py_XDECREF(text);
}
