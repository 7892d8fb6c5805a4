/*
 * rows.c - the table of functions as Python gets it: a list of tuples.
 *
 * file, line, name, qualified name, language, primitive calls, calls, own time, cumulative time, resumes,
 * suspended, shortest, longest, three percentiles, callers; a caller is its row, calls, primitive calls, own
 * time, cumulative time: the order of pstats. Times are seconds, None if not known.
 */
#include "rows.h"

#include "base/error.h"

#include <math.h>

PyObject *vti_py_raise(int code)
{
    PyObject *type = PyExc_RuntimeError;

    if (code == VTI_E_NOMEM)
        return PyErr_NoMemory();
    if (code == VTI_E_OPEN || code == VTI_E_READ)
        type = PyExc_OSError;
    else if (code == VTI_E_NOT_RECORDING || code == VTI_E_DAMAGED || code == VTI_E_UNSUPPORTED ||
             code == VTI_E_EMPTY || code == VTI_E_LIMIT)
        type = PyExc_ValueError;
    PyErr_SetString(type, vti_error_message(code));
    return NULL;
}

static PyObject *seconds(double value)
{
    return isnan(value) ? Py_NewRef(Py_None) : PyFloat_FromDouble(value);
}

/* Damaged recordings may have any bytes in their texts. */
PyObject *vti_py_text(const char *bytes)
{
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)strlen(bytes), "replace");
}

static PyObject *callers_of(const struct vti_profile *profile, const struct vti_profile_row *row)
{
    PyObject *list = PyList_New((Py_ssize_t)row->caller_count);

    for (size_t i = 0; list && i < row->caller_count; i++) {
        const struct vti_profile_arc *arc = &profile->arcs[row->first_caller + i];
        PyObject *caller = Py_BuildValue(
            "(IKKdd)", arc->caller, (unsigned long long)arc->numbers.calls,
            (unsigned long long)arc->numbers.primitive, arc->numbers.self_s, arc->numbers.total_s);

        if (caller)
            PyList_SET_ITEM(list, (Py_ssize_t)i, caller);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *make_row(const struct vti_profile *profile, const struct vti_profile_row *row)
{
    const struct vti_function *function = &profile->calls->functions[row->function];
    const struct vti_profile_numbers *numbers = &row->numbers;

    return Py_BuildValue("(NINNNKKddKdNNNNNN)", vti_py_text(row->file), row->line,
                         vti_py_text(row->name), vti_py_text(function->name),
                         vti_py_text(function->language), (unsigned long long)numbers->primitive,
                         (unsigned long long)numbers->calls, numbers->self_s, numbers->total_s,
                         (unsigned long long)row->resumes, row->suspended_s,
                         seconds(row->shortest_s), seconds(row->longest_s), seconds(row->p50_s),
                         seconds(row->p90_s), seconds(row->p99_s), callers_of(profile, row));
}

PyObject *vti_py_rows(const struct vti_profile *profile)
{
    PyObject *list = PyList_New((Py_ssize_t)profile->row_count);

    for (size_t i = 0; list && i < profile->row_count; i++) {
        PyObject *row = make_row(profile, &profile->rows[i]);

        if (row)
            PyList_SET_ITEM(list, (Py_ssize_t)i, row);
        else
            Py_CLEAR(list);
    }
    return list;
}
