/*
 * lines_calibrate.c - what one event of a line costs: a function of ours is timed before its lines are profiled and
 * after, in short batches of which the quickest counts. What was counted for it is taken back.
 */
#include "lines_calibrate.h"

#include "lines.h"

#include <math.h>
#include <venturi/span.h>

#define BATCHES 16
#define ROUNDS 100
#define ROUND_LINES 4
#define UNITS_MAX 256

static const char source[] = "def lines(times):\n"
                             "    for _ in times:\n"
                             "        a = _\n"
                             "        b = a\n"
                             "        c = b\n";

static PyObject *compile_it(void)
{
    PyObject *code = Py_CompileString(source, "<venturi>", Py_file_input);
    PyObject *names = code ? PyDict_New() : NULL;
    PyObject *done = NULL;
    PyObject *function;

    if (names && !PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()))
        done = PyEval_EvalCode(code, names, names);
    function = done ? PyDict_GetItemString(names, "lines") : NULL;
    Py_XINCREF(function);
    Py_XDECREF(done);
    Py_XDECREF(names);
    Py_XDECREF(code);
    return function;
}

/* Ticks of the quickest batch; negative with an exception. */
static double quickest(PyObject *function)
{
    PyObject *times = PyObject_CallFunction((PyObject *)&PyRange_Type, "i", ROUNDS);
    double best = times ? INFINITY : -1;

    for (int batch = 0; batch < BATCHES && best >= 0; batch++) {
        uint64_t before = vt_ticks();
        PyObject *done = PyObject_CallFunctionObjArgs(function, times, NULL);

        best = done ? fmin(best, (double)(vt_ticks() - before)) : -1;
        Py_XDECREF(done);
    }
    Py_XDECREF(times);
    return best;
}

/* Every line is a row, every event begins a statement. */
static int profile_it(PyFunctionObject *function)
{
    PyCodeObject *code = (PyCodeObject *)function->func_code;
    struct vt_line_row rows[ROUND_LINES + 1];
    uint32_t marks[UNITS_MAX];
    struct vti_py_lines given = {.lines = {.rows = rows, .row_count = ROUND_LINES + 1},
                                 .marks = marks};
    PyObject *bytes = PyObject_GetAttrString((PyObject *)code, "co_code");

    if (!bytes)
        return -1;
    for (uint32_t i = 0; i <= ROUND_LINES; i++)
        rows[i] = (struct vt_line_row){i + 1, i};
    while (given.unit_count < UNITS_MAX &&
           2 * given.unit_count < (uint32_t)PyBytes_GET_SIZE(bytes)) {
        int line = PyCode_Addr2Line(code, (int)(2 * given.unit_count));

        marks[given.unit_count++] = line >= 1 && line <= ROUND_LINES + 1
                                        ? (uint32_t)line << VTI_PY_MARK_SHIFT | VTI_PY_MARK_START
                                        : 0;
    }
    Py_DECREF(bytes);
    return vti_py_lines_register((PyObject *)function, function->func_qualname, &given);
}

int vti_py_lines_calibrate(void)
{
    static bool is_done;
    PyObject *function;
    struct vti_py_lines *lines;
    double plain, cost;
    int result = -1;

    if (is_done || !vt_ticks() || !(*vt_control_word & VT_ON_LINES))
        return 0;
    function = compile_it();
    plain = function ? quickest(function) : -1;
    if (plain < 0 || profile_it((PyFunctionObject *)function))
        goto out;
    cost = (quickest(function) - plain) / (ROUNDS * ROUND_LINES) * 1000;
    lines = vti_py_lines_of((PyCodeObject *)((PyFunctionObject *)function)->func_code);
    vt_lines_forget(&lines->lines);
    if (PyErr_Occurred())
        goto out;
    vt_hook_cost(VT_LANGUAGE_PYTHON_LINE, (uint64_t)fmax(cost, 0), 0);
    is_done = true;
    result = 0;
out:
    Py_XDECREF(function);
    return result;
}
