/* info_json.c - what is in a recording, as JSON. docs/commands/info.md names the keys. */
#include "analyze/values.h"
#include "cli/info.h"
#include "cli/render.h"

static void add_totals(struct vti_json *json, const struct vti_info *all)
{
    const struct vt_recording_info *info = &all->info;

    vti_json_add_string(json, "file", info->path);
    vti_json_add_uint(json, "bytes", info->file_bytes);
    vti_json_add_recording(json, info);
    vti_json_add_uint(json, "merged", all->merged);
    vti_json_add_uint(json, "events", info->event_count);
    vti_json_add_uint(json, "spans", info->span_count);
    vti_json_add_uint(json, "calls", all->calls);
    vti_json_add_uint(json, "functions", all->functions);
    vti_json_add_uint(json, "line_events", all->line_events);
    vti_json_add_uint(json, "lines", all->lines);
    vti_json_add_uint(json, "sources", all->sources);
    vti_json_add_uint(json, "tasks", all->tasks);
    vti_json_add_uint(json, "steps", all->steps);
    vti_json_add_uint(json, "lost_steps", all->lost_steps);
    vti_json_add_uint(json, "task_actions", all->task_actions);
    vti_json_add_uint(json, "task_runs", all->runs);
    vti_json_add_uint(json, "resource_readings", all->readings);
    vti_json_add_uint(json, "resource_processes", all->watched);
    vti_json_add_uint(json, "energy_readings", all->energy_readings);
    vti_json_add_uint(json, "energy_sources", all->energy_sources);
    vti_json_add_uint(json, "thread_cpu_points", all->cpu_points);
    vti_json_add_uint(json, "lost_events", all->losses.lost_events);
    vti_json_add_uint(json, "overwritten_events", all->losses.overwritten_events);
    vti_json_add_uint(json, "sliced_events", all->losses.sliced_events);
    vti_json_add_uint(json, "missing_processes", all->losses.missing_processes);
    if (info->event_count)
        vti_json_add_double(json, "bytes_per_event",
                            (double)info->file_bytes / (double)info->event_count);
    else
        vti_json_add_null(json, "bytes_per_event");
    vti_json_add_uint(json, "blocks", info->block_count);
    vti_json_add_uint(json, "unknown_blocks", info->unknown_blocks);
    vti_json_add_uint(json, "process_count", info->process_count);
    vti_json_add_uint(json, "thread_count", info->track_count);
    vti_json_add_uint(json, "site_count", info->site_count);
}

static void add_hosts(struct vti_json *json, const struct vti_info *all)
{
    struct vt_host_info host;

    vti_json_key(json, "hosts");
    vti_json_array(json);
    for (uint32_t i = 0; vt_recording_host(all->recording, i, &host); i++) {
        vti_json_object(json);
        vti_json_add_uint(json, "id", host.id);
        vti_json_add_host(json, &host);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_processes(struct vti_json *json, const struct vti_info *all)
{
    struct vt_process_info process;

    vti_json_key(json, "processes");
    vti_json_array(json);
    for (uint32_t i = 0; vt_recording_process(all->recording, i, &process); i++) {
        vti_json_object(json);
        vti_json_add_uint(json, "id", process.id);
        vti_json_add_process(json, &process);
        vti_json_add_string(json, "ended", vti_end_text(process.how));
        vti_json_add_uint(json, "threads", all->processes[i].threads);
        vti_json_add_uint(json, "events", all->processes[i].events);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_threads(struct vti_json *json, const struct vti_info *all)
{
    struct vt_track_info track;

    vti_json_key(json, "threads");
    vti_json_array(json);
    for (uint32_t i = 0; vt_recording_track(all->recording, i, &track); i++) {
        vti_json_object(json);
        vti_json_add_uint(json, "id", track.id);
        vti_json_add_track(json, &track);
        vti_json_add_uint(json, "events", track.event_count);
        vti_json_add_uint(json, "spans", track.span_count);
        vti_json_add_uint(json, "lost_events", track.lost_events);
        vti_json_add_uint(json, "deepest", track.deepest);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_losses(struct vti_json *json, const struct vti_info *all)
{
    vti_json_key(json, "losses");
    vti_json_array(json);
    for (size_t i = 0; i < all->losses.count; i++) {
        const struct vti_loss_stats *loss = &all->losses.items[i];

        vti_json_object(json);
        vti_json_add_string(json, "reason", loss->reason);
        vti_json_add_uint(json, "events", loss->events);
        vti_json_add_bool(json, "lower_bound", loss->is_lower_bound);
        vti_json_add_uint(json, "gaps", loss->gaps);
        vti_json_add_id(json, "process", loss->process);
        vti_json_add_id(json, "thread", loss->track);
        vti_json_add_int(json, "begin_ns", loss->begin_ns);
        vti_json_add_int(json, "end_ns", loss->end_ns);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_damage(struct vti_json *json, const struct vti_info *all)
{
    struct vt_damage_info damage;

    vti_json_key(json, "damage");
    vti_json_array(json);
    for (uint32_t i = 0; vt_recording_damage(all->recording, i, &damage); i++) {
        vti_json_object(json);
        vti_json_add_damage(json, &damage);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

int vti_info_json(const struct vti_info *all)
{
    struct vti_buf out = {0};
    struct vti_json json;

    vti_json_init(&json, &out);
    vti_json_object(&json);
    add_totals(&json, all);
    add_hosts(&json, all);
    add_processes(&json, all);
    add_threads(&json, all);
    add_losses(&json, all);
    add_damage(&json, all);
    vti_json_object_end(&json);
    return vti_print_json(&out);
}
