/* tasks_open.h - runs of task graphs that have not ended, and their workers: each file of a spool says of whom it speaks. */
#ifndef VENTURI_DRAIN_TASKS_OPEN_H
#define VENTURI_DRAIN_TASKS_OPEN_H

#include "format/tasks.h"

struct vti_open_run;

/* Zeroed: none. */
struct vti_open_runs {
    struct vti_open_run *entries; /* owned */
    size_t count, room;
};

/* A run, or a worker of one; what is beyond some thousands is not kept. The run has ended. */
void vti_open_runs_add(struct vti_open_runs *runs, const struct vti_task_fact *fact);
void vti_open_runs_end(struct vti_open_runs *runs, uint32_t run);

/* All of them, in the order in which they came. */
void vti_open_runs_each(const struct vti_open_runs *runs,
                        void (*take)(void *arg, const struct vti_task_fact *fact), void *arg);
void vti_open_runs_fini(struct vti_open_runs *runs);

#endif
