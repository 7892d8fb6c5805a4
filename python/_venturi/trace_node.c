/*
 * trace_node.c - nodes: where a piece of work is in its trace, and the context variable that holds it.
 *
 * A node is made for every span, so they come from a list of used ones. It refers to what was current before it; such chains may be long:
 * nothing here recurses. Setting the variable is most of what a span costs. So it is set when a span begins, and when that ends with the
 * context's variables as it left them, those of before are put back as they were.
 */
#include "trace.h"

#include <string.h>

enum { SPARE_MAX = 256 };

Py_ssize_t vti_py_node_count;
uint32_t vti_py_trace_generation;

static PyObject *variable;
static struct vti_py_node *spare;
static unsigned spare_count;

int vti_py_node_init(void)
{
    if (!variable)
        variable = PyContextVar_New("venturi_trace", NULL);
    return variable ? 0 : -1;
}

/* What this thread was started in. */
static __thread struct vti_py_node *inherited __attribute__((tls_model("initial-exec")));
static int inherited_count;

static bool is_over(const struct vti_py_node *node)
{
    return node == inherited && node->owner && node->owner->is_over;
}

PyObject *vti_py_node_inherit(PyObject *self, PyObject *node)
{
    PyObject *before = inherited ? (PyObject *)inherited : Py_NewRef(Py_None);

    (void)self;
    inherited_count -= inherited != NULL;
    inherited = Py_TYPE(node) == &vti_py_node_type ? (struct vti_py_node *)Py_NewRef(node) : NULL;
    inherited_count += inherited != NULL;
    return before;
}

struct vti_py_node *vti_py_node_current(void)
{
    PyObject *value = NULL;

    if (PyContextVar_Get(variable, NULL, &value)) {
        PyErr_Clear();
        return NULL;
    }
    if (value && Py_TYPE(value) != &vti_py_node_type)
        Py_CLEAR(value);
    if (vti_py_unlikely(inherited_count) && value && is_over((struct vti_py_node *)value))
        Py_CLEAR(value);
    return (struct vti_py_node *)value;
}

void vti_py_node_set(struct vti_py_node *node)
{
    PyObject *token = PyContextVar_Set(variable, node ? (PyObject *)node : Py_None);

    if (token)
        Py_DECREF(token);
    else
        PyErr_Clear();
}

static inline PyContext *context_here(void)
{
    return (PyContext *)PyThreadState_Get()->context;
}

const void *vti_py_context_here(void)
{
    return context_here();
}

/* Whether what is around it is still current: the program's own code may have run since it was asked. */
static bool is_outer_current(const struct vti_py_node *node)
{
    struct vti_py_node *current = vti_py_node_current();

    Py_XDECREF(current); /* the context has it */
    return current == node->outer;
}

void vti_py_node_enter(struct vti_py_node *node)
{
    PyContext *context = context_here();

    if (vti_py_likely(context != NULL && is_outer_current(node))) {
        node->vars_before = (PyHamtObject *)Py_NewRef((PyObject *)context->ctx_vars);
        vti_py_node_set(node);
        node->vars_here = (PyHamtObject *)Py_NewRef((PyObject *)context->ctx_vars);
    } else {
        vti_py_node_set(node);
    }
    node->context = context_here();
}

/* What the variable has cached must be what is in the context now, or nothing. */
static bool put_back(struct vti_py_node *node)
{
    PyContextVar *cache = (PyContextVar *)variable;
    PyThreadState *thread = PyThreadState_Get();
    PyContext *context = (PyContext *)thread->context;
    PyHamtObject *here = node->vars_here;

    if (!context || !here || context->ctx_vars != here)
        return false;
    context->ctx_vars = node->vars_before;
    node->vars_before = node->vars_here = NULL;
    cache->var_cached = (PyObject *)node->outer;
    cache->var_cached_tsid = thread->id;
    cache->var_cached_tsver = thread->context_ver;
    Py_DECREF(here); /* the context's */
    Py_DECREF(here); /* ours */
    return true;
}

void vti_py_node_forget(struct vti_py_node *node)
{
    Py_CLEAR(node->vars_before);
    Py_CLEAR(node->vars_here);
}

void vti_py_node_leave(struct vti_py_node *node)
{
    struct vti_py_node *outer = node->outer;

    while (vti_py_unlikely(outer && outer->is_passed))
        outer = outer->outer;
    if (vti_py_likely(outer == node->outer && put_back(node)))
        return;
    vti_py_node_set(outer);
    vti_py_node_forget(node);
}

struct vti_py_node *vti_py_node_new(struct vti_py_node *outer, struct vti_py_owner *owner,
                                    PyObject *name)
{
    struct vti_py_node *node = spare;

    if (node) {
        spare = node->outer;
        spare_count--;
        (void)PyObject_INIT((PyObject *)node, &vti_py_node_type);
    } else {
        node = PyObject_GC_New(struct vti_py_node, &vti_py_node_type);
    }
    if (!node) {
        PyErr_Clear();
        Py_XDECREF(outer);
        return NULL;
    }
    Py_XINCREF(owner);
    Py_XINCREF(name);
    node->outer = outer;
    node->owner = owner;
    node->name = name;
    node->attrs = node->id_text = NULL;
    node->vars_before = node->vars_here = NULL;
    node->token = node->context = NULL;
    node->is_passed = false;
    node->number = 0;
    node->generation = vti_py_trace_generation;
    node->is_open = name != NULL;
    vti_py_node_count++;
    PyObject_GC_Track((PyObject *)node);
    return node;
}

