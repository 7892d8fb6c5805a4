/*
 * module.c - the extension _venturi: switches the hooks on and off, and gives what they counted to Python.
 *
 * The package venturi is the face of it; venturi/_venturi.pyi says what there is.
 */
#include "interpreter.h"

#include "analyze/profile.h"
#include "between.h"
#include "calibrate.h"
#include "code.h"
#include "energy.h"
#include "filter.h"
#include "generators.h"
#include "graph_blocks.h"
#include "graph_get.h"
#include "greenlets.h"
#include "hook.h"
#include "items.h"
#include "lines.h"
#include "recording.h"
#include "resources.h"
#include "rows.h"
#include "snapshot.h"
#include "step_meter.h"
#include "tasks_put.h"
#include "tasks_write.h"
#include "threads.h"
#include "trace.h"
#include "tracks.h"

#include <stdbool.h>
#include <venturi/hook.h>
#include <venturi/span.h>

unsigned long vti_py_unseen;

static unsigned start_count;
static unsigned starting_count; /* start() measures: other threads may start and stop meanwhile */
static bool is_with_builtins;
static bool is_hooked;

/* The filter of the first start holds for those within it. */
static int begin(bool only_mine, PyObject *include, PyObject *exclude)
{
    if (start_count)
        return 0;
    if (vti_py_code_init() || vti_py_greenlets_init() ||
        vti_py_filter_set(only_mine, include, exclude))
        return -1;
    vti_py_code_judge_again();
    vti_py_epoch++;
    return 0;
}

static void stop_unused(void)
{
    if (start_count || starting_count || !is_hooked)
        return;
    is_hooked = false;
    vti_py_hook_stop();
    vti_py_generators_forget();
    is_with_builtins = false;
}

static int hook(bool builtins)
{
    if (vti_py_calibrate_before(builtins) || vti_py_hook_start(builtins))
        return -1;
    is_hooked = true;
    return vti_py_hook_look_again() || vti_py_calibrate_after(builtins) ? -1 : 0;
}

static PyObject *start(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"builtins", "only_mine", "include", "exclude", NULL};
    int builtins = 0;
    int only_mine = 0;
    PyObject *include = NULL;
    PyObject *exclude = NULL;
    bool is_more, is_failed;

    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$ppOO:start", names, &builtins, &only_mine,
                                     &include, &exclude))
        return NULL;
    if (begin(only_mine != 0, include, exclude))
        return NULL;
    is_more = !start_count || (builtins && !is_with_builtins);
    builtins = builtins || is_with_builtins;
    starting_count++;
    is_failed = is_more && hook(builtins != 0);
    starting_count--;
    if (is_failed) {
        stop_unused();
        return NULL;
    }
    is_with_builtins = is_with_builtins || builtins;
    start_count++;
    Py_RETURN_NONE;
}

static PyObject *stop(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    if (!start_count) {
        PyErr_SetString(PyExc_RuntimeError, "stop() without start()");
        return NULL;
    }
    start_count--;
    stop_unused();
    Py_RETURN_NONE;
}

static PyObject *calls_start(PyObject *self, PyObject *unused)
{
    int code = vt_calls_start();

    (void)self, (void)unused;
    if (code)
        return vti_py_raise(code);
    Py_RETURN_NONE;
}

static PyObject *calls_stop(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    vt_calls_stop();
    Py_RETURN_NONE;
}

static PyObject *snapshot(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return vti_py_snapshot_take();
}

static PyObject *lines_greenlets(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    vti_py_greenlets_came();
    Py_RETURN_NONE;
}

static PyObject *rows_of(struct vti_calls *calls)
{
    struct vti_profile profile;
    int code = vti_profile_make(&profile, calls);
    PyObject *rows = code ? vti_py_raise(code) : vti_py_rows(&profile);

    if (!code)
        vti_profile_fini(&profile);
    return rows;
}

/* -1 with an exception. */
static int period_from(PyObject *pair, struct vti_py_period *period)
{
    PyObject *after = PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2 ? PyTuple_GET_ITEM(pair, 0)
                                                                         : NULL;
    PyObject *before = after ? PyTuple_GET_ITEM(pair, 1) : NULL;

    if (!after || !Py_IS_TYPE(after, &vti_py_snapshot_type) ||
        (before != Py_None && !Py_IS_TYPE(before, &vti_py_snapshot_type))) {
        PyErr_SetString(PyExc_TypeError, "a period is (Snapshot, Snapshot or None)");
        return -1;
    }
    period->after = (const struct vti_py_snapshot *)after;
    period->before = before == Py_None ? NULL : (const struct vti_py_snapshot *)before;
    return 0;
}

