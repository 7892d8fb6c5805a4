/*
 * graph_callbacks.c - see graph_callbacks.h.
 */
#include "graph_callbacks.h"

#include "graph_errors.h"
#include "graph_state.h"

/* The dictionary that callbacks are given, made when the first of them is called. Borrowed; NULL with an exception. */
static PyObject *state_of(struct vti_py_run *run, vt_state *live)
{
    run->live = live;
    if (!run->state)
        run->state = vti_py_state_new(run);
    return run->state;
}

/* One call; whether it went well. */
static bool tell(PyObject *function, PyObject *const *args, size_t count)
{
    PyObject *result = PyObject_Vectorcall(function, args, count, NULL);

    Py_XDECREF(result);
    return result != NULL;
}

/* Calls one hook of all callbacks that have it. */
static bool tell_hooks(struct vti_py_run *run, int hook, PyObject *const *args, size_t count)
{
    bool is_fine = true;

    for (Py_ssize_t i = 0; is_fine && i < PyList_GET_SIZE(run->told.hooks); i++) {
        PyObject *function = PyTuple_GET_ITEM(PyList_GET_ITEM(run->told.hooks, i), hook);

        if (function != Py_None)
            is_fine = tell(function, args, count);
    }
    return is_fine;
}

/* What a hook returns to the engine. */
static int done(struct vti_py_run *run, bool is_fine)
{
    if (is_fine)
        return 0;
    vti_py_run_stop(run);
    return -1;
}

static PyObject *key_of(const struct vti_py_run *run, uint32_t task)
{
    return task == VT_NO_TASK ? Py_None : run->graph.keys.keys[task].key;
}

static int start_state(vt_run *unused, vt_state *live, void *user)
{
    struct vti_py_run *run = user;
    PyObject *state = state_of(run, live);
    PyObject *args[] = {run->dsk, state};

    (void)unused;
    return done(run, state && tell_hooks(run, VTI_PY_START_STATE, args, 2));
}

static int pretask(vt_run *unused, uint32_t task, vt_state *live, void *user)
{
    struct vti_py_run *run = user;
    PyObject *state = state_of(run, live);
    PyObject *args[] = {key_of(run, task), run->dsk, state};

    (void)unused;
    return done(run, state && tell_hooks(run, VTI_PY_PRETASK, args, 3));
}

static int posttask(vt_run *unused, uint32_t task, const struct vt_datum *value, vt_state *live,
                    uint32_t worker, void *user)
{
    struct vti_py_run *run = user;
    PyObject *state = state_of(run, live);
    PyObject *result = state ? vti_py_run_object(run, value) : NULL;
    PyObject *id = result ? vti_py_run_worker_id(run, worker) : NULL;
    PyObject *args[] = {key_of(run, task), result, run->dsk, state, id};
    int code = done(run, id && tell_hooks(run, VTI_PY_POSTTASK, args, 5));

    (void)unused;
    Py_XDECREF(result);
    Py_XDECREF(id);
    return code;
}

static int start_task(vt_run *unused, uint32_t task, vt_state *live, void *user)
{
    struct vti_py_run *run = user;
    PyObject *state = state_of(run, live);
    PyObject *args[] = {key_of(run, task), run->shown, state};

    (void)unused;
    return done(run, state && tell(run->told.start_callback, args, 3));
}

static int end_task(vt_run *unused, uint32_t task, vt_state *live, uint32_t worker, void *user)
{
    struct vti_py_run *run = user;
    PyObject *state = state_of(run, live);
    PyObject *id = state ? vti_py_run_worker_id(run, worker) : NULL;
    PyObject *result = NULL;
    PyObject *args[5] = {key_of(run, task)};
    size_t count = 1;
    bool is_fine;

    (void)unused;
    if (id && run->told.end_has_result) {
        result = task == VT_NO_TASK ? Py_NewRef(Py_None)
                                    : vti_py_run_object(run, vt_state_value(live, task));
        args[count++] = result;
    }
    args[count++] = run->shown;
    args[count++] = state;
    args[count++] = id;
    is_fine = id && (result || !run->told.end_has_result);
    is_fine = is_fine && tell(run->told.end_callback, args, count);
    Py_XDECREF(result);
    Py_XDECREF(id);
    return done(run, is_fine);
}

