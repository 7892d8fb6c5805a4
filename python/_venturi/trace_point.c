/*
 * trace_point.c - a decorated function: calls it, within a span if somebody wants one.
 *
 * While nobody does, a call costs one look. Arguments are made texts only for somebody who reads them. It binds as a function does, and
 * carries what functools.update_wrapper gives it.
 */
#include "trace.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

struct point {
    PyObject_HEAD PyObject *function;
    PyObject *name;
    PyObject *info;          /* a dict, or NULL */
    PyObject *function_name; /* "module.qualname" */
    PyObject *run; /* makes a generator or coroutine of that of the function; NULL: it is none */
    PyObject *dict;
    PyObject *weak;
    vectorcallfunc vectorcall;
    struct vt_site *site;
    struct vti_py_facts *facts; /* what is always said; NULL until it is first recorded */
    bool has_args, has_result;
    bool is_late; /* run is given the function, and calls it at the first step */
};

/* {"function": {"name": …}} after what the user gives; a new dict each time. */
static PyObject *make_info(struct point *self, PyObject *args, PyObject *kwargs)
{
    PyObject *info = self->info ? PyDict_Copy(self->info) : PyDict_New();
    PyObject *function = PyDict_New();
    PyObject *texts[2] = {NULL, NULL};
    bool is_whole = info && function &&
                    !PyDict_SetItemString(function, "name", self->function_name);

    if (is_whole && self->has_args && args) {
        texts[0] = vti_py_text_of(args, false);
        texts[1] = vti_py_text_of(kwargs, false);
        is_whole = !PyDict_SetItemString(function, "args", texts[0]) &&
                   !PyDict_SetItemString(function, "kwargs", texts[1]);
    }
    if (!is_whole || PyDict_SetItemString(info, "function", function)) {
        vti_py_trace_forgive();
        Py_CLEAR(info);
    }
    Py_XDECREF(function);
    Py_XDECREF(texts[0]);
    Py_XDECREF(texts[1]);
    return info;
}

/* What is the same for every call, flattened once. */
static const struct vti_py_facts *always_said(struct point *self)
{
    struct vti_py_facts *facts;
    PyObject *info;

    if (vti_py_likely(self->facts != NULL))
        return self->facts;
    facts = malloc(sizeof *facts);
    info = facts ? make_info(self, NULL, NULL) : NULL;
    if (!info) {
        free(facts);
        return NULL;
    }
    facts->count = facts->kept_count = 0;
    vti_py_facts_add(facts, info);
    Py_DECREF(info);
    if (self->facts) { /* a __str__ of the user's has called us */
        vti_py_facts_drop(facts);
        free(facts);
    } else {
        self->facts = facts;
    }
    return self->facts;
}

/* Arguments as a tuple and a dict; new references. */
static int gather(PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **tuple,
                  PyObject **dict)
{
    Py_ssize_t more = names ? PyTuple_GET_SIZE(names) : 0;

    *tuple = PyTuple_New(count);
    *dict = PyDict_New();
    if (!*tuple || !*dict)
        return -1;
    for (Py_ssize_t i = 0; i < count; i++)
        PyTuple_SET_ITEM(*tuple, i, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; i < more; i++)
        if (PyDict_SetItem(*dict, PyTuple_GET_ITEM(names, i), args[count + i]))
            return -1;
    return 0;
}

static struct vti_py_node *begin_saying(struct point *self, struct vti_py_node *current,
                                        PyObject *args, PyObject *kwargs)
{
    struct vti_py_owner *owner = current ? current->owner : NULL;
    PyObject *info = make_info(self, args, kwargs);
    struct vti_py_said said = {info, NULL, 0};
    struct vti_py_node *node;

    if (vt_is_on() && !self->site)
        self->site = vti_py_trace_site(self->name, 0);
    node = vti_py_span_begin(current, owner, self->name, &self->site, &said, self);
    Py_XDECREF(info);
    return node;
}

/* With no word about this very call. */
static struct vti_py_node *begin_plainly(struct point *self, struct vti_py_node *current)
{
    struct vti_py_owner *owner = current ? current->owner : NULL;
    struct vti_py_said said = {NULL, NULL, 0};

    if (vt_is_on()) {
        const struct vti_py_facts *facts = always_said(self);

        if (facts) {
            said.facts = facts->list;
            said.count = facts->count;
        }
    }
    return vti_py_span_begin(current, owner, self->name, &self->site, &said, self);
}

static bool is_silent(const struct point *self, const struct vti_py_node *current)
{
    bool is_told = current && current->owner && vti_py_notifier;

    return !is_told && (!self->has_args || !vt_is_on());
}

