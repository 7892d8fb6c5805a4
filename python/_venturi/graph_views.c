/*
 * graph_views.c - see graph_views.h. What is asked often (lengths, whether a key is there, one value) is looked up; for all else an ordinary
 * set, dict or list is made, and asked.
 */
#include "graph_views.h"

#include "graph_view_keys.h"

static PyTypeObject set_type, near_type, cache_type, list_type;

const struct vti_py_entry vti_py_entries[] = {
    {"dependencies", &near_type, VTI_PY_ANY, false, false, VTI_PY_ANY, false},
    {"dependents", &near_type, VTI_PY_ANY, false, true, VTI_PY_ANY, false},
    {"waiting", &near_type, VTI_PY_WAITING, true, false, VTI_PY_UNDONE, false},
    {"waiting_data", &near_type, VTI_PY_UNDONE | VTI_PY_FINISHED, false, true, VTI_PY_UNDONE,
     false},
    {"cache", &cache_type, VTI_PY_FINISHED, false, false, 0, false},
    {"ready", &list_type, VTI_PY_READY, true, false, 0, true},
    {"running", &set_type, VTI_PY_RUNNING, true, false, 0, false},
    {"finished", &set_type, VTI_PY_FINISHED | VTI_PY_RELEASED, true, false, 0, false},
    {"released", &set_type, VTI_PY_RELEASED, false, false, 0, false},
    {"ready-set", &set_type, VTI_PY_READY, true, false, 0, false},
};

static PyObject *make(PyTypeObject *type, struct vti_py_source *source,
                      const struct vti_py_entry *entry, uint32_t node)
{
    struct vti_py_view *view = PyObject_GC_New(struct vti_py_view, type);

    if (!view)
        return NULL;
    Py_INCREF(source);
    view->source = source;
    view->entry = entry;
    view->node = node;
    PyObject_GC_Track(view);
    return (PyObject *)view;
}

PyObject *vti_py_view_new(struct vti_py_source *source, const struct vti_py_entry *entry)
{
    return make(entry->type, source, entry, VTI_PY_NO_KEY);
}

/* The source can be cleared, so that this need not be. */
static int traverse(struct vti_py_view *view, visitproc visit, void *arg)
{
    Py_VISIT(view->source);
    return 0;
}

static void dealloc(struct vti_py_view *view)
{
    PyObject_GC_UnTrack(view);
    Py_DECREF(view->source);
    PyObject_GC_Del(view);
}

static int contains(struct vti_py_view *view, PyObject *key)
{
    PyObject *run = vti_py_source_hold(view->source);
    uint32_t number;
    int is_there = vti_py_view_find(view, key, &number);

    Py_XDECREF(run);
    return is_there;
}

/* ---- values ----------------------------------------------------------------------------------- */

/* Of a key that is in it. NULL without an exception: it no longer is. */
static PyObject *value_at(const struct vti_py_view *view, uint32_t number)
{
    if (view->entry->type == &cache_type)
        return vti_py_source_value(view->source, number);
    return make(&set_type, view->source, view->entry, number);
}

/* NULL without an exception: there is none. */
static PyObject *find_value(const struct vti_py_view *view, PyObject *key)
{
    PyObject *run = vti_py_source_hold(view->source);
    PyObject *value = NULL;
    uint32_t number;

    if (vti_py_view_find(view, key, &number) == 1)
        value = value_at(view, number);
    Py_XDECREF(run);
    return value;
}

static PyObject *subscript(struct vti_py_view *view, PyObject *key)
{
    PyObject *value = find_value(view, key);

    if (!value && !PyErr_Occurred())
        PyErr_SetObject(PyExc_KeyError, key);
    return value;
}

static PyObject *get(struct vti_py_view *view, PyObject *args)
{
    PyObject *key, *value;
    PyObject *other = Py_None;

    if (!PyArg_UnpackTuple(args, "get", 1, 2, &key, &other))
        return NULL;
    value = find_value(view, key);
    return value || PyErr_Occurred() ? value : Py_NewRef(other);
}

