/*
 * graph_classes.c - see graph_classes.h. The classes are held for good: dask is not unloaded.
 */
#include "graph_classes.h"

static struct {
    PyObject *module;
    PyTypeObject *node, *ref, *task, *alias, *data, *list, *tuple, *set, *dict;
    PyObject *call; /* Task.__call__: who has another is no mere Task */
} dask;

struct vti_py_attributes vti_py_attributes;

static int make_attributes(void)
{
    static const char *const texts[] = {"func",   "args",  "kwargs",      "key",
                                        "target", "value", "dependencies"};
    PyObject **names = &vti_py_attributes.func;

    _Static_assert(sizeof vti_py_attributes == sizeof texts, "one name for each");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (!names[i] && !(names[i] = PyUnicode_InternFromString(texts[i])))
            return -1;
    return 0;
}

static PyTypeObject *type_of(PyObject *module, const char *name)
{
    PyObject *type = PyObject_GetAttrString(module, name);

    if (!type)
        PyErr_Clear();
    else if (!PyType_Check(type))
        Py_CLEAR(type);
    return (PyTypeObject *)type;
}

/* A Task has been read by its arguments since it has them; the first versions packed them. */
static bool is_readable(PyTypeObject *task)
{
    return PyObject_HasAttrString((PyObject *)task, "args") &&
           PyObject_HasAttrString((PyObject *)task, "kwargs") &&
           PyObject_HasAttrString((PyObject *)task, "func");
}

static void read_classes(PyObject *module)
{
    PyTypeObject *nested = type_of(module, "NestedContainer");

    dask.node = type_of(module, "GraphNode");
    dask.ref = type_of(module, "TaskRef");
    dask.alias = type_of(module, "Alias");
    dask.data = type_of(module, "DataNode");
    dask.task = type_of(module, "Task");
    if (!dask.task || !nested || !is_readable(dask.task)) {
        Py_CLEAR(dask.task);
    } else {
        dask.call = PyObject_GetAttrString((PyObject *)dask.task, "__call__");
        dask.list = type_of(module, "List");
        dask.tuple = type_of(module, "Tuple");
        dask.set = type_of(module, "Set");
        dask.dict = type_of(module, "Dict");
    }
    PyErr_Clear();
    Py_XDECREF(nested);
}

int vti_py_classes_look(void)
{
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *module = modules ? PyDict_GetItemString(modules, "dask._task_spec") : NULL;

    if (make_attributes())
        return -1;
    if (!module || module == Py_None || module == dask.module)
        return 0;
    Py_XDECREF(dask.module);
    memset(&dask, 0, sizeof dask);
    dask.module = Py_NewRef(module);
    read_classes(module);
    return PyErr_Occurred() ? -1 : 0;
}

bool vti_py_classes_are_there(void)
{
    return dask.node != NULL;
}

bool vti_py_classes_are_old(void)
{
    PyObject *modules = PyImport_GetModuleDict();

    return !dask.node && modules && PyDict_GetItemString(modules, "dask");
}

static bool is_called_as_task(PyTypeObject *type)
{
    PyObject *call;
    bool is_same;

    if (!dask.task || !PyType_IsSubtype(type, dask.task))
        return false;
    call = PyObject_GetAttrString((PyObject *)type, "__call__");
    is_same = call && call == dask.call;
    if (!call)
        PyErr_Clear();
    Py_XDECREF(call);
    return is_same;
}

static enum vti_py_class node_class(PyTypeObject *type)
{
    if (type == dask.task)
        return VTI_PY_IS_TASK;
    if (type == dask.alias)
        return VTI_PY_IS_ALIAS;
    if (type == dask.data)
        return VTI_PY_IS_DATA;
    if (type == dask.list)
        return VTI_PY_IS_LIST;
    if (type == dask.tuple)
        return VTI_PY_IS_TUPLE;
    if (type == dask.set)
        return VTI_PY_IS_SET;
    if (type == dask.dict)
        return VTI_PY_IS_DICT;
    return is_called_as_task(type) ? VTI_PY_IS_TASK : VTI_PY_IS_OTHER;
}

enum vti_py_class vti_py_class_of(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    if (!dask.node || PyLong_CheckExact(object) || PyUnicode_CheckExact(object))
        return VTI_PY_IS_PLAIN;
    if (type == dask.ref)
        return VTI_PY_IS_REF;
    if (PyType_IsSubtype(type, dask.node))
        return node_class(type);
    return dask.ref && PyType_IsSubtype(type, dask.ref) ? VTI_PY_IS_REF : VTI_PY_IS_PLAIN;
}
