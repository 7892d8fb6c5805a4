/*
 * graph_state.c - see graph_state.h. A dict whose entries come by themselves: one that is asked for by name alone, all of them where
 * somebody wants to see what there is. Never holds a view that holds it: what it has goes when it goes.
 */
#include "graph_state.h"

#include "graph_views.h"

struct state {
    PyDictObject dict;
    struct vti_py_source *source; /* owned; NULL if Python made it */
    bool is_full;                 /* all entries have been made */
};

PyObject *vti_py_state_new(struct vti_py_run *run)
{
    PyObject *none = PyTuple_New(0);
    PyObject *state = none ? PyDict_Type.tp_new(&vti_py_state_type, none, NULL) : NULL;

    Py_XDECREF(none);
    if (state && !(((struct state *)state)->source = vti_py_source_new(run)))
        Py_CLEAR(state);
    return state;
}

void vti_py_state_fix(struct vti_py_run *run)
{
    if (run->state)
        vti_py_source_keep(((struct state *)run->state)->source);
}

void vti_py_state_leave(struct vti_py_run *run)
{
    PyObject *source;

    if (!run->state)
        return;
    source = Py_NewRef((PyObject *)((struct state *)run->state)->source);
    Py_CLEAR(run->state);
    if (Py_REFCNT(source) > 1)
        vti_py_source_keep((struct vti_py_source *)source);
    Py_DECREF(source);
}

/* ---- entries ---------------------------------------------------------------------------------- */

/* NULL: there is none of this name. */
static const struct vti_py_entry *entry_of(PyObject *name, size_t count)
{
    for (size_t i = 0; PyUnicode_Check(name) && i < count; i++)
        if (!PyUnicode_CompareWithASCIIString(name, vti_py_entries[i].name))
            return &vti_py_entries[i];
    return NULL;
}

/* A new reference; NULL without an exception: there is none. */
static PyObject *find(struct state *state, PyObject *name)
{
    PyObject *value = PyDict_GetItemWithError((PyObject *)state, name);
    const struct vti_py_entry *entry;

    if (value || PyErr_Occurred()) {
        Py_XINCREF(value);
        return value;
    }
    entry = state->source ? entry_of(name, VTI_PY_ENTRIES + 1) : NULL;
    if (!entry || (state->is_full && entry != &vti_py_entries[VTI_PY_ENTRIES]))
        return NULL;
    value = vti_py_view_new(state->source, entry);
    if (value && entry != &vti_py_entries[VTI_PY_ENTRIES] &&
        PyDict_SetItem((PyObject *)state, name, value))
        Py_CLEAR(value);
    return value;
}

/* All that are listed. -1 with an exception. */
static int fill(PyObject *object)
{
    struct state *state = (struct state *)object;

    if (!PyObject_TypeCheck(object, &vti_py_state_type) || state->is_full || !state->source)
        return 0;
    for (size_t i = 0; i < VTI_PY_ENTRIES; i++) {
        PyObject *name = PyUnicode_InternFromString(vti_py_entries[i].name);
        PyObject *value = name ? find(state, name) : NULL;

        Py_XDECREF(name);
        if (!value)
            return -1;
        Py_DECREF(value);
    }
    state->is_full = true;
    return 0;
}

static PyObject *subscript(struct state *state, PyObject *name)
{
    PyObject *value = find(state, name);

    if (!value && !PyErr_Occurred())
        PyErr_SetObject(PyExc_KeyError, name);
    return value;
}

static PyObject *get(struct state *state, PyObject *args)
{
    PyObject *name, *value;
    PyObject *other = Py_None;

    if (!PyArg_UnpackTuple(args, "get", 1, 2, &name, &other))
        return NULL;
    value = find(state, name);
    return value || PyErr_Occurred() ? value : Py_NewRef(other);
}

static int contains(struct state *state, PyObject *name)
{
    int is_there = PyDict_Contains((PyObject *)state, name);

    if (is_there || state->is_full || !state->source)
        return is_there;
    return entry_of(name, VTI_PY_ENTRIES) != NULL;
}

/* ---- a dict that is full ---------------------------------------------------------------------- */

