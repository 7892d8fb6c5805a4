/*
 * task_rows.c - see task_rows.h. What comes in was made by anybody: each value is checked.
 */
#include "task_rows.h"

#include "graph_names.h"
#include "task_values.h"

#include <string.h>
#include <venturi/task.h>

/* Places in a task's tuple, see Run.tasks(). */
enum {
    KEY,
    TASK,
    START,
    END,
    WORKER,
    READY,
    STATE,
    RETRIES,
    CPU,
    IS_ESTIMATED,
    BYTES,
    FREED,
    DEPENDENCIES,
    TASK_FIELDS
};
/* Places in an action's tuple. */
enum { OF_KEY, ACTION, FROM, TO, BY, SIZE, ACTION_FIELDS };

/* ---- texts --------------------------------------------------------------------------------------- */

/* The UTF-8 of a str, for as long as `held` is there; NULL with an exception. */
static const char *utf8_of(struct vti_py_making *made, PyObject *text)
{
    const char *bytes;
    PyObject *encoded;

    if (PyList_Append(made->held, text))
        return NULL;
    bytes = PyUnicode_AsUTF8(text);
    if (bytes)
        return bytes;
    PyErr_Clear(); /* lone surrogates */
    encoded = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    if (!encoded || PyList_Append(made->held, encoded)) {
        Py_XDECREF(encoded);
        return NULL;
    }
    Py_DECREF(encoded); /* `held` has it */
    return PyBytes_AS_STRING(encoded);
}

const char *vti_py_making_text(struct vti_py_making *made, PyObject *value)
{
    PyObject *text = PyObject_Str(value);
    const char *bytes = text ? utf8_of(made, text) : NULL;

    Py_XDECREF(text);
    return bytes;
}

/* What a task of dask's calls: (function, arguments…), or an object that has it as `func`. New reference or NULL, never an exception. */
static PyObject *function_of(PyObject *task)
{
    PyObject *function;

    if (task == Py_None)
        return NULL;
    if (PyTuple_CheckExact(task)) {
        function = PyTuple_GET_SIZE(task) ? PyTuple_GET_ITEM(task, 0) : NULL;
        return function && PyCallable_Check(function) ? Py_NewRef(function) : NULL;
    }
    function = PyObject_GetAttrString(task, "func");
    if (!function)
        PyErr_Clear();
    return function;
}

/* One text for all tasks of a name, whose reference is taken; NULL: there was an exception. */
static const char *name_kept(struct vti_py_making *made, PyObject *name)
{
    PyObject *known = name ? PyDict_SetDefault(made->names, name, name) : NULL;
    const char *text = known ? PyUnicode_AsUTF8(known) : NULL;

    Py_XDECREF(name);
    return text;
}

