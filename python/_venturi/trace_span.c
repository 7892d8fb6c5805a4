/*
 * trace_span.c - spans of trace points begin and end: recorded, told to a notifier, made current.
 *
 * The clock is read last in a begin and first in an end. A span that was open when the process was forked is its parent's alone.
 */
#include "trace.h"

static void record(struct vti_py_node *node, struct vt_site **site, const struct vti_py_said *said)
{
    const struct vti_py_node *parent = vti_py_node_of(node->outer, node->owner);
    struct vt_trace_ids ids = {.span = node->span};
    struct vti_py_facts facts;
    bool is_entry = false;

    if (!*site)
        *site = vti_py_trace_site(node->name, 0);
    if (!*site)
        return;
    if (node->owner) {
        is_entry = !parent || !parent->name;
        ids.base = node->owner->base;
        ids.parent = parent ? parent->span : node->owner->parent;
    } else if (parent && parent->generation == node->generation) {
        ids.parent = parent->span; /* of no trace, and so of this process alone */
    }
    if (vti_py_likely(!is_entry && !said->info)) {
        node->number = vt_trace_record(*site, &ids, said->facts, said->count);
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
    node->number = vt_trace_record(*site, &ids, facts.list, facts.count);
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

/* Whether something is open within it that others end: a `with` of a generator that waits, or around one that is closed. */
static bool has_others(const struct vti_py_node *node, const struct vti_py_node *current)
{
    for (; current && current != node; current = current->outer)
        if (current->is_open && current->token)
            return true;
    return false;
}

/* What start() has begun within it and nobody has stopped. Each is kept while what it tells may change the row. */
VTI_PY_SLOW static void end_started(struct vti_py_node *node, struct vti_py_node *current)
{
    if (!vti_py_node_is_within(node, current) || has_others(node, current))
        return;
    Py_INCREF(current);
    while (current && current != node) {
        struct vti_py_node *outer = current->outer;

        Py_XINCREF(outer);
        end_one(current, NULL, false);
        vti_py_node_forget(current);
        Py_DECREF(current);
        current = outer;
    }
    Py_XDECREF(current);
}

void vti_py_span_end_within(struct vti_py_node *node, struct vti_py_node *current, PyObject *info,
                            bool is_failed)
{
    if (vti_py_unlikely(current != node))
        end_started(node, current);
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

void vti_py_span_end_block(struct vti_py_node *node, PyObject *info, bool is_failed)
{
    struct vti_py_node *current = vti_py_node_current();

    vti_py_span_end_within(node, current, info, is_failed);
    if (vti_py_unlikely(current != node && vti_py_node_is_within(node, current) &&
                        has_others(node, current))) {
        node->is_passed = true;
        vti_py_node_forget(node);
    } else {
        leave(node, current);
    }
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
    struct vt_site *site;

    if (vti_py_likely(known[at].name == name))
        return known[at].site;
    site = vti_py_trace_site(name, 0);
    if (site && PyUnicode_CheckExact(name)) {
        known[at].site = site;
        Py_XSETREF(known[at].name, Py_NewRef(name));
    }
    return site;
}

PyObject *vti_py_span_start(struct vti_py_owner *owner, PyObject *name, PyObject *info)
{
    struct vti_py_node *current;
    struct vti_py_node *node;
    struct vt_site *site = NULL;
    struct vti_py_said said = {NULL, NULL, 0};
    PyObject *text = NULL;
    bool is_raised;

    if (!vti_py_trace_is_on(&current)) {
        if (!owner || vti_py_is_asking())
            Py_RETURN_NONE;
        current = vti_py_node_current();
    }
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
    } else {
        node = NULL;
        Py_XDECREF(current);
    }
    Py_XDECREF(text);
    vti_py_trace_forgive();
    is_raised = vti_py_trace_is_raised();
    if (is_raised && node)
        vti_py_span_end(node, NULL, true);
    Py_XDECREF(node);
    return is_raised ? NULL : Py_NewRef(Py_None);
}

/* A span that somebody else ends (a decorator, a `with`) is none that stop() may end, nor one that was begun in another context: it is that
 * of whoever started this task or thread. */
PyObject *vti_py_span_stop(struct vti_py_owner *owner, PyObject *info)
{
    struct vti_py_node *current;
    struct vti_py_node *node;

    if (!vti_py_node_count || vti_py_is_asking())
        Py_RETURN_NONE;
    current = vti_py_node_current();
    if (!current)
        Py_RETURN_NONE;
    for (node = current; node && node->name && !node->is_open;)
        node = node->outer;
    if (node && node->name && !node->token && node->context == vti_py_context_here() &&
        (!owner || node->owner == owner)) {
        Py_INCREF(node);
        end_one(node, info && PyDict_Check(info) ? info : NULL,
                info && info != Py_None && PyDict_Check(info) &&
                    PyDict_GetItemString(info, "etype"));
        leave(node, current);
        Py_DECREF(node);
    }
    Py_DECREF(current);
    return vti_py_trace_is_raised() ? NULL : Py_NewRef(Py_None);
}
