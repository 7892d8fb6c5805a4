/*
 * graph_block_run.c - a block of a C graph, computed where it was sent to, and what is known of that run: see graph_blocks.h.
 */
#include "graph_blocks.h"

#include <stdlib.h>
#include <string.h>
#include <venturi/blocks.h>

static const char *const states[] = {"?",         "done",      "failed", "skipped",
                                     "cancelled", "timed out", "lost"};

enum { THREADS_MOST = 4096 };

static PyObject *text_of(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

/* Values that other blocks made. */
static int fill(vt_graph *graph, PyObject *inputs)
{
    PyObject *key, *saved;
    Py_ssize_t place = 0;

    while (PyDict_Next(inputs, &place, &key, &saved)) {
        const char *text = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;
        struct vt_datum value;

        if (!text || !PyBytes_Check(saved) ||
            vt_datum_load(&value, PyBytes_AS_STRING(saved), (size_t)PyBytes_GET_SIZE(saved))) {
            PyErr_Format(PyExc_ValueError, "what was given for %R is no value", key);
            return -1;
        }
        if (vt_graph_fill(graph, text, value) == 0)
            continue; /* the graph has it; other blocks may be sent more than they asked for */
        if (value.destroy)
            value.destroy(value.as.data, value.with);
    }
    return 0;
}

static int want(vt_run *run, PyObject *outputs)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(outputs); i++) {
        PyObject *key = PyTuple_GET_ITEM(outputs, i);
        const char *text = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;

        if (!text || vt_run_want(run, text) != 0) {
            PyErr_Format(PyExc_KeyError, "the block has no key %R", key);
            return -1;
        }
    }
    return 0;
}

/* ---- what came of it ----------------------------------------------------------------------------- */

/* Those that could be had. */
static PyObject *results_of(const vt_run *run, PyObject *outputs)
{
    PyObject *results = PyDict_New();

    for (Py_ssize_t i = 0; results && i < PyTuple_GET_SIZE(outputs); i++) {
        const struct vt_datum *value = vt_run_result(run, (size_t)i);
        void *bytes = NULL;
        size_t size = 0;
        PyObject *saved;

        if (!value)
            continue;
        if (vt_datum_save(value, &bytes, &size) != 0) {
            PyErr_Format(PyExc_ValueError, "the value of %R cannot leave this process",
                         PyTuple_GET_ITEM(outputs, i));
            Py_CLEAR(results);
            break;
        }
        saved = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
        free(bytes);
        if (!saved || PyDict_SetItem(results, PyTuple_GET_ITEM(outputs, i), saved))
            Py_CLEAR(results);
        Py_XDECREF(saved);
    }
    return results;
}

/* In nanoseconds: a float of seconds since 1970 has steps of 256 of them. */
static PyObject *time_of(uint64_t clock)
{
    return clock ? PyLong_FromLongLong(vt_task_realtime(clock)) : Py_NewRef(Py_None);
}

static PyObject *number_of(uint64_t number)
{
    return number == VT_UNKNOWN ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(number);
}

/* Places of what it depends on, of which those are left out that have none. */
static PyObject *others_of(const struct vt_task *task, const uint32_t *places, uint32_t count)
{
    PyObject *others = PyList_New(0), *result;

    for (size_t i = 0; others && i < task->dependency_count; i++) {
        uint32_t node = task->dependencies[i];
        PyObject *place;

        if (node >= count || places[node] == VT_NO_TASK)
            continue;
        place = PyLong_FromUnsignedLong(places[node]);
        if (!place || PyList_Append(others, place))
            Py_CLEAR(others);
        Py_XDECREF(place);
    }
    result = others ? PyList_AsTuple(others) : NULL;
    Py_XDECREF(others);
    return result;
}

/* As a task of _venturi.Run.tasks(), and its name. */
static PyObject *row_of(const struct vt_task *task, const char *name, int is_estimated,
                        const uint32_t *places, uint32_t count)
{
    uint64_t cpu_ns = task->cpu_ns == VT_UNKNOWN ? 0 : task->cpu_ns & ~VT_CPU_ESTIMATED;
    PyObject *fields[] = {
        PyUnicode_DecodeUTF8(task->key, (Py_ssize_t)task->key_bytes, "surrogateescape"),
        Py_NewRef(Py_None),
        time_of(task->start),
        time_of(task->end),
        task->worker == VT_NO_WORKER ? Py_NewRef(Py_None) : PyLong_FromUnsignedLong(task->worker),
        time_of(task->ready),
        PyUnicode_FromString(states[task->state <= VT_TASK_LOST ? task->state : 0]),
        PyLong_FromLong(task->retries),
        task->cpu_ns == VT_UNKNOWN ? Py_NewRef(Py_None) : PyFloat_FromDouble((double)cpu_ns / 1e9),
        PyBool_FromLong(is_estimated),
        number_of(task->bytes),
        time_of(task->freed),
        others_of(task, places, count),
        text_of(name)};
    size_t field_count = sizeof fields / sizeof *fields;
    PyObject *row = PyTuple_New((Py_ssize_t)field_count);

    for (size_t i = 0; i < field_count; i++) {
        if (row && fields[i])
            PyTuple_SET_ITEM(row, (Py_ssize_t)i, fields[i]);
        else {
            Py_XDECREF(fields[i]);
            Py_CLEAR(row);
        }
    }
    return row;
}

