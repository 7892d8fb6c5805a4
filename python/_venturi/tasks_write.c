/*
 * tasks_write.c - runs of task graphs, as Python knows them, as a recording of their own.
 *
 * Lists are copied before Python code can run that changes them.
 */
#include "tasks_write.h"

#include "rows.h"
#include "task_rows.h"
#include "task_values.h"

#include <stdbool.h>
#include <unistd.h>

/* A copy of what a run has under this name, kept in `held`; () if it has nothing. NULL with an exception. */
static PyObject *rows_in(struct vti_py_making *made, PyObject *run, const char *name)
{
    PyObject *given = PyDict_GetItemString(run, name);
    PyObject *rows = given && given != Py_None ? PySequence_Tuple(given) : PyTuple_New(0);

    if (rows && PyList_Append(made->held, rows))
        Py_CLEAR(rows);
    Py_XDECREF(rows); /* `held` has it */
    return rows;
}

static int grow_tasks(struct vti_py_making *made, Py_ssize_t more)
{
    uint64_t need = (uint64_t)made->all.task_count + (uint64_t)more;
    struct vti_task *grown;

    if (need <= made->task_room)
        return 0;
    grown = need < VTI_NO_TASK ? PyMem_Resize(made->all.tasks, struct vti_task, need) : NULL;
    if (!grown) {
        PyErr_NoMemory();
        return -1;
    }
    made->all.tasks = grown;
    made->task_room = (uint32_t)need;
    return 0;
}

static const char *text_in(struct vti_py_making *made, PyObject *run, const char *name)
{
    PyObject *value = PyDict_GetItemString(run, name);

    return value && value != Py_None ? vti_py_making_text(made, value) : "";
}

static int facts_of_run(struct vti_py_making *made, PyObject *given, struct vti_task_run *run)
{
    PyObject *begin = PyDict_GetItemString(given, "start_time");
    PyObject *end = PyDict_GetItemString(given, "end_time");
    PyObject *parent = PyDict_GetItemString(given, "parent");
    uint64_t index = parent ? vti_py_size_from(parent) : VTI_TASK_UNKNOWN;

    run->parent = index < VTI_NO_TASK ? (uint32_t)index : VTI_NO_TASK;
    run->lost = vti_py_number_in(given, "lost");
    run->planned = vti_py_number_in(given, "planned");
    run->scheduler = text_in(made, given, "scheduler");
    run->error = text_in(made, given, "error");
    return !run->scheduler || !run->error || (begin && vti_py_time_from(begin, &run->begin_ns)) ||
                   (end && vti_py_time_from(end, &run->end_ns))
               ? -1
               : 0;
}

/* A copy of what is said of a run, kept in `held`: reading one value may run code that takes the others away. Borrowed; NULL with an
 * exception. */
static PyObject *copy_of(struct vti_py_making *made, PyObject *given)
{
    PyObject *copy = NULL;

    if (!PyDict_Check(given))
        PyErr_Format(PyExc_TypeError, "a run is a dict, not %R", given);
    else
        copy = PyDict_Copy(given);
    if (copy && PyList_Append(made->held, copy))
        Py_CLEAR(copy);
    Py_XDECREF(copy); /* `held` has it */
    return copy;
}

/* Workers that are told of are workers, whether they had a task or not. */
static int workers_from(struct vti_py_making *made)
{
    PyObject *ids = made->told ? PySequence_Tuple(made->told) : PyTuple_New(0);
    int code = ids ? 0 : -1;
    uint32_t index;

    for (Py_ssize_t i = 0; ids && !code && i < PyTuple_GET_SIZE(ids); i++)
        code = vti_py_making_worker(made, PyTuple_GET_ITEM(ids, i), &index);
    Py_XDECREF(ids);
    return code;
}

static int run_from(struct vti_py_making *made, PyObject *any)
{
    PyObject *given = copy_of(made, any);
    struct vti_task_run *run = &made->all.runs[made->all.run_count++];
    PyObject *rows = given ? rows_in(made, given, "tasks") : NULL;
    PyObject *actions = rows ? rows_in(made, given, "actions") : NULL;
    uint32_t first = made->all.task_count;
    Py_ssize_t count;

    if (!actions)
        return -1;
    *run = (struct vti_task_run){.first_task = first, .first_worker = made->all.worker_count};
    count = PyTuple_GET_SIZE(rows);
    Py_CLEAR(made->places);
    Py_XSETREF(made->workers, PyDict_New());
    made->told = PyDict_GetItemString(given, "workers");
    if (made->told && !PyDict_Check(made->told))
        made->told = NULL;
    if (!made->workers || facts_of_run(made, given, run) || workers_from(made) ||
        grow_tasks(made, count + PyTuple_GET_SIZE(actions)))
        return -1;
    for (Py_ssize_t i = 0; i < count; i++)
        if (vti_py_making_task(made, PyTuple_GET_ITEM(rows, i), (uint32_t)i, first,
                               (uint32_t)count))
            return -1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(actions); i++)
        if (vti_py_making_action(made, PyTuple_GET_ITEM(actions, i), rows))
            return -1;
    run->task_count = made->all.task_count - first;
    run->worker_count = made->all.worker_count - run->first_worker;
    if (!run->planned)
        run->planned = (uint64_t)count + run->lost;
    return 0;
}

