/* tasks_impl.h - the runs of a recording while they are being loaded: tasks_load.c gathers what the blocks say, tasks_link.c puts it in order. */
#ifndef VENTURI_ANALYZE_TASKS_IMPL_H
#define VENTURI_ANALYZE_TASKS_IMPL_H

#include "analyze/tasks.h"
#include "model/model.h"

/* From two numbers of 32 bits to the place of what they stand for. */
struct vti_pairs {
    struct vti_pair {
        uint32_t a, b;
        uint32_t at_plus_one;
    } * slots; /* owned; slot_count is a power of two */
    size_t slot_count, count;
};

/* The place of a pair, which is `at` if it was not known; UINT32_MAX without memory. */
uint32_t vti_pairs_add(struct vti_pairs *pairs, uint32_t a, uint32_t b, uint32_t at);
uint32_t vti_pairs_find(const struct vti_pairs *pairs, uint32_t a, uint32_t b); /* or UINT32_MAX */

/* Texts that stay where they are. */
struct vti_task_texts {
    char **chunks; /* owned */
    size_t count, capacity;
    size_t used, size;     /* of the last chunk */
    struct vti_map *names; /* owned; equal names are one text */
};

/* One entry of EDGES; its dependencies are numbers of tasks of the run. */
struct vti_task_edges {
    uint64_t before; /* how many others of its task stand before them */
    uint32_t run, number;
    uint32_t first, count; /* in `numbers` */
};

struct vti_tasks_job {
    struct vt_recording *recording;
    struct vti_tasks
        *tasks; /* the result as it grows; times are ticks, workers their numbers + 1 */
    struct vti_task_texts *texts; /* those of the result */
    struct vti_task_codec codec;
    struct vti_pairs runs;    /* process and number */
    struct vti_pairs workers; /* run and number */
    struct vti_pairs numbers; /* run and number of tasks that compute */
    size_t run_capacity, worker_capacity, task_capacity, edges_capacity, number_capacity;
    struct vti_task_edges *edges; /* owned */
    uint32_t *dependencies;       /* owned */
    size_t edges_count, dependency_count;
};

/* A worker of a run, made if nobody has defined it: its index, or UINT32_MAX without memory. */
uint32_t vti_tasks_worker(struct vti_tasks_job *job, uint32_t run, uint32_t number);

/* A terminated copy of a text; NULL without memory. */
const char *vti_tasks_text(struct vti_tasks_job *job, struct vti_bytes text);

/* All is gathered: order, times, and edges. 0 or VTI_E_NOMEM. */
int vti_tasks_link(struct vti_tasks_job *job);

/* Says of tries that failed whether they were made again. 0 or VTI_E_NOMEM. */
int vti_tasks_find_repeated(struct vti_tasks *all);

#endif
