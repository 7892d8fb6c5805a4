/*
 * study.h - everything that is summed up from one recording, gathered once: what `report` shows, and what the rules of
 * findings.h look at.
 */
#ifndef VENTURI_ANALYZE_STUDY_H
#define VENTURI_ANALYZE_STUDY_H

#include "analyze/energy.h"
#include "analyze/lines.h"
#include "analyze/overview.h"
#include "analyze/profile.h"
#include "analyze/resources.h"
#include "analyze/steps.h"
#include "analyze/tasks_idle.h"
#include "analyze/tasks_path.h"
#include "analyze/traces.h"

struct vti_study {
    vt_recording *recording; /* borrowed */
    struct vt_recording_info info;
    int64_t begin_ns, wall_ns; /* its first moment, and how long it is to its last */
    struct vt_stats stats;     /* of spans */
    struct vti_overview overview;
    struct vti_ids distorted; /* sites whose figures losses put wrong */
    struct vti_calls calls;   /* thread by thread; those recorded as spans are among the spans */
    struct vti_profile functions; /* of these calls, or as another profiler counted them */
    struct vti_calls span_calls;  /* the paths of spans within spans, thread by thread … */
    struct vti_profile spans;     /* … and who began whom */
    struct vti_ids span_sites;    /* sites that are in it … */
    uint32_t *span_rows;          /* … and their rows; owned */
    struct vti_lines lines;
    struct vti_resources resources;
    struct vti_traces traces;
    struct vti_tasks tasks;
    struct vti_task_times task_times; /* of these */
    struct vti_task_paths task_paths;
    struct vti_step_sums steps;
    struct vti_energy energy;
    int64_t overhead_ns; /* our own cost in spans and calls together, also if it was left in */
    double overhead_share;
    bool is_raw; /* it was left in */
};

/* 0 or a negative code with the usual message; _fini frees in every case. */
int vti_study_load(struct vti_study *study, vt_recording *recording, bool is_raw);
void vti_study_fini(struct vti_study *study);

/* The row of a site in `spans`; VT_NONE for spans beside the threads (async): they overlap, and are no part of any sum. */
uint32_t vti_study_span_row(const struct vti_study *study, uint32_t site);

/* Between study.c and study_spans.c. */
int vti_study_place_spans(struct vti_study *study);

#endif
