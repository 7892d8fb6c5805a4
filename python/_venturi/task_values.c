/* task_values.c - see task_values.h. */
#include "task_values.h"

#include "analyze/tasks.h"

#include <string.h>
#include <venturi/task.h>

int vti_py_time_from(PyObject *value, int64_t *ns)
{
    double seconds;

    if (PyLong_Check(value)) {
        *ns = PyLong_AsLongLong(value);
        if (*ns >= 0)
            return 0;
        PyErr_Format(PyExc_ValueError, "%R is no time in nanoseconds since 1970", value);
        return -1;
    }
    seconds = value == Py_None ? 0 : PyFloat_AsDouble(value);
    if (seconds == -1.0 && PyErr_Occurred())
        return -1;
    if (!(seconds >= 0 && seconds < 9e9)) {
        PyErr_Format(PyExc_ValueError, "%R is no time in seconds since 1970", value);
        return -1;
    }
    *ns = (int64_t)(seconds * 1e9);
    return 0;
}

uint64_t vti_py_size_from(PyObject *value)
{
    unsigned long long size = PyLong_Check(value) ? PyLong_AsUnsignedLongLong(value)
                                                  : VTI_TASK_UNKNOWN;

    if (PyErr_Occurred()) {
        PyErr_Clear();
        return VTI_TASK_UNKNOWN;
    }
    return size;
}

int vti_py_cpu_from(PyObject *value, uint64_t *ns)
{
    int64_t known;

    *ns = VTI_TASK_UNKNOWN;
    if (value == Py_None)
        return 0;
    if (vti_py_time_from(value, &known))
        return -1;
    *ns = (uint64_t)known;
    return 0;
}

static int enum_from(PyObject *value, const char *const *texts, unsigned count, unsigned *number)
{
    const char *text = PyUnicode_Check(value) ? PyUnicode_AsUTF8(value) : NULL;

    PyErr_Clear();
    for (*number = 0; *number < count; ++*number)
        if (text && !strcmp(text, texts[*number]))
            return 0;
    PyErr_Format(PyExc_ValueError, "%R is neither the state of a task nor an action", value);
    return -1;
}

int vti_py_state_from(PyObject *value, uint8_t *state)
{
    static const char *const texts[] = {"done",      "failed",    "skipped",
                                        "cancelled", "timed out", "lost"};
    unsigned number;

    if (enum_from(value, texts, sizeof texts / sizeof *texts, &number))
        return -1;
    *state = (uint8_t)(VT_TASK_DONE + number);
    return 0;
}

int vti_py_action_from(PyObject *value, uint8_t *action)
{
    static const char *const texts[] = {"compute", "transfer", "disk-read", "disk-write",
                                        "deserialize"};
    unsigned number;

    if (enum_from(value, texts, sizeof texts / sizeof *texts, &number))
        return -1;
    *action = (uint8_t)number;
    return 0;
}
