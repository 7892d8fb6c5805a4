/*
 * tasks_path.h - the critical path of a run: the chain of tasks, each dependent on the one before, that takes the longest.
 *
 * No number of workers can make the run shorter than that. docs/commands/tasks.md defines the figures.
 */
#ifndef VENTURI_ANALYZE_TASKS_PATH_H
#define VENTURI_ANALYZE_TASKS_PATH_H

#include "analyze/tasks_stats.h"

struct vti_task_path {
    const uint32_t *steps; /* tasks in the order in which they depend on each other */
    uint32_t count;
    int64_t length_ns; /* of these tasks together */
    uint64_t circular; /* dependencies that go in a circle, and were left out */
};

struct vti_task_paths {
    struct vti_task_path *runs; /* owned; beside those of the tasks */
    uint32_t *steps;            /* owned; of all runs */
    int64_t *
        slack_ns; /* owned; beside the tasks: how much longer each could take without the path being longer */
};

/* Linear in tasks and dependencies, whatever the graph. 0 or a negative code with the usual message; _fini in every case. */
int vti_task_paths_make(struct vti_task_paths *paths, const struct vti_tasks *tasks);
void vti_task_paths_fini(struct vti_task_paths *paths);

/* Of a step: the part of the gap before it, which began then, in which it was ready. */
int64_t vti_task_queued(const struct vti_tasks *tasks, uint32_t at, int64_t gap_begin_ns);

#endif
