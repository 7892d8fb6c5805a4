/*
 * graph_get.c - see graph_get.h: reads the graph, runs it, and gives back what was asked for, in the same nesting.
 */
#include "graph_get.h"

#include "graph_callbacks.h"
#include "graph_errors.h"
#include "graph_process.h"
#include "graph_state.h"
#include "graph_task.h"

#include <time.h>

/* What graph_get() was told; borrowed, or NULL. */
struct asked {
    PyObject *dsk, *keys, *scheduler, *hooks, *observers, *known, *shown;
    PyObject *start_callback, *end_callback, *error_callback;
    PyObject *worker_command, *pickling;
    unsigned workers, retries;
    double timeout;
    int keep_going, cpu_time, progress, end_has_result;
    enum vt_scheduler kind;
};

/* With a time limit, though it be one of thirty years, the engine looks up now and then: at signals, and whether the run is given up. */
#define ANY_TIME 1e9

static double epoch(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- keys in lists of lists ------------------------------------------------------------------- */

static int flatten(PyObject *keys, PyObject *flat)
{
    int code = 0;

    if (!PyList_Check(keys))
        return PyList_Append(flat, keys);
    if (Py_EnterRecursiveCall(" in a list of keys"))
        return -1;
    for (Py_ssize_t i = 0; !code && i < PyList_GET_SIZE(keys); i++)
        code = flatten(PyList_GET_ITEM(keys, i), flat);
    Py_LeaveRecursiveCall();
    return code;
}

/* Tuples where there were lists; `place` counts what has been given. */
static PyObject *nest(PyObject *keys, PyObject *values, Py_ssize_t *place)
{
    PyObject *tuple;

    if (!PyList_Check(keys)) {
        if (*place < PyList_GET_SIZE(values))
            return Py_NewRef(PyList_GET_ITEM(values, (*place)++));
        PyErr_SetString(PyExc_RuntimeError,
                        "the list of keys was changed while they were computed");
        return NULL;
    }
    tuple = PyTuple_New(PyList_GET_SIZE(keys));
    for (Py_ssize_t i = 0; tuple && i < PyTuple_GET_SIZE(tuple); i++) {
        PyObject *value = i < PyList_GET_SIZE(keys) ? nest(PyList_GET_ITEM(keys, i), values, place)
                                                    : Py_NewRef(Py_None);

        if (value)
            PyTuple_SET_ITEM(tuple, i, value);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* ---- a run ------------------------------------------------------------------------------------ */

static PyObject *held(PyObject *object)
{
    return object && object != Py_None ? Py_NewRef(object) : NULL;
}

static struct vti_py_run *make_run(const struct asked *asked)
{
    struct vti_py_run *run = vti_py_run_new();

    if (!run)
        return NULL;
    run->dsk = Py_NewRef(asked->dsk);
    run->shown = Py_NewRef(asked->shown ? asked->shown : asked->dsk);
    run->scheduler = Py_NewRef(asked->scheduler);
    run->pickling = held(asked->pickling);
    run->told.hooks = PySequence_List(asked->hooks);
    run->told.start_callback = held(asked->start_callback);
    run->told.end_callback = held(asked->end_callback);
    run->told.error_callback = held(asked->error_callback);
    run->told.end_has_result = asked->end_has_result != 0;
    run->workers = asked->kind == VT_SYNC ? 1 : asked->workers;
    run->timeout = asked->timeout;
    run->keeps_going = asked->keep_going != 0;
    run->idents = PyMem_RawCalloc((size_t)run->workers + 1, sizeof *run->idents);
    run->is_measured = vt_is_on() || PyList_GET_SIZE(asked->observers) > 0;
    if (asked->kind == VT_THREADS)
        run->context = PyContext_CopyCurrent();
    if (!run->told.hooks || !run->idents || (asked->kind == VT_THREADS && !run->context)) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        Py_CLEAR(run);
    }
    return run;
}

static int read_graph(struct vti_py_run *run, const struct asked *asked, PyObject *wanted,
                      bool has_texts)
{
    struct vti_py_reading reading = {
        .dsk = run->dsk,
        .known = asked->known != Py_None ? asked->known : NULL,
        .has_texts = has_texts,
        .function = vti_py_task_run,
        .literal = vti_py_task_literal,
        .with = run,
    };

    if (asked->kind == VT_PROCESSES)
        vti_py_process_reading(&reading);
    return vti_py_graph_read(&run->graph, &reading, wanted);
}

/* Nothing depends on itself. The engine names a cycle by the texts of its keys: it gets them for that. */
static int check(struct vti_py_run *run, const struct asked *asked, PyObject *wanted)
{
    if (!vt_graph_check(run->graph.graph))
        return 0;
    vti_py_graph_fini(&run->graph);
    if (read_graph(run, asked, wanted, true))
        return -1;
    if (!vt_graph_check(run->graph.graph))
        return 0;
    PyErr_Format(PyExc_RuntimeError, "the graph cannot be computed: %s",
                 vt_graph_error(run->graph.graph));
    return -1;
}

static int want(struct vti_py_run *run, PyObject *wanted)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(wanted); i++) {
        uint32_t number = vti_py_keys_find(&run->graph.keys, PyList_GET_ITEM(wanted, i));

        if (number == VTI_PY_NO_KEY || vt_run_want_task(run->run, number)) {
            if (!PyErr_Occurred())
                PyErr_NoMemory();
            return -1;
        }
    }
    return 0;
}

