/*
 * graph_read.c - see graph_read.h. Keys are read in the order in which they are first named, so that a key's number is its
 * node's number. No recursion over the graph: a chain may be as long as memory allows.
 */
#include "graph_read.h"

#include "graph_classes.h"
#include "graph_compile.h"
#include "graph_errors.h"
#include "graph_names.h"

/* ---- what graph_compile.c asks for ------------------------------------------------------------ */

static int make_room(struct vti_py_builder *builder)
{
    struct vti_py_slot *slots;
    uint32_t room = builder->keys->room;

    if (builder->keys->count <= builder->room)
        return 0;
    slots = PyMem_RawRealloc(builder->slots, room * sizeof *slots);
    if (!slots) {
        PyErr_NoMemory();
        return -1;
    }
    memset(slots + builder->room, 0, (room - builder->room) * sizeof *slots);
    builder->slots = slots;
    builder->room = room;
    return 0;
}

/* The value of a key, owned; NULL without an exception: there is none. */
static PyObject *look_up(const struct vti_py_builder *builder, PyObject *key, bool *is_known)
{
    PyObject *value = PyDict_GetItemWithError(builder->dsk, key);

    *is_known = false;
    if (!value && builder->known && !PyErr_Occurred()) {
        value = PyDict_GetItemWithError(builder->known, key);
        *is_known = value != NULL;
    }
    Py_XINCREF(value);
    return value;
}

/* Adds a key that is new. */
static uint32_t add(struct vti_py_builder *builder, PyObject *key, PyObject *value, bool is_known)
{
    uint32_t number = vti_py_keys_add(builder->keys, key);

    if (number == VTI_PY_NO_KEY || make_room(builder))
        return VTI_PY_NO_KEY;
    if (!builder->slots[number].value) {
        builder->slots[number].value = Py_NewRef(value);
        builder->slots[number].is_known = is_known;
    }
    return number;
}

int vti_py_builder_probe(struct vti_py_builder *builder, PyObject *object, uint32_t *number)
{
    PyObject *value;
    bool is_known;

    *number = vti_py_keys_find(builder->keys, object);
    if (*number != VTI_PY_NO_KEY)
        return 1;
    value = PyErr_Occurred() ? NULL : look_up(builder, object, &is_known);
    if (!value) {
        if (!PyErr_Occurred())
            return 0;
        if (!PyErr_ExceptionMatches(PyExc_TypeError))
            return -1;
        PyErr_Clear(); /* it cannot be hashed: no key */
        return 0;
    }
    *number = add(builder, object, value, is_known);
    Py_DECREF(value);
    return *number == VTI_PY_NO_KEY ? -1 : 1;
}

uint32_t vti_py_builder_number(struct vti_py_builder *builder, PyObject *key)
{
    uint32_t number = vti_py_keys_find(builder->keys, key);
    PyObject *value;
    bool is_known;

    if (number != VTI_PY_NO_KEY)
        return number;
    value = PyErr_Occurred() ? NULL : look_up(builder, key, &is_known);
    if (!value) {
        PyObject *by = builder->keys->keys[builder->current].key;

        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "Missing dependency %R for dependents {%R}", key, by);
        else if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "a key that cannot be hashed: %R, needed by %R", key, by);
        return VTI_PY_NO_KEY;
    }
    number = add(builder, key, value, is_known);
    Py_DECREF(value);
    return number;
}

int64_t vti_py_builder_need(struct vti_py_builder *builder, uint32_t number)
{
    struct vti_py_slot *slot = &builder->slots[number];

    if (slot->seen_by == builder->current + 1)
        return slot->place;
    if (builder->need_count == builder->need_room) {
        uint32_t room = builder->need_room ? builder->need_room * 2 : 64;
        uint32_t *needs = PyMem_RawRealloc(builder->needs, room * sizeof *needs);

        if (!needs) {
            PyErr_NoMemory();
            return -1;
        }
        builder->needs = needs;
        builder->need_room = room;
    }
    slot->seen_by = builder->current + 1;
    slot->place = builder->need_count;
    builder->needs[builder->need_count++] = number;
    return slot->place;
}

/* ---- nodes of the engine ---------------------------------------------------------------------- */

static struct vti_py_template *template_of(struct vti_py_part *part)
{
    struct vti_py_template *same;

    if (part->inner)
        return part->inner;
    same = vti_py_template_new(VTI_PY_SAME, NULL, 1);
    if (same)
        same->parts[0] = *part;
    return same;
}

/* The text of the current key, or its repr if another key has the same: 1 and "1". NULL: both are taken, or it has none. */
static PyObject *text_of_current(const struct vti_py_builder *builder, const vt_graph *graph)
{
    PyObject *key = builder->keys->keys[builder->current].key;
    PyObject *text = vti_py_key_text(key);

    if (text && vt_graph_find(graph, PyBytes_AS_STRING(text)) != VT_NO_TASK) {
        PyObject *repr = PyObject_Repr(key);

        Py_SETREF(text, repr ? vti_py_key_text(repr) : NULL);
        Py_XDECREF(repr);
        if (text && vt_graph_find(graph, PyBytes_AS_STRING(text)) != VT_NO_TASK)
            Py_CLEAR(text);
    }
    if (!text)
        PyErr_Clear();
    return text;
}

static uint32_t add_named(const struct vti_py_builder *builder, struct vti_py_graph *graph,
                          const struct vti_py_reading *reading, const char *name, PyObject *text)
{
    size_t count = builder->need_count;
    struct vt_arg *args = PyMem_RawCalloc(count + 1, sizeof *args);
    uint32_t node;

    if (!args)
        return VT_NO_TASK;
    for (size_t i = 0; i < count; i++) {
        args[i].type = VT_ARG_IS_TASK;
        args[i].task = builder->needs[i];
    }
    node = vt_graph_task(graph->graph, PyBytes_AS_STRING(text), name, reading->function,
                         graph->templates[builder->current], args, count);
    PyMem_RawFree(args);
    return node;
}

