/*
 * names.c - what people call a function: its qualified name.
 *
 * From 3.11 on the code object knows it. Before, only the function does, and nothing leads from a frame to its
 * function; but methods are found through the type of their first argument, and others among the globals.
 * What is not found there (nested functions, decorated ones) keeps its plain name.
 */
#include "names.h"

#if PY_VERSION_HEX >= 0x030b0000

PyObject *vti_py_name_of_code(PyCodeObject *code, const vti_py_frame *frame)
{
    (void)frame;
    return Py_NewRef(code->co_qualname);
}

#else

/* The qualified name of a function that has this code, NULL if `object` is none; borrowed. */
static PyObject *name_if_same(PyObject *object, const PyCodeObject *code)
{
    if (!object || !PyFunction_Check(object) || PyFunction_GET_CODE(object) != (PyObject *)code)
        return NULL;
    return ((PyFunctionObject *)object)->func_qualname;
}

/* The same for what stands in a class: also a class method or a property. New reference. */
static PyObject *name_in_class(PyObject *object, const PyCodeObject *code)
{
    const char *inside = NULL;
    PyObject *function = NULL;
    PyObject *name;

    if (object && Py_IS_TYPE(object, &PyClassMethod_Type))
        inside = "__func__";
    else if (object && Py_IS_TYPE(object, &PyProperty_Type))
        inside = "fget";
    if (inside)
        function = PyObject_GetAttrString(object, inside);
    name = name_if_same(inside ? function : object, code);
    Py_XINCREF(name);
    Py_XDECREF(function);
    return name;
}

static PyObject *name_of_method(PyCodeObject *code, const vti_py_frame *frame)
{
    PyObject *first = code->co_argcount ? frame->f_localsplus[0] : NULL;
    PyObject *bases, *name = NULL;

    if (!first)
        return NULL;
    bases = PyType_Check(first) ? ((PyTypeObject *)first)->tp_mro : Py_TYPE(first)->tp_mro;
    for (Py_ssize_t i = 0; bases && !name && i < PyTuple_GET_SIZE(bases); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(bases, i);

        if (base->tp_dict)
            name = name_in_class(PyDict_GetItemWithError(base->tp_dict, code->co_name), code);
    }
    return name;
}

PyObject *vti_py_name_of_code(PyCodeObject *code, const vti_py_frame *frame)
{
    PyObject *name = frame ? name_of_method(code, frame) : NULL;

    if (!name && frame && PyDict_CheckExact(frame->f_globals)) {
        name = name_if_same(PyDict_GetItemWithError(frame->f_globals, code->co_name), code);
        Py_XINCREF(name);
    }
    PyErr_Clear();
    return name ? name : Py_NewRef(code->co_name);
}

#endif
