/*
 * builtins.c - built-in functions: their ids and names.
 *
 * The key is the address of the definition (PyMethodDef), which all bound methods of a type share. A table with open
 * addressing that only grows; names are those that cProfile gives, so that profiles can be compared.
 */
#include "builtins.h"

#include "functions.h"

#include <venturi/hook.h>

struct place {
    const PyMethodDef *def;
    uint32_t id;
};

static struct place *places;
static size_t place_count, used;

static size_t first_place(const PyMethodDef *def, size_t count)
{
    return (size_t)(((uintptr_t)def >> 3) * 0x9e3779b97f4a7c15u >> 32) & (count - 1);
}

static struct place *find(struct place *in, size_t count, const PyMethodDef *def)
{
    size_t at = first_place(def, count);

    while (in[at].def && in[at].def != def)
        at = (at + 1) & (count - 1);
    return &in[at];
}

static int grow(void)
{
    size_t count = place_count ? 2 * place_count : 4096;
    struct place *grown = PyMem_RawCalloc(count, sizeof *grown);

    if (!grown)
        return -1;
    for (size_t i = 0; i < place_count; i++)
        if (places[i].def)
            *find(grown, count, places[i].def) = places[i];
    PyMem_RawFree(places);
    places = grown;
    place_count = count;
    return 0;
}

/* `descriptor` is what the type of a method has under its name: its repr() says it all. */
static PyObject *name_of_method(const PyCFunctionObject *function, PyObject *descriptor)
{
    PyObject *module = function ? function->m_module : NULL;
    PyObject *name = descriptor ? PyObject_Repr(descriptor) : NULL;

    if (name || !function)
        return name;
    PyErr_Clear();
    if (module && PyUnicode_Check(module))
        return PyUnicode_FromFormat("<built-in method %S.%s>", module, function->m_ml->ml_name);
    return PyUnicode_FromFormat("<built-in method %s>", function->m_ml->ml_name);
}

static PyObject *name_of_function(const PyCFunctionObject *function)
{
    PyObject *module = function->m_module;
    PyObject *name = NULL;

    if (module && PyUnicode_Check(module))
        name = Py_NewRef(module);
    else if (module && PyModule_Check(module))
        name = PyModule_GetNameObject(module);
    PyErr_Clear();
    if (name && PyUnicode_CompareWithASCIIString(name, "builtins") != 0)
        Py_SETREF(name, PyUnicode_FromFormat("<%U.%s>", name, function->m_ml->ml_name));
    else
        Py_XSETREF(name, PyUnicode_FromFormat("<%s>", function->m_ml->ml_name));
    return name;
}

/* What a type has under a name, as cProfile looks it up. If that is a Python function, which stands before the
 * built-in one in a class of the program, it is not what is called. Borrowed; NULL: nothing. */
static PyObject *find_descriptor(PyTypeObject *type, PyObject *name, const PyMethodDef *def)
{
    PyObject *found = _PyType_Lookup(type, name);
    Py_ssize_t count = type->tp_mro ? PyTuple_GET_SIZE(type->tp_mro) : 0;

    if (!found || !PyFunction_Check(found))
        return found;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(type->tp_mro, i);

        found = _PyType_Lookup(base, name);
        if (found && Py_IS_TYPE(found, &PyMethodDescr_Type) &&
            ((PyMethodDescrObject *)found)->d_method == def)
            return found;
    }
    return NULL;
}

static PyObject *name_of(PyObject *called)
{
    const PyCFunctionObject *function = (const PyCFunctionObject *)called;
    PyObject *key, *descriptor;

    if (!PyCFunction_Check(called))
        return name_of_method(NULL, called);
    if (!function->m_self)
        return name_of_function(function);
    key = PyUnicode_FromString(function->m_ml->ml_name);
    descriptor = key ? find_descriptor(Py_TYPE(function->m_self), key, function->m_ml) : NULL;
    Py_XDECREF(key);
    return name_of_method(function, descriptor);
}

VTI_PY_SLOW static uint32_t new_id(const PyMethodDef *def, PyObject *called)
{
    struct vti_py_function function = {.language = VT_LANGUAGE_BUILTIN};
    PyObject *type, *value, *traceback;
    uint32_t id = 0;

    if (!vt_ticks() || (2 * used >= place_count && grow()))
        return 0;
    PyErr_Fetch(&type, &value, &traceback);
    function.file = PyUnicode_FromString("~");
    function.name = function.qualname = name_of(called);
    if (function.file && function.name)
        id = vti_py_function_add(&function);
    Py_XDECREF(function.name);
    Py_XDECREF(function.file);
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    if (id) {
        *find(places, place_count, def) = (struct place){def, id};
        used++;
    }
    return id;
}

uint32_t vti_py_builtin_id(PyObject *called, PyObject *self)
{
    const PyMethodDef *def;
    const struct place *place;

    if (PyCFunction_Check(called))
        def = ((PyCFunctionObject *)called)->m_ml;
    else if (Py_IS_TYPE(called, &PyMethodDescr_Type) && self)
        def = ((PyMethodDescrObject *)called)->d_method;
    else
        return 0;
    place = place_count ? find(places, place_count, def) : NULL;
    return vti_py_likely(place && place->def) ? place->id : new_id(def, called);
}
