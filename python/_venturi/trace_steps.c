/*
 * trace_steps.c - the span of a generator or a coroutine: current while it runs, and not between its steps.
 *
 * A section is the span of one run; its steps are an iterator around the program's own, for `yield from` and `await`.
 */
#include "trace.h"

struct section {
    PyObject_HEAD struct vti_py_node *node;
    struct vti_py_node *inside; /* what is current when it goes on; NULL: nothing */
    bool is_ended;
};

struct steps {
    PyObject_HEAD struct section *section;
    PyObject *inner;
};

PyObject *vti_py_section_new(struct vti_py_node *node)
{
    struct section *self = PyObject_New(struct section, &vti_py_section_type);

    if (!self)
        return NULL;
    self->node = node;
    Py_INCREF(node);
    self->inside = node;
    self->is_ended = false;
    return (PyObject *)self;
}

struct vti_py_node *vti_py_section_node(PyObject *object)
{
    bool is_one = Py_TYPE(object) == &vti_py_section_type;

    return is_one ? ((struct section *)object)->node : NULL;
}

/* A run that has made another trace current leaves it so, as a function does. */
void vti_py_section_end(PyObject *object, PyObject *info, bool is_failed)
{
    struct section *self = (struct section *)object;
    struct vti_py_node *inside = self->inside;

    if (self->is_ended)
        return;
    self->is_ended = true;
    self->inside = NULL;
    vti_py_span_end_within(self->node, inside, info, is_failed);
    if (inside != self->node && !vti_py_node_is_within(self->node, inside))
        vti_py_node_set(inside);
    vti_py_node_shorten(self->node);
    Py_XDECREF(inside);
}

/* One that was never finished ends when nobody can go on with it. */
static void section_dealloc(PyObject *object)
{
    struct section *self = (struct section *)object;

    if (!self->is_ended) {
        self->is_ended = true;
        vti_py_span_end_within(self->node, self->inside, NULL, false);
        if (vti_py_trace_is_raised())
            PyErr_WriteUnraisable(NULL);
    }
    Py_XDECREF(self->inside);
    Py_DECREF(self->node);
    PyObject_Free(self);
}

static PyObject *section_steps(PyObject *object, PyObject *given)
{
    PyAsyncMethods *async = Py_TYPE(given)->tp_as_async;
    struct steps *steps;
    PyObject *inner = async && async->am_await ? async->am_await(given) : Py_NewRef(given);

    if (!inner)
        return NULL;
    if (!PyIter_Check(inner)) {
        PyErr_Format(PyExc_TypeError, "'%s' object is no iterator", Py_TYPE(inner)->tp_name);
        Py_DECREF(inner);
        return NULL;
    }
    steps = PyObject_GC_New(struct steps, &vti_py_steps_type);
    if (!steps) {
        Py_DECREF(inner);
        return NULL;
    }
    Py_INCREF(object);
    steps->section = (struct section *)object;
    steps->inner = inner;
    PyObject_GC_Track((PyObject *)steps);
    return (PyObject *)steps;
}

/* ---- one step --------------------------------------------------------------------------------- */

static struct vti_py_node *go_in(struct section *section)
{
    struct vti_py_node *outside = vti_py_node_current();

    vti_py_node_set(section->inside);
    return outside;
}

static void go_out(struct section *section, struct vti_py_node *outside)
{
    PyObject *type, *value, *traceback;
    struct vti_py_node *before = section->inside;

    PyErr_Fetch(&type, &value, &traceback);
    section->inside = vti_py_node_current();
    Py_XDECREF(before);
    vti_py_node_set(outside);
    Py_XDECREF(outside);
    PyErr_Restore(type, value, traceback);
}

static PyObject *next(PyObject *object)
{
    struct steps *self = (struct steps *)object;
    struct vti_py_node *outside = go_in(self->section);
    PyObject *result = Py_TYPE(self->inner)->tp_iternext(self->inner);

    go_out(self->section, outside);
    return result;
}

static PyObject *call_inner(struct steps *self, const char *name, PyObject *args)
{
    PyObject *method = PyObject_GetAttrString(self->inner, name);
    struct vti_py_node *outside;
    PyObject *result;

    if (!method)
        return NULL;
    outside = go_in(self->section);
    result = PyObject_CallObject(method, args);
    go_out(self->section, outside);
    Py_DECREF(method);
    return result;
}

static PyObject *send_inner(PyObject *self, PyObject *args)
{
    return call_inner((struct steps *)self, "send", args);
}

static PyObject *throw_inner(PyObject *self, PyObject *args)
{
    return call_inner((struct steps *)self, "throw", args);
}

static PyObject *close_inner(PyObject *self, PyObject *args)
{
    return call_inner((struct steps *)self, "close", args);
}

static int traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(((struct steps *)object)->inner);
    return 0;
}

static void steps_dealloc(PyObject *object)
{
    struct steps *self = (struct steps *)object;

    PyObject_GC_UnTrack(object);
    Py_DECREF(self->inner);
    Py_DECREF(self->section);
    PyObject_GC_Del(self);
}

static PyMethodDef section_methods[] = {
    {"steps", section_steps, METH_O, "A generator or an awaitable, each step within the span."},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef steps_methods[] = {
    {"send", send_inner, METH_VARARGS, "As a generator's."},
    {"throw", throw_inner, METH_VARARGS, "As a generator's."},
    {"close", close_inner, METH_VARARGS, "As a generator's."},
    {NULL, NULL, 0, NULL},
};

static PyAsyncMethods steps_async = {.am_await = PyObject_SelfIter};

PyTypeObject vti_py_section_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_venturi.TraceSection",
    .tp_basicsize = sizeof(struct section),
    .tp_dealloc = section_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = section_methods,
};

PyTypeObject vti_py_steps_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_venturi.TraceSteps",
    .tp_basicsize = sizeof(struct steps),
    .tp_dealloc = steps_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = traverse,
    .tp_as_async = &steps_async,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = next,
    .tp_methods = steps_methods,
};
