/*
 * tasks_seats.h - from when to when the workers of a run were there: one that died, or was given up, may have been replaced.
 *
 * A run says how many workers it began with; those with higher numbers came later, each in the seat of another. docs/commands/tasks.md
 * says how both are found.
 */
#ifndef VENTURI_ANALYZE_TASKS_SEATS_H
#define VENTURI_ANALYZE_TASKS_SEATS_H

#include "analyze/tasks_stats.h"

struct vti_task_seat {
    int64_t from_ns, to_ns; /* the worker's time */
    int64_t first_ns,
        last_ns; /* begin and end of all that it did; those of the run's begin if that is nothing */
    bool ran;
    bool is_lost; /* the last that it did was a task that took too long, or its worker with it */
};

/*
 * Of each worker of a run, whose time is given: `seats` are beside the run's workers. *at_once is how many there were at a time. 0 or
 * VTI_E_NOMEM.
 */
int vti_task_seats_find(const struct vti_tasks *tasks, const struct vti_task_run *run,
                        int64_t begin_ns, int64_t end_ns, struct vti_task_seat *seats,
                        uint32_t *at_once);

#endif
