/*
 * calibrate.c - what our own hooks cost: measured in the program itself, so that it can be taken off.
 *
 * A loop that calls an empty function is timed without the hooks and with them, in short batches of which the
 * quickest counts: whatever else the machine does makes a batch slower, never quicker. The functions
 * have ids of their own, and what was counted for them is taken back.
 */
#include "calibrate.h"

#include "builtins.h"
#include "code.h"

#include <math.h>
#include <stdlib.h>
#include <venturi/hook.h>
#include <venturi/span.h>

#define BATCHES 16
#define CALLS 400

static const char source[] = "def empty():\n"
                             "    pass\n"
                             "def python(times):\n"
                             "    for _ in times:\n"
                             "        empty()\n"
                             "def builtin(times):\n"
                             "    for _ in times:\n"
                             "        nothing(None)\n";

/* One language: what is called, by what, and how long that takes. */
struct subject {
    const char *loop, *called;
    double plain; /* ticks of a call without hooks */
    struct vti_py_cost cost;
    bool is_measured;
};

static struct subject subjects[] = {
    [VT_LANGUAGE_PYTHON] = {.loop = "python", .called = "empty"},
    [VT_LANGUAGE_BUILTIN] = {.loop = "builtin", .called = "nothing"},
};
static bool has_builtins_cost;
static PyObject *names; /* what the source defines */

static PyObject *nothing(PyObject *self, PyObject *argument)
{
    (void)self, (void)argument;
    Py_RETURN_NONE;
}

static PyMethodDef nothing_def = {"nothing", nothing, METH_O, NULL};

struct vti_py_cost vti_py_cost(unsigned language)
{
    return language < sizeof subjects / sizeof *subjects ? subjects[language].cost
                                                         : (struct vti_py_cost){0, 0};
}

static int prepare(void)
{
    PyObject *code = names ? NULL : Py_CompileString(source, "<venturi>", Py_file_input);
    PyObject *defined = code ? PyDict_New() : NULL;
    PyObject *function = defined ? PyCFunction_New(&nothing_def, NULL) : NULL;
    PyObject *done = NULL;

    if (names)
        return 0;
    if (function && !PyDict_SetItemString(defined, "nothing", function) &&
        !PyDict_SetItemString(defined, "__builtins__", PyEval_GetBuiltins()))
        done = PyEval_EvalCode(code, defined, defined);
    if (done)
        names = Py_NewRef(defined);
    Py_XDECREF(done);
    Py_XDECREF(function);
    Py_XDECREF(defined);
    Py_XDECREF(code);
    return names ? 0 : -1;
}

/* Ticks of one call in one batch; negative with an exception. */
static double run(PyObject *loop)
{
    PyObject *times = PyObject_CallFunction((PyObject *)&PyRange_Type, "i", CALLS);
    uint64_t before = vt_ticks();
    PyObject *done = times ? PyObject_CallFunctionObjArgs(loop, times, NULL) : NULL;
    double took = (double)(vt_ticks() - before);

    Py_XDECREF(times);
    if (!done)
        return -1;
    Py_DECREF(done);
    return took / CALLS;
}

/* With each call recorded one by one there are no sums to measure by, and ours would be among them. */
static bool is_possible(void)
{
    return vt_ticks() && (!(*vt_control_word & VT_ON_TIMELINE) || *vt_control_word & VT_ON_CALLS);
}

int vti_py_calibrate_before(bool has_builtins)
{
    unsigned last = has_builtins ? VT_LANGUAGE_BUILTIN : VT_LANGUAGE_PYTHON;

    if (!is_possible())
        return 0;
    if (prepare())
        return -1;
    for (unsigned i = VT_LANGUAGE_PYTHON; i <= last; i++) {
        PyObject *loop = PyDict_GetItemString(names, subjects[i].loop);

        if (subjects[i].plain > 0)
            continue;
        for (int batch = 0; batch < BATCHES; batch++) {
            double took = run(loop);

            if (took < 0)
                return -1;
            if (!batch || took < subjects[i].plain)
                subjects[i].plain = took;
        }
    }
    return 0;
}

static uint32_t id_of(PyObject *function)
{
    if (PyFunction_Check(function))
        return vti_py_code_adopt((PyCodeObject *)PyFunction_GET_CODE(function));
    return vti_py_builtin_id(function, NULL);
}

/* Ticks that all calls of a function have shown until now. */
static double shown(uint32_t id)
{
    size_t room = vt_calls_read(NULL, 0) + 64;
    struct vt_call_node *nodes = malloc(room * sizeof *nodes);
    size_t count = nodes ? vt_calls_read(nodes, room) : 0;
    double sum = 0;

    for (size_t i = 0; i < count && i < room; i++)
        if (nodes[i].function == id)
            sum += (double)nodes[i].total;
    free(nodes);
    return sum;
}

static int measure(struct subject *subject, PyObject *loop, uint32_t called)
{
    double pair = INFINITY;
    double inner = INFINITY;
    double before = shown(called);

    for (int batch = 0; batch < BATCHES; batch++) {
        double took = run(loop);
        double after = shown(called);

        if (took < 0)
            return -1;
        pair = fmin(pair, took);
        inner = fmin(inner, (after - before) / CALLS);
        before = after;
    }
    /* The inner part is measured by itself; a machine that got quicker in between does not make it less. */
    subject->cost = (struct vti_py_cost){fmax(pair - subject->plain, inner), inner};
    return 0;
}

int vti_py_calibrate_after(bool has_builtins)
{
    unsigned last = has_builtins ? VT_LANGUAGE_BUILTIN : VT_LANGUAGE_PYTHON;
    int result = 0;

    if (!is_possible() || !names || has_builtins < has_builtins_cost)
        return 0;
    for (unsigned i = VT_LANGUAGE_PYTHON; i <= last && !result; i++) {
        struct subject *subject = &subjects[i];
        PyObject *loop = PyDict_GetItemString(names, subject->loop);
        uint32_t loop_id = id_of(loop);
        uint32_t called = id_of(PyDict_GetItemString(names, subject->called));

        if (subject->is_measured && has_builtins == has_builtins_cost)
            continue;
        result = measure(subject, loop, called);
        vt_call_forget(called);
        vt_call_forget(loop_id);
        subject->is_measured = true;
        vt_hook_cost((enum vt_language)i, (uint64_t)(subject->cost.pair * 1000),
                     (uint64_t)(subject->cost.inner * 1000));
    }
    has_builtins_cost = has_builtins;
    return result;
}
