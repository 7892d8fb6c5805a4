/* study.c - gathers what is summed up from one recording. */
#include "analyze/study.h"

#include "analyze/values.h"

#include <math.h>
#include <stdlib.h>

/* What the threads that recorded had of time, all together. */
static double thread_time(const vt_recording *recording)
{
    struct vt_track_info track;
    double ns = 0;

    for (uint32_t i = 0; vt_recording_track(recording, i, &track); i++)
        ns += (double)(track.end_ns - track.start_ns);
    return ns;
}

/* The raw figures know no cost: it is asked for beside them. */
static int load_stats(struct vti_study *study)
{
    struct vt_stats corrected = {0};
    int code = vt_stats_query(study->recording, NULL, &corrected);

    if (code)
        return code;
    study->overhead_ns = corrected.overhead_ns;
    if (!study->is_raw) {
        study->stats = corrected;
        return 0;
    }
    vt_stats_free(&corrected);
    return vti_stats_query_raw(study->recording, &study->stats);
}

/* No more than there was time. */
static void add_overhead(struct vti_study *study, double cost_ns)
{
    double ns = thread_time(study->recording);

    study->overhead_ns += cost_ns < ns ? (int64_t)cost_ns : (int64_t)ns;
    study->overhead_share = ns > 0 ? fmin((double)study->overhead_ns / ns, 1) : 0;
}

/* Trees of calls, or the table of another profiler. Their cost is part of ours. */
static int load_functions(struct vti_study *study)
{
    const struct vti_calls_options options = {
        .is_raw = study->is_raw, .track = VT_NONE, .process = VT_NONE};
    int code = vti_calls_load_trees(&study->calls, study->recording, &options);

    if (code)
        return code;
    add_overhead(study, study->calls.cost_ns);
    if (study->calls.call_count)
        return vti_profile_make(&study->functions, &study->calls);
    code = vti_profile_load(&study->functions, study->recording, &options);
    if (!code && !study->functions.is_imported) {
        vti_profile_fini(&study->functions);
        study->functions = (struct vti_profile){0};
    }
    return code;
}

static int load_spans(struct vti_study *study)
{
    const struct vti_calls_options options = {
        .is_raw = study->is_raw, .track = VT_NONE, .process = VT_NONE};
    int code = vti_calls_load_spans(&study->span_calls, study->recording, &options);

    if (!code)
        code = vti_profile_make(&study->spans, &study->span_calls);
    return code ? code : vti_study_place_spans(study);
}

static int load_lines(struct vti_study *study)
{
    const struct vti_lines_options options = {.is_raw = study->is_raw};

    int code = vti_lines_load(&study->lines, study->recording, &options);

    if (!code)
        add_overhead(study, study->lines.cost_ns);
    return code;
}

/* Spans of traces are async ones: where there are none, nobody needs to look for them. */
static int load_traces(struct vti_study *study)
{
    for (size_t i = 0; i < study->stats.site_count; i++)
        if (vti_study_span_row(study, study->stats.sites[i].site) == VT_NONE)
            return vti_traces_load(&study->traces, &study->recording, 1, NULL);
    return 0;
}

static int load_tasks(struct vti_study *study)
{
    int code = vti_tasks_load(study->recording, &study->tasks);

    if (!code)
        code = vti_task_times_make(&study->task_times, &study->tasks);
    return code ? code : vti_task_paths_make(&study->task_paths, &study->tasks);
}

int vti_study_load(struct vti_study *study, vt_recording *recording, bool is_raw)
{
    int64_t end_ns;
    int code;

    *study = (struct vti_study){.recording = recording, .is_raw = is_raw};
    vti_recording_extent(recording, &study->begin_ns, &end_ns);
    study->wall_ns = end_ns - study->begin_ns;
    code = load_stats(study);
    if (!code)
        code = load_functions(study);
    if (!code)
        code = load_spans(study);
    if (!code)
        code = load_lines(study);
    if (!code)
        code = load_traces(study);
    if (!code)
        code = load_tasks(study);
    if (!code)
        code = vti_step_sums_load(&study->steps, recording);
    if (!code)
        code = vti_resources_load(&study->resources, recording);
    if (!code)
        code = vti_energy_load(&study->energy, recording);
    if (!code)
        code = vti_overview_query(recording, &study->overview);
    if (!code)
        code = vti_distorted_query(recording, &study->overview.losses, &study->distorted);
    vt_recording_info(recording, &study->info); /* last: reading finds damage */
    return code;
}

void vti_study_fini(struct vti_study *study)
{
    vt_stats_free(&study->stats);
    vti_overview_free(&study->overview);
    vti_ids_fini(&study->distorted);
    vti_profile_fini(&study->functions);
    vti_calls_fini(&study->calls);
    vti_profile_fini(&study->spans);
    vti_calls_fini(&study->span_calls);
    vti_ids_fini(&study->span_sites);
    free(study->span_rows);
    vti_lines_fini(&study->lines);
    vti_resources_fini(&study->resources);
    vti_traces_fini(&study->traces);
    vti_tasks_free(&study->tasks);
    vti_task_times_fini(&study->task_times);
    vti_task_paths_fini(&study->task_paths);
    vti_step_sums_fini(&study->steps);
    vti_energy_fini(&study->energy);
}
