/*
 * graph_pack.c - templates as tuples, for other processes: (type, head, names of keywords, ((kind, what), …)).
 *
 * Heads are numbers of a list that travels beside it, so that a function that many tasks call is pickled once. What comes from a pickle is
 * checked like any input.
 */
#include "graph_template.h"

enum { IS_CONSTANT, IS_PLACE, IS_INNER };

static PyObject *pack_parts(const struct vti_py_template *template, PyObject *heads)
{
    PyObject *parts = PyTuple_New(template->count);

    for (uint32_t i = 0; parts && i < template->count; i++) {
        const struct vti_py_part *part = &template->parts[i];
        PyObject *packed;

        if (part->constant)
            packed = Py_BuildValue("iO", IS_CONSTANT, part->constant);
        else if (part->inner)
            packed = Py_BuildValue("iN", IS_INNER, vti_py_template_pack(part->inner, heads));
        else
            packed = Py_BuildValue("iI", IS_PLACE, part->place);
        if (packed)
            PyTuple_SET_ITEM(parts, i, packed);
        else
            Py_CLEAR(parts);
    }
    return parts;
}

PyObject *vti_py_template_pack(const struct vti_py_template *template, PyObject *heads)
{
    Py_ssize_t head = -1;
    PyObject *parts;

    if (template->head) {
        head = PyList_GET_SIZE(heads);
        if (PyList_Append(heads, template->head))
            return NULL;
    }
    if (Py_EnterRecursiveCall(" in a task"))
        return NULL;
    parts = pack_parts(template, heads);
    Py_LeaveRecursiveCall();
    if (!parts)
        return NULL;
    return Py_BuildValue("inON", (int)template->type, head,
                         template->names ? template->names : Py_None, parts);
}

static int unpack_part(struct vti_py_part *part, PyObject *packed, PyObject *heads, uint32_t places)
{
    PyObject *what;
    int kind;

    if (!PyArg_ParseTuple(packed, "iO", &kind, &what))
        return -1;
    if (kind == IS_CONSTANT) {
        part->constant = Py_NewRef(what);
    } else if (kind == IS_INNER) {
        if (Py_EnterRecursiveCall(" in a task"))
            return -1;
        part->inner = vti_py_template_unpack(what, heads, places);
        Py_LeaveRecursiveCall();
        return part->inner ? 0 : -1;
    } else {
        unsigned long place = PyLong_AsUnsignedLong(what);

        if (place >= places) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "a task has fewer arguments than it needs");
            return -1;
        }
        part->place = (uint32_t)place;
    }
    return 0;
}

static bool is_sound(int type, PyObject *head, PyObject *names, Py_ssize_t count)
{
    bool needs_head = type == VTI_PY_CALL || type == VTI_PY_CAST || type == VTI_PY_NODE;

    if (type < VTI_PY_SAME || type > VTI_PY_NODE || (needs_head && !head))
        return false;
    if (type == VTI_PY_SAME && count != 1)
        return false;
    return names == Py_None || (PyTuple_Check(names) && PyTuple_GET_SIZE(names) <= count);
}

struct vti_py_template *vti_py_template_unpack(PyObject *packed, PyObject *heads, uint32_t places)
{
    PyObject *names, *parts, *head;
    struct vti_py_template *template;
    Py_ssize_t number;
    int type;

    if (!PyTuple_Check(packed) ||
        !PyArg_ParseTuple(packed, "inOO!", &type, &number, &names, &PyTuple_Type, &parts))
        goto bad;
    head = number >= 0 && number < PyList_GET_SIZE(heads) ? PyList_GET_ITEM(heads, number) : NULL;
    if (!is_sound(type, head, names, PyTuple_GET_SIZE(parts)))
        goto bad;
    template = vti_py_template_new((enum vti_py_template_type)type, head,
                                   (size_t)PyTuple_GET_SIZE(parts));
    if (!template)
        return NULL;
    if (names != Py_None)
        template->names = Py_NewRef(names);
    for (uint32_t i = 0; i < template->count; i++)
        if (!PyTuple_Check(PyTuple_GET_ITEM(parts, i)) ||
            unpack_part(&template->parts[i], PyTuple_GET_ITEM(parts, i), heads, places)) {
            vti_py_template_free(template);
            goto bad;
        }
    return template;
bad:
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "this is no task");
    return NULL;
}