static int add_task(struct vti_py_builder *builder, struct vti_py_graph *graph,
                    const struct vti_py_reading *reading, struct vti_py_part *part)
{
    PyObject *key = builder->keys->keys[builder->current].key;
    struct vti_py_template *template = template_of(part);
    uint32_t node = VT_NO_TASK;
    char room[VTI_PY_NAME_MAX];
    const char *name;

    if (!template)
        return -1;
    graph->templates[builder->current] = template;
    graph->task_count++;
    name = vti_py_task_name(key, template, room);
    if (reading->has_texts) {
        PyObject *text = text_of_current(builder, graph->graph);

        if (text)
            node = add_named(builder, graph, reading, name, text);
        Py_XDECREF(text);
    }
    if (node == VT_NO_TASK)
        node = vt_graph_call(graph->graph, name, reading->function, template, builder->needs,
                             builder->need_count);
    if (node != builder->current) {
        PyErr_SetString(PyExc_MemoryError, vt_graph_error(graph->graph));
        return -1;
    }
    return reading->added ? reading->added(graph, node, reading->with) : 0;
}

static int add_literal(struct vti_py_builder *builder, struct vti_py_graph *graph,
                       const struct vti_py_reading *reading, PyObject *value)
{
    struct vt_datum literal;
    PyObject *text = NULL;
    uint32_t node;

    if (reading->literal(value, &literal, reading->with))
        return -1;
    if (reading->has_texts)
        text = text_of_current(builder, graph->graph);
    node = vt_graph_literal(graph->graph, text ? PyBytes_AS_STRING(text) : NULL, literal);
    Py_XDECREF(text);
    if (node != builder->current) {
        PyErr_SetString(PyExc_MemoryError, vt_graph_error(graph->graph));
        return -1;
    }
    return 0;
}

/* ---- the walk --------------------------------------------------------------------------------- */

static int read_current(struct vti_py_builder *builder, struct vti_py_graph *graph,
                        const struct vti_py_reading *reading)
{
    PyObject *value = builder->slots[builder->current].value;
    struct vti_py_part part;
    int code;

    builder->need_count = 0;
    code = vti_py_compile(builder, value, &part);
    builder->slots[builder->current].value = NULL;
    Py_DECREF(value);
    if (graph->room < builder->keys->room) {
        struct vti_py_template **more = PyMem_RawRealloc(graph->templates,
                                                         builder->keys->room * sizeof *more);

        if (more) {
            memset(more + graph->room, 0, (builder->keys->room - graph->room) * sizeof *more);
            graph->templates = more;
            graph->room = builder->keys->room;
        } else if (!code) {
            Py_XDECREF(part.constant);
            vti_py_template_free(part.inner);
            PyErr_NoMemory();
            code = -1;
        }
    }
    if (code)
        return -1;
    if (!part.constant)
        return add_task(builder, graph, reading, &part);
    code = add_literal(builder, graph, reading, part.constant);
    Py_DECREF(part.constant);
    return code;
}

static int add_wanted(struct vti_py_builder *builder, PyObject *wanted)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(wanted); i++) {
        PyObject *key = PyList_GET_ITEM(wanted, i);
        uint32_t number;
        int is_key;

        if (PyObject_Hash(key) == -1) {
            PyErr_Format(PyExc_TypeError, "a key that cannot be hashed: %R", key);
            return -1;
        }
        is_key = vti_py_builder_probe(builder, key, &number);
        if (!is_key)
            PyErr_SetObject(PyExc_KeyError, key);
        if (is_key <= 0)
            return -1;
    }
    return 0;
}

/* Whether there are keys of types that are never keys among today's dask's arguments: bytes, None, … */
static bool has_odd_keys(PyObject *dsk)
{
    PyObject *key;
    Py_ssize_t place = 0;

    while (PyDict_Next(dsk, &place, &key, NULL))
        if (!PyUnicode_Check(key) && !PyTuple_Check(key) && !PyLong_Check(key) &&
            !PyFloat_Check(key))
            return true;
    return false;
}

int vti_py_graph_read(struct vti_py_graph *graph, const struct vti_py_reading *reading,
                      PyObject *wanted)
{
    struct vti_py_builder builder = {
        .dsk = reading->dsk, .known = reading->known, .keys = &graph->keys};
    int code = vti_py_classes_look();

    graph->graph = vt_graph_new();
    if (!graph->graph && !code) {
        PyErr_NoMemory();
        code = -1;
    }
    builder.is_deep = vti_py_classes_are_there();
    builder.has_odd_keys = vti_py_classes_are_old() && has_odd_keys(reading->dsk);
    code = code || add_wanted(&builder, wanted) ? -1 : 0;
    for (; !code && builder.current < graph->keys.count; builder.current++) {
        code = read_current(&builder, graph, reading);
        if (code)
            vti_py_error_name(graph->keys.keys[builder.current].key, NULL);
    }
    for (uint32_t i = 0; i < builder.room; i++)
        Py_XDECREF(builder.slots[i].value);
    PyMem_RawFree(builder.slots);
    PyMem_RawFree(builder.needs);
    return code;
}

void vti_py_graph_fini(struct vti_py_graph *graph)
{
    for (uint32_t i = 0; i < graph->room; i++)
        vti_py_template_free(graph->templates[i]);
    PyMem_RawFree(graph->templates);
    graph->templates = NULL;
    graph->room = 0;
    vt_graph_free(graph->graph);
    graph->graph = NULL;
    vti_py_keys_fini(&graph->keys);
}
