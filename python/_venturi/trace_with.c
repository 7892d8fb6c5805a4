/*
 * trace_with.c - `with Trace(name, info=None) as span`.
 *
 * One object may be used again, within itself and by several threads at once: which span a `with` ends is found from what is current.
 * Its bound __enter__ and __exit__ are the object itself, told apart by their arguments: making two bound methods for each `with` costs
 * as much as the span (3.13: 80 ns).
 */
#include "trace.h"

#include <stddef.h>

enum { KNOWN = 64 };

struct with {
    PyObject_HEAD vectorcallfunc call;
    PyObject *name;
    PyObject *info; /* a dict, or NULL */
    struct vt_site *site;
    struct vti_py_node *last; /* that it began: for an exit in another context */
    unsigned empty;           /* how many times it was entered, and not yet left, without a span */
};

static struct with
    *known[KNOWN]; /* made last for a name; one that nobody else has is given again */
static struct vti_py_node *nothing; /* what a `with` gives while nobody is interested */

static PyObject *call(PyObject *object, PyObject *const *args, size_t flags, PyObject *keywords);

static void fill(struct with *self, PyObject *name, PyObject *info)
{
    Py_XSETREF(self->name, Py_NewRef(name));
    Py_XSETREF(self->info, info && PyDict_Check(info) ? Py_NewRef(info) : NULL);
    self->site = NULL;
}

static PyObject *make_empty(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    struct with *self = (struct with *)type->tp_alloc(type, 0);

    (void)args, (void)keywords;
    if (self) {
        self->call = call;
        self->name = Py_NewRef(Py_None);
    }
    return (PyObject *)self;
}

/* Of a class that is made of ours. */
static int init(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"name", "info", NULL};
    PyObject *name;
    PyObject *info = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:Trace", names, &name, &info))
        return -1;
    fill((struct with *)self, name, info);
    return 0;
}

static struct with *make_new(PyObject *name, PyObject *info)
{
    PyObject *self = make_empty(&vti_py_with_type, NULL, NULL);

    if (self)
        fill((struct with *)self, name, info);
    return (struct with *)self;
}

static PyObject *make_named(PyObject *name)
{
    struct with **place = &known[((uintptr_t)name >> 4) % KNOWN];
    struct with *self = *place;

    if (vti_py_likely(self && Py_REFCNT(self) == 1 && self->name == name)) {
        Py_INCREF(self);
        self->empty = 0;
        Py_CLEAR(self->last);
        return (PyObject *)self;
    }
    self = make_new(name, NULL);
    if (self && PyUnicode_CheckExact(name)) {
        Py_INCREF(self);
        Py_XSETREF(*place, self);
    }
    return (PyObject *)self;
}

static PyObject *make(PyObject *type, PyObject *const *args, size_t flags, PyObject *keywords)
{
    static const char *const names[] = {"name", "info"};
    PyObject *values[2] = {NULL, NULL};
    Py_ssize_t count = PyVectorcall_NARGS(flags);

    (void)type;
    if (vti_py_likely(count == 1 && !keywords))
        return make_named(args[0]);
    if (vti_py_two("Trace", names, args, count, keywords, values))
        return NULL;
    return (PyObject *)make_new(values[0], values[1]);
}

