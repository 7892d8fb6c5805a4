/*
 * graph_view_keys.c - which keys are in a view, as the run stands now. Nothing is kept.
 */
#include "graph_view_keys.h"

static bool is_near(const struct vti_py_view *view, uint32_t number)
{
    const uint32_t *numbers = NULL;
    size_t count = vti_py_source_near(view->source, view->node, view->entry->is_down, &numbers);

    for (size_t i = 0; i < count; i++)
        if (numbers[i] == number)
            return vti_py_source_is_in(view->source, number, view->entry->near_phases);
    return false;
}

static bool has(const struct vti_py_view *view, uint32_t number)
{
    if (view->node != VTI_PY_NO_KEY)
        return is_near(view, number);
    return vti_py_source_is_in(view->source, number, view->entry->phases) &&
           (!view->entry->tasks_only || vti_py_source_is_task(view->source, number));
}

int vti_py_view_find(const struct vti_py_view *view, PyObject *key, uint32_t *number)
{
    *number = vti_py_source_find(view->source, key);
    if (*number == VTI_PY_NO_KEY)
        return PyErr_Occurred() ? -1 : 0;
    return has(view, *number);
}

static Py_ssize_t count_near(const struct vti_py_view *view)
{
    const uint32_t *numbers = NULL;
    size_t count = vti_py_source_near(view->source, view->node, view->entry->is_down, &numbers);
    Py_ssize_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += vti_py_source_is_in(view->source, numbers[i], view->entry->near_phases);
    return sum;
}

Py_ssize_t vti_py_view_length(const struct vti_py_view *view)
{
    Py_ssize_t sum = 0;

    if (view->node != VTI_PY_NO_KEY)
        return count_near(view);
    if (view->entry->tasks_only)
        return (Py_ssize_t)vti_py_source_tasks(view->source, view->entry->phases);
    for (uint32_t i = 0; i < vti_py_source_count(view->source); i++)
        sum += vti_py_source_is_in(view->source, i, view->entry->phases);
    return sum;
}

/* Appends key after key as the run stands now. */
static int add_near(const struct vti_py_view *view, PyObject *list)
{
    const uint32_t *numbers = NULL;
    size_t count = vti_py_source_near(view->source, view->node, view->entry->is_down, &numbers);
    int code = 0;

    for (size_t i = 0; !code && i < count; i++)
        if (vti_py_source_is_in(view->source, numbers[i], view->entry->near_phases))
            code = PyList_Append(list, vti_py_source_key(view->source, numbers[i]));
    return code;
}

/* It is known how many tasks there are: few are found without a look at the rest. */
static int add_all(const struct vti_py_view *view, PyObject *list)
{
    uint64_t left = view->entry->tasks_only ? vti_py_source_tasks(view->source, view->entry->phases)
                                            : UINT64_MAX;
    int code = 0;

    for (uint32_t i = 0; !code && left && i < vti_py_source_count(view->source); i++)
        if (has(view, i)) {
            code = PyList_Append(list, vti_py_source_key(view->source, i));
            left--;
        }
    return code;
}

/* In dask's list the next one is the last. */
static int add_ready(const struct vti_py_view *view, PyObject *list)
{
    uint32_t number;
    int code = 0;

    for (uint32_t i = 0; !code; i++) {
        number = vti_py_source_ready(view->source, i);
        if (number == VTI_PY_NO_KEY)
            break;
        code = PyList_Append(list, vti_py_source_key(view->source, number));
    }
    return code ? -1 : PyList_Reverse(list);
}

PyObject *vti_py_view_keys(const struct vti_py_view *view)
{
    PyObject *run = vti_py_source_hold(view->source);
    PyObject *list = PyList_New(0);
    int code = -1;

    if (list && view->node != VTI_PY_NO_KEY)
        code = add_near(view, list);
    else if (list)
        code = view->entry->is_stack ? add_ready(view, list) : add_all(view, list);
    Py_XDECREF(run);
    if (code)
        Py_CLEAR(list);
    return list;
}
