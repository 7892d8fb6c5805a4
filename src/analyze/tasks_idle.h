/*
 * tasks_idle.h - what workers did with their time: computed, moved data, or nothing, and for which reason.
 *
 * docs/commands/tasks.md defines the figures. Of each worker they add up to the time of its run in which it was there.
 */
#ifndef VENTURI_ANALYZE_TASKS_IDLE_H
#define VENTURI_ANALYZE_TASKS_IDLE_H

#include "analyze/tasks_stats.h"

/* Why a worker had nothing to do. */
enum vti_idle {
    VTI_IDLE_DEPENDENCIES, /* what was left waited for tasks that ran elsewhere */
    VTI_IDLE_FINISHED,     /* nothing was left to begin */
    VTI_IDLE_SCHEDULER,    /* something was ready, or nothing ran at all */
    VTI_IDLE_GONE,         /* it had died */
    VTI_IDLE_REASONS
};

struct vti_worker_times {
    uint64_t tasks, failed;
    int64_t compute_ns;
    int64_t moving_ns; /* transfers, disk, deserializing, and no task at the same time */
    int64_t idle_ns[VTI_IDLE_REASONS];
};

struct vti_run_times {
    int64_t begin_ns, end_ns; /* of the run, and of all that its tasks say */
    uint64_t tasks, ran;      /* that compute */
    uint64_t actions;         /* other entries */
    uint64_t states[VTI_TASK_OUTCOMES];
    uint64_t retries;
    int64_t task_ns, wait_ns; /* lengths of tasks, and how long they were ready before, added up */
    struct vti_worker_times sums; /* of its workers */
    uint32_t dead_workers;
    uint32_t at_once; /* how many workers there were at a time */
};

struct vti_task_times {
    struct vti_run_times *runs;       /* owned; beside those of the tasks */
    struct vti_worker_times *workers; /* owned; likewise */
};

/* 0 or a negative code with the usual message; _fini in every case. */
int vti_task_times_make(struct vti_task_times *times, const struct vti_tasks *tasks);
void vti_task_times_fini(struct vti_task_times *times);

/* What the workers of a run had of time, all together: the sum of what they did with it. */
int64_t vti_worker_times_idle(const struct vti_worker_times *times);
int64_t vti_worker_times_all(const struct vti_worker_times *times);

/* How many tasks ran at once on average. */
double vti_run_times_parallelism(const struct vti_run_times *run);

/* "dependencies", "nothing-left", "scheduler", "gone"; and for people: "waiting for dependencies", … */
const char *vti_idle_word(enum vti_idle reason);
const char *vti_idle_text(enum vti_idle reason);

#endif
