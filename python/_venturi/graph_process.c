/*
 * graph_process.c - see graph_process.h: the side of the process that called get().
 */
#include "graph_process.h"

#include "graph_errors.h"

static void free_bytes(void *data, void *with)
{
    (void)with;
    PyMem_RawFree(data);
}

/* pickling.method(object) as bytes; NULL with an exception. */
static PyObject *pickled(const struct vti_py_run *run, const char *method, PyObject *args)
{
    PyObject *function = args ? PyObject_GetAttrString(run->pickling, method) : NULL;
    PyObject *bytes = function ? PyObject_CallObject(function, args) : NULL;

    Py_XDECREF(function);
    Py_XDECREF(args);
    if (bytes && !PyBytes_Check(bytes)) {
        PyErr_Format(PyExc_TypeError, "%s() gives bytes, not %R", method,
                     (PyObject *)Py_TYPE(bytes));
        Py_CLEAR(bytes);
    }
    return bytes;
}

static int literal(PyObject *value, struct vt_datum *literal, void *with)
{
    PyObject *bytes = pickled(with, "dumps", Py_BuildValue("(O)", value));
    size_t size = bytes ? (size_t)PyBytes_GET_SIZE(bytes) : 0;
    void *copy = bytes ? PyMem_RawMalloc(size + 1) : NULL;

    if (copy) {
        memcpy(copy, PyBytes_AS_STRING(bytes), size);
        *literal = vt_datum_bytes(copy, size, free_bytes, NULL);
    } else if (bytes) {
        PyErr_NoMemory();
    }
    Py_XDECREF(bytes);
    return copy ? 0 : -1;
}

/* What a worker needs to know of a task: its size, then a pickle. */
static int added(struct vti_py_graph *graph, uint32_t number, void *with)
{
    const struct vti_py_run *run = with;
    PyObject *heads = PyList_New(0);
    PyObject *packed = heads ? vti_py_template_pack(graph->templates[number], heads) : NULL;
    PyObject *bytes = packed ? pickled(run, "pack", Py_BuildValue("(OO)", packed, heads)) : NULL;
    size_t size = bytes ? (size_t)PyBytes_GET_SIZE(bytes) : 0;
    uint64_t told = size;
    char *user = bytes ? PyMem_RawMalloc(sizeof told + size) : NULL;
    int code = -1;

    if (user) {
        memcpy(user, &told, sizeof told);
        memcpy(user + sizeof told, PyBytes_AS_STRING(bytes), size);
        code = vt_graph_user_bytes(graph->graph, number, user, sizeof told + size);
    }
    if (code && !PyErr_Occurred())
        PyErr_NoMemory();
    PyMem_RawFree(user);
    Py_XDECREF(heads);
    Py_XDECREF(packed);
    Py_XDECREF(bytes);
    return code ? -1 : 0;
}

void vti_py_process_reading(struct vti_py_reading *reading)
{
    vt_function_register(VTI_PY_FUNCTION, vti_py_worker_run);
    reading->function = vti_py_worker_run;
    reading->literal = literal;
    reading->added = added;
}

const char **vti_py_process_command(PyObject *list)
{
    Py_ssize_t count = list && PyList_Check(list) ? PyList_GET_SIZE(list) : 0;
    const char **command;

    if (!count) {
        PyErr_SetString(PyExc_TypeError, "no command that starts a worker");
        return NULL;
    }
    command = PyMem_New(const char *, (size_t)count + 1);
    if (!command) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        command[i] = PyUnicode_AsUTF8(PyList_GET_ITEM(list, i));
        if (!command[i]) {
            PyMem_Free(command);
            return NULL;
        }
    }
    command[count] = NULL;
    return command;
}

static bool is_timed_out(const struct vti_py_run *run, uint32_t task)
{
    struct vt_task known;
    int is_estimated;

    return run->timeout > 0 && vt_run_task(run->run, task, &known, &is_estimated) &&
           known.state == VT_TASK_TIMED_OUT;
}

static void raise_timeout(const struct vti_py_run *run, const struct vt_run_failure *failure)
{
    char limit[40];

    PyOS_snprintf(limit, sizeof limit, "%g", run->timeout);
    PyErr_Format(PyExc_TimeoutError, "task %R took longer than %s s on worker %u after %u %s",
                 run->graph.keys.keys[failure->task].key, limit, (unsigned)failure->worker,
                 failure->tries, failure->tries == 1 ? "try" : "tries");
}

static const char *where_of(const struct vti_py_run *run, const struct vt_run_failure *failure,
                            char room[80])
{
    uint64_t pid = 0, tid = 0;

    if (failure->worker == VT_NO_WORKER)
        return NULL;
    vt_run_worker(run->run, failure->worker, &pid, &tid);
    PyOS_snprintf(room, 80, "worker %lu (process %llu)", (unsigned long)failure->worker,
                  (unsigned long long)pid);
    return room;
}

static void raise_own(struct vti_py_run *run, const struct vt_run_failure *failure)
{
    const char *why = failure->reason && *failure->reason ? failure->reason : failure->message;
    PyObject *key;
    char where[80];

    if (failure->task == VT_NO_TASK) {
        PyErr_SetString(PyExc_RuntimeError, failure->message);
        return;
    }
    key = run->graph.keys.keys[failure->task].key;
    if (is_timed_out(run, failure->task))
        raise_timeout(run, failure);
    else
        PyErr_Format(PyExc_RuntimeError, "task %R: %s", key, why);
    vti_py_error_name(key, where_of(run, failure, where));
}

void vti_py_process_raise(struct vti_py_run *run, const struct vt_run_failure *failure)
{
    PyObject *exception = NULL;
    char where[80];

    if (failure->value && failure->value->type == VT_DATUM_BYTES && failure->task != VT_NO_TASK)
        exception = PyObject_CallMethod(run->pickling, "load_error", "y#",
                                        (const char *)failure->value->as.data,
                                        (Py_ssize_t)failure->value->size);
    if (exception && PyExceptionInstance_Check(exception)) {
        vti_py_error_give(exception);
        vti_py_error_name(run->graph.keys.keys[failure->task].key, where_of(run, failure, where));
        return;
    }
    Py_XDECREF(exception);
    PyErr_Clear();
    raise_own(run, failure);
}
