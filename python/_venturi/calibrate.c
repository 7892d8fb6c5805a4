/*
 * calibrate.c - what our own hooks cost: measured in the program itself, so that it can be taken off.
 *
 * Loops of calls are timed without the hooks and with them, in short batches of which the quickest counts: whatever
 * else the machine does makes a batch slower, never quicker. Calls within calls cost more than those
 * of an empty function, up to twice as much on 3.9: the mean of both is what programs are closest to. Our functions
 * have ids of their own, and what was counted for them is taken back.
 */
#include "calibrate.h"

#include "builtins.h"
#include "code.h"
#include "pairs.h"

#include <math.h>
#include <stdlib.h>
#include <venturi/hook.h>
#include <venturi/span.h>

#define BATCHES 16
#define CALLS 400
#define TREE_DEPTH 5
#define TREE_CALLS ((1 << (TREE_DEPTH + 1)) - 1)

static const char source[] = "def empty():\n"
                             "    pass\n"
                             "def flat(times):\n"
                             "    for _ in times:\n"
                             "        empty()\n"
                             "def tree(depth):\n"
                             "    if depth:\n"
                             "        tree(depth - 1)\n"
                             "        tree(depth - 1)\n"
                             "def nested(times):\n"
                             "    for _ in times:\n"
                             "        tree(depth)\n"
                             "def builtin(times):\n"
                             "    for _ in times:\n"
                             "        nothing(None)\n";

/* One way to call: a loop, and how many calls it makes in one round. */
struct way {
    const char *loop, *called;
    int round_calls;
    double plain; /* ticks of a call without hooks */
};

/* One language. Its first way calls nothing but what is empty. */
struct subject {
    struct way ways[2];
    struct vti_py_cost cost;
    bool is_measured;
};

static struct subject subjects[] = {
    [VT_LANGUAGE_PYTHON] = {.ways = {{"flat", "empty", 1, 0}, {"nested", "tree", TREE_CALLS, 0}}},
    [VT_LANGUAGE_BUILTIN] = {.ways = {{"builtin", "nothing", 1, 0}}},
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
    uint64_t pair, inner;

    if (language == VT_LANGUAGE_C) { /* whose hooks have measured themselves */
        vt_hook_cost_read(VT_LANGUAGE_C, &pair, &inner);
        return (struct vti_py_cost){(double)pair / 1000, (double)inner / 1000};
    }
    return language < sizeof subjects / sizeof *subjects ? subjects[language].cost
                                                         : (struct vti_py_cost){0, 0};
}

static int prepare(void)
{
    PyObject *code = names ? NULL : Py_CompileString(source, "<venturi>", Py_file_input);
    PyObject *defined = code ? PyDict_New() : NULL;
    PyObject *function = defined ? PyCFunction_New(&nothing_def, NULL) : NULL;
    PyObject *depth = PyLong_FromLong(TREE_DEPTH);
    PyObject *done = NULL;

    if (function && depth && !PyDict_SetItemString(defined, "nothing", function) &&
        !PyDict_SetItemString(defined, "depth", depth) &&
        !PyDict_SetItemString(defined, "__builtins__", PyEval_GetBuiltins()))
        done = PyEval_EvalCode(code, defined, defined);
    if (done)
        names = Py_NewRef(defined);
    Py_XDECREF(done);
    Py_XDECREF(depth);
    Py_XDECREF(function);
    Py_XDECREF(defined);
    Py_XDECREF(code);
    return names ? 0 : -1;
}

/* Ticks of one call in one batch; negative with an exception. */
static double run(const struct way *way)
{
    PyObject *loop = PyDict_GetItemString(names, way->loop);
    int rounds = CALLS / way->round_calls;
    PyObject *times = PyObject_CallFunction((PyObject *)&PyRange_Type, "i", rounds);
    uint64_t before = vt_ticks();
    PyObject *done = times ? PyObject_CallFunctionObjArgs(loop, times, NULL) : NULL;
    double took = (double)(vt_ticks() - before);

    Py_XDECREF(times);
    if (!done)
        return -1;
    Py_DECREF(done);
    return took / (rounds * way->round_calls);
}

