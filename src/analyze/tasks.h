/*
 * tasks.h - the runs of task graphs of a recording: what was computed, by which worker, when, and what it waited for.
 *
 * Times are nanoseconds since 1970 of the recording's host. Only what a scheduler said of itself is here: nothing is guessed.
 */
#ifndef VENTURI_ANALYZE_TASKS_H
#define VENTURI_ANALYZE_TASKS_H

#include "format/tasks.h"
#include "venturi/read.h"

#include <stdbool.h>
#include <stdint.h>

#define VTI_NO_TASK UINT32_MAX

struct vti_task_run {
    uint32_t process; /* of the recording */
    uint32_t number;  /* within the process, from 1 */
    uint32_t parent;  /* index of the run whose task started it; VTI_NO_TASK: none */
    const char *scheduler;
    const char *error;        /* "": it ended well, or has not ended */
    uint64_t planned;         /* tasks that it meant to compute */
    uint64_t lost;            /* of those that have no entry here */
    uint64_t begun_workers;   /* how many it began with; 0: unknown */
    int64_t begin_ns, end_ns; /* end 0: it was not seen to end */
    uint32_t first_task, task_count;
    uint32_t first_worker, worker_count;
};

struct vti_task_worker {
    uint32_t run;
    uint32_t number;   /* within the run */
    const char *label; /* never "" */
    uint64_t pid, tid; /* 0: unknown */
};

struct vti_task {
    const char *key, *name;
    uint32_t run, number;
    uint32_t worker; /* index; VTI_NO_TASK: none */
    uint32_t site;   /* of its name */
    uint16_t retries;
    uint8_t state, action; /* enum vt_task_state, vt_task_action (venturi/task.h) */
    bool cpu_is_estimated;
    bool is_repeated;                             /* a try that failed, and another was made */
    int64_t ready_ns, start_ns, end_ns, freed_ns; /* 0: unknown */
    uint64_t cpu_ns, bytes;                       /* or VTI_TASK_UNKNOWN */
    uint32_t first_edge,
        edge_count; /* into `edges`: tasks that it depends on; none for other actions than to compute */
};

/* Tasks are ordered by run, within it by start. */
struct vti_tasks {
    struct vti_task_run *runs;
    struct vti_task_worker *workers;
    struct vti_task *tasks;
    uint32_t *edges; /* indices into `tasks` */
    uint32_t run_count, worker_count;
    uint32_t task_count;
    uint64_t edge_count;
    uint64_t missing_edges; /* dependencies on tasks that have no entry */
    void *texts;            /* what the texts above are owned by */
};

/* All of a recording; none at all is fine. Negative and vti_fail() if there is no memory. */
int vti_tasks_load(struct vt_recording *recording, struct vti_tasks *tasks);
void vti_tasks_free(struct vti_tasks *tasks);

#endif
