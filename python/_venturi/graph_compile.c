/*
 * graph_compile.c - see graph_compile.h. Reading runs Python code (comparing keys, attributes), so that everything is held.
 */
#include "graph_compile.h"

#include "graph_classes.h"

static int compile_node(struct vti_py_builder *builder, PyObject *node, enum vti_py_class class,
                        struct vti_py_part *part);
static int compile_plain(struct vti_py_builder *builder, PyObject *value, struct vti_py_part *part);

static void set_constant(struct vti_py_part *part, PyObject *value)
{
    part->constant = Py_NewRef(value);
}

static int set_number(struct vti_py_builder *builder, uint32_t number, struct vti_py_part *part)
{
    int64_t place = number == VTI_PY_NO_KEY ? -1 : vti_py_builder_need(builder, number);

    if (place < 0)
        return -1;
    part->place = (uint32_t)place;
    return 0;
}

/* Ends the making of a template: it is the part's from then on, or nobody's. */
static int set_inner(struct vti_py_part *part, struct vti_py_template *template, int is_failed)
{
    if (is_failed) {
        vti_py_template_free(template);
        return -1;
    }
    part->inner = template;
    return 0;
}

/* The attribute `name` of a node names a key. */
static int compile_key_of(struct vti_py_builder *builder, PyObject *node, PyObject *name,
                          struct vti_py_part *part)
{
    PyObject *key = PyObject_GetAttr(node, name);
    int is_failed = !key || set_number(builder, vti_py_builder_number(builder, key), part);

    Py_XDECREF(key);
    return is_failed ? -1 : 0;
}

/* An argument of one of dask's objects: another of them, or a constant. */
static int compile_argument(struct vti_py_builder *builder, PyObject *value,
                            struct vti_py_part *part)
{
    enum vti_py_class class = vti_py_class_of(value);

    if (class == VTI_PY_IS_PLAIN) {
        set_constant(part, value);
        return 0;
    }
    return compile_node(builder, value, class, part);
}

/* -1 with an exception if it is no tuple. */
static PyObject *tuple_of(PyObject *node, PyObject *name)
{
    PyObject *tuple = PyObject_GetAttr(node, name);

    if (tuple && !PyTuple_Check(tuple))
        Py_SETREF(tuple, PySequence_Tuple(tuple));
    return tuple;
}

static int compile_container(struct vti_py_builder *builder, PyObject *node,
                             enum vti_py_template_type type, struct vti_py_part *part)
{
    PyObject *args = tuple_of(node, vti_py_attributes.args);
    struct vti_py_template *template = NULL;
    int is_failed = -1;

    if (args)
        template = vti_py_template_new(type, NULL, (size_t)PyTuple_GET_SIZE(args));
    if (template) {
        is_failed = 0;
        for (uint32_t i = 0; !is_failed && i < template->count; i++)
            is_failed = compile_argument(builder, PyTuple_GET_ITEM(args, i), &template->parts[i]);
    }
    Py_XDECREF(args);
    return set_inner(part, template, is_failed);
}

/* The arguments by name follow the others. `values` is what the keys of the dict `kwargs` stand for. */
static int compile_by_name(struct vti_py_builder *builder, struct vti_py_template *template,
                           PyObject *kwargs)
{
    PyObject *items = PyDict_Items(kwargs);
    Py_ssize_t count = items ? PyList_GET_SIZE(items) : 0;
    uint32_t first = template->count - (uint32_t)count;
    int is_failed = !items;

    template->names = items ? PyTuple_New(count) : NULL;
    is_failed = is_failed || !template->names;
    for (Py_ssize_t i = 0; !is_failed && i < count; i++) {
        PyObject *item = PyList_GET_ITEM(items, i);
        PyObject *name = PyTuple_GET_ITEM(item, 0);

        PyTuple_SET_ITEM(template->names, i, Py_NewRef(name));
        if (!PyUnicode_Check(name)) {
            PyErr_Format(PyExc_TypeError, "keywords must be strings, not %R", name);
            is_failed = -1;
        } else {
            is_failed = compile_argument(builder, PyTuple_GET_ITEM(item, 1),
                                         &template->parts[first + (uint32_t)i]);
        }
    }
    for (Py_ssize_t i = 0; template->names && i < count; i++)
        if (!PyTuple_GET_ITEM(template->names, i))
            PyTuple_SET_ITEM(template->names, i, Py_NewRef(Py_None));
    Py_XDECREF(items);
    return is_failed ? -1 : 0;
}