static const char *name_of(struct vti_py_making *made, PyObject *key, PyObject *task)
{
    char room[VTI_PY_NAME_MAX];
    PyObject *function = function_of(task);
    const char *text = vti_py_name_of(key, function, room);

    Py_XDECREF(function);
    return name_kept(made, PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace"));
}

/* ---- workers ------------------------------------------------------------------------------------- */

/* Makes room for one more. */
static int grow_workers(struct vti_py_making *made)
{
    uint32_t room = made->worker_room ? made->worker_room * 2 : 16;
    struct vti_task_worker *grown;

    if (made->all.worker_count < made->worker_room)
        return 0;
    grown = PyMem_Resize(made->all.workers, struct vti_task_worker, room);
    if (!grown) {
        PyErr_NoMemory();
        return -1;
    }
    made->all.workers = grown;
    made->worker_room = room;
    return 0;
}

uint64_t vti_py_number_in(PyObject *facts, const char *name)
{
    PyObject *value = facts ? PyDict_GetItemString(facts, name) : NULL;
    uint64_t number = value ? vti_py_size_from(value) : VTI_TASK_UNKNOWN;

    return number == VTI_TASK_UNKNOWN ? 0 : number;
}

/* What is said of a worker; one that nothing is said of is called by its number. */
static int describe_worker(struct vti_py_making *made, PyObject *id, struct vti_task_worker *worker)
{
    PyObject *facts = made->told ? PyDict_GetItemWithError(made->told, id) : NULL;
    PyObject *label = NULL;

    if (PyErr_Occurred())
        return -1;
    if (facts && !PyDict_Check(facts))
        facts = NULL;
    if (facts)
        label = PyDict_GetItemString(facts, "label");
    if (!label && PyUnicode_Check(id))
        label = id;
    worker->pid = vti_py_number_in(facts, "pid");
    worker->tid = vti_py_number_in(facts, "tid");
    if (label) {
        Py_INCREF(label); /* its __str__ may do anything */
        worker->label = vti_py_making_text(made, label);
        Py_DECREF(label);
    } else {
        PyObject *text = PyUnicode_FromFormat("worker %u", worker->number);

        worker->label = text ? utf8_of(made, text) : NULL;
        Py_XDECREF(text);
    }
    if (worker->label && !*worker->label)
        worker->label = "worker";
    return worker->label ? 0 : -1;
}

int vti_py_making_worker(struct vti_py_making *made, PyObject *id, uint32_t *index)
{
    uint32_t run = made->all.run_count - 1;
    struct vti_task_worker worker = {.run = run};
    PyObject *known;

    *index = VTI_NO_TASK;
    if (id == Py_None)
        return 0;
    known = PyDict_GetItemWithError(made->workers, id);
    if (known) {
        *index = (uint32_t)PyLong_AsUnsignedLong(known);
        return 0;
    }
    worker.number = made->all.worker_count - made->all.runs[run].first_worker;
    if (PyErr_Occurred() || describe_worker(made, id, &worker) || grow_workers(made))
        return -1;
    known = PyLong_FromUnsignedLong(made->all.worker_count);
    if (!known || PyDict_SetItem(made->workers, id, known)) {
        Py_XDECREF(known);
        return -1;
    }
    Py_DECREF(known);
    *index = made->all.worker_count;
    made->all.workers[made->all.worker_count++] = worker;
    return 0;
}

/* ---- tasks --------------------------------------------------------------------------------------- */

static int grow_edges(struct vti_py_making *made, uint64_t count)
{
    uint64_t need = made->all.edge_count + count;
    uint64_t room = made->edge_room ? made->edge_room * 2 : 1024;
    uint32_t *grown;

    if (need <= made->edge_room)
        return 0;
    room = room < need ? need : room;
    grown = room < UINT32_MAX ? PyMem_Resize(made->all.edges, uint32_t, room) : NULL;
    if (!grown) {
        PyErr_NoMemory();
        return -1;
    }
    made->all.edges = grown;
    made->edge_room = room;
    return 0;
}

/* Dependencies are places in the run's list of `count` tasks, whose first is `first`. */
static int edges_from(struct vti_py_making *made, PyObject *value, struct vti_task *task,
                      uint32_t first, uint32_t count)
{
    Py_ssize_t edges = PyTuple_Check(value) ? PyTuple_GET_SIZE(value) : -1;

    if (edges < 0) {
        PyErr_Format(PyExc_TypeError, "dependencies are a tuple, not %R", value);
        return -1;
    }
    if (grow_edges(made, (uint64_t)edges))
        return -1;
    task->first_edge = (uint32_t)made->all.edge_count;
    for (Py_ssize_t i = 0; i < edges; i++) {
        uint64_t place = vti_py_size_from(PyTuple_GET_ITEM(value, i));

        if (place >= count) {
            PyErr_Format(PyExc_ValueError, "a dependency is %R; it is a place in the list of tasks",
                         PyTuple_GET_ITEM(value, i));
            return -1;
        }
        made->all.edges[made->all.edge_count++] = first + (uint32_t)place;
    }
    task->edge_count = (uint32_t)edges;
    return 0;
}

int vti_py_making_task(struct vti_py_making *made, PyObject *row, uint32_t number, uint32_t first,
                       uint32_t count)
{
    struct vti_task *task = &made->all.tasks[made->all.task_count];
    PyObject **fields;
    uint64_t retries;

    if (!PyTuple_Check(row) || PyTuple_GET_SIZE(row) < TASK_FIELDS) {
        PyErr_Format(PyExc_TypeError, "a task is a tuple of %d values, not %R", TASK_FIELDS, row);
        return -1;
    }
    fields = &PyTuple_GET_ITEM(row, 0);
    retries = vti_py_size_from(fields[RETRIES]);
    *task = (struct vti_task){.run = made->all.run_count - 1,
                              .number = number,
                              .retries = retries < UINT16_MAX ? (uint16_t)retries : UINT16_MAX,
                              .action = VT_ACTION_COMPUTE,
                              .cpu_is_estimated = fields[IS_ESTIMATED] == Py_True,
                              .bytes = vti_py_size_from(fields[BYTES])};
    task->key = vti_py_making_text(made, fields[KEY]);
    if (task->key && PyTuple_GET_SIZE(row) > TASK_FIELDS && PyUnicode_Check(fields[TASK_FIELDS]))
        task->name = name_kept(made, Py_NewRef(fields[TASK_FIELDS]));
    else
        task->name = task->key ? name_of(made, fields[KEY], fields[TASK]) : NULL;
    if (!task->name || vti_py_time_from(fields[READY], &task->ready_ns) ||
        vti_py_time_from(fields[START], &task->start_ns) ||
        vti_py_time_from(fields[END], &task->end_ns) ||
        vti_py_time_from(fields[FREED], &task->freed_ns) ||
        vti_py_cpu_from(fields[CPU], &task->cpu_ns) ||
        vti_py_state_from(fields[STATE], &task->state) ||
        vti_py_making_worker(made, fields[WORKER], &task->worker) ||
        edges_from(made, fields[DEPENDENCIES], task, first, count))
        return -1;
    made->all.task_count++;
    return 0;
}

/* The number of the task that something was done for: the last one with this key. `count`: of none that is known. */
static int number_of(struct vti_py_making *made, PyObject *rows, PyObject *key, uint32_t *number)
{
    Py_ssize_t count = PyTuple_GET_SIZE(rows);
    PyObject *known;

    if (!made->places) {
        made->places = PyDict_New();
        for (Py_ssize_t i = 0; made->places && i < count; i++) {
            PyObject *place = PyLong_FromSsize_t(i);

            if (!place || PyDict_SetItem(made->places,
                                         PyTuple_GET_ITEM(PyTuple_GET_ITEM(rows, i), KEY), place))
                Py_CLEAR(made->places);
            Py_XDECREF(place);
        }
        if (!made->places)
            return -1;
    }
    known = PyDict_GetItemWithError(made->places, key);
    *number = known ? (uint32_t)PyLong_AsUnsignedLong(known) : (uint32_t)count;
    return PyErr_Occurred() ? -1 : 0;
}

int vti_py_making_action(struct vti_py_making *made, PyObject *row, PyObject *rows)
{
    struct vti_task *task = &made->all.tasks[made->all.task_count];
    PyObject **fields;

    if (!PyTuple_Check(row) || PyTuple_GET_SIZE(row) < ACTION_FIELDS) {
        PyErr_Format(PyExc_TypeError, "an action is a tuple of %d values, not %R", ACTION_FIELDS,
                     row);
        return -1;
    }
    fields = &PyTuple_GET_ITEM(row, 0);
    *task = (struct vti_task){.run = made->all.run_count - 1,
                              .state = VT_TASK_DONE,
                              .cpu_ns = VTI_TASK_UNKNOWN,
                              .bytes = vti_py_size_from(fields[SIZE])};
    task->key = vti_py_making_text(made, fields[OF_KEY]);
    task->name = task->key ? name_of(made, fields[OF_KEY], Py_None) : NULL;
    if (!task->name || vti_py_action_from(fields[ACTION], &task->action) ||
        vti_py_time_from(fields[FROM], &task->start_ns) ||
        vti_py_time_from(fields[TO], &task->end_ns) ||
        vti_py_making_worker(made, fields[BY], &task->worker) ||
        number_of(made, rows, fields[OF_KEY], &task->number))
        return -1;
    made->all.task_count++;
    return 0;
}
