/*
 * task_rows.h - tasks of a run as Python has them, tuples, put into arrays. -1 and NULL: with an exception.
 */
#ifndef VENTURI_PY_TASK_ROWS_H
#define VENTURI_PY_TASK_ROWS_H

#include "interpreter.h"

#include "export/tasks_write.h"

struct vti_py_making {
    struct vti_tasks all;
    struct vti_task_reading *readings;
    size_t reading_count;
    uint64_t edge_room;
    uint32_t task_room, worker_room;
    PyObject *held;    /* list: texts that pointers lead into, and copies of what was given */
    PyObject *names;   /* name -> itself: one text for all tasks of a name */
    PyObject *workers; /* of this run: id -> index */
    PyObject *told;    /* of this run: id -> what is known of the worker, or NULL */
    PyObject *places;  /* of this run: key -> number, made when it is first asked for */
};

/* All runs that Python gave: an iterable of dicts. Zeroed before, to be freed in any case. tasks_write.c has both. */
int vti_py_making_runs(struct vti_py_making *made, PyObject *given);
void vti_py_making_fini(struct vti_py_making *made);

/* The text of any object, for as long as `held` is there. */
const char *vti_py_making_text(struct vti_py_making *made, PyObject *value);

/* A number that a dict (or NULL) may have; 0: it has none. */
uint64_t vti_py_number_in(PyObject *facts, const char *name);

/* A worker of the last run: its index in all workers; VTI_NO_TASK for None. */
int vti_py_making_worker(struct vti_py_making *made, PyObject *id, uint32_t *index);

/* A task of the last run, named by its key or by one value more than a task has, of which there is room for; its run has `count` of them, the first is `first` in all. */
int vti_py_making_task(struct vti_py_making *made, PyObject *row, uint32_t number, uint32_t first,
                       uint32_t count);

/* What was done for one of the tasks in `rows`. */
int vti_py_making_action(struct vti_py_making *made, PyObject *row, PyObject *rows);

#endif
