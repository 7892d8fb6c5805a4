/*
 * trace_native.c - the current span as C code on this thread sees it (venturi/context.h): for as long as Python says so.
 *
 * C is not told by itself: it may ask without the interpreter's lock, and then nobody can say which context is the current one.
 */
#include "trace.h"

#include <string.h>

/* W3C's is ASCII; what does not fit is none. */
static void copy_tracestate(char to[VT_TRACESTATE_MAX + 1], PyObject *text)
{
    const char *data;
    Py_ssize_t len;

    if (!PyUnicode_Check(text))
        return;
    data = PyUnicode_AsUTF8AndSize(text, &len);
    if (!data)
        vti_py_trace_forgive();
    else if (len <= VT_TRACESTATE_MAX)
        memcpy(to, data, (size_t)len);
}

static void describe(struct vti_py_node *node, struct vt_context *context)
{
    const struct vti_py_owner *owner = node->owner;

    memset(context, 0, sizeof *context);
    context->base = owner->base;
    context->span = node->span;
    context->key = owner->key && owner->key != Py_None ? 0 : VT_KEY_NONE;
    context->flags = owner->flags & 0xff;
    if (node->name && node->generation == vti_py_trace_generation)
        context->process = VT_PROCESS_HERE;
    if (owner->tracestate)
        copy_tracestate(context->tracestate, owner->tracestate);
}

/* What leave() needs, or None if there is no trace: then C stays where it is. */
PyObject *vti_py_native_enter(PyObject *self, PyObject *unused)
{
    struct vti_py_node *node = vti_py_node_count ? vti_py_node_current() : NULL;
    struct vt_context context;
    PyObject *before = Py_None;

    (void)self, (void)unused;
    if (!node || !node->owner) {
        Py_INCREF(before);
        goto out;
    }
    before = PyBytes_FromStringAndSize(NULL, sizeof(struct vt_context_before));
    if (!before)
        goto out;
    describe(node, &context);
    vt_context_enter(&context, (struct vt_context_before *)PyBytes_AS_STRING(before));
out:
    Py_XDECREF(node);
    return before;
}

PyObject *vti_py_native_leave(PyObject *self, PyObject *object)
{
    struct vt_context_before before;

    (void)self;
    if (PyBytes_Check(object) && PyBytes_GET_SIZE(object) == sizeof before) {
        memcpy(&before, PyBytes_AS_STRING(object), sizeof before);
        vt_context_leave(&before);
    }
    Py_RETURN_NONE;
}
