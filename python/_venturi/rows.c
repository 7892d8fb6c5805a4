/*
 * rows.c - the table of functions as Python gets it: a list of tuples.
 *
 * file, line, name, qualified name, language, primitive calls, calls, own time, cumulative time, resumes,
 * suspended, shortest, longest, three percentiles, callers, durations; a caller is its row, calls, primitive calls,
 * own time, cumulative time: the order of pstats. Times are seconds, None if not known. Durations are bytes for
 * percentiles() only.
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

static PyObject *durations_of(const struct vti_profile *profile, const struct vti_profile_row *row)
{
    const struct vti_durations *durations = profile->calls->durations[row->function];

    if (!durations)
        return Py_NewRef(Py_None);
    return PyBytes_FromStringAndSize((const char *)durations, sizeof *durations);
}

/* The durations in a tuple of bytes, to be freed; NULL with an exception. */
static struct vti_durations *join(PyObject *parts)
{
    Py_ssize_t count = PyTuple_GET_SIZE(parts);
    struct vti_durations *all = PyMem_New(struct vti_durations, (size_t)count + 1);

    if (!all)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; all && i < count; i++) {
        PyObject *part = PyTuple_GET_ITEM(parts, i);

        if (PyBytes_Check(part) && PyBytes_GET_SIZE(part) == sizeof *all) {
            memcpy(&all[i], PyBytes_AS_STRING(part), sizeof *all);
            continue;
        }
        PyErr_SetString(PyExc_TypeError, "not the durations of a row");
        PyMem_Free(all);
        all = NULL;
    }
    return all;
}

static double nanoseconds(PyObject *value)
{
    return value == Py_None ? NAN : PyFloat_AsDouble(value) * 1e9;
}

PyObject *vti_py_percentiles(PyObject *parts, PyObject *shortest, PyObject *longest)
{
    static const double shares[] = {0.50, 0.90, 0.99};
    double least = nanoseconds(shortest);
    double most = nanoseconds(longest);
    struct vti_durations *all = PyErr_Occurred() ? NULL : join(parts);
    double found[3];

    if (!all)
        return NULL;
    for (int i = 0; i < 3; i++)
        found[i] = vti_durations_percentile_of(all, (size_t)PyTuple_GET_SIZE(parts), shares[i],
                                               least, most) /
                   1e9;
    PyMem_Free(all);
    return Py_BuildValue("(NNN)", seconds(found[0]), seconds(found[1]), seconds(found[2]));
}

static PyObject *make_row(const struct vti_profile *profile, const struct vti_profile_row *row)
{
    const struct vti_function *function = &profile->calls->functions[row->function];
    const struct vti_profile_numbers *numbers = &row->numbers;

    return Py_BuildValue(
        "(NINNNKKddKdNNNNNNN)", vti_py_text(row->file), row->line, vti_py_text(row->name),
        vti_py_text(function->name), vti_py_text(function->language),
        (unsigned long long)numbers->primitive, (unsigned long long)numbers->calls, numbers->self_s,
        numbers->total_s, (unsigned long long)row->resumes, row->suspended_s,
        seconds(row->shortest_s), seconds(row->longest_s), seconds(row->p50_s), seconds(row->p90_s),
        seconds(row->p99_s), callers_of(profile, row), durations_of(profile, row));
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