static int compile_task(struct vti_py_builder *builder, PyObject *node, struct vti_py_part *part)
{
    PyObject *func = PyObject_GetAttr(node, vti_py_attributes.func);
    PyObject *args = func ? tuple_of(node, vti_py_attributes.args) : NULL;
    PyObject *kwargs = args ? PyObject_GetAttr(node, vti_py_attributes.kwargs) : NULL;
    struct vti_py_template *template = NULL;
    Py_ssize_t by_name = kwargs && PyDict_Check(kwargs) ? PyDict_GET_SIZE(kwargs) : 0;
    Py_ssize_t count = args ? PyTuple_GET_SIZE(args) : 0;
    int is_failed = -1;

    if (kwargs)
        template = vti_py_template_new(VTI_PY_CALL, func, (size_t)(count + by_name));
    if (template) {
        is_failed = 0;
        for (Py_ssize_t i = 0; !is_failed && i < count; i++)
            is_failed = compile_argument(builder, PyTuple_GET_ITEM(args, i), &template->parts[i]);
        if (!is_failed && by_name)
            is_failed = compile_by_name(builder, template, kwargs);
    }
    Py_XDECREF(func);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return set_inner(part, template, is_failed);
}

/* A class that is not known here: it is called with a dict of what it depends on. */
static int compile_other(struct vti_py_builder *builder, PyObject *node, struct vti_py_part *part)
{
    PyObject *named = PyObject_GetAttr(node, vti_py_attributes.dependencies);
    PyObject *keys = named ? PySequence_List(named) : NULL;
    Py_ssize_t count = keys ? PyList_GET_SIZE(keys) : 0;
    struct vti_py_template *template = NULL;
    int is_failed = -1;

    if (keys)
        template = vti_py_template_new(VTI_PY_NODE, node, (size_t)count * 2);
    if (template) {
        is_failed = 0;
        for (Py_ssize_t i = 0; !is_failed && i < count; i++) {
            PyObject *key = PyList_GET_ITEM(keys, i);

            set_constant(&template->parts[2 * i], key);
            is_failed = set_number(builder, vti_py_builder_number(builder, key),
                                   &template->parts[2 * i + 1]);
        }
    }
    Py_XDECREF(named);
    Py_XDECREF(keys);
    return set_inner(part, template, is_failed);
}

static int compile_node_now(struct vti_py_builder *builder, PyObject *node, enum vti_py_class class,
                            struct vti_py_part *part)
{
    switch (class) {
    case VTI_PY_IS_TASK:
        return compile_task(builder, node, part);
    case VTI_PY_IS_ALIAS:
        return compile_key_of(builder, node, vti_py_attributes.target, part);
    case VTI_PY_IS_REF:
        return compile_key_of(builder, node, vti_py_attributes.key, part);
    case VTI_PY_IS_DATA:
        part->constant = PyObject_GetAttr(node, vti_py_attributes.value);
        return part->constant ? 0 : -1;
    case VTI_PY_IS_LIST:
        return compile_container(builder, node, VTI_PY_LIST, part);
    case VTI_PY_IS_TUPLE:
        return compile_container(builder, node, VTI_PY_TUPLE, part);
    case VTI_PY_IS_SET:
        return compile_container(builder, node, VTI_PY_SET, part);
    case VTI_PY_IS_DICT:
        return compile_container(builder, node, VTI_PY_DICT, part);
    case VTI_PY_IS_OTHER:
        return compile_other(builder, node, part);
    case VTI_PY_IS_PLAIN:
        break;
    }
    set_constant(part, node);
    return 0;
}

static int compile_node(struct vti_py_builder *builder, PyObject *node, enum vti_py_class class,
                        struct vti_py_part *part)
{
    int result;

    if (Py_EnterRecursiveCall(" in a task"))
        return -1;
    result = compile_node_now(builder, node, class, part);
    Py_LeaveRecursiveCall();
    return result;
}

/* ---- old tuples ------------------------------------------------------------------------------- */

/* A dict among the arguments of a tuple is taken as it is, but for dask's objects in it. */
static int compile_dict(struct vti_py_builder *builder, PyObject *dict, struct vti_py_part *part)
{
    PyObject *items = PyDict_Items(dict);
    Py_ssize_t count = items ? PyList_GET_SIZE(items) : 0;
    struct vti_py_template *template = items ? vti_py_template_new(VTI_PY_DICT, NULL,
                                                                   (size_t)count * 2)
                                             : NULL;
    bool has_nodes = false;
    int is_failed = !template;

    for (Py_ssize_t i = 0; !is_failed && i < count; i++) {
        PyObject *item = PyList_GET_ITEM(items, i);
        struct vti_py_part *parts = &template->parts[2 * i];

        set_constant(&parts[0], PyTuple_GET_ITEM(item, 0));
        is_failed = compile_argument(builder, PyTuple_GET_ITEM(item, 1), &parts[1]);
        has_nodes = has_nodes || !parts[1].constant;
    }
    Py_XDECREF(items);
    if (!is_failed && !has_nodes) {
        vti_py_template_free(template);
        set_constant(part, dict);
        return 0;
    }
    return set_inner(part, template, is_failed);
}