static int error(vt_run *engine, uint32_t task, const char *message, vt_state *live,
                 uint32_t worker, void *user)
{
    struct vti_py_run *run = user;
    PyObject *state = state_of(run, live);
    PyObject *id = state ? vti_py_run_worker_id(run, worker) : NULL;
    const struct vt_run_failure *failure = vt_run_error(engine);
    PyObject *exception = NULL;
    int code;

    if (id && failure && failure->task == task && failure->value &&
        failure->value->type == VT_DATUM_OBJECT)
        exception = Py_NewRef((PyObject *)failure->value->as.data);
    else if (id)
        exception = PyObject_CallFunction(PyExc_RuntimeError, "s", message);
    {
        PyObject *args[] = {key_of(run, task), exception, run->shown, state, id};

        code = done(run, exception && tell(run->told.error_callback, args, 5));
    }
    Py_XDECREF(exception);
    Py_XDECREF(id);
    return code;
}

/* Before the values go that nobody will get: finish() is shown them, as dask does. */
static void finish(vt_run *unused, vt_state *live, int failed, void *user)
{
    (void)unused;
    (void)live;
    if (failed)
        vti_py_state_fix(user);
}

static bool has_hook(const struct vti_py_run *run, int hook)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(run->told.hooks); i++)
        if (PyTuple_GET_ITEM(PyList_GET_ITEM(run->told.hooks, i), hook) != Py_None)
            return true;
    return false;
}

void vti_py_callbacks_for(struct vti_py_run *run, struct vt_callbacks *callbacks)
{
    *callbacks = (struct vt_callbacks){.user = run, .finish = finish};
    if (PyList_GET_SIZE(run->told.hooks))
        callbacks
            ->start_state = start_state; /* finish() is given a state even if nobody asked before */
    if (has_hook(run, VTI_PY_PRETASK))
        callbacks->pretask = pretask;
    if (has_hook(run, VTI_PY_POSTTASK))
        callbacks->posttask = posttask;
    if (run->told.start_callback)
        callbacks->start_task = start_task;
    if (run->told.end_callback)
        callbacks->end_task = end_task;
    if (run->told.error_callback)
        callbacks->error = error;
}

int vti_py_callbacks_start(struct vti_py_run *run)
{
    for (; run->told.started < PyList_GET_SIZE(run->told.hooks); run->told.started++) {
        PyObject *function = PyTuple_GET_ITEM(PyList_GET_ITEM(run->told.hooks, run->told.started),
                                              VTI_PY_START);

        if (function != Py_None && !tell(function, &run->dsk, 1))
            return -1;
    }
    return 0;
}

void vti_py_callbacks_finish(struct vti_py_run *run)
{
    PyObject *failed = run->has_failed ? Py_True : Py_False;
    PyObject *state = run->state ? Py_NewRef(run->state) : PyDict_New();
    PyObject *exception = vti_py_error_take();

    for (Py_ssize_t i = 0; state && i < run->told.started; i++) {
        PyObject *hooks = PyList_GET_ITEM(run->told.hooks, i);
        PyObject *function = PyTuple_GET_ITEM(hooks, VTI_PY_FINISH);
        PyObject *args[] = {run->dsk, state, failed};

        if (function == Py_None || tell(function, args, 3))
            continue;
        if (exception) {
            PyObject *later = vti_py_error_take();

            if (later == exception)
                Py_DECREF(later); /* it was raised again */
            else
                PyException_SetContext(later, exception);
            exception = later;
        } else {
            exception = vti_py_error_take();
        }
    }
    Py_XDECREF(state);
    if (exception)
        vti_py_error_give(exception);
}
