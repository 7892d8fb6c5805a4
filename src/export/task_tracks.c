/*
 * task_tracks.c - tasks as slices on tracks of their workers.
 *
 * What is known of workers is what their scheduler says: a worker may turn out to do several things at once, and viewers want slices of a
 * track to nest. So each worker has as many tracks as it needs.
 */
#include "export/task_tracks.h"

#include "base/error.h"
#include "model/span_walk.h"

#include <stdio.h>
#include <stdlib.h>

struct lane {
    int64_t end_ns; /* of its last slice */
    uint32_t next;  /* of the same worker, or VTI_NO_TASK */
    uint32_t number;
};

struct job {
    struct vti_tasks tasks;
    uint32_t *first; /* lane of each worker, then of each run for tasks without one */
    struct lane *lanes;
    size_t lane_count, lane_capacity;
};

/* The lane that is free at a time, a new one if need be; VTI_NO_TASK without memory. */
static uint32_t find_lane(struct job *job, const struct vti_task *task)
{
    uint32_t owner = task->worker == VTI_NO_TASK ? job->tasks.worker_count + task->run
                                                 : task->worker;
    uint32_t number = 0;
    uint32_t before = VTI_NO_TASK;
    uint32_t at = job->first[owner];

    for (; at != VTI_NO_TASK; before = at, at = job->lanes[at].next, number++)
        if (job->lanes[at].end_ns <= task->start_ns)
            return at;
    if (vti_grow(&job->lanes, job->lane_count, &job->lane_capacity, sizeof *job->lanes))
        return VTI_NO_TASK;
    at = (uint32_t)job->lane_count++;
    job->lanes[at] = (struct lane){INT64_MIN, VTI_NO_TASK, number};
    if (before == VTI_NO_TASK)
        job->first[owner] = at;
    else
        job->lanes[before].next = at;
    return at;
}

static void name_track(const struct job *job, const struct vti_task *task, uint32_t number,
                       char *name, size_t room)
{
    const char *label = task->worker == VTI_NO_TASK ? "no worker"
                                                    : job->tasks.workers[task->worker].label;

    if (number)
        snprintf(name, room, "run %u, %s (%u)", task->run + 1, label, number + 1);
    else
        snprintf(name, room, "run %u, %s", task->run + 1, label);
}

static int give_slices(struct job *job, vt_recording *recording, const struct vt_filter *range,
                       int (*each)(const struct vti_task_slice *slice, void *arg), void *arg)
{
    int64_t start_ns = recording->facts.clocks.start_realtime_ns;
    char name[256];
    int code = 0;

    for (uint32_t i = 0; i < job->tasks.task_count && !code; i++) {
        const struct vti_task *task = &job->tasks.tasks[i];
        struct vti_task_slice slice = {.name = name,
                                       .process = job->tasks.runs[task->run].process,
                                       .begin_ns = task->start_ns - start_ns,
                                       .end_ns = task->end_ns - start_ns,
                                       .task = task};

        if (!task->start_ns || !vti_filter_overlaps(range, slice.begin_ns, slice.end_ns))
            continue;
        slice.track = find_lane(job, task);
        if (slice.track == VTI_NO_TASK)
            return VTI_E_NOMEM;
        slice.is_new = job->lanes[slice.track].end_ns == INT64_MIN;
        if (slice.is_new)
            name_track(job, task, job->lanes[slice.track].number, name, sizeof name);
        job->lanes[slice.track].end_ns = task->end_ns;
        code = each(&slice, arg);
    }
    return code;
}

int vti_task_slices(vt_recording *recording, const struct vt_filter *range,
                    int (*each)(const struct vti_task_slice *slice, void *arg), void *arg)
{
    struct job job = {0};
    size_t owners;
    int code = vti_tasks_load(recording, &job.tasks);

    if (code)
        return code;
    owners = (size_t)job.tasks.worker_count + job.tasks.run_count;
    job.first = malloc(owners * sizeof *job.first + 1);
    if (job.first) {
        for (size_t i = 0; i < owners; i++)
            job.first[i] = VTI_NO_TASK;
        code = give_slices(&job, recording, range, each, arg);
    } else {
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    }
    free(job.first);
    free(job.lanes);
    vti_tasks_free(&job.tasks);
    return code;
}