/* Tasks that were begun, or would have been. */
static PyObject *rows_of(const vt_run *run, const vt_graph *graph)
{
    uint32_t count = vt_graph_count(graph), found = 0;
    uint32_t *places = PyMem_New(uint32_t, (size_t)count + 1);
    PyObject *rows = places ? PyList_New(0) : PyErr_NoMemory();
    struct vt_task task;
    int is_estimated;

    for (uint32_t i = 0; rows && i < count; i++)
        places[i] = vt_run_task(run, i, &task, &is_estimated) ? found++ : VT_NO_TASK;
    for (uint32_t i = 0; rows && i < count; i++) {
        PyObject *row;

        if (!vt_run_task(run, i, &task, &is_estimated))
            continue;
        row = row_of(&task, vt_graph_name(graph, i), is_estimated, places, count);
        if (!row || PyList_Append(rows, row))
            Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    PyMem_Free(places);
    return rows;
}

static PyObject *workers_of(const vt_run *run, unsigned count)
{
    PyObject *workers = PyDict_New();

    for (unsigned i = 0; workers && i < count; i++) {
        uint64_t pid = 0, tid = 0;
        PyObject *number = PyLong_FromUnsignedLong(i), *facts;

        vt_run_worker(run, i, &pid, &tid);
        facts = Py_BuildValue("{sKsK}", "pid", (unsigned long long)pid, "tid",
                              (unsigned long long)tid);
        if (!number || !facts || PyDict_SetItem(workers, number, facts))
            Py_CLEAR(workers);
        Py_XDECREF(number);
        Py_XDECREF(facts);
    }
    return workers;
}

/* As tasks_write() takes it. */
static PyObject *facts_of(const vt_run *run, const vt_graph *graph, const char *scheduler,
                          unsigned workers, const uint64_t times[2])
{
    const struct vt_run_failure *failure = vt_run_error(run);
    PyObject *error = text_of(failure ? failure->message : "");

    return Py_BuildValue("{sssNsNsNsNsN}", "scheduler", scheduler, "start_time", time_of(times[0]),
                         "end_time", time_of(times[1]), "error", error, "tasks",
                         rows_of(run, graph), "workers", workers_of(run, workers));
}

static PyObject *go(vt_graph *graph, PyObject *outputs, unsigned threads, int is_unrecorded)
{
    struct vt_run_options options = {.size = sizeof options,
                                     .scheduler = threads > 1 ? VT_THREADS : VT_SYNC,
                                     .workers = threads,
                                     .is_unrecorded = is_unrecorded};
    PyObject *values = NULL, *facts = NULL, *result = NULL;
    vt_run *run = vt_run_new(graph, &options);
    uint64_t times[2];

    if (!run)
        return PyErr_NoMemory();
    if (want(run, outputs))
        goto out;
    times[0] = vt_task_clock();
    Py_BEGIN_ALLOW_THREADS vt_run_go(run);
    Py_END_ALLOW_THREADS times[1] = vt_task_clock();
    values = results_of(run, outputs);
    facts = values ? facts_of(run, graph, threads > 1 ? "threads" : "sync", threads, times) : NULL;
    result = facts ? PyTuple_Pack(2, values, facts) : NULL;
out:
    Py_XDECREF(values);
    Py_XDECREF(facts);
    vt_run_free(run);
    return result;
}

PyObject *vti_py_graph_block_run(PyObject *module, PyObject *args)
{
    PyObject *inputs, *given, *outputs = NULL, *result = NULL;
    const char *why = NULL;
    unsigned threads;
    int is_unrecorded;
    Py_buffer saved;
    vt_graph *graph = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "y*O!OIp:graph_block_run", &saved, &PyDict_Type, &inputs, &given,
                          &threads, &is_unrecorded))
        return NULL;
    outputs = PySequence_Tuple(given);
    if (outputs && threads > THREADS_MOST) {
        PyErr_Format(PyExc_ValueError, "%u threads", threads);
        Py_CLEAR(outputs);
    }
    graph = outputs ? vt_graph_load(saved.buf, (size_t)saved.len, &why) : NULL;
    if (outputs && !graph)
        PyErr_Format(PyExc_ValueError, "these bytes are no block: %s", why ? why : "no memory");
    if (graph && !fill(graph, inputs))
        result = go(graph, outputs, threads ? threads : 1, is_unrecorded);
    vt_graph_free(graph);
    Py_XDECREF(outputs);
    PyBuffer_Release(&saved);
    return result;
}