static int observe(struct vti_py_run *run, PyObject *observers, const char *method)
{
    int code = 0;

    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(observers); i++) {
        PyObject *done = PyObject_CallMethod(PyList_GET_ITEM(observers, i), method, "O", run);

        if (!done)
            code = -1;
        Py_XDECREF(done);
        if (code)
            break;
    }
    return code;
}

/* The engine's options; what they point to lives in the caller's frame. */
static void set_options(struct vt_run_options *options, const struct asked *asked,
                        struct vti_py_run *run)
{
    *options = (struct vt_run_options){
        .size = sizeof *options,
        .scheduler = asked->kind,
        .workers = run->workers,
        .keep_going = asked->keep_going,
        .retries = asked->retries,
        .timeout = asked->timeout > 0 ? asked->timeout : ANY_TIME,
        .cpu_time = asked->cpu_time,
        .progress = asked->progress,
        .before_wait = vti_py_thread_leave,
        .after_wait = vti_py_thread_return,
        .thread_user = run,
    };
    if (asked->kind == VT_THREADS) {
        options->thread_begin = vti_py_thread_begin;
        options->thread_end = vti_py_thread_end;
    }
}

/* What went wrong, as an exception. */
static void raise_failure(struct vti_py_run *run)
{
    const struct vt_run_failure *failure = vt_run_error(run->run);

    if (run->stop)
        vti_py_error_give(Py_NewRef(run->stop));
    else if (!failure)
        PyErr_SetString(PyExc_RuntimeError, "the run was cancelled");
    else if (failure->value && failure->value->type == VT_DATUM_OBJECT)
        vti_py_error_give(Py_NewRef((PyObject *)failure->value->as.data));
    else
        vti_py_process_raise(run, failure);
}

/* Runs what was read. -1 with an exception. */
static int go(struct vti_py_run *run, const struct asked *asked, PyObject *wanted)
{
    struct vt_callbacks callbacks;
    const struct vt_callbacks *list[] = {&callbacks};
    struct vt_run_options options;
    const char **command = NULL;
    int code = -1;

    set_options(&options, asked, run);
    vti_py_callbacks_for(run, &callbacks);
    if (PyList_GET_SIZE(run->told.hooks) || run->told.start_callback || run->told.end_callback ||
        run->told.error_callback) {
        options.callbacks = list;
        options.callback_count = 1;
    }
    if (asked->kind == VT_PROCESSES) {
        command = vti_py_process_command(asked->worker_command);
        if (!command)
            return -1;
        options.worker_command = command;
    }
    run->run = vt_run_new(run->graph.graph, &options);
    if (!run->run) {
        PyErr_NoMemory();
        goto out;
    }
    vt_run_set_user(run->run, run);
    if (want(run, wanted) || observe(run, asked->observers, "_run_begins"))
        goto out;
    run->start_time = epoch();
    code = vt_run_go(run->run);
    run->end_time = epoch();
    run->is_over = true;
    if (code || run->stop) {
        raise_failure(run);
        code = -1;
    }
out:
    PyMem_Free(command);
    return code;
}

/* What was wanted, in order. */
static PyObject *results_of(struct vti_py_run *run, PyObject *wanted)
{
    Py_ssize_t count = PyList_GET_SIZE(wanted);
    PyObject *values = PyList_New(count);

    if (run->state && !run->results)
        run->results = PyDict_New();
    for (Py_ssize_t i = 0; values && i < count; i++) {
        PyObject *key = PyList_GET_ITEM(wanted, i);
        PyObject *value = vti_py_run_object(run, vt_run_result(run->run, (size_t)i));

        if (value)
            PyList_SET_ITEM(values, i, value);
        else
            vti_py_error_name(key, NULL);
        if (!value || (run->results && PyDict_SetItem(run->results, key, value)))
            Py_CLEAR(values);
    }
    return values;
}