static struct vti_py_node *begin(struct point *self, struct vti_py_node *current,
                                 PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    struct vti_py_node *node;
    PyObject *tuple = NULL;
    PyObject *dict = NULL;

    if (vti_py_likely(is_silent(self, current)))
        return begin_plainly(self, current);
    if (gather(args, count, names, &tuple, &dict)) {
        vti_py_trace_forgive();
        node = begin_plainly(self, current);
    } else {
        node = begin_saying(self, current, tuple, dict);
    }
    Py_XDECREF(tuple);
    Py_XDECREF(dict);
    return node;
}

/* {"function": {"result": …}}; NULL without an exception if there is none. */
static PyObject *result_info(struct vti_py_node *node, PyObject *result)
{
    PyObject *text;
    PyObject *info;

    if (!node->number && !(node->owner && vti_py_notifier))
        return NULL;
    text = vti_py_text_of(result, true);
    info = Py_BuildValue("{s:{s:O}}", "function", "result", text);
    Py_DECREF(text);
    if (!info)
        vti_py_trace_forgive();
    return info;
}

/* The exception that is set, as it ends a span. It stays set. */
VTI_PY_SLOW static void fail(struct vti_py_node *node)
{
    PyObject *type, *value, *traceback;
    PyObject *info;

    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    info = value ? vti_py_error_info(value) : NULL;
    PyErr_Restore(type, value, traceback);
    vti_py_span_end(node, info, true);
    Py_XDECREF(info);
}

/* A generator or coroutine around that of the function. What is wrong with the arguments is said here, as without us. */
VTI_PY_SLOW static PyObject *call_maker(struct point *self, PyObject *const *args, size_t flags,
                                        PyObject *names)
{
    PyObject *inner = self->is_late ? Py_NewRef(self->function)
                                    : PyObject_Vectorcall(self->function, args, flags, names);
    PyObject *run = Py_NewRef(self->run);
    PyObject *tuple = NULL;
    PyObject *dict = NULL;
    PyObject *result = NULL;

    if (inner && !gather(args, PyVectorcall_NARGS(flags), names, &tuple, &dict))
        result = PyObject_CallFunctionObjArgs(run, inner, tuple, dict, NULL);
    Py_DECREF(run);
    Py_XDECREF(inner);
    Py_XDECREF(tuple);
    Py_XDECREF(dict);
    return result;
}

static PyObject *call(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    struct point *self = (struct point *)object;
    struct vti_py_node *current;
    struct vti_py_node *node;
    PyObject *function = self->function;
    PyObject *result;
    PyObject *info;

    if (vti_py_likely(!vti_py_trace_is_on(&current)))
        return vti_py_trace_call(function, args, flags, names);
    if (self->run) {
        Py_XDECREF(current);
        return call_maker(self, args, flags, names);
    }
    Py_INCREF(self);
    node = begin(self, current, args, PyVectorcall_NARGS(flags), names);
    result = vti_py_trace_is_raised() ? NULL : vti_py_trace_call(function, args, flags, names);
    if (vti_py_likely(node && result)) {
        info = self->has_result ? result_info(node, result) : NULL;
        vti_py_span_end(node, info, false);
        Py_XDECREF(info);
    } else if (node) {
        fail(node);
    }
    Py_XDECREF(node);
    Py_DECREF(self);
    if (vti_py_trace_is_raised())
        Py_CLEAR(result);
    return result;
}

/* ---- generators and coroutines ---------------------------------------------------------------- */

/* section(args, kwargs): the span of one run begins; None if nobody wants it. It is not current until the first step. */
static PyObject *section(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    struct point *self = (struct point *)object;
    struct vti_py_node *current;
    struct vti_py_node *node;
    PyObject *result;

    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "section() takes two arguments");
        return NULL;
    }
    if (!vti_py_trace_is_on(&current))
        Py_RETURN_NONE;
    node = is_silent(self, current) ? begin_plainly(self, current)
                                    : begin_saying(self, current, args[0], args[1]);
    if (!node)
        return vti_py_trace_is_raised() ? NULL : Py_NewRef(Py_None);
    if (vti_py_trace_is_raised()) {
        fail(node);
        Py_DECREF(node);
        return NULL;
    }
    vti_py_node_leave(node);
    result = vti_py_section_new(node);
    if (!result) {
        vti_py_trace_forgive();
        vti_py_span_end(node, NULL, false);
        Py_DECREF(node);
        Py_RETURN_NONE;
    }
    return result;
}

/* end(section, result), and fail(section, error) */
static PyObject *end_section(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    struct point *self = (struct point *)object;
    struct vti_py_node *node = count == 2 ? vti_py_section_node(args[0]) : NULL;
    PyObject *info = NULL;

    if (!node)
        Py_RETURN_NONE;
    if (self->has_result)
        info = result_info(node, args[1]);
    vti_py_section_end(args[0], info, false);
    Py_XDECREF(info);
    return vti_py_trace_is_raised() ? NULL : Py_NewRef(Py_None);
}

