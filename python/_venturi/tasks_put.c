/*
 * tasks_put.c - runs of task graphs, as Python knows them, into the recording of this process: what a watched cluster did becomes
 * part of the program's own recording.
 *
 * Waits for the drainer without the interpreter's lock, and never for long: what there is no room for is counted.
 */
#include "tasks_put.h"

#include "task_rows.h"
#include "trace.h"

#include <string.h>
#include <venturi/task.h>

#define PATIENCE_MS 2000 /* without any progress of the drainer */
#define SITE_SPAN 0

static uint64_t clock_at(int64_t realtime_ns)
{
    return realtime_ns ? vt_task_clock_at(realtime_ns) : 0;
}

/* Of a run: if nobody knows, now. */
static uint64_t time_of(int64_t realtime_ns)
{
    return realtime_ns ? vt_task_clock_at(realtime_ns) : vt_task_clock();
}

static struct vt_site *site_of(const char *name)
{
    PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
    struct vt_site *site = text ? vti_py_trace_site(text, SITE_SPAN) : NULL;

    PyErr_Clear();
    Py_XDECREF(text);
    return site; /* NULL: tasks without a name */
}

/* Whether there was room, sooner or later. */
static int put_or_wait(const struct vt_task *task)
{
    int is_hopeful = 1;
    int is_put = vt_task_put(task);

    while (!is_put && is_hopeful) {
        Py_BEGIN_ALLOW_THREADS is_hopeful = vt_task_wait(PATIENCE_MS);
        Py_END_ALLOW_THREADS is_put = is_hopeful && vt_task_put(task);
    }
    return is_put;
}

/* Dependencies are indices in all tasks; a recording has numbers within the run. */
static int put_task(const struct vti_tasks *all, const struct vti_task *task,
                    const struct vti_task_run *run, uint32_t number, uint32_t *numbers)
{
    struct vt_task told = {
        .name = site_of(task->name),
        .key = task->key,
        .key_bytes = strlen(task->key),
        .run = number,
        .number = task->number,
        .worker = task->worker == VTI_NO_TASK ? VT_NO_WORKER : all->workers[task->worker].number,
        .retries = task->retries,
        .state = task->state,
        .action = task->action,
        .ready = clock_at(task->ready_ns),
        .start = clock_at(task->start_ns),
        .end = clock_at(task->end_ns),
        .cpu_ns = task->cpu_ns,
        .bytes = task->bytes,
        .freed = clock_at(task->freed_ns),
        .dependencies = numbers,
        .dependency_count = task->edge_count};

    if (told.cpu_ns != VT_UNKNOWN && task->cpu_is_estimated)
        told.cpu_ns |= VT_CPU_ESTIMATED;
    for (uint32_t i = 0; i < task->edge_count; i++)
        numbers[i] = all->edges[task->first_edge + i] - run->first_task;
    return put_or_wait(&told);
}

/* The greatest number of dependencies of one task. */
static uint32_t most_edges(const struct vti_tasks *all)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < all->task_count; i++)
        if (all->tasks[i].edge_count > most)
            most = all->tasks[i].edge_count;
    return most;
}

/* Returns how many of its tasks there was no room for: all from the first of them on. */
static uint64_t put_run(const struct vti_tasks *all, const struct vti_task_run *run,
                        uint32_t number, uint32_t *numbers)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < run->worker_count; i++) {
        const struct vti_task_worker *worker = &all->workers[run->first_worker + i];

        vt_task_worker(number, worker->number, worker->label, worker->pid, worker->tid);
    }
    while (count < run->task_count &&
           put_task(all, &all->tasks[run->first_task + count], run, number, numbers))
        count++;
    vt_task_run_end_at(time_of(run->end_ns), number, run->error,
                       run->lost + run->task_count - count);
    return run->task_count - count;
}

/* None if nobody records. */
static PyObject *put_runs(const struct vti_tasks *all)
{
    uint32_t *numbers = PyMem_New(uint32_t, (size_t)most_edges(all) + 1);
    uint32_t *runs = PyMem_New(uint32_t, (size_t)all->run_count + 1);
    PyObject *result = NULL;
    uint64_t lost = 0;

    if (!numbers || !runs) {
        PyErr_NoMemory();
        goto out;
    }
    for (uint32_t i = 0; i < all->run_count; i++) {
        const struct vti_task_run *run = &all->runs[i];

        runs[i] = vt_task_run_at(time_of(run->begin_ns), run->scheduler, run->planned,
                                 run->worker_count, run->parent < i ? runs[run->parent] : 0);
        if (!runs[i]) {
            result = Py_NewRef(Py_None);
            goto out;
        }
        lost += put_run(all, run, runs[i], numbers);
    }
    result = PyLong_FromUnsignedLongLong(lost);
out:
    PyMem_Free(numbers);
    PyMem_Free(runs);
    return result;
}

PyObject *vti_py_tasks_put(PyObject *module, PyObject *runs)
{
    struct vti_py_making made = {0};
    PyObject *result = NULL;

    (void)module;
    if (!vt_is_on())
        Py_RETURN_NONE;
    if (!vti_py_making_runs(&made, runs))
        result = put_runs(&made.all);
    vti_py_making_fini(&made);
    return result;
}
