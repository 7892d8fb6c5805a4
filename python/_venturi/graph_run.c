/*
 * graph_run.c - see graph_run.h: the type, and what is known of its tasks.
 */
#include "graph_run.h"

#include "graph_errors.h"

#include <stdlib.h>
#include <structmember.h>

struct vti_py_run *vti_py_run_new(void)
{
    return (struct vti_py_run *)vti_py_run_type.tp_alloc(&vti_py_run_type, 0);
}

enum { OBJECTS = 13 };

/* All that it holds, but for what the engine and the templates hold. */
static void objects_of(struct vti_py_run *run, PyObject **objects[OBJECTS])
{
    PyObject **all[OBJECTS] = {&run->dsk,
                               &run->shown,
                               &run->scheduler,
                               &run->stop,
                               &run->context,
                               &run->state,
                               &run->results,
                               &run->literals,
                               &run->pickling,
                               &run->told.hooks,
                               &run->told.start_callback,
                               &run->told.end_callback,
                               &run->told.error_callback};

    memcpy(objects, all, sizeof all);
}

/* A profiler may hold a run whose functions hold the profiler. */
static int traverse(struct vti_py_run *run, visitproc visit, void *arg)
{
    PyObject **objects[OBJECTS];

    objects_of(run, objects);
    for (size_t i = 0; i < OBJECTS; i++)
        Py_VISIT(*objects[i]);
    for (uint32_t i = 0; i < run->graph.keys.count; i++)
        Py_VISIT(run->graph.keys.keys[i].key);
    for (uint32_t i = 0; i < run->graph.room; i++) {
        int stopped = run->graph.templates[i]
                          ? vti_py_template_visit(run->graph.templates[i], visit, arg)
                          : 0;

        if (stopped)
            return stopped;
    }
    return 0;
}

/* Nobody can get at it any more: no thread of its own is left, and the engine has nothing to do. */
static int clear(struct vti_py_run *run)
{
    PyObject **objects[OBJECTS];
    vt_run *engine = run->run;

    run->run = NULL;
    run->live = NULL;
    vt_run_free(engine);
    vti_py_graph_fini(&run->graph);
    objects_of(run, objects);
    for (size_t i = 0; i < OBJECTS; i++)
        Py_CLEAR(*objects[i]);
    return 0;
}

static void dealloc(struct vti_py_run *run)
{
    PyObject_GC_UnTrack(run);
    clear(run);
    PyMem_RawFree(run->idents);
    Py_TYPE(run)->tp_free((PyObject *)run);
}

void vti_py_run_stop(struct vti_py_run *run)
{
    PyObject *exception = vti_py_error_take();

    if (!run->stop)
        run->stop = exception;
    else
        Py_XDECREF(exception);
    if (!run->run)
        return;
    if (PyErr_GivenExceptionMatches(run->stop, PyExc_KeyboardInterrupt))
        vt_run_abandon(run->run);
    else
        vt_run_cancel(run->run);
}

PyObject *vti_py_run_worker_id(const struct vti_py_run *run, uint32_t worker)
{
    uint64_t pid = 0, tid = 0;

    if (worker < run->workers && run->idents[worker])
        return PyLong_FromUnsignedLong(run->idents[worker]);
    if (worker == VT_NO_WORKER || !run->run)
        Py_RETURN_NONE;
    vt_run_worker(run->run, worker, &pid, &tid);
    return PyLong_FromUnsignedLongLong(run->pickling ? pid : tid);
}

PyObject *vti_py_run_object(const struct vti_py_run *run, const struct vt_datum *value)
{
    if (!value || value->type == VT_DATUM_NONE)
        Py_RETURN_NONE;
    if (value->type == VT_DATUM_OBJECT)
        return Py_NewRef((PyObject *)value->as.data);
    if (value->type != VT_DATUM_BYTES || !run->pickling) {
        PyErr_SetString(PyExc_TypeError, "a value that is no object of Python");
        return NULL;
    }
    return PyObject_CallMethod(run->pickling, "loads", "y#", (const char *)value->as.data,
                               (Py_ssize_t)value->size);
}

