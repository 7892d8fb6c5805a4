/* facts.c - what the directory says of a recording: what ran, where, and how far it can be trusted. */
#include "analyze/values.h"
#include "page/job.h"

static void add_time(struct vti_json *json, const char *key, int64_t ns)
{
    vti_json_add_uint(json, key, vti_page_time(ns));
}

static void add_hosts(struct vti_json *json, const vt_recording *recording)
{
    struct vt_host_info host;

    vti_json_key(json, "hosts");
    vti_json_array(json);
    for (uint32_t i = 0; recording && vt_recording_host(recording, i, &host); i++) {
        vti_json_object(json);
        vti_json_add_string(json, "name", host.name);
        vti_json_add_string(json, "os", host.os);
        vti_json_add_string(json, "cpu", host.cpu);
        vti_json_add_uint(json, "cpus", host.cpu_count);
        vti_json_add_int(json, "offset_ns", host.offset_ns);
        vti_json_add_int(json, "error_ns", host.error_ns);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

/* A process that is its own ancestor, as only a broken recording has it, is given none. */
static int64_t parent_of(const struct vti_page_job *job, uint32_t at)
{
    struct vt_process_info process;
    int64_t parent = -1;
    uint32_t steps = 0;
    uint32_t id;

    vt_recording_process(job->recording, at, &process);
    parent = vti_page_process(job, process.parent);
    for (id = process.parent; id != VT_NONE; id = process.parent) {
        if (vti_page_process(job, id) < 0)
            break;
        if (steps++ > job->recording->facts.process_ids.count)
            return -1;
        vt_recording_process_by_id(job->recording, id, &process);
    }
    return parent;
}

static int64_t host_of(const struct vti_page_job *job, uint32_t id)
{
    int64_t at = vti_ids_find(&job->recording->facts.host_ids, id);

    return at < 0 ? 0 : at;
}

static void add_processes(struct vti_json *json, const struct vti_page_job *job)
{
    struct vt_process_info process;

    vti_json_key(json, "processes");
    vti_json_array(json);
    for (uint32_t i = 0; job->recording && vt_recording_process(job->recording, i, &process); i++) {
        vti_json_object(json);
        vti_json_add_uint(json, "id", process.id);
        vti_json_add_uint(json, "pid", process.pid);
        vti_json_add_int(json, "parent", parent_of(job, i));
        vti_json_add_int(json, "host", host_of(job, process.host));
        vti_json_add_string(json, "name", process.name);
        vti_json_add_string(json, "command", process.command);
        add_time(json, "start_ns", process.start_ns);
        add_time(json, "end_ns", process.end_ns);
        vti_json_add_string(json, "how", vti_end_text(process.how));
        vti_json_add_uint(json, "status", process.status);
        vti_json_add_double(json, "pair_ns", process.pair_ns);
        vti_json_add_double(json, "inner_ns", process.inner_ns);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_tracks(struct vti_json *json, const struct vti_page_job *job)
{
    struct vt_track_info track;

    vti_json_key(json, "tracks");
    vti_json_array(json);
    for (uint32_t i = 0; job->recording && vt_recording_track(job->recording, i, &track); i++) {
        vti_json_object(json);
        vti_json_add_uint(json, "id", track.id);
        vti_json_add_int(json, "process", vti_page_process(job, track.process));
        vti_json_add_uint(json, "tid", track.tid);
        vti_json_add_string(json, "name", track.name);
        add_time(json, "start_ns", track.start_ns);
        add_time(json, "end_ns", track.end_ns);
        vti_json_add_uint(json, "events", track.event_count);
        vti_json_add_uint(json, "spans", track.span_count);
        vti_json_add_uint(json, "lost_events", track.lost_events);
        vti_json_add_uint(json, "deepest", track.deepest);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_losses(struct vti_json *json, const struct vti_page_job *job)
{
    const struct vti_losses *losses = &job->study->overview.losses;

    vti_json_key(json, "losses");
    vti_json_array(json);
    for (size_t i = 0; i < losses->count; i++) {
        const struct vti_loss_stats *loss = &losses->items[i];

        vti_json_object(json);
        vti_json_add_string(json, "reason", loss->reason);
        vti_json_add_uint(json, "events", loss->events);
        vti_json_add_bool(json, "is_lower_bound", loss->is_lower_bound);
        vti_json_add_bool(json, "is_wanted", loss->is_wanted);
        vti_json_add_int(json, "process", vti_page_process(job, loss->process));
        vti_json_add_int(json, "track",
                         loss->track == VT_NONE ? -1 : vti_page_track(job, loss->track));
        add_time(json, "begin_ns", loss->begin_ns);
        add_time(json, "end_ns", loss->end_ns);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_damage(struct vti_json *json, const vt_recording *recording)
{
    struct vt_damage_info damage;

    vti_json_key(json, "damage");
    vti_json_array(json);
    for (uint32_t i = 0; recording && vt_recording_damage(recording, i, &damage); i++) {
        vti_json_object(json);
        vti_json_add_string(json, "what", damage.what);
        vti_json_add_uint(json, "begin", damage.begin_offset);
        vti_json_add_uint(json, "end", damage.end_offset);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static const char *functions_mode(const struct vti_study *study)
{
    if (study->calls.is_estimated)
        return "sampled";
    if (study->calls.call_count)
        return "counted";
    return study->functions.row_count ? "imported" : "none";
}

static void add_mode(struct vti_json *json, const struct vti_page_job *job)
{
    vti_json_key(json, "mode");
    vti_json_object(json);
    vti_json_add_string(json, "functions", functions_mode(job->study));
    vti_json_add_bool(json, "timeline", job->has_timeline);
    vti_json_add_bool(json, "lines", job->study->lines.function_count);
    vti_json_add_double(json, "resources_hz", job->resources_hz);
    vti_json_object_end(json);
}

static void add_clock(struct vti_json *json, const struct vt_recording_info *info)
{
    vti_json_key(json, "clock");
    vti_json_object(json);
    vti_json_add_string(json, "type", info->clock ? info->clock : "");
    vti_json_add_double(json, "ticks_per_ns", info->ticks_per_ns);
    vti_json_object_end(json);
}

static const char *text_of(const char *text)
{
    return text ? text : "";
}

void vti_page_add_recording(struct vti_page_job *job)
{
    struct vti_json *json = vti_page_directory(job->page);
    const struct vt_recording_info *info = &job->study->info;

    vti_json_key(json, "recordings");
    vti_json_array(json);
    vti_json_object(json);
    vti_json_add_string(json, "file", job->file);
    vti_json_add_string(json, "command", text_of(info->command));
    vti_json_add_string(json, "directory", text_of(info->directory));
    vti_json_add_string(json, "writer", text_of(info->writer_version));
    vti_json_add_string(json, "policy", text_of(info->policy));
    vti_json_add_int(json, "start_unix_ms", info->start_realtime_ns / 1000000);
    add_time(json, "duration_ns", info->duration_ns);
    vti_json_add_bool(json, "is_closed", !job->recording || info->is_closed);
    vti_json_add_bool(json, "is_growing",
                      job->recording && !info->is_closed && job->options->is_growing);
    vti_json_add_uint(json, "events", info->event_count);
    vti_json_add_uint(json, "spans", job->study->stats.span_count);
    vti_json_add_uint(json, "lost_events", job->study->overview.losses.lost_events);
    vti_json_add_int(json, "overhead_ns", job->study->overhead_ns);
    vti_json_add_double(json, "overhead_share", job->study->overhead_share);
    add_clock(json, info);
    add_mode(json, job);
    add_hosts(json, job->recording);
    add_processes(json, job);
    add_tracks(json, job);
    add_losses(json, job);
    add_damage(json, job->recording);
    vti_page_add_resource_totals(json, job);
    vti_page_add_energy_totals(json, job);
    if (job->study->steps.ids.count)
        vti_step_sums_add_json(json, &job->study->steps);
    vti_json_object_end(json);
    vti_json_array_end(json);
}
