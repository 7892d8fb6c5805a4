/*
 * tasks_write.h - runs of task graphs as a recording of their own: for whoever has watched a scheduler without a session.
 */
#ifndef VENTURI_EXPORT_TASKS_WRITE_H
#define VENTURI_EXPORT_TASKS_WRITE_H

#include "analyze/tasks.h"

/* What a process and all that it started used. */
struct vti_task_reading {
    int64_t time_ns;       /* since 1970 */
    double cpu_percent;    /* of one core, on average since the reading before; below 0: unknown */
    uint64_t memory_bytes; /* resident, or VTI_TASK_UNKNOWN */
};

struct vti_tasks_in {
    /* As vti_tasks_load() gives it; order, process and number of runs, `site` of tasks, and `texts` are not looked at. Numbers of the tasks of a
     * run that compute must be different. Workers stand with their run, in no order. */
    const struct vti_tasks *tasks;
    const char *command; /* what ran, arguments separated by spaces; "": unknown */
    const char *name;    /* of all of it, for people; NULL and "": none */
    uint32_t pid;
    const struct vti_task_reading *readings; /* in order of time */
    size_t reading_count;
};

/* Makes the file, or replaces one if `force`; it appears when it is whole. */
int vti_tasks_write(const char *path, bool force, const struct vti_tasks_in *in);

#endif
