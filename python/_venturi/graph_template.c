/*
 * graph_template.c - see graph_template.h. Depth is bounded by the interpreter's own limit on recursion.
 */
#include "graph_template.h"

enum { FEW = 8 }; /* arguments that lie on the stack */

struct vti_py_template *vti_py_template_new(enum vti_py_template_type type, PyObject *head,
                                            size_t count)
{
    struct vti_py_template *template;

    if (count > UINT32_MAX / 2) {
        PyErr_SetString(PyExc_OverflowError, "a task has too many arguments");
        return NULL;
    }
    template = PyMem_RawMalloc(sizeof *template + count * sizeof template->parts[0]);
    if (!template) {
        PyErr_NoMemory();
        return NULL;
    }
    template->head = head;
    Py_XINCREF(head);
    template->names = NULL;
    template->count = (uint32_t)count;
    template->type = (uint8_t)type;
    for (size_t i = 0; i < count; i++)
        template->parts[i] = (struct vti_py_part){NULL, NULL, 0};
    return template;
}

void vti_py_template_free(struct vti_py_template *template)
{
    if (!template)
        return;
    for (uint32_t i = 0; i < template->count; i++) {
        Py_XDECREF(template->parts[i].constant);
        vti_py_template_free(template->parts[i].inner);
    }
    Py_XDECREF(template->head);
    Py_XDECREF(template->names);
    PyMem_RawFree(template);
}

int vti_py_template_visit(const struct vti_py_template *template, visitproc visit, void *arg)
{
    Py_VISIT(template->head);
    Py_VISIT(template->names);
    for (uint32_t i = 0; i < template->count; i++) {
        const struct vti_py_part *part = &template->parts[i];
        int stopped = part->inner ? vti_py_template_visit(part->inner, visit, arg) : 0;

        if (stopped)
            return stopped;
        Py_VISIT(part->constant);
    }
    return 0;
}

/* A new reference, NULL with an exception. */
static PyObject *part_value(const struct vti_py_part *part, PyObject *const *values)
{
    PyObject *value;

    if (part->constant)
        return Py_NewRef(part->constant);
    if (!part->inner)
        return Py_NewRef(values[part->place]);
    if (Py_EnterRecursiveCall(" in a task"))
        return NULL;
    value = vti_py_template_fill(part->inner, values);
    Py_LeaveRecursiveCall();
    return value;
}

/* Fills `room` with new references; how many were made is told, less than all with an exception. */
static uint32_t fill_parts(const struct vti_py_template *template, PyObject *const *values,
                           PyObject **room)
{
    uint32_t done = 0;

    while (done < template->count) {
        room[done] = part_value(&template->parts[done], values);
        if (!room[done])
            break;
        done++;
    }
    return done;
}

static void drop(PyObject **room, uint32_t count)
{
    while (count)
        Py_DECREF(room[--count]);
}

static PyObject *call(const struct vti_py_template *template, PyObject *const *values)
{
    PyObject *few[FEW + 1];
    PyObject **room = few;
    PyObject *result = NULL;
    uint32_t done;
    size_t by_name = template->names ? (size_t)PyTuple_GET_SIZE(template->names) : 0;

    if (template->count > FEW)
        room = PyMem_New(PyObject *, (size_t) template->count + 1);
    if (!room)
        return PyErr_NoMemory();
    room[0] = NULL; /* the callee may use it */
    done = fill_parts(template, values, room + 1);
    if (done == template->count)
        result = PyObject_Vectorcall(template->head, room + 1,
                                     (template->count - by_name) | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                     template->names);
    drop(room + 1, done);
    if (room != few)
        PyMem_Free(room);
    return result;
}

static PyObject *make_list(const struct vti_py_template *template, PyObject *const *values)
{
    PyObject *list = PyList_New(template->count);

    for (uint32_t i = 0; list && i < template->count; i++) {
        PyObject *value = part_value(&template->parts[i], values);

        if (value)
            PyList_SET_ITEM(list, i, value);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *make_tuple(const struct vti_py_template *template, PyObject *const *values)
{
    PyObject *tuple = PyTuple_New(template->count);

    for (uint32_t i = 0; tuple && i < template->count; i++) {
        PyObject *value = part_value(&template->parts[i], values);

        if (value)
            PyTuple_SET_ITEM(tuple, i, value);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *make_dict(const struct vti_py_template *template, PyObject *const *values)
{
    PyObject *dict = PyDict_New();

    for (uint32_t i = 0; dict && i + 1 < template->count; i += 2) {
        PyObject *key = part_value(&template->parts[i], values);
        PyObject *value = key ? part_value(&template->parts[i + 1], values) : NULL;

        if (!value || PyDict_SetItem(dict, key, value))
            Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return dict;
}

/* head(container) */
static PyObject *pass(PyObject *head, PyObject *container)
{
    PyObject *result = container ? PyObject_CallOneArg(head, container) : NULL;

    Py_XDECREF(container);
    return result;
}

PyObject *vti_py_template_fill(const struct vti_py_template *template, PyObject *const *values)
{
    switch ((enum vti_py_template_type) template->type) {
    case VTI_PY_SAME:
        return part_value(&template->parts[0], values);
    case VTI_PY_CALL:
        return call(template, values);
    case VTI_PY_LIST:
        return make_list(template, values);
    case VTI_PY_TUPLE:
        return make_tuple(template, values);
    case VTI_PY_SET:
        return pass((PyObject *)&PySet_Type, make_list(template, values));
    case VTI_PY_DICT:
        return make_dict(template, values);
    case VTI_PY_CAST:
        return pass(template->head, make_tuple(template, values));
    case VTI_PY_NODE:
        return pass(template->head, make_dict(template, values));
    }
    Py_UNREACHABLE();
}

PyObject *vti_py_template_function(const struct vti_py_template *template)
{
    if (template->type == VTI_PY_CALL || template->type == VTI_PY_CAST)
        return template->head;
    return NULL;
}