static Py_ssize_t length(PyObject *self)
{
    return fill(self) ? -1 : PyDict_Size(self);
}

static int assign(PyObject *self, PyObject *name, PyObject *value)
{
    if (value)
        return PyDict_SetItem(self, name, value);
    return fill(self) ? -1 : PyDict_DelItem(self, name);
}

static PyObject *iterate(PyObject *self)
{
    return fill(self) ? NULL : PyDict_Type.tp_iter(self);
}

static PyObject *repr(PyObject *self)
{
    return fill(self) ? NULL : PyDict_Type.tp_repr(self);
}

static PyObject *compare(PyObject *self, PyObject *other, int operation)
{
    return fill(self) || fill(other) ? NULL : PyDict_Type.tp_richcompare(self, other, operation);
}

static PyObject * or (PyObject * one, PyObject *other)
{
    return fill(one) || fill(other) ? NULL : PyDict_Type.tp_as_number->nb_or(one, other);
}

static PyObject *as_dict(PyObject *self, const char *name, PyObject *args)
{
    PyObject *method = fill(self) ? NULL : PyObject_GetAttrString((PyObject *)&PyDict_Type, name);
    PyObject *bound = method ? Py_TYPE(method)->tp_descr_get(method, self, NULL) : NULL;
    PyObject *result = bound ? PyObject_Call(bound, args, NULL) : NULL;

    Py_XDECREF(method);
    Py_XDECREF(bound);
    return result;
}

#define AS_DICT(name)                                                                              \
    static PyObject *dict_##name(PyObject *self, PyObject *args)                                   \
    {                                                                                              \
        return as_dict(self, #name, args);                                                         \
    }

AS_DICT(keys)
AS_DICT(values)
AS_DICT(items)
AS_DICT(copy)
AS_DICT(pop)
AS_DICT(popitem)
AS_DICT(clear)
AS_DICT(setdefault)
AS_DICT(__reversed__)

/* Copies and pickles are ordinary dicts. */
static PyObject *reduce(PyObject *self, PyObject *unused)
{
    PyObject *copy = fill(self) ? NULL : PyDict_Copy(self);

    (void)unused;
    return copy ? Py_BuildValue("O(N)", &PyDict_Type, copy) : NULL;
}

/* ---- the type --------------------------------------------------------------------------------- */

static int traverse(struct state *state, visitproc visit, void *arg)
{
    Py_VISIT(state->source);
    return PyDict_Type.tp_traverse((PyObject *)state, visit, arg);
}

static int clear(struct state *state)
{
    Py_CLEAR(state->source);
    return PyDict_Type.tp_clear((PyObject *)state);
}

static void dealloc(struct state *state)
{
    PyObject_GC_UnTrack(state);
    Py_CLEAR(state->source);
    PyDict_Type.tp_dealloc((PyObject *)state);
}

#define METHOD(name)                                                                               \
    {                                                                                              \
#name, dict_##name, METH_VARARGS, NULL                                                     \
    }

static PyMethodDef methods[] = {
    {"get", (PyCFunction)(void (*)(void))get, METH_VARARGS, NULL},
    METHOD(keys),
    METHOD(values),
    METHOD(items),
    METHOD(copy),
    METHOD(pop),
    METHOD(popitem),
    METHOD(clear),
    METHOD(setdefault),
    METHOD(__reversed__),
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyNumberMethods numbers = {.nb_or = or };
static PySequenceMethods sequence = {.sq_contains = (objobjproc)contains};
static PyMappingMethods mapping = {.mp_length = length,
                                   .mp_subscript = (binaryfunc)subscript,
                                   .mp_ass_subscript = assign};

PyTypeObject vti_py_state_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_venturi.State",
    .tp_doc = "How far a run has got: dask's dictionary.",
    .tp_base = &PyDict_Type,
    .tp_basicsize = sizeof(struct state),
    .tp_dealloc = (destructor)dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = (traverseproc)traverse,
    .tp_clear = (inquiry)clear,
    .tp_richcompare = compare,
    .tp_repr = repr,
    .tp_iter = iterate,
    .tp_as_number = &numbers,
    .tp_as_sequence = &sequence,
    .tp_as_mapping = &mapping,
    .tp_methods = methods,
};