/* (function, argument, …) */
static int compile_call(struct vti_py_builder *builder, PyObject *tuple, struct vti_py_part *part)
{
    struct vti_py_template *template = vti_py_template_new(VTI_PY_CALL, PyTuple_GET_ITEM(tuple, 0),
                                                           (size_t)PyTuple_GET_SIZE(tuple) - 1);
    int is_failed = !template;

    for (uint32_t i = 0; !is_failed && i < template->count; i++) {
        PyObject *value = PyTuple_GET_ITEM(tuple, (Py_ssize_t)i + 1);

        if (builder->is_deep && PyDict_Check(value))
            is_failed = compile_dict(builder, value, &template->parts[i]);
        else
            is_failed = compile_plain(builder, value, &template->parts[i]);
    }
    return set_inner(part, template, is_failed);
}

/* A list, and for today's dask any container: made anew if something in it has to be computed. */
static int compile_members(struct vti_py_builder *builder, PyObject *container,
                           enum vti_py_template_type type, struct vti_py_part *part)
{
    PyObject *members = PySequence_Tuple(container);
    struct vti_py_template *template = NULL;
    bool is_constant = true;
    int is_failed = -1;

    if (members)
        template = vti_py_template_new(type,
                                       type == VTI_PY_LIST ? NULL : (PyObject *)Py_TYPE(container),
                                       (size_t)PyTuple_GET_SIZE(members));
    if (template) {
        is_failed = 0;
        for (uint32_t i = 0; !is_failed && i < template->count; i++) {
            is_failed = compile_plain(builder, PyTuple_GET_ITEM(members, i), &template->parts[i]);
            is_constant = is_constant && template->parts[i].constant;
        }
    }
    Py_XDECREF(members);
    if (!is_failed && is_constant) {
        vti_py_template_free(template);
        set_constant(part, container);
        return 0;
    }
    return set_inner(part, template, is_failed);
}

static bool may_be_key(const struct vti_py_builder *builder, PyObject *value)
{
    return PyUnicode_Check(value) || PyLong_Check(value) || PyTuple_Check(value) ||
           PyFloat_Check(value) || builder->has_odd_keys;
}

static bool is_named_tuple(PyObject *value)
{
    return PyTuple_Check(value) && !PyTuple_CheckExact(value) &&
           PyObject_HasAttrString(value, "_fields");
}

static int compile_plain_now(struct vti_py_builder *builder, PyObject *value,
                             struct vti_py_part *part)
{
    enum vti_py_class class = vti_py_class_of(value);
    uint32_t number;

    if (class != VTI_PY_IS_PLAIN)
        return compile_node_now(builder, value, class, part);
    if (PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) &&
        PyCallable_Check(PyTuple_GET_ITEM(value, 0)))
        return compile_call(builder, value, part);
    if (may_be_key(builder, value)) {
        int is_key = vti_py_builder_probe(builder, value, &number);

        if (is_key)
            return is_key < 0 ? -1 : set_number(builder, number, part);
    }
    if (PyList_CheckExact(value))
        return compile_members(builder, value, VTI_PY_LIST, part);
    if (builder->is_deep && is_named_tuple(value))
        return compile_members(builder, value, VTI_PY_CALL, part);
    if (builder->is_deep && (PyList_Check(value) || PyTuple_Check(value) || PyAnySet_Check(value)))
        return compile_members(builder, value, VTI_PY_CAST, part);
    set_constant(part, value);
    return 0;
}

static int compile_plain(struct vti_py_builder *builder, PyObject *value, struct vti_py_part *part)
{
    int result;

    if (Py_EnterRecursiveCall(" in a task"))
        return -1;
    result = compile_plain_now(builder, value, part);
    Py_LeaveRecursiveCall();
    return result;
}

int vti_py_compile(struct vti_py_builder *builder, PyObject *value, struct vti_py_part *part)
{
    *part = (struct vti_py_part){NULL, NULL, 0};
    if (!builder->slots[builder->current].is_known)
        return compile_plain(builder, value, part);
    set_constant(part, value);
    return 0;
}