int vti_py_making_runs(struct vti_py_making *made, PyObject *given)
{
    PyObject *runs = PySequence_Tuple(given);
    Py_ssize_t count = runs ? PyTuple_GET_SIZE(runs) : 0;
    int code = -1;

    made->held = PyList_New(0);
    made->names = PyDict_New();
    if (!runs || !made->held || !made->names)
        goto out;
    made->all.runs = PyMem_New(struct vti_task_run, (size_t)count + 1);
    if (!made->all.runs) {
        PyErr_NoMemory();
        goto out;
    }
    code = 0;
    for (Py_ssize_t i = 0; i < count && !code; i++)
        code = run_from(made, PyTuple_GET_ITEM(runs, i));
out:
    Py_XDECREF(runs);
    return code;
}

/* (time, megabytes, CPU in percent), as ResourceData has it. */
static int readings_from(struct vti_py_making *made, PyObject *rows)
{
    Py_ssize_t count = PyTuple_GET_SIZE(rows);

    made->readings = PyMem_New(struct vti_task_reading, (size_t)count + 1);
    if (!made->readings) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        struct vti_task_reading *reading = &made->readings[made->reading_count++];
        PyObject *time;
        double memory;

        if (!PyTuple_Check(PyTuple_GET_ITEM(rows, i))) {
            PyErr_Format(PyExc_TypeError, "a reading is (time, mem, cpu), not %R",
                         PyTuple_GET_ITEM(rows, i));
            return -1;
        }
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(rows, i), "Odd;(time, mem, cpu)", &time, &memory,
                              &reading->cpu_percent) ||
            vti_py_time_from(time, &reading->time_ns))
            return -1;
        reading->memory_bytes = memory >= 0 && memory < 1e12 ? (uint64_t)(memory * 1e6)
                                                             : VTI_TASK_UNKNOWN;
        if (!(reading->cpu_percent >= 0 && reading->cpu_percent < 1e9))
            reading->cpu_percent = -1;
    }
    return 0;
}

void vti_py_making_fini(struct vti_py_making *made)
{
    PyMem_Free(made->all.runs);
    PyMem_Free(made->all.workers);
    PyMem_Free(made->all.tasks);
    PyMem_Free(made->all.edges);
    PyMem_Free(made->readings);
    Py_XDECREF(made->held);
    Py_XDECREF(made->names);
    Py_XDECREF(made->workers);
    Py_XDECREF(made->places);
}

PyObject *vti_py_tasks_write(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", "runs", "resources", "command", "name", NULL};
    struct vti_py_making made = {0};
    struct vti_tasks_in in = {
        .tasks = &made.all, .command = "", .name = "", .pid = (uint32_t)getpid()};
    PyObject *path = NULL, *resources = NULL, *result = NULL;
    PyObject *given, *read = NULL, *command = NULL, *name = NULL;
    int code;

    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&O|OUU:tasks_write", names,
                                     PyUnicode_FSConverter, &path, &given, &read, &command, &name))
        return NULL;
    resources = read ? PySequence_Tuple(read) : PyTuple_New(0);
    if (!resources || vti_py_making_runs(&made, given) || readings_from(&made, resources))
        goto out;
    if (command)
        in.command = vti_py_making_text(&made, command);
    if (name)
        in.name = vti_py_making_text(&made, name);
    if (!in.command || !in.name)
        goto out;
    in.readings = made.readings;
    in.reading_count = made.reading_count;
    Py_BEGIN_ALLOW_THREADS code = vti_tasks_write(PyBytes_AS_STRING(path), true, &in);
    Py_END_ALLOW_THREADS result = code ? vti_py_raise(code) : Py_NewRef(Py_None);
out:
    vti_py_making_fini(&made);
    Py_XDECREF(resources);
    Py_DECREF(path);
    return result;
}
