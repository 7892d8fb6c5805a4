/* tasks_impl.h - the tables of task graphs while they are being written; between tasks.c and task_sums.c. */
#ifndef VENTURI_PAGE_TASKS_IMPL_H
#define VENTURI_PAGE_TASKS_IMPL_H

#include "page/job.h"

struct vti_task_writer {
    struct vti_page_job *job;
    const struct vti_tasks *tasks;
    struct vti_task_groups groups;
    uint32_t *rows;     /* owned; of each task, plus 1; 0: left out */
    int64_t *needed;    /* owned; when the last that depends on each task ended; 0: none */
    bool *is_critical;  /* owned; beside the tasks */
    uint32_t *firsts;   /* owned; row of each run's first task; one more at the end */
    int64_t *units;     /* owned; nanoseconds that times of a run are rounded to … */
    int64_t *freed;     /* … and those at which results are given up; owned */
    int64_t *on_path;   /* owned; beside the groups: time on critical paths … */
    uint64_t *in_paths; /* … and tasks there; owned */
};

/* task_sums.c: runs, workers and names with their figures. 0 or a negative code. */
int vti_task_write_runs(const struct vti_task_writer *writer);
int vti_task_write_workers(const struct vti_task_writer *writer);
int vti_task_write_names(const struct vti_task_writer *writer);

#endif