/* Those that only this one kept go with it, one after the other. */
static void dealloc(PyObject *object)
{
    struct vti_py_node *node = (struct vti_py_node *)object;

    while (node) {
        struct vti_py_node *outer = node->outer;

        PyObject_GC_UnTrack((PyObject *)node);
        Py_XDECREF(node->owner);
        Py_XDECREF(node->name);
        Py_XDECREF(node->attrs);
        Py_XDECREF(node->id_text);
        Py_XDECREF(node->vars_before);
        Py_XDECREF(node->vars_here);
        vti_py_node_count--;
        if (spare_count < SPARE_MAX) {
            node->outer = spare;
            spare = node;
            spare_count++;
        } else {
            PyObject_GC_Del(node);
        }
        if (outer && Py_REFCNT(outer) > 1) {
            Py_DECREF(outer);
            outer = NULL;
        }
        node = outer;
    }
}

static int traverse(PyObject *object, visitproc visit, void *arg)
{
    struct vti_py_node *node = (struct vti_py_node *)object;

    Py_VISIT(node->outer);
    Py_VISIT(node->owner);
    Py_VISIT(node->attrs);
    Py_VISIT(node->vars_before);
    Py_VISIT(node->vars_here);
    return 0;
}

static int clear(PyObject *object)
{
    struct vti_py_node *node = (struct vti_py_node *)object;

    Py_CLEAR(node->attrs);
    Py_CLEAR(node->vars_before);
    Py_CLEAR(node->vars_here);
    return 0;
}

/* A long row of tasks, each begun by one that has ended since, would otherwise keep all of them. */
void vti_py_node_shorten(struct vti_py_node *node)
{
    struct vti_py_node *outer = node->outer;
    struct vti_py_node *before = outer;

    while (outer && outer->name && !outer->is_open)
        outer = outer->outer;
    if (outer == before)
        return;
    Py_XINCREF(outer);
    node->outer = outer;
    Py_DECREF(before);
}

bool vti_py_node_is_within(const struct vti_py_node *node, const struct vti_py_node *current)
{
    while (current && current != node)
        current = current->outer;
    return current != NULL;
}

struct vti_py_node *vti_py_node_of(struct vti_py_node *node, const struct vti_py_owner *owner)
{
    while (node && node->owner != owner)
        node = node->outer;
    return node;
}

PyObject *vti_py_node_id(struct vti_py_node *node)
{
    char text[VT_ID_TEXT];

    if (!node->id_text) {
        vt_id_text(&node->span, text);
        node->id_text = PyUnicode_FromString(text);
    }
    return node->id_text;
}

/* ---- as the handle of a span ------------------------------------------------------------------ */

static PyObject *get_id(PyObject *object, void *unused)
{
    struct vti_py_node *node = (struct vti_py_node *)object;
    PyObject *text = node->owner ? vti_py_node_id(node) : Py_None;

    (void)unused;
    return text ? Py_NewRef(text) : NULL;
}

static PyObject *get_name(PyObject *object, void *unused)
{
    struct vti_py_node *node = (struct vti_py_node *)object;

    (void)unused;
    return Py_NewRef(node->name ? node->name : Py_None);
}

static PyObject *get_owner(PyObject *object, void *unused)
{
    struct vti_py_node *node = (struct vti_py_node *)object;

    (void)unused;
    return Py_NewRef(node->owner ? (PyObject *)node->owner : Py_None);
}

static int set_item(PyObject *object, PyObject *key, PyObject *value)
{
    struct vti_py_node *node = (struct vti_py_node *)object;

    if (!value) {
        PyErr_SetString(PyExc_TypeError, "what was said of a span cannot be taken back");
        return -1;
    }
    if (!node->is_open)
        return 0;
    if (!node->attrs)
        node->attrs = PyDict_New();
    return node->attrs ? PyDict_SetItem(node->attrs, key, value) : -1;
}

static PyObject *add(PyObject *object, PyObject *args, PyObject *keywords)
{
    PyObject *key;
    PyObject *value;
    Py_ssize_t at = 0;

    if (PyTuple_GET_SIZE(args)) {
        PyErr_SetString(PyExc_TypeError, "add() takes keyword arguments only");
        return NULL;
    }
    while (keywords && PyDict_Next(keywords, &at, &key, &value))
        if (set_item(object, key, value))
            return NULL;
    Py_RETURN_NONE;
}

static PyGetSetDef properties[] = {
    {"id", get_id, NULL, "The id of the span as text; None outside of a trace.", NULL},
    {"name", get_name, NULL, "The name of the span.", NULL},
    {"profiler", get_owner, NULL, "The trace that it belongs to.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"add", (PyCFunction)(void (*)(void))add, METH_VARARGS | METH_KEYWORDS,
     "Says something of the span, as key=value."},
    {NULL, NULL, 0, NULL},
};

static PyMappingMethods mapping = {.mp_ass_subscript = set_item};

PyTypeObject vti_py_node_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_venturi.TraceSpan",
    .tp_basicsize = sizeof(struct vti_py_node),
    .tp_dealloc = dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_doc = "A span of a trace point.",
    .tp_methods = methods,
    .tp_getset = properties,
    .tp_as_mapping = &mapping,
};
