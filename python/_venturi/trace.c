/*
 * trace.c - the part of the module for trace points: its types and functions. venturi.trace is the face of it.
 */
#include "trace.h"

static PyObject *start(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    static const char *const names[] = {"name", "info"};
    PyObject *values[2] = {NULL, NULL};

    (void)self;
    if (vti_py_likely(count == 1 && !keywords)) {
        if (!vti_py_node_count && !vt_is_on())
            Py_RETURN_NONE;
        return vti_py_span_start(NULL, args[0], NULL);
    }
    if (vti_py_two("start", names, args, count, keywords, values))
        return NULL;
    return vti_py_span_start(NULL, values[0], values[1]);
}

static PyObject *stop(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    static const char *const names[] = {"info", ""};
    PyObject *values[2] = {NULL, NULL};

    (void)self;
    if (vti_py_likely(!count && !keywords)) {
        if (!vti_py_node_count)
            Py_RETURN_NONE;
        return vti_py_span_stop(NULL, NULL);
    }
    if (vti_py_two("stop", names, args, count, keywords, values))
        return NULL;
    if (values[1]) {
        PyErr_SetString(PyExc_TypeError, "stop() takes at most 1 argument (2 given)");
        return NULL;
    }
    return vti_py_span_stop(NULL, values[0]);
}

static PyObject *object_of(struct vti_py_node *node)
{
    return node ? (PyObject *)node : Py_NewRef(Py_None);
}

static PyObject *current(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return object_of(vti_py_node_count ? vti_py_node_current() : NULL);
}

static PyObject *swap(PyObject *self, PyObject *node)
{
    struct vti_py_node *before;

    (void)self;
    if (node != Py_None && Py_TYPE(node) != &vti_py_node_type) {
        PyErr_SetString(PyExc_TypeError, "a TraceSpan or None");
        return NULL;
    }
    before = vti_py_node_count ? vti_py_node_current() : NULL;
    if (before || node != Py_None)
        vti_py_node_set(node == Py_None ? NULL : (struct vti_py_node *)node);
    return object_of(before);
}

static PyObject *get(PyObject *self, PyObject *unused)
{
    struct vti_py_node *node = vti_py_node_count ? vti_py_node_current() : NULL;
    PyObject *owner = node && node->owner ? (PyObject *)node->owner : Py_None;

    (void)self, (void)unused;
    Py_INCREF(owner);
    Py_XDECREF(node);
    return owner;
}

/* Spans that are open stay so: whoever began them ends them. Where the trace was begun it is over. */
static PyObject *clean(PyObject *self, PyObject *unused)
{
    struct vti_py_node *node = vti_py_node_count ? vti_py_node_current() : NULL;

    (void)self, (void)unused;
    if (node && node->owner && node->owner->home == vti_py_context_here() && !vti_py_is_asking())
        node->owner->is_over = true;
    if (vti_py_node_count)
        vti_py_node_set(NULL);
    Py_XDECREF(node);
    Py_RETURN_NONE;
}

static PyObject *forked(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    vti_py_trace_generation++;
    Py_RETURN_NONE;
}

/* The id that stands for a text: 16 bytes. */
static PyObject *id_of(PyObject *self, PyObject *text)
{
    struct vt_id id;
    PyObject *bytes;

    (void)self;
    bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
    if (!bytes)
        return NULL;
    vt_id_parse(&id, PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));
    Py_DECREF(bytes);
    return PyBytes_FromStringAndSize((const char *)id.bytes, sizeof id.bytes);
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef functions[] = {
    {"trace_start", FAST(start), METH_FASTCALL | METH_KEYWORDS,
     "trace_start($module, name, info=None)\n--\n\nA span begins."},
    {"trace_stop", FAST(stop), METH_FASTCALL | METH_KEYWORDS,
     "trace_stop($module, info=None)\n--\n\nThe span ends that start() began last."},
    {"trace_current", current, METH_NOARGS, "The current span, or None."},
    {"trace_swap", swap, METH_O, "Makes a span current, and gives the one that was."},
    {"trace_get", get, METH_NOARGS, "The trace that is current here, or None."},
    {"trace_clean", clean, METH_NOARGS, "No trace is current here any more."},
    {"trace_inherit", vti_py_node_inherit, METH_O, "What this thread was started in, or None."},
    {"trace_forked", forked, METH_NOARGS, "This process is a forked child."},
    {"trace_id_of", id_of, METH_O, "The 16 bytes that stand for an id's text."},
    {"trace_is_id", vti_py_id_is_fit, METH_O, "Whether an id's text can go on as it is."},
    {"trace_notifier", vti_py_news_set, METH_VARARGS, "Who is told, and who of its errors."},
    {"trace_native_enter", vti_py_native_enter, METH_NOARGS, "C's trace is this one from here."},
    {"trace_native_leave", vti_py_native_leave, METH_O, "And is what it was before again."},
    {"trace_service", vti_py_service, METH_VARARGS, "Project, service and host."},
    {NULL, NULL, 0, NULL},
};

int vti_py_trace_init(PyObject *module)
{
    static const struct {
        const char *name;
        PyTypeObject *type;
    } types[] = {
        {"TraceOwner", &vti_py_owner_type}, {"TraceSpan", &vti_py_node_type},
        {"Trace", &vti_py_with_type},       {"TracePoint", &vti_py_point_type},
        {NULL, &vti_py_section_type},       {NULL, &vti_py_steps_type},
    };

    if (vti_py_node_init() || vti_py_facts_init() || vti_py_news_init() || vti_py_error_init() ||
        PyModule_AddFunctions(module, functions))
        return -1;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (PyType_Ready(types[i].type))
            return -1;
        if (!types[i].name)
            continue;
        Py_INCREF(types[i].type);
        if (PyModule_AddObject(module, types[i].name, (PyObject *)types[i].type)) {
            Py_DECREF(types[i].type);
            return -1;
        }
    }
    return vti_py_with_init();
}