/* With each call recorded one by one there is nothing to take off, and our functions would be among the rest. */
static bool is_possible(void)
{
    return vt_ticks() && (!(*vt_control_word & VT_ON_TIMELINE) || *vt_control_word & VT_ON_CALLS);
}

static int measure_plain(struct way *way)
{
    for (int batch = 0; batch < BATCHES && way->loop; batch++) {
        double took = run(way);

        if (took < 0)
            return -1;
        if (!batch || took < way->plain)
            way->plain = took;
    }
    return 0;
}

int vti_py_calibrate_before(bool has_builtins)
{
    unsigned last = has_builtins ? VT_LANGUAGE_BUILTIN : VT_LANGUAGE_PYTHON;
    int result = 0;

    if (!is_possible())
        return 0;
    if (!names && prepare())
        return -1;
    for (unsigned i = VT_LANGUAGE_PYTHON; i <= last && !result; i++)
        for (int j = 0; j < 2 && !result && !subjects[i].is_measured; j++)
            result = measure_plain(&subjects[i].ways[j]);
    return result;
}

static uint32_t id_of(const char *name)
{
    PyObject *function = PyDict_GetItemString(names, name);

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

static void join_pairs(const char *name)
{
    PyObject *function = PyDict_GetItemString(names, name);

    if (PyFunction_Check(function))
        vti_py_pairs_join((PyCodeObject *)PyFunction_GET_CODE(function));
}

/* The first round puts the hooks into our functions; then they are as others are after their first call. */
static int settle(const struct way *way)
{
    if (run(way) < 0)
        return -1;
    join_pairs(way->loop);
    join_pairs(way->called);
    return 0;
}

/* How long a call takes with the hooks, and in *inner what it shows of that. */
static int measure(const struct way *way, uint32_t called, double *pair, double *inner)
{
    double before = shown(called);

    *pair = *inner = INFINITY;
    for (int batch = 0; batch < BATCHES; batch++) {
        double took = run(way);
        double after = shown(called);

        if (took < 0)
            return -1;
        *pair = fmin(*pair, took);
        *inner = fmin(*inner, (after - before) / CALLS);
        before = after;
    }
    return 0;
}

static int measure_subject(struct subject *subject)
{
    double inner[2], took, sum = 0;
    int count = 0;
    int result = 0;

    for (; !result && count < 2 && subject->ways[count].loop; count++) {
        const struct way *way = &subject->ways[count];
        uint32_t loop = id_of(way->loop);
        uint32_t called = id_of(way->called);

        result = settle(way);
        if (!result)
            result = measure(way, called, &took, &inner[count]);
        sum += fmax(took - way->plain, 0);
        vt_call_forget(called);
        vt_call_forget(loop);
    }
    /* The inner part is measured by itself; a machine that got quicker in between does not make it less. */
    if (!result)
        subject->cost = (struct vti_py_cost){fmax(sum / count, inner[0]), inner[0]};
    return result;
}

/* Calls are counted for as long as this takes, also while a recording is switched off. */
int vti_py_calibrate_after(bool has_builtins)
{
    unsigned last = has_builtins ? VT_LANGUAGE_BUILTIN : VT_LANGUAGE_PYTHON;
    int result = 0;

    if (!is_possible() || !names || has_builtins < has_builtins_cost || vt_calls_start())
        return 0;
    for (unsigned i = VT_LANGUAGE_PYTHON; i <= last && !result; i++) {
        struct subject *subject = &subjects[i];

        if (subject->is_measured && has_builtins == has_builtins_cost)
            continue;
        result = measure_subject(subject);
        subject->is_measured = !result;
        vt_hook_cost((enum vt_language)i, (uint64_t)(subject->cost.pair * 1000),
                     (uint64_t)(subject->cost.inner * 1000));
    }
    vt_calls_stop();
    has_builtins_cost = has_builtins;
    return result;
}
