/* info.h - what `venturi info` has gathered; between its two ways of showing it. */
#ifndef VENTURI_CLI_INFO_H
#define VENTURI_CLI_INFO_H

#include "analyze/overview.h"

struct vti_info {
    vt_recording *recording; /* borrowed */
    struct vt_recording_info info;
    struct vti_losses losses;
    struct vti_info_process {
        uint64_t threads, events;
    } * processes;              /* owned; in the recording's order */
    uint64_t calls;             /* of functions, resumes included, in trees */
    uint64_t functions;         /* that were called */
    uint64_t line_events;       /* lines that were reached */
    uint64_t lines;             /* different ones, over all threads */
    uint64_t sources;           /* texts of files */
    uint64_t energy_readings;   /* of the meter, … */
    uint32_t energy_sources;    /* … of so many sources */
    uint64_t cpu_points;        /* entries of CPU time of threads */
    char energy_note[256];      /* why there is no meter; empty: there is one, or nobody asked */
    uint64_t readings;          /* of resources, of all processes together … */
    uint64_t steps, lost_steps; /* messages of steps */
    uint64_t tasks, task_actions, runs; /* of task graphs; actions: transfers, disk, … */
    uint64_t watched;                   /* … and how many these were, recorded or not */
    unsigned long merged;               /* number of recordings it was made of, 0 or 1: none */
};

/* Fills in everything from `processes` on, which the caller frees; `info` is known. 0 or a negative code. */
int vti_info_count(struct vti_info *all);

/* Everything as one JSON object on standard output. 0 or a negative code. */
int vti_info_json(const struct vti_info *all);

#endif