/* ---- tasks() ---------------------------------------------------------------------------------- */

struct begun {
    uint64_t start;
    uint32_t number;
};

static int compare(const void *a, const void *b)
{
    const struct begun *x = a;
    const struct begun *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static PyObject *seconds(uint64_t clock)
{
    if (!clock)
        Py_RETURN_NONE;
    return PyFloat_FromDouble((double)vt_task_realtime(clock) / 1e9);
}

static const char *state_name(unsigned state)
{
    static const char *const names[] = {"",          "done",      "failed", "skipped",
                                        "cancelled", "timed out", "lost"};

    return state < sizeof names / sizeof names[0] ? names[state] : "";
}

/* Places in the list of those that began. */
static PyObject *places(const struct vt_task *task, const uint32_t *place_of)
{
    size_t count = 0;
    PyObject *tuple;

    for (size_t i = 0; i < task->dependency_count; i++)
        count += place_of[task->dependencies[i]] != UINT32_MAX;
    tuple = PyTuple_New((Py_ssize_t)count);
    count = 0;
    for (size_t i = 0; tuple && i < task->dependency_count; i++) {
        uint32_t place = place_of[task->dependencies[i]];
        PyObject *number = place == UINT32_MAX ? NULL : PyLong_FromUnsignedLong(place);

        if (number)
            PyTuple_SET_ITEM(tuple, (Py_ssize_t)count++, number);
        else if (place != UINT32_MAX)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *known_or_none(uint64_t number, double scale)
{
    if (number == VT_UNKNOWN)
        Py_RETURN_NONE;
    return scale != 1 ? PyFloat_FromDouble((double)number * scale)
                      : PyLong_FromUnsignedLongLong(number);
}

static PyObject *describe(struct vti_py_run *run, uint32_t number, const uint32_t *place_of)
{
    PyObject *key = run->graph.keys.keys[number].key;
    PyObject *task = run->dsk ? PyObject_GetItem(run->dsk, key) : NULL;
    struct vt_task known;
    int is_estimated = 0;
    PyObject *row;

    if (!task) {
        PyErr_Clear();
        task = Py_NewRef(Py_None);
    }
    vt_run_task(run->run, number, &known, &is_estimated);
    row = Py_BuildValue("ONNNNNsiNNNNN", key, task, seconds(known.start), seconds(known.end),
                        vti_py_run_worker_id(run, known.worker), seconds(known.ready),
                        state_name(known.state), (int)known.retries,
                        known_or_none(known.cpu_ns, 1e-9), PyBool_FromLong(is_estimated),
                        known_or_none(known.bytes ? known.bytes : VT_UNKNOWN, 1),
                        seconds(known.freed), places(&known, place_of));
    return row;
}

/* Those that began, by start; how many. */
static size_t find_begun(const struct vti_py_run *run, struct begun *begun)
{
    size_t count = 0;

    for (uint32_t i = 0; i < run->graph.keys.count; i++) {
        struct vt_task known;
        int is_estimated;

        if (!run->graph.templates[i] || !vt_run_task(run->run, i, &known, &is_estimated))
            continue;
        if (known.start) {
            begun[count].start = known.start;
            begun[count++].number = i;
        }
    }
    qsort(begun, count, sizeof *begun, compare);
    return count;
}

static PyObject *tasks(struct vti_py_run *run, PyObject *unused)
{
    uint32_t all = run->graph.keys.count;
    struct begun *begun = NULL;
    uint32_t *place_of = NULL;
    PyObject *list = NULL;
    size_t count;

    (void)unused;
    if (!run->run || !run->is_over)
        return PyList_New(0);
    begun = PyMem_RawMalloc(((size_t)all + 1) * sizeof *begun);
    place_of = PyMem_RawMalloc(((size_t)all + 1) * sizeof *place_of);
    if (!begun || !place_of) {
        PyErr_NoMemory();
        goto out;
    }
    memset(place_of, 0xff, (size_t)all * sizeof *place_of);
    count = find_begun(run, begun);
    for (size_t i = 0; i < count; i++)
        place_of[begun[i].number] = (uint32_t)i;
    list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *row = describe(run, begun[i].number, place_of);

        if (row)
            PyList_SET_ITEM(list, (Py_ssize_t)i, row);
        else
            Py_CLEAR(list);
    }
out:
    PyMem_RawFree(begun);
    PyMem_RawFree(place_of);
    return list;
}

/* ---- the type --------------------------------------------------------------------------------- */

static void count_progress(const struct vti_py_run *run, uint64_t *done, uint64_t *total)
{
    *done = 0;
    *total = run->graph.task_count;
    if (run->run)
        vt_run_progress(run->run, done, total);
    if (!*total)
        *total = run->graph.task_count;
}

static PyObject *progress(struct vti_py_run *run, PyObject *unused)
{
    uint64_t done, total;

    (void)unused;
    count_progress(run, &done, &total);
    return Py_BuildValue("KK", (unsigned long long)done, (unsigned long long)total);
}

static PyObject *get_total(struct vti_py_run *run, void *unused)
{
    uint64_t done, total;

    (void)unused;
    count_progress(run, &done, &total);
    return PyLong_FromUnsignedLongLong(total);
}

static PyObject *get_done(struct vti_py_run *run, void *unused)
{
    uint64_t done, total;

    (void)unused;
    count_progress(run, &done, &total);
    return PyLong_FromUnsignedLongLong(done);
}

static PyObject *get_time(struct vti_py_run *run, void *which)
{
    double time = which ? run->end_time : run->start_time;

    if (!time)
        Py_RETURN_NONE;
    return PyFloat_FromDouble(time);
}

static PyObject *get_dsk(struct vti_py_run *run, void *unused)
{
    (void)unused;
    return Py_NewRef(run->dsk ? run->dsk : Py_None);
}

static PyObject *get_number(struct vti_py_run *run, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(run->run ? vt_run_number(run->run) : 0);
}

static PyObject *cancel(struct vti_py_run *run, PyObject *unused)
{
    (void)unused;
    if (run->run)
        vt_run_cancel(run->run);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"tasks", (PyCFunction)(void (*)(void))tasks, METH_NOARGS,
     "The tasks that began, in order, when it is over."},
    {"progress", (PyCFunction)(void (*)(void))progress, METH_NOARGS, "(done, total), live."},
    {"cancel", (PyCFunction)(void (*)(void))cancel, METH_NOARGS, "Nothing new is begun."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"scheduler", T_OBJECT, offsetof(struct vti_py_run, scheduler), READONLY, NULL},
    {"workers", T_UINT, offsetof(struct vti_py_run, workers), READONLY, NULL},
    {"failed", T_BOOL, offsetof(struct vti_py_run, has_failed), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"dsk", (getter)get_dsk, NULL, NULL, NULL},
    {"total", (getter)get_total, NULL, NULL, NULL},
    {"done", (getter)get_done, NULL, NULL, NULL},
    {"start_time", (getter)get_time, NULL, NULL, NULL},
    {"end_time", (getter)get_time, NULL, NULL, (void *)1},
    {"number", (getter)get_number, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject vti_py_run_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_venturi.Run",
    .tp_doc = "One computation of a graph.",
    .tp_basicsize = sizeof(struct vti_py_run),
    .tp_dealloc = (destructor)dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = (traverseproc)traverse,
    .tp_clear = (inquiry)clear,
    .tp_free = PyObject_GC_Del,
    .tp_methods = methods,
    .tp_members = members,
    .tp_getset = attributes,
};
