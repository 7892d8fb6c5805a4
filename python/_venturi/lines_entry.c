/*
 * lines_entry.c - how a profiled function is noticed when it is called, up to Python 3.11: by the function object itself,
 * through its slot for the vector call. Functions that nobody profiles are not touched and run as ever.
 *
 * 3.11 does not look at the slot of what is exactly a function. There the object becomes one of a subtype, alike in
 * everything a program can ask for. Generators go on without their function: lines_generators.c sees to them.
 */
#include "interpreter.h"

#if !VTI_PY_HAS_MONITORING

#include "lines.h"
#include "lines_trace.h"
#include "threads.h"

#if PY_VERSION_HEX >= 0x030b0000
static PyTypeObject profiled_type;
#define SEEN_TYPE profiled_type
#else
#define SEEN_TYPE PyFunction_Type
#endif

/* So deep that the C stack must not be used any further. 3.11 does not need it for what is exactly a function, and the trace
 * function sees its calls then. Other threads may be in here too: which type it comes from says nothing. */
static PyObject *call_deep(PyObject *object, PyObject *const *args, size_t count, PyObject *names)
{
    struct vti_py_lines_hold hold = vti_py_lines_hold();
    PyObject *result;

    Py_SET_TYPE(object, &PyFunction_Type);
    result = _PyFunction_Vectorcall(object, args, count, names);
    Py_SET_TYPE(object, &SEEN_TYPE);
    vti_py_lines_release(hold);
    return result;
}

static PyObject *call_function(PyObject *object, PyObject *const *args, size_t count,
                               PyObject *names)
{
    const PyFunctionObject *function = (PyFunctionObject *)object;
    const struct vti_py_lines *lines = vti_py_lines_of((PyCodeObject *)function->func_code);
    struct vti_py_lines_hold hold;
    PyObject *result;

    if (lines && lines->is_generator)
        return vti_py_lines_generator_adopt(_PyFunction_Vectorcall(object, args, count, names));
    if (!vti_py_lines_are_on || !lines)
        return _PyFunction_Vectorcall(object, args, count, names);
    if (vti_py_unlikely(vti_py_thread_is_deep()))
        return call_deep(object, args, count, names);
    hold = vti_py_lines_hold();
    result = _PyFunction_Vectorcall(object, args, count, names);
    vti_py_lines_release(hold);
    return result;
}

#if PY_VERSION_HEX >= 0x030b0000

/* A function is pickled by its name; the C pickler asks others how they want it. */
static PyObject *reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyObject_GetAttrString(self, "__qualname__");
}

static PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

static int make_type(void)
{
    if (profiled_type.tp_flags & Py_TPFLAGS_READY)
        return 0;
    vti_py_type_derive(&profiled_type, &PyFunction_Type);
    profiled_type.tp_methods = methods;
    if (PyType_Ready(&profiled_type) || PyDict_DelItemString(profiled_type.tp_dict, "__doc__"))
        return -1; /* a function's text is its own, not that of its type */
    PyType_Modified(&profiled_type);
    return 0;
}

/* type() makes class methods of these, if they are exactly functions. */
static bool is_special(const PyFunctionObject *function)
{
    return !PyUnicode_CompareWithASCIIString(function->func_name, "__init_subclass__") ||
           !PyUnicode_CompareWithASCIIString(function->func_name, "__class_getitem__");
}

/* A subscript that has become fast knows its function by the version alone. */
static int change_type(PyFunctionObject *function)
{
    if (is_special(function))
        return vti_py_lines_hook_frames();
    if (make_type())
        return -1;
    function->func_version = 0;
    Py_SET_TYPE((PyObject *)function, &profiled_type);
    return 0;
}

#else

static int change_type(PyFunctionObject *function)
{
    (void)function;
    return 0;
}

#endif

int vti_py_lines_hook_function(PyFunctionObject *function, const struct vti_py_lines *lines)
{
    if (function->vectorcall != _PyFunction_Vectorcall)
        return 0;
    if ((lines->is_generator && vti_py_lines_generators_init()) || change_type(function))
        return -1;
    function->vectorcall = call_function;
    return 0;
}

bool vti_py_lines_sees_function(const PyFunctionObject *function)
{
    return function->vectorcall == call_function || vti_py_lines_see_frames();
}

#endif