/* It is over: neither the run nor who looks at it holds what nobody would hold in dask. */
static void let_go(struct vti_py_run *run, Py_ssize_t count)
{
    vti_py_state_leave(run);
    Py_CLEAR(run->results);
    for (Py_ssize_t i = 0; run->is_over && i < count; i++) {
        struct vt_datum value = vt_run_take(run->run, (size_t)i);

        if (value.destroy)
            value.destroy(value.as.data, value.with);
    }
}

/* All of it; a list of values or NULL with an exception. Callbacks that began are told of the end in any case. */
static PyObject *compute(struct vti_py_run *run, const struct asked *asked, PyObject *wanted)
{
    PyObject *values = NULL;
    PyObject *exception;

    if (!vti_py_callbacks_start(run) && !read_graph(run, asked, wanted, vt_is_on()) &&
        !check(run, asked, wanted) && !go(run, asked, wanted))
        values = results_of(run, wanted);
    run->has_failed = !values;
    vti_py_callbacks_finish(run);
    exception = vti_py_error_take();
    if (run->is_over && observe(run, asked->observers, "_run_ends") && !exception)
        exception = vti_py_error_take();
    PyErr_Clear();
    let_go(run, PyList_GET_SIZE(wanted));
    if (exception) {
        Py_CLEAR(values);
        vti_py_error_give(exception);
    }
    return values;
}

/* ---- the function ----------------------------------------------------------------------------- */

static int check_hooks(PyObject *hooks)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(hooks); i++) {
        PyObject *tuple = PyList_GET_ITEM(hooks, i);

        if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != VTI_PY_HOOKS) {
            PyErr_Format(PyExc_TypeError, "a callback is a tuple of %d functions, not %R",
                         (int)VTI_PY_HOOKS, tuple);
            return -1;
        }
    }
    return 0;
}

static int check_asked(struct asked *asked)
{
    static const char *const names[] = {"sync", "threads", "processes"};

    if (check_hooks(asked->hooks))
        return -1;
    for (asked->kind = VT_SYNC; asked->kind <= VT_PROCESSES; asked->kind++)
        if (PyUnicode_Check(asked->scheduler) &&
            !PyUnicode_CompareWithASCIIString(asked->scheduler, names[asked->kind]))
            break;
    if (asked->kind > VT_PROCESSES)
        PyErr_Format(PyExc_ValueError, "no such scheduler: %R", asked->scheduler);
    else if (asked->kind != VT_SYNC && (!asked->workers || asked->workers > 4096))
        PyErr_Format(PyExc_ValueError, "%u workers", asked->workers);
    else if (!(asked->timeout >= 0))
        PyErr_SetString(PyExc_ValueError, "a timeout is a number of seconds");
    else if (asked->known != Py_None && !PyDict_Check(asked->known))
        PyErr_Format(PyExc_TypeError, "what is known is a dict, not %R", asked->known);
    else if (asked->kind == VT_PROCESSES && (!asked->pickling || asked->pickling == Py_None))
        PyErr_SetString(PyExc_TypeError, "processes need a way to pickle");
    return PyErr_Occurred() ? -1 : 0;
}

PyObject *vti_py_graph_get(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {
        "dsk",       "keys",           "scheduler",      "workers",        "callbacks",
        "observers", "start_callback", "end_callback",   "error_callback", "end_has_result",
        "known",     "shown",          "retries",        "timeout",        "keep_going",
        "cpu_time",  "progress",       "worker_command", "pickling",       NULL};
    struct asked asked = {.known = Py_None};
    struct vti_py_run *run = NULL;
    PyObject *wanted = NULL;
    PyObject *values = NULL;
    PyObject *result = NULL;
    Py_ssize_t place = 0;

    (void)module;
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "O!OUIO!O!|$OOOpOOIdpppOO:graph_get", names, &PyDict_Type, &asked.dsk,
            &asked.keys, &asked.scheduler, &asked.workers, &PyList_Type, &asked.hooks, &PyList_Type,
            &asked.observers, &asked.start_callback, &asked.end_callback, &asked.error_callback,
            &asked.end_has_result, &asked.known, &asked.shown, &asked.retries, &asked.timeout,
            &asked.keep_going, &asked.cpu_time, &asked.progress, &asked.worker_command,
            &asked.pickling) ||
        check_asked(&asked))
        return NULL;
    wanted = PyList_New(0);
    if (wanted && !flatten(asked.keys, wanted))
        run = make_run(&asked);
    if (run)
        values = compute(run, &asked, wanted);
    if (values)
        result = nest(asked.keys, values, &place);
    Py_XDECREF(values);
    Py_XDECREF(wanted);
    Py_XDECREF(run);
    return result;
}
