/*
 * trace_owner.c - a trace as Python knows it: its ids and its key. venturi.trace.Profiler adds the rest.
 *
 * Ids are kept as they were given: whoever is called next gets the same text, if a header can hold it.
 */
#include "trace.h"

#include <stddef.h>
#include <structmember.h>

enum { ID_MAX = 256 };

/* Whether an id can go into a header and a log as it is. */
static bool is_fit(PyObject *text)
{
    if (PyUnicode_GET_LENGTH(text) > ID_MAX)
        return false;
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(text); i++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(text, i);

        if (c < 0x20 || c == 0x7f || (c >= 0xd800 && c <= 0xdfff))
            return false;
    }
    return true;
}

PyObject *vti_py_id_is_fit(PyObject *self, PyObject *text)
{
    (void)self;
    return PyBool_FromLong(PyUnicode_Check(text) && is_fit(text));
}

/* Any object as an id: its text, and the 128 bits that stand for it. Falsy: what is given instead. */
static PyObject *take_id(PyObject *given, PyObject *otherwise, struct vt_id *id)
{
    PyObject *text;
    const char *data;
    Py_ssize_t len;
    int is_given = given ? PyObject_IsTrue(given) : 0;

    if (is_given < 0)
        return NULL;
    if (!is_given)
        given = otherwise;
    text = PyObject_Str(given);
    if (!text)
        return NULL;
    data = PyUnicode_AsUTF8AndSize(text, &len);
    if (data) {
        vt_id_parse(id, data, (size_t)len);
    } else {
        PyObject *bytes;

        PyErr_Clear();
        bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
        if (!bytes) {
            Py_DECREF(text);
            return NULL;
        }
        vt_id_parse(id, PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));
        Py_DECREF(bytes);
    }
    if (!is_fit(text)) {
        char uuid[VT_ID_TEXT];

        vt_id_text(id, uuid);
        Py_SETREF(text, PyUnicode_FromString(uuid));
    }
    return text;
}

/* What headers are signed with: a text, bytes or None. */
static PyObject *take_key(PyObject *given)
{
    PyObject *text;

    if (given == Py_None || PyUnicode_Check(given) || PyBytes_Check(given))
        return Py_NewRef(given);
    text = PyObject_Str(given);
    if (!text && PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Clear();
        text = Py_NewRef(Py_None);
    }
    return text;
}

static PyObject *new_id_text(void)
{
    struct vt_id id;
    char text[VT_ID_TEXT];

    vt_id_new(&id);
    vt_id_text(&id, text);
    return PyUnicode_FromString(text);
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"hmac_key", "base_id", "parent_id", NULL};
    PyObject *key;
    PyObject *base = NULL;
    PyObject *parent = NULL;
    PyObject *fresh = NULL;
    struct vti_py_owner *self = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO:Profiler", names, &key, &base, &parent))
        return NULL;
    fresh = new_id_text();
    self = fresh ? (struct vti_py_owner *)type->tp_alloc(type, 0) : NULL;
    if (!self)
        goto out;
    self->key = take_key(key);
    self->tracestate = Py_NewRef(Py_None);
    self->flags = 1;
    if (self->key)
        self->base_text = take_id(base, fresh, &self->base);
    if (self->base_text)
        self->parent_text = take_id(parent, self->base_text, &self->parent);
    if (!self->parent_text)
        Py_CLEAR(self);
out:
    Py_XDECREF(fresh);
    return (PyObject *)self;
}