/* `list` is one that nobody else changes meanwhile. */
static PyObject *rows_between(PyObject *list, const struct vti_py_wanted *wanted)
{
    Py_ssize_t count = PyList_GET_SIZE(list);
    struct vti_py_period *periods = PyMem_New(struct vti_py_period, (size_t)count + 1);
    struct vti_calls calls;
    PyObject *rows = NULL;
    int code;

    if (!periods)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++)
        if (period_from(PyList_GET_ITEM(list, i), &periods[i]))
            goto out;
    code = vti_py_between(&calls, periods, (size_t)count, wanted);
    rows = code ? vti_py_raise(code) : rows_of(&calls);
    vti_calls_fini(&calls);
out:
    PyMem_Free(periods);
    return rows;
}

/* None stands for all. -1 with an exception. */
static int id_from(PyObject *object, uint32_t *id)
{
    unsigned long number = object == Py_None ? VT_NONE : PyLong_AsUnsignedLong(object);

    if (PyErr_Occurred())
        return -1;
    *id = number > VT_NONE ? VT_NONE - 1 : (uint32_t)number;
    return 0;
}

static PyObject *profile(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"periods", "raw", "thread", "builtins", NULL};
    PyObject *periods;
    PyObject *thread = Py_None;
    PyObject *rows = NULL;
    PyObject *list;
    struct vti_py_wanted wanted = {0};
    int is_raw = 0;
    int builtins = 1;

    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|pOp:profile", names, &periods, &is_raw,
                                     &thread, &builtins))
        return NULL;
    wanted.is_raw = is_raw != 0;
    wanted.no_builtins = builtins == 0;
    if (thread != Py_None && id_from(thread, &wanted.thread))
        return NULL;
    list = PySequence_List(periods);
    if (list)
        rows = rows_between(list, &wanted);
    Py_XDECREF(list);
    return rows;
}

static PyObject *load(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", "raw", "thread", "process", NULL};
    PyObject *path = NULL;
    PyObject *thread = Py_None;
    PyObject *process = Py_None;
    PyObject *rows = NULL;
    int is_raw = 0;
    struct vti_calls_options options = {.is_merged = true};
    struct vti_profile profile;
    int code;

    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|pOO:load", names, PyUnicode_FSConverter,
                                     &path, &is_raw, &thread, &process))
        return NULL;
    options.is_raw = is_raw != 0;
    if (id_from(thread, &options.track) || id_from(process, &options.process))
        goto out;
    code = vti_profile_open(&profile, PyBytes_AS_STRING(path), &options);
    rows = code ? vti_py_raise(code) : vti_py_rows(&profile);
    if (!code)
        vti_profile_fini(&profile);
out:
    Py_DECREF(path);
    return rows;
}

static PyObject *percentiles(PyObject *self, PyObject *args)
{
    PyObject *parts;
    PyObject *shortest;
    PyObject *longest;

    (void)self;
    if (!PyArg_ParseTuple(args, "O!OO:percentiles", &PyTuple_Type, &parts, &shortest, &longest))
        return NULL;
    return vti_py_percentiles(parts, shortest, longest);
}

static PyObject *threads(PyObject *self, PyObject *source)
{
    (void)self;
    return vti_py_tracks(source);
}

static PyObject *cost(unsigned language)
{
    struct vti_py_cost cost = vti_py_cost(language);
    double rate = vt_ticks() ? vt_ticks_per_second() : 1e9;

    return Py_BuildValue("{s:d,s:d}", "pair", cost.pair / rate, "inner", cost.inner / rate);
}

static PyObject *info(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return Py_BuildValue("{s:N,s:I,s:s,s:N,s:i,s:N,s:N,s:K,s:k}", "recording",
                         PyBool_FromLong(vt_is_on()), "starts", start_count, "hook",
                         vti_py_hook_kind(), "builtins", PyBool_FromLong(is_with_builtins), "tool",
                         vti_py_hook_tool(), "python_cost", cost(VT_LANGUAGE_PYTHON),
                         "builtin_cost", cost(VT_LANGUAGE_BUILTIN), "lost_calls",
                         (unsigned long long)vt_calls_lost(), "unseen", vti_py_unseen);
}

