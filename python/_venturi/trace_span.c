/*
 * trace_span.c - spans of trace points begin and end: recorded, told to a notifier, made current.
 *
 * The clock is read last in a begin and first in an end. A span that was open when the process was forked is its parent's alone.
 */
#include "trace.h"

static void record(struct vti_py_node *node, struct vt_site **site, const struct vti_py_said *said)
{
    struct vt_trace_ids ids;
    struct vti_py_facts facts;
    struct vti_py_node *parent;
    bool is_entry = false;

    if (!*site)
        *site = vti_py_trace_site(node->name, 0);
    if (!*site)
        return;
    if (node->owner) {
        parent = vti_py_node_of(node->outer, node->owner);
        is_entry = !parent || !parent->name;
        ids.base = node->owner->base;
        ids.span = node->span;
        ids.parent = parent ? parent->span : node->owner->parent;
    }
    if (vti_py_likely(!is_entry && !said->info)) {
        node->number = vt_trace_record(*site, node->owner ? &ids : NULL, said->facts, said->count);
        return;
    }
    facts.kept_count = 0;
    for (facts.count = 0; facts.count < said->count && facts.count < VTI_PY_FACTS_MAX;
         facts.count++)
        facts.list[facts.count] = said->facts[facts.count];
    if (said->info)
        vti_py_facts_add(&facts, said->info);
    if (is_entry)
        vti_py_facts_add_service(&facts);
    node->number = vt_trace_record(*site, node->owner ? &ids : NULL, facts.list, facts.count);
    vti_py_facts_drop(&facts);
}

struct vti_py_node *vti_py_span_begin(struct vti_py_node *current, struct vti_py_owner *owner,
                                      PyObject *name, struct vt_site **site,
                                      const struct vti_py_said *said, const void *token)
{
    struct vti_py_node *node = vti_py_node_new(current, owner, name);

    if (vti_py_unlikely(!node))
        return NULL;
    node->token = token;
    if (owner)
        vt_id_new(&node->span);
    vti_py_node_enter(node);
    if (vt_is_on())
        record(node, site, said);
    if (vti_py_unlikely(owner && vti_py_notifier))
        vti_py_news_tell(node, false, said->info);
    return node;
}

/* What the program has said of the span while it was open comes first. */
static PyObject *info_at_end(struct vti_py_node *node, PyObject *info)
{
    PyObject *both;

    if (!node->attrs)
        return Py_NewRef(info ? info : Py_None);
    both = PyDict_Copy(node->attrs);
    if (both && info && PyDict_Check(info) && PyDict_Update(both, info))
        vti_py_trace_forgive();
    return both;
}

static void end_slowly(struct vti_py_node *node, PyObject *given, bool is_failed)
{
    struct vti_py_facts facts = {.count = 0};
    PyObject *info;
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    info = info_at_end(node, given);
    if (!info)
        vti_py_trace_forgive();
    if (node->number) {
        if (info && info != Py_None)
            vti_py_facts_add(&facts, info);
        vt_trace_record_end(node->number, is_failed, facts.list, facts.count);
        vti_py_facts_drop(&facts);
    }
    if (node->owner && vti_py_notifier)
        vti_py_news_tell(node, true, info);
    Py_XDECREF(info);
    PyErr_Restore(type, value, traceback);
}

static void end_one(struct vti_py_node *node, PyObject *info, bool is_failed)
{
    if (!node->is_open)
        return;
    node->is_open = false;
    if (vti_py_unlikely(node->generation != vti_py_trace_generation))
        return;
    if (vti_py_unlikely(info || node->attrs || (node->owner && vti_py_notifier)))
        end_slowly(node, info, is_failed);
    else if (node->number)
        vt_trace_record_end(node->number, is_failed, NULL, 0);
}

void vti_py_span_end_within(struct vti_py_node *node, struct vti_py_node *current, PyObject *info,
                            bool is_failed)
{
    if (current != node && vti_py_node_is_within(node, current))
        for (; current != node; current = current->outer) {
            end_one(current, NULL, false);
            vti_py_node_forget(current);
        }
    end_one(node, info, is_failed);
}

/* Makes current what is around a span that has ended, if that is where we are. */
static void leave(struct vti_py_node *node, struct vti_py_node *current)
{
    PyObject *type = NULL, *value = NULL, *traceback = NULL;

    if (current != node && !vti_py_node_is_within(node, current)) {
        vti_py_node_forget(node);
        return;
    }
    if (PyErr_Occurred())
        PyErr_Fetch(&type, &value, &traceback);
    vti_py_node_leave(node);
    vti_py_node_shorten(node);
    if (type)
        PyErr_Restore(type, value, traceback);
}

void vti_py_span_end(struct vti_py_node *node, PyObject *info, bool is_failed)
{
    struct vti_py_node *current = vti_py_node_current();

    vti_py_span_end_within(node, current, info, is_failed);
    leave(node, current);
    Py_XDECREF(current);
}

/* ---- by hand --------------------------------------------------------------------------------- */

enum { KNOWN = 64 };

/* Sites of the names that start() was last called with: literals are the same object each time. */
static struct {
    PyObject *name;
    struct vt_site *site;
} known[KNOWN];

struct vt_site *vti_py_trace_site_known(PyObject *name)
{
    size_t at = ((uintptr_t)name >> 4) % KNOWN;

    if (vti_py_likely(known[at].name == name))
        return known[at].site;
    known[at].site = vti_py_trace_site(name, 0);
    Py_XDECREF(known[at].name);
    known[at].name = known[at].site ? Py_NewRef(name) : NULL;
    return known[at].site;
}

PyObject *vti_py_span_start(struct vti_py_owner *owner, PyObject *name, PyObject *info)
{
    struct vti_py_node *current;
    struct vti_py_node *node;
    struct vt_site *site = NULL;
    struct vti_py_said said = {NULL, NULL, 0};
    PyObject *text = NULL;

    if (!vti_py_trace_is_on(&current) && !owner)
        Py_RETURN_NONE;
    if (vti_py_unlikely(!PyUnicode_Check(name)))
        name = text = vti_py_text_of(name, false);
    if (!owner)
        owner = current ? current->owner : NULL;
    if (info && PyDict_Check(info))
        said.info = info;
    if (name && vt_is_on())
        site = vti_py_trace_site_known(name);
    if (name) {
        node = vti_py_span_begin(current, owner, name, &site, &said, NULL);
        Py_XDECREF(node);
    } else {
        Py_XDECREF(current);
    }
    Py_XDECREF(text);
    vti_py_trace_forgive();
    Py_RETURN_NONE;
}

/* A span that somebody else ends (a decorator, a `with`) is none that stop() may end. */
PyObject *vti_py_span_stop(struct vti_py_owner *owner, PyObject *info)
{
    struct vti_py_node *current;
    struct vti_py_node *node;

    if (!vti_py_node_count)
        Py_RETURN_NONE;
    current = vti_py_node_current();
    if (!current)
        Py_RETURN_NONE;
    for (node = current; node && node->name && !node->is_open;)
        node = node->outer;
    if (node && node->name && !node->token && (!owner || node->owner == owner)) {
        Py_INCREF(node);
        end_one(node, info && PyDict_Check(info) ? info : NULL,
                info && info != Py_None && PyDict_Check(info) &&
                    PyDict_GetItemString(info, "etype"));
        leave(node, current);
        Py_DECREF(node);
    }
    Py_DECREF(current);
    Py_RETURN_NONE;
}
