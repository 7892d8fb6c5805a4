/* info_count.c - how much of what is in a recording, for venturi info. */
#include "analyze/calls.h"
#include "analyze/resources.h"
#include "analyze/tasks.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "cli/info.h"
#include "model/energy_log.h"
#include "model/fact_blocks.h"
#include "model/line_table.h"
#include "model/step_log.h"
#include "venturi/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Threads and events of each process. */
static int count_processes(struct vti_info *all)
{
    struct vt_process_info process;
    struct vt_track_info track;
    struct vti_map *map;
    int is_new;
    int code = vti_map_create(&map);

    all->processes = calloc((size_t)all->info.process_count + 1, sizeof *all->processes);
    if (!code && !all->processes)
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    for (uint32_t i = 0; !code && vt_recording_process(all->recording, i, &process); i++)
        if (vti_map_add(map, &process.id, sizeof process.id, &is_new) < 0)
            code = vti_fail(VTI_E_NOMEM, "out of memory");
    for (uint32_t i = 0; !code && vt_recording_track(all->recording, i, &track); i++) {
        int64_t at = vti_map_find(map, &track.process, sizeof track.process);

        if (at < 0)
            continue;
        all->processes[at].threads++;
        all->processes[at].events += track.event_count;
    }
    vti_map_free(map);
    return code;
}

static unsigned long merged_from(const vt_recording *recording)
{
    struct vti_bytes value;
    char text[16];

    if (!vti_recording_meta(recording, "merged", &value) || value.len >= sizeof text)
        return 0;
    memcpy(text, value.data, value.len);
    text[value.len] = 0;
    return strtoul(text, NULL, 10);
}

static int count_calls(struct vti_info *all)
{
    const struct vti_calls_options options = {
        .is_raw = true, .is_merged = true, .track = VT_NONE, .process = VT_NONE};
    struct vti_calls calls;
    int code = vti_calls_load_trees(&calls, all->recording, &options);

    if (code)
        return code;
    for (size_t i = 0; i < calls.call_count; i++)
        all->calls = vti_add_capped(all->calls,
                                    vti_add_capped(calls.calls[i].calls, calls.calls[i].resumes));
    all->functions = calls.function_count;
    vti_calls_fini(&calls);
    return 0;
}

static int count_lines(struct vti_info *all)
{
    struct vti_line_tables tables;
    struct vti_map *seen = NULL;
    int is_new;
    int code = vti_line_tables_load(&tables, all->recording);

    if (code)
        return code;
    code = vti_map_create(&seen);
    for (uint32_t i = 0; i < tables.track_ids.count && !code; i++) {
        const struct vti_line_track *track = &tables.tracks[i];

        for (uint32_t k = 0; k < track->node_ids.count && !code; k++) {
            const struct vti_line_fact *line = &track->lines[k];
            uint32_t key[2] = {line->site, line->line};

            all->line_events += line->events;
            if (line->events && vti_map_add(seen, key, sizeof key, &is_new) < 0)
                code = VTI_E_NOMEM;
        }
    }
    if (!code)
        all->lines = vti_map_count(seen);
    all->sources = tables.source_count;
    vti_map_free(seen);
    vti_line_tables_fini(&tables);
    return code;
}

static int count_readings(struct vti_info *all)
{
    struct vti_resources resources;
    int code = vti_resources_load(&resources, all->recording);

    for (size_t i = 0; i < resources.tree_count; i++)
        all->readings += resources.trees[i].series.count;
    all->watched = resources.process_count;
    vti_resources_fini(&resources);
    return code;
}

static void note_energy(struct vti_info *all, const struct vti_energy_log_tree *tree)
{
    all->energy_readings += tree->reading_count;
    for (uint32_t i = 0; i < tree->source_count; i++)
        all->energy_sources += tree->sources[i].is_defined;
    for (size_t i = 0; i < tree->note_count; i++)
        if (tree->notes[i].about == VTI_ENERGY_NOTE_FAILED)
            snprintf(all->energy_note, sizeof all->energy_note, "%s", tree->notes[i].text);
}

static int count_energy(struct vti_info *all)
{
    struct vti_energy_log log;
    int code = vti_energy_log_load(&log, all->recording);

    for (size_t i = 0; i < log.tree_count; i++)
        note_energy(all, &log.trees[i]);
    for (uint32_t i = 0; i < log.track_ids.count; i++)
        all->cpu_points += log.tracks[i].count;
    vti_energy_log_fini(&log);
    return code;
}

static int count_tasks(struct vti_info *all)
{
    struct vti_tasks tasks;
    int code = vti_tasks_load(all->recording, &tasks);

    for (uint32_t i = 0; i < tasks.task_count; i++)
        all->task_actions += tasks.tasks[i].action != VT_ACTION_COMPUTE;
    all->tasks = tasks.task_count - all->task_actions;
    all->runs = tasks.run_count;
    vti_tasks_free(&tasks);
    return code;
}

static int count_steps(struct vti_info *all)
{
    struct vti_step_log log;
    struct vti_step step;
    int got;

    vti_step_log_init(&log, all->recording, NULL);
    while ((got = vti_step_log_next(&log, &step)) > 0)
        all->steps++;
    vti_step_log_fini(&log);
    all->lost_steps = vti_steps_lost(all->recording);
    return got;
}

int vti_info_count(struct vti_info *all)
{
    int code = count_processes(all);

    all->merged = merged_from(all->recording);
    if (!code)
        code = count_calls(all);
    if (!code)
        code = count_lines(all);
    if (!code)
        code = count_tasks(all);
    if (!code)
        code = count_steps(all);
    if (!code)
        code = count_energy(all);
    return code ? code : count_readings(all);
}