#define WITH_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef methods[] = {
    {"start", WITH_KEYWORDS(start), METH_VARARGS | METH_KEYWORDS, "Switches the hooks on."},
    {"stop", stop, METH_NOARGS, "Switches them off, if no other start() is left."},
    {"calls_start", calls_start, METH_NOARGS, "Counts calls also without a recording."},
    {"calls_stop", calls_stop, METH_NOARGS, "Ends calls_start()."},
    {"snapshot", snapshot, METH_NOARGS, "How far the calls of this process have got."},
    {"profile", WITH_KEYWORDS(profile), METH_VARARGS | METH_KEYWORDS,
     "The table of functions of some periods: each is two snapshots, the later one first."},
    {"percentiles", percentiles, METH_VARARGS, "Of the durations of several rows together."},
    {"load", WITH_KEYWORDS(load), METH_VARARGS | METH_KEYWORDS,
     "The table of functions of a recording or of a file of pstats."},
    {"threads", threads, METH_O, "The threads of a snapshot or of a recording."},
    {"lines_start", vti_py_lines_start, METH_VARARGS, "Profiles the lines of what was added."},
    {"lines_stop", vti_py_lines_stop, METH_NOARGS, "Ends lines_start()."},
    {"lines_add", vti_py_lines_add, METH_VARARGS, "Adds a function: rows and marks of its code."},
    {"lines_greenlets", lines_greenlets, METH_NOARGS, "The package greenlet has been imported."},
    {"lines_watch", vti_py_lines_watch, METH_O, "Calls this with the code of the main program."},
    {"session_start", vti_py_session_start, METH_O, "Starts a recording into a file."},
    {"session_spool", vti_py_session_spool, METH_O, "Starts recordings into a folder."},
    {"session_stop", vti_py_session_stop, METH_NOARGS, "Ends session_start()."},
    {"session_flush", vti_py_session_flush, METH_NOARGS, "All that was recorded is in the file."},
    {"session_give", vti_py_session_give, METH_VARARGS, "The text of a source file."},
    {"lines_unseen", vti_py_lines_unseen, METH_O, "Functions of profiled code that are not seen."},
    {"lines_know", vti_py_lines_know, METH_O, "Whether the code of a function was added."},
    {"tasks_put", vti_py_tasks_put, METH_O,
     "Puts runs of task graphs into the recording of this process."},
    {"tasks_write", WITH_KEYWORDS(vti_py_tasks_write), METH_VARARGS | METH_KEYWORDS,
     "Writes runs of task graphs as a recording."},
    {"graph_get", WITH_KEYWORDS(vti_py_graph_get), METH_VARARGS | METH_KEYWORDS,
     "Computes keys of a graph."},
    {"graph_worker", vti_py_graph_worker, METH_O, "Takes tasks until there are no more."},
    {"graph_blocks", vti_py_graph_blocks, METH_VARARGS, "Cuts a saved graph into blocks."},
    {"graph_block_run", vti_py_graph_block_run, METH_VARARGS, "Computes a block."},
    {"graph_value", vti_py_graph_value, METH_O, "What a saved value is."},
    {"items", WITH_KEYWORDS(vti_py_items), METH_FASTCALL | METH_KEYWORDS,
     "items(n, effective=None)\n\nSo many items of work are done; `effective` of them ran to the "
     "end."},
    {"items_total", vti_py_items_total, METH_NOARGS, "What items() added up in this process."},
    {"grid_intensity", vti_py_grid_intensity, METH_O, "Grams of CO2e for a kWh in a country."},
    {"grid_source", vti_py_grid_source, METH_NOARGS, "Whom to name for that."},
    {"info", info, METH_NOARGS, "How this process is recorded."},
    {NULL, NULL, 0, NULL},
};

static int add_type(PyObject *module, const char *name, PyTypeObject *type)
{
    if (PyType_Ready(type))
        return -1;
    Py_INCREF(type);
    if (PyModule_AddObject(module, name, (PyObject *)type)) {
        Py_DECREF(type);
        return -1;
    }
    return 0;
}

static int fill_module(PyObject *module)
{
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError, "_venturi works in the main interpreter only");
        return -1;
    }
    if (add_type(module, "Snapshot", &vti_py_snapshot_type) ||
        add_type(module, "Meter", &vti_py_meter_type) ||
        add_type(module, "Resources", &vti_py_resources_type) ||
        add_type(module, "StepMeter", &vti_py_step_meter_type) ||
        add_type(module, "Run", &vti_py_run_type) || vti_py_views_init() ||
        add_type(module, "State", &vti_py_state_type))
        return -1;
    vti_py_filter_init(module);
    if (vti_py_trace_init(module))
        return -1;
    return PyModule_AddStringConstant(module, "__version__", VENTURI_VERSION);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, fill_module},
#if PY_VERSION_HEX >= 0x030c0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_venturi",
    .m_doc = "Calls of Python functions, counted where they happen.",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__venturi(void);

PyMODINIT_FUNC PyInit__venturi(void)
{
    return PyModuleDef_Init(&definition);
}