static PyObject *fail_section(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    PyObject *info;

    (void)object;
    if (count != 2 || !vti_py_section_node(args[0]))
        Py_RETURN_NONE;
    info = vti_py_error_info(args[1]);
    vti_py_section_end(args[0], info, true);
    Py_XDECREF(info);
    return vti_py_trace_is_raised() ? NULL : Py_NewRef(Py_None);
}

/* ---- the object ------------------------------------------------------------------------------- */

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"function",  "name",        "info", "function_name",
                            "hide_args", "hide_result", NULL};
    struct point *self;
    PyObject *function, *name, *info, *function_name;
    int hide_args, hide_result;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OUOUpp:TracePoint", names, &function, &name,
                                     &info, &function_name, &hide_args, &hide_result))
        return NULL;
    self = (struct point *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->function = Py_NewRef(function);
    self->name = Py_NewRef(name);
    self->info = PyDict_Check(info) && PyDict_GET_SIZE(info) ? Py_NewRef(info) : NULL;
    self->function_name = Py_NewRef(function_name);
    self->has_args = !hide_args;
    self->has_result = !hide_result;
    self->vectorcall = call;
    return (PyObject *)self;
}

static int traverse(PyObject *object, visitproc visit, void *arg)
{
    struct point *self = (struct point *)object;

    Py_VISIT(self->function);
    Py_VISIT(self->info);
    Py_VISIT(self->run);
    Py_VISIT(self->dict);
    return 0;
}

static int clear(PyObject *object)
{
    struct point *self = (struct point *)object;

    Py_CLEAR(self->info);
    Py_CLEAR(self->run);
    Py_CLEAR(self->dict);
    return 0;
}

static void dealloc(PyObject *object)
{
    struct point *self = (struct point *)object;

    PyObject_GC_UnTrack(object);
    if (self->weak)
        PyObject_ClearWeakRefs(object);
    (void)clear(object);
    Py_CLEAR(self->function);
    Py_CLEAR(self->name);
    Py_CLEAR(self->function_name);
    if (self->facts)
        vti_py_facts_drop(self->facts);
    free(self->facts);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *bind(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    return object && object != Py_None ? PyMethod_New(self, object) : Py_NewRef(self);
}

static PyObject *represent(PyObject *object)
{
    struct point *self = (struct point *)object;

    return PyUnicode_FromFormat("<traced %R>", self->function);
}

/* As functions do: by the name that it is found under. */
static PyObject *reduce(PyObject *object, PyObject *unused)
{
    (void)unused;
    return PyObject_GetAttrString(object, "__qualname__");
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef methods[] = {
    {"_section", FAST(section), METH_FASTCALL, "The span of one run of a generator."},
    {"_end", FAST(end_section), METH_FASTCALL, "It has ended, with this result."},
    {"_fail", FAST(fail_section), METH_FASTCALL, "It has failed, with this exception."},
    {"__reduce__", reduce, METH_NOARGS, "By name."},
    {NULL, NULL, 0, NULL},
};

/* What a function has is that of the function. */
static PyObject *get_of_function(PyObject *object, void *name)
{
    return PyObject_GetAttrString(((struct point *)object)->function, name);
}

/* For inspect and those who ask as it does, what stands for a function is one. */
static PyObject *get_class(PyObject *object, void *unused)
{
    PyObject *function = ((struct point *)object)->function;

    (void)unused;
    while (Py_TYPE(function) == &vti_py_point_type)
        function = ((struct point *)function)->function;
    return Py_NewRef((PyObject *)(PyFunction_Check(function) ? &PyFunction_Type : Py_TYPE(object)));
}

static PyMemberDef members[] = {
    {"_run", T_OBJECT, offsetof(struct point, run), 0, "Makes its generator or coroutine."},
    {"_is_late", T_BOOL, offsetof(struct point, is_late), 0, "It calls the function by itself."},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(struct point, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {"__class__", get_class, NULL, NULL, NULL},
    {"__code__", get_of_function, NULL, NULL, "__code__"},
    {"__defaults__", get_of_function, NULL, NULL, "__defaults__"},
    {"__kwdefaults__", get_of_function, NULL, NULL, "__kwdefaults__"},
    {"__globals__", get_of_function, NULL, NULL, "__globals__"},
    {"__closure__", get_of_function, NULL, NULL, "__closure__"},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject vti_py_point_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_venturi.TracePoint",
    .tp_basicsize = sizeof(struct point),
    .tp_dealloc = dealloc,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_repr = represent,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(struct point, vectorcall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_dictoffset = offsetof(struct point, dict),
    .tp_weaklistoffset = offsetof(struct point, weak),
    .tp_descr_get = bind,
    .tp_methods = methods,
    .tp_members = members,
    .tp_getset = properties,
    .tp_new = make,
};
