/*
 * tasks_stats.h - tasks by name: how many there were, how long they took, how they ended.
 *
 * docs/commands/tasks.md defines the figures; the tool, the page and the findings show the same ones.
 */
#ifndef VENTURI_ANALYZE_TASKS_STATS_H
#define VENTURI_ANALYZE_TASKS_STATS_H

#include "analyze/tasks.h"

#define VTI_TASK_STATES 7   /* of enum vt_task_state, from 0: unknown */
#define VTI_TASK_REPEATED 7 /* not one of these: a try that failed, and another was made */
#define VTI_TASK_OUTCOMES 8
#define VTI_TASK_LEVELS 4 /* of runs within tasks of runs: deeper ones are of the last */

/* The tasks of one name; or all that workers did of another action, whatever it was for. */
struct vti_task_group {
    const char *name; /* of another action than to compute: "" */
    uint8_t action;
    uint8_t
        level; /* 0, or how many tasks of other runs its tasks ran within, if that was asked for */
    uint64_t count;
    uint64_t ran; /* of these; the times are theirs */
    uint64_t states[VTI_TASK_OUTCOMES];
    uint64_t retries;
    int64_t total_ns, min_ns, p50_ns, p90_ns, p99_ns, max_ns;
    int64_t wait_ns; /* from ready to start, all together */
    uint64_t cpu_ns, cpu_count;
    bool cpu_is_estimated; /* some of it */
    uint64_t bytes, bytes_count;
};

struct vti_task_groups {
    struct vti_task_group *items; /* owned; computing first, then by time, the largest first */
    uint32_t count;
    uint32_t *of_task; /* owned; beside the tasks; VTI_NO_TASK: of another run */
    int64_t total_ns;  /* of all that compute */
};

/* Of one run, or of all (VTI_NO_TASK). 0 or a negative code with the usual message; _fini in every case. */
int vti_task_groups_make(struct vti_task_groups *groups, const struct vti_tasks *tasks,
                         uint32_t run);

/* The same of all runs, with those within tasks of others apart: their times are part of these tasks' times. */
int vti_task_groups_make_levels(struct vti_task_groups *groups, const struct vti_tasks *tasks);
void vti_task_groups_fini(struct vti_task_groups *groups);

/* How it ended: a state, or VTI_TASK_REPEATED. */
uint8_t vti_task_outcome(const struct vti_task *task);

/* Failed, out of time or lost with its worker, and not tried again. */
uint64_t vti_task_states_failed(const uint64_t states[VTI_TASK_OUTCOMES]);
bool vti_task_has_failed(const struct vti_task *task);

/* Whether it began and ended, and how long it took. */
bool vti_task_ran(const struct vti_task *task);
int64_t vti_task_length(const struct vti_task *task);

/* When it could have begun, of one that ran: what its scheduler said, else the end of the last of its dependencies, else the
 * begin of its run. Never after its start. */
int64_t vti_task_ready(const struct vti_tasks *tasks, uint32_t at);

/* The worker's index, or VTI_NO_TASK if it is none of its run. */
uint32_t vti_task_worker(const struct vti_tasks *tasks, uint32_t at);

/* "compute", "transfer", …; "done", "failed", … */
const char *vti_task_action_text(uint8_t action);
const char *vti_task_state_text(uint8_t state);

#endif