static void dealloc(PyObject *object)
{
    struct with *self = (struct with *)object;

    Py_DECREF(self->name);
    Py_XDECREF(self->info);
    Py_XDECREF(self->last);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *no_span(void)
{
    if (!nothing) {
        nothing = vti_py_node_new(NULL, NULL, NULL);
        if (!nothing)
            return PyErr_NoMemory();
        vti_py_node_count--; /* it is nowhere current */
    }
    return Py_NewRef((PyObject *)nothing);
}

static PyObject *enter(PyObject *object, PyObject *unused)
{
    struct with *self = (struct with *)object;
    struct vti_py_node *current;
    struct vti_py_node *node;
    struct vti_py_said said = {NULL, NULL, 0};
    PyObject *text;

    (void)unused;
    if (!vti_py_trace_is_on(&current)) {
        self->empty++;
        return no_span();
    }
    if (vti_py_unlikely(!PyUnicode_Check(self->name))) {
        text = vti_py_text_of(self->name, false);
        Py_SETREF(self->name, text);
    }
    if (vt_is_on() && !self->site)
        self->site = vti_py_trace_site_known(self->name);
    said.info = self->info;
    Py_XINCREF(said.info); /* what is asked may change ours */
    node = vti_py_span_begin(current, current ? current->owner : NULL, self->name, &self->site,
                             &said, self);
    Py_XDECREF(said.info);
    if (vti_py_trace_is_raised()) {
        if (node)
            vti_py_span_end(node, NULL, true);
        Py_XDECREF(node);
        return NULL;
    }
    if (!node) {
        self->empty++;
        return no_span();
    }
    Py_INCREF(node);
    Py_XSETREF(self->last, node);
    return (PyObject *)node;
}

/* The innermost span that this object began; a new reference. NULL if it is left by somebody to whom it gave none. */
static struct vti_py_node *find(struct with *self)
{
    struct vti_py_node *current = vti_py_node_current();
    struct vti_py_node *node = current;

    while (node && !(node->token == self && node->is_open))
        node = node->outer;
    if (!node && self->empty)
        self->empty--;
    else if (!node && self->last && self->last->is_open)
        node = self->last;
    Py_XINCREF(node);
    Py_XDECREF(current);
    return node;
}

static PyObject *leave(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    struct with *self = (struct with *)object;
    bool is_failed = count == 3 && args[1] != Py_None && PyExceptionInstance_Check(args[1]);
    struct vti_py_node *node;
    PyObject *info = NULL;

    if (!vti_py_node_count || vti_py_is_asking()) {
        self->empty -= self->empty > 0;
        Py_RETURN_NONE;
    }
    node = find(self);
    if (node) {
        if (self->last == node)
            Py_CLEAR(self->last);
        if (vti_py_unlikely(is_failed) && PyErr_GivenExceptionMatches(args[1], PyExc_GeneratorExit))
            is_failed = false; /* a generator that is closed */
        if (vti_py_unlikely(is_failed))
            info = vti_py_error_info(args[1]);
        vti_py_span_end_block(node, info, is_failed);
        Py_XDECREF(info);
        Py_DECREF(node);
    }
    return vti_py_trace_is_raised() ? NULL : Py_NewRef(Py_None);
}

/* ---- how __enter__ and __exit__ are found ------------------------------------------------------ */

static PyObject *call(PyObject *object, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Py_ssize_t count = PyVectorcall_NARGS(flags);

    if (vti_py_likely(!vti_py_node_count && !vt_is_on() && nothing && !keywords)) {
        struct with *self = (struct with *)object;

        if (!count) {
            self->empty++;
            return Py_NewRef((PyObject *)nothing);
        }
        if (count == 3) {
            self->empty -= self->empty > 0;
            Py_RETURN_NONE;
        }
    }
    if (vti_py_unlikely(keywords || (count != 0 && count != 3))) {
        PyErr_SetString(PyExc_TypeError,
                        "a Trace is entered without arguments and left with three");
        return NULL;
    }
    return count ? leave(object, args, count) : enter(object, NULL);
}

/* Stands in the type for one of the two. */
struct way {
    PyObject_HEAD PyObject *method; /* as any type has it: for Trace.__enter__ */
};

static PyObject *find_way(PyObject *way, PyObject *with, PyObject *type)
{
    PyObject *method = ((struct way *)way)->method;

    if (vti_py_likely(with && Py_TYPE(with) == &vti_py_with_type))
        return Py_NewRef(with);
    return with ? Py_TYPE(method)->tp_descr_get(method, with, type) : Py_NewRef(method);
}

static PyTypeObject way_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_venturi.TraceWay",
    .tp_basicsize = sizeof(struct way),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_descr_get = find_way,
};

static PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, "The span begins."},
    {"__exit__", (PyCFunction)(void (*)(void))leave, METH_FASTCALL, "It ends."},
};

/* After PyType_Ready(). */
int vti_py_with_init(void)
{
    if (PyType_Ready(&way_type))
        return -1;
    for (int i = 0; i < 2; i++) {
        struct way *way = PyObject_New(struct way, &way_type);

        if (!way)
            return -1;
        way->method = PyDescr_NewMethod(&vti_py_with_type, &methods[i]);
        if (!way->method ||
            PyDict_SetItemString(vti_py_with_type.tp_dict, methods[i].ml_name, (PyObject *)way))
            return -1;
    }
    if (PyDict_DelItemString(vti_py_with_type.tp_dict,
                             "__call__")) /* that of a class made of ours is its own */
        return -1;
    PyType_Modified(&vti_py_with_type);
    return 0;
}

PyTypeObject vti_py_with_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "venturi.trace.Trace",
    .tp_basicsize = sizeof(struct with),
    .tp_dealloc = dealloc,
    .tp_vectorcall = make,
    .tp_vectorcall_offset = offsetof(struct with, call),
    .tp_call = PyVectorcall_Call,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = make_empty,
    .tp_init = init,
    .tp_doc = "with Trace(name, info=None) as span: a span that ends with its block.",
};