/* A dict of what is there now. */
static PyObject *pairs_of(const struct vti_py_view *view)
{
    PyObject *keys = vti_py_view_keys(view);
    PyObject *dict = keys ? PyDict_New() : NULL;

    for (Py_ssize_t i = 0; dict && i < PyList_GET_SIZE(keys); i++) {
        PyObject *key = PyList_GET_ITEM(keys, i);
        PyObject *value = find_value(view, key);

        if (value ? PyDict_SetItem(dict, key, value) : PyErr_Occurred() != NULL)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    Py_XDECREF(keys);
    return dict;
}

static PyObject *item(struct vti_py_view *view, Py_ssize_t place)
{
    PyObject *run = vti_py_source_hold(view->source);
    PyObject *key = NULL;
    uint32_t number = VTI_PY_NO_KEY;
    Py_ssize_t count = vti_py_view_length(view);

    if (place >= 0 && place < count)
        number = vti_py_source_ready(view->source, (uint32_t)(count - 1 - place));
    if (number != VTI_PY_NO_KEY)
        key = Py_NewRef(vti_py_source_key(view->source, number));
    else
        PyErr_SetString(PyExc_IndexError, "list index out of range");
    Py_XDECREF(run);
    return key;
}

/* ---- as an ordinary object -------------------------------------------------------------------- */

static bool is_view(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    return type == &set_type || type == &near_type || type == &cache_type || type == &list_type;
}

/* A new reference: an ordinary object instead of a view, all others as they are. */
static PyObject *plain(PyObject *object)
{
    const struct vti_py_view *view = (const struct vti_py_view *)object;
    PyObject *list, *set;

    if (!is_view(object))
        return Py_NewRef(object);
    if (Py_TYPE(object) == &near_type || Py_TYPE(object) == &cache_type)
        return pairs_of(view);
    list = vti_py_view_keys(view);
    if (!list || Py_TYPE(object) == &list_type)
        return list;
    set = PySet_New(list);
    Py_DECREF(list);
    return set;
}

static PyObject *with_plain(PyObject *one, PyObject *other, binaryfunc operate)
{
    PyObject *left = plain(one);
    PyObject *right = left ? plain(other) : NULL;
    PyObject *result = right ? operate(left, right) : NULL;

    Py_XDECREF(left);
    Py_XDECREF(right);
    return result;
}

#define OPERATOR(name, function)                                                                   \
    static PyObject *name(PyObject *one, PyObject *other)                                          \
    {                                                                                              \
        return with_plain(one, other, function);                                                   \
    }

OPERATOR(and, PyNumber_And)
OPERATOR(or, PyNumber_Or)
OPERATOR(xor, PyNumber_Xor)
OPERATOR(subtract, PyNumber_Subtract)
OPERATOR(concatenate, PySequence_Concat)

static PyObject *compare(PyObject *one, PyObject *other, int operation)
{
    PyObject *left = plain(one);
    PyObject *right = left ? plain(other) : NULL;
    PyObject *result = right ? PyObject_RichCompare(left, right, operation) : NULL;

    Py_XDECREF(left);
    Py_XDECREF(right);
    return result;
}

static PyObject *repr(PyObject *self)
{
    PyObject *object = plain(self);
    PyObject *text = object ? PyObject_Repr(object) : NULL;

    Py_XDECREF(object);
    return text;
}

static PyObject *iterate(PyObject *self)
{
    PyObject *keys = vti_py_view_keys((const struct vti_py_view *)self);
    PyObject *iterator = keys ? PyObject_GetIter(keys) : NULL;

    Py_XDECREF(keys);
    return iterator;
}

/* An index is looked up, a slice is made. */
static PyObject *list_subscript(struct vti_py_view *view, PyObject *key)
{
    PyObject *list, *result;

    if (PyIndex_Check(key)) {
        Py_ssize_t place = PyNumber_AsSsize_t(key, PyExc_IndexError);

        if (place == -1 && PyErr_Occurred())
            return NULL;
        return item(view, place < 0 ? place + vti_py_view_length(view) : place);
    }
    list = plain((PyObject *)view);
    result = list ? PyObject_GetItem(list, key) : NULL;
    Py_XDECREF(list);
    return result;
}

static PyObject *ask(PyObject *self, const char *name, PyObject *args)
{
    PyObject *object = plain(self);
    PyObject *method = object ? PyObject_GetAttrString(object, name) : NULL;
    PyObject *result = method ? PyObject_Call(method, args, NULL) : NULL;

    Py_XDECREF(object);
    Py_XDECREF(method);
    return result;
}

/* Copies and pickles are ordinary objects. */
static PyObject *reduce(PyObject *self, PyObject *unused)
{
    PyObject *object = plain(self);
    PyObject *list = object && PySet_Check(object) ? PySequence_List(object) : object;

    (void)unused;
    if (list != object || !list) {
        Py_XDECREF(object);
        return list ? Py_BuildValue("O(N)", &PySet_Type, list) : NULL;
    }
    return Py_BuildValue("O(N)", Py_TYPE(object), object);
}

/* ---- the types -------------------------------------------------------------------------------- */

#define ASKING(name)                                                                               \
    static PyObject *ask_##name(PyObject *self, PyObject *args)                                    \
    {                                                                                              \
        return ask(self, #name, args);                                                             \
    }

ASKING(copy)
ASKING(union)
ASKING(intersection)
ASKING(difference)
ASKING(symmetric_difference)
ASKING(isdisjoint)
ASKING(issubset)
ASKING(issuperset)
ASKING(keys)
ASKING(values)
ASKING(items)
ASKING(index)
ASKING(count)
ASKING(__reversed__)

/* Their texts are those of what they stand for. */
#define METHOD(name)                                                                               \
    {                                                                                              \
#name, ask_##name, METH_VARARGS, NULL                                                      \
    }
#define REDUCE                                                                                     \
    {                                                                                              \
        "__reduce__", reduce, METH_NOARGS, NULL                                                    \
    }
#define END                                                                                        \
    {                                                                                              \
        NULL, NULL, 0, NULL                                                                        \
    }

static PyMethodDef set_methods[] = {METHOD(copy),
                                    METHOD(union),
                                    METHOD(intersection),
                                    METHOD(difference),
                                    METHOD(symmetric_difference),
                                    METHOD(isdisjoint),
                                    METHOD(issubset),
                                    METHOD(issuperset),
                                    REDUCE,
                                    END};

static PyMethodDef dict_methods[] = {{"get", (PyCFunction)get, METH_VARARGS, NULL},
                                     METHOD(copy),
                                     METHOD(keys),
                                     METHOD(values),
                                     METHOD(items),
                                     METHOD(__reversed__),
                                     REDUCE,
                                     END};

static PyMethodDef list_methods[] = {METHOD(copy),         METHOD(index), METHOD(count),
                                     METHOD(__reversed__), REDUCE,        END};

static PyNumberMethods set_numbers = {.nb_and = and,
                                      .nb_or = or
                                      ,
                                      .nb_xor = xor,
                                      .nb_subtract = subtract};
static PyNumberMethods dict_numbers = {.nb_or = or };
static PySequenceMethods any_sequence = {.sq_length = (lenfunc)vti_py_view_length,
                                         .sq_contains = (objobjproc)contains};
static PySequenceMethods list_sequence = {.sq_length = (lenfunc)vti_py_view_length,
                                          .sq_concat = concatenate,
                                          .sq_item = (ssizeargfunc)item,
                                          .sq_contains = (objobjproc)contains};
static PyMappingMethods dict_mapping = {.mp_length = (lenfunc)vti_py_view_length,
                                        .mp_subscript = (binaryfunc)subscript};
static PyMappingMethods list_mapping = {.mp_length = (lenfunc)vti_py_view_length,
                                        .mp_subscript = (binaryfunc)list_subscript};

#define VIEW_TYPE(name, text)                                                                      \
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_venturi." name, .tp_doc = (text),                   \
                                .tp_basicsize = sizeof(struct vti_py_view),                        \
                                .tp_dealloc = (destructor)dealloc,                                 \
                                .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,               \
                                .tp_traverse = (traverseproc)traverse, .tp_richcompare = compare,  \
                                .tp_repr = repr, .tp_iter = iterate

static PyTypeObject set_type = {VIEW_TYPE("StateKeys", "Keys of a run, as a set."),
                                .tp_as_number = &set_numbers, .tp_as_sequence = &any_sequence,
                                .tp_methods = set_methods};
static PyTypeObject near_type = {
    VIEW_TYPE("StateEdges", "Keys of a run, and those before or after them, as a dict of sets."),
    .tp_as_number = &dict_numbers, .tp_as_sequence = &any_sequence, .tp_as_mapping = &dict_mapping,
    .tp_methods = dict_methods};
static PyTypeObject cache_type = {VIEW_TYPE("StateValues", "Values of a run, as a dict."),
                                  .tp_as_number = &dict_numbers, .tp_as_sequence = &any_sequence,
                                  .tp_as_mapping = &dict_mapping, .tp_methods = dict_methods};
static PyTypeObject list_type = {VIEW_TYPE("StateReady", "What can begin, as a list."),
                                 .tp_as_sequence = &list_sequence, .tp_as_mapping = &list_mapping,
                                 .tp_methods = list_methods};

/* Of collections.abc, but from the module that every interpreter has loaded: a program sees no module more than alone. */
int vti_py_views_init(void)
{
    static const struct {
        PyTypeObject *type;
        const char *kind;
    } types[] = {{&set_type, "Set"},
                 {&near_type, "Mapping"},
                 {&cache_type, "Mapping"},
                 {&list_type, "Sequence"}};
    PyObject *kinds = PyImport_ImportModule("_collections_abc");
    int code = kinds ? 0 : -1;

    for (size_t i = 0; !code && i < sizeof types / sizeof types[0]; i++) {
        PyObject *kind = PyObject_GetAttrString(kinds, types[i].kind);
        PyObject *done = NULL;

        if (kind && !PyType_Ready(types[i].type))
            done = PyObject_CallMethod(kind, "register", "O", types[i].type);
        code = done ? 0 : -1;
        Py_XDECREF(kind);
        Py_XDECREF(done);
    }
    Py_XDECREF(kinds);
    return code;
}
