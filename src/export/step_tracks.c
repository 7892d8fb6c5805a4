/*
 * step_tracks.c - what steps have dealt with as slices on tracks of their own.
 *
 * Entries are not kept: memory does not grow with their number. Those of several threads come thread by thread, so that each entry goes to the
 * first track of its step that is over by then; there are about as many as there were threads.
 */
#include "export/step_tracks.h"

#include "base/error.h"
#include "base/hash.h"
#include "model/span_walk.h"

#include <stdio.h>
#include <stdlib.h>

#define LANES_MOST 256u /* of a step: what is more than that is cut to fit behind the last one */

struct lane {
    int64_t end_ns; /* of its last slice */
    uint32_t next;  /* of the same step and process, plus one; 0: none */
};

struct job {
    struct vti_map *steps; /* owned; process and site of each */
    uint32_t *first;       /* owned; lane of each, plus one */
    size_t first_room;
    struct lane *lanes; /* owned */
    size_t lane_count, lane_room;
    char name[256];
};

static int out_of_memory(void)
{
    return vti_fail(VTI_E_NOMEM, "out of memory");
}

/* Where the lanes of a step begin; NULL without memory. */
static uint32_t *first_of(struct job *job, const struct vti_step *step)
{
    uint32_t key[2] = {step->process, step->site};
    int is_new = 0;
    int64_t at = vti_map_add(job->steps, key, sizeof key, &is_new);

    if (at < 0 || vti_grow(&job->first, (size_t)at, &job->first_room, sizeof *job->first))
        return NULL;
    if (is_new)
        job->first[at] = 0;
    return &job->first[at];
}

/* The lane that is over when the slice begins, a new one if need be; its number among those of its step in *number. */
static int find_lane(struct job *job, struct vti_step_slice *slice, uint32_t *number)
{
    uint32_t *link = first_of(job, slice->step);

    if (!link)
        return out_of_memory();
    for (*number = 0; *link; ++*number) {
        struct lane *lane = &job->lanes[*link - 1];

        slice->track = *link - 1;
        if (*number == LANES_MOST - 1 && lane->end_ns > slice->begin_ns) {
            slice->begin_ns = lane->end_ns;
            slice->end_ns = slice->end_ns > lane->end_ns ? slice->end_ns : lane->end_ns;
        }
        if (lane->end_ns <= slice->begin_ns)
            return 0;
        link = &lane->next;
    }
    slice->track = (uint32_t)job->lane_count;
    slice->is_new = true;
    *link = slice->track + 1; /* before the array moves */
    if (vti_grow(&job->lanes, job->lane_count, &job->lane_room, sizeof *job->lanes))
        return out_of_memory();
    job->lanes[job->lane_count++] = (struct lane){0};
    return 0;
}

static int give(struct job *job, const struct vti_step *step,
                int (*each)(const struct vti_step_slice *slice, void *arg), void *arg)
{
    struct vti_step_slice slice = {.name = job->name,
                                   .process = step->process,
                                   .begin_ns = step->begin_ns,
                                   .end_ns = step->time_ns > step->begin_ns ? step->time_ns
                                                                            : step->begin_ns,
                                   .step = step};
    uint32_t number = 0;
    int code = find_lane(job, &slice, &number);

    if (code)
        return code;
    job->lanes[slice.track].end_ns = slice.end_ns;
    if (slice.is_new && number)
        snprintf(job->name, sizeof job->name, "step %.200s (%u)", step->source, number + 1);
    else if (slice.is_new)
        snprintf(job->name, sizeof job->name, "step %.200s", step->source);
    return each(&slice, arg);
}

int vti_step_slices(vt_recording *recording, const struct vt_filter *range,
                    int (*each)(const struct vti_step_slice *slice, void *arg), void *arg)
{
    struct job job = {0};
    struct vti_step_log log;
    struct vti_step step;
    int code = vti_map_create(&job.steps);
    int got = 0;

    if (code)
        return out_of_memory();
    vti_step_log_init(&log, recording, NULL);
    while (!code && (got = vti_step_log_next(&log, &step)) > 0)
        if (!step.is_metrics && vti_filter_overlaps(range, step.begin_ns, step.time_ns))
            code = give(&job, &step, each, arg);
    vti_step_log_fini(&log);
    vti_map_free(job.steps);
    free(job.first);
    free(job.lanes);
    return code ? code : got;
}