static void dealloc(PyObject *object)
{
    struct vti_py_owner *self = (struct vti_py_owner *)object;

    Py_XDECREF(self->key);
    Py_XDECREF(self->base_text);
    Py_XDECREF(self->parent_text);
    Py_XDECREF(self->tracestate);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *get_base_id(PyObject *object, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(((struct vti_py_owner *)object)->base_text);
}

/* The node that this trace is at here, a new reference; NULL: it is at its bottom. */
static struct vti_py_node *find(const struct vti_py_owner *self)
{
    struct vti_py_node *current = vti_py_node_count ? vti_py_node_current() : NULL;
    struct vti_py_node *node = vti_py_node_of(current, self);

    if (node && !node->name)
        node = NULL;
    Py_XINCREF(node);
    Py_XDECREF(current);
    return node;
}

static PyObject *get_id(PyObject *object, PyObject *unused)
{
    struct vti_py_owner *self = (struct vti_py_owner *)object;
    struct vti_py_node *node = find(self);
    PyObject *text = node ? vti_py_node_id(node) : self->parent_text;

    (void)unused;
    Py_XINCREF(text);
    Py_XDECREF(node);
    return text;
}

static PyObject *get_parent_id(PyObject *object, PyObject *unused)
{
    struct vti_py_owner *self = (struct vti_py_owner *)object;
    struct vti_py_node *node = find(self);
    struct vti_py_node *parent = node ? vti_py_node_of(node->outer, self) : NULL;
    PyObject *text = node ? self->parent_text : self->base_text;

    (void)unused;
    if (parent)
        text = vti_py_node_id(parent);
    Py_XINCREF(text);
    Py_XDECREF(node);
    return text;
}

static PyObject *start(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    static const char *const names[] = {"name", "info"};
    PyObject *values[2] = {NULL, NULL};

    if (vti_py_two("start", names, args, count, keywords, values))
        return NULL;
    return vti_py_span_start((struct vti_py_owner *)self, values[0], values[1]);
}

static PyObject *stop(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"info", NULL};
    PyObject *info = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:stop", names, &info))
        return NULL;
    return vti_py_span_stop((struct vti_py_owner *)self, info);
}

/* begun(): it is current from here on, and ends with a clean() here. over(): it has ended. */
static PyObject *begun(PyObject *object, PyObject *unused)
{
    (void)unused;
    ((struct vti_py_owner *)object)->home = vti_py_context_here();
    Py_RETURN_NONE;
}

static PyObject *over(PyObject *object, PyObject *unused)
{
    (void)unused;
    ((struct vti_py_owner *)object)->is_over = true;
    Py_RETURN_NONE;
}

/* What is at the bottom: for venturi.trace to make current. */
static PyObject *bottom(PyObject *object, PyObject *unused)
{
    struct vti_py_owner *self = (struct vti_py_owner *)object;
    struct vti_py_node *node = vti_py_node_new(NULL, self, NULL);

    (void)unused;
    if (!node)
        return PyErr_NoMemory();
    node->span = self->parent;
    node->id_text = Py_NewRef(self->parent_text);
    return (PyObject *)node;
}

#define WITH_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef methods[] = {
    {"start", WITH_KEYWORDS(start), METH_FASTCALL | METH_KEYWORDS, "A span begins."},
    {"stop", WITH_KEYWORDS(stop), METH_VARARGS | METH_KEYWORDS, "The innermost span ends."},
    {"get_base_id", get_base_id, METH_NOARGS, "The id of the trace."},
    {"get_parent_id", get_parent_id, METH_NOARGS, "The id of the span around the current one."},
    {"get_id", get_id, METH_NOARGS, "The id of the current span."},
    {"_begun", begun, METH_NOARGS, "It has begun in this context."},
    {"_over", over, METH_NOARGS, "It has ended where it was begun."},
    {"_bottom", bottom, METH_NOARGS, "What is current when the trace begins."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"hmac_key", T_OBJECT, offsetof(struct vti_py_owner, key), 0, "What headers are signed with."},
    {"tracestate", T_OBJECT, offsetof(struct vti_py_owner, tracestate), 0, "W3C's, as it came."},
    {"flags", T_UINT, offsetof(struct vti_py_owner, flags), 0, "Those of W3C's traceparent."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject vti_py_owner_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_venturi.TraceOwner",
    .tp_basicsize = sizeof(struct vti_py_owner),
    .tp_dealloc = dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "A trace: its ids and its key.",
    .tp_methods = methods,
    .tp_members = members,
    .tp_new = make,
};
