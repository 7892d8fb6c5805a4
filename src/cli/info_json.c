/* info_json.c - what is in a recording, as JSON. docs/commands/info.md names the keys. */
#include "analyze/values.h"
#include "base/error.h"
#include "cli/info.h"

#include <stdio.h>

static void add_string(struct vti_json *json, const char *key, const char *text)
{
    vti_json_key(json, key);
    vti_json_string(json, text);
}

static void add_uint(struct vti_json *json, const char *key, uint64_t value)
{
    vti_json_key(json, key);
    vti_json_uint(json, value);
}

static void add_int(struct vti_json *json, const char *key, int64_t value)
{
    vti_json_key(json, key);
    vti_json_int(json, value);
}

static void add_double(struct vti_json *json, const char *key, double value)
{
    vti_json_key(json, key);
    vti_json_double(json, value);
}

static void add_bool(struct vti_json *json, const char *key, bool value)
{
    vti_json_key(json, key);
    vti_json_bool(json, value);
}

static void add_id(struct vti_json *json, const char *key, uint32_t id)
{
    vti_json_key(json, key);
    vti_json_id(json, id);
}

static void add_totals(struct vti_json *json, const struct vti_info *all)
{
    const struct vt_recording_info *info = &all->info;
    char moment[VTI_MOMENT_BYTES];
    char id[2 * sizeof info->id + 1];

    for (size_t i = 0; i < sizeof info->id; i++)
        snprintf(id + 2 * i, 3, "%02x", info->id[i]);
    add_string(json, "file", info->path);
    add_string(json, "id", id);
    add_uint(json, "bytes", info->file_bytes);
    add_bool(json, "closed", info->is_closed);
    add_string(json, "start", vti_moment_text(moment, info->start_realtime_ns));
    add_int(json, "start_realtime_ns", info->start_realtime_ns);
    add_int(json, "duration_ns", info->duration_ns);
    add_string(json, "command", info->command);
    add_string(json, "directory", info->directory);
    add_string(json, "writer", info->writer_version);
    add_string(json, "policy", info->policy);
    add_uint(json, "merged", all->merged);
    add_string(json, "clock", info->clock);
    add_double(json, "ticks_per_ns", info->ticks_per_ns);
    add_uint(json, "events", info->event_count);
    add_uint(json, "spans", info->span_count);
    add_uint(json, "lost_events", all->losses.lost_events);
    add_uint(json, "sliced_events", all->losses.sliced_events);
    vti_json_key(json, "bytes_per_event");
    if (info->event_count)
        vti_json_double(json, (double)info->file_bytes / (double)info->event_count);
    else
        vti_json_null(json);
    add_uint(json, "blocks", info->block_count);
    add_uint(json, "unknown_blocks", info->unknown_blocks);
    add_uint(json, "process_count", info->process_count);
    add_uint(json, "thread_count", info->track_count);
    add_uint(json, "site_count", info->site_count);
}

static void add_hosts(struct vti_json *json, const struct vti_info *all)
{
    struct vt_host_info host;

    vti_json_key(json, "hosts");
    vti_json_array(json);
    for (uint32_t i = 0; vt_recording_host(all->recording, i, &host); i++) {
        vti_json_object(json);
        add_uint(json, "id", host.id);
        add_string(json, "name", host.name);
        add_string(json, "os", host.os);
        add_string(json, "cpu", host.cpu);
        add_uint(json, "cpu_count", host.cpu_count);
        add_int(json, "offset_ns", host.offset_ns);
        add_int(json, "error_ns", host.error_ns);
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
        add_uint(json, "id", process.id);
        add_uint(json, "host", process.host);
        add_uint(json, "pid", process.pid);
        add_uint(json, "parent_pid", process.parent_pid);
        add_id(json, "parent", process.parent);
        add_string(json, "name", process.name);
        add_string(json, "command", process.command);
        add_int(json, "start_ns", process.start_ns);
        add_int(json, "end_ns", process.end_ns);
        add_string(json, "ended", vti_end_text(process.how));
        add_uint(json, "status", process.status);
        add_uint(json, "threads", all->processes[i].threads);
        add_uint(json, "events", all->processes[i].events);
        add_double(json, "pair_ns", process.pair_ns);
        add_double(json, "inner_ns", process.inner_ns);
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
        add_uint(json, "id", track.id);
        add_id(json, "process", track.process);
        add_uint(json, "tid", track.tid);
        add_string(json, "name", track.name);
        add_int(json, "start_ns", track.start_ns);
        add_int(json, "end_ns", track.end_ns);
        add_uint(json, "events", track.event_count);
        add_uint(json, "spans", track.span_count);
        add_uint(json, "lost_events", track.lost_events);
        add_uint(json, "deepest", track.deepest);
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
        add_string(json, "reason", loss->reason);
        add_uint(json, "events", loss->events);
        add_bool(json, "lower_bound", loss->is_lower_bound);
        add_uint(json, "gaps", loss->gaps);
        add_id(json, "process", loss->process);
        add_id(json, "thread", loss->track);
        add_int(json, "begin_ns", loss->begin_ns);
        add_int(json, "end_ns", loss->end_ns);
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
        add_uint(json, "begin_offset", damage.begin_offset);
        add_uint(json, "end_offset", damage.end_offset);
        add_string(json, "what", damage.what);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

int vti_info_json(const struct vti_info *all)
{
    struct vti_buf out = {0};
    struct vti_json json;
    int code = 0;

    vti_json_init(&json, &out);
    vti_json_object(&json);
    add_totals(&json, all);
    add_hosts(&json, all);
    add_processes(&json, all);
    add_threads(&json, all);
    add_losses(&json, all);
    add_damage(&json, all);
    vti_json_object_end(&json);
    vti_buf_add_u8(&out, '\n');
    if (out.failed)
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    else
        fwrite(out.data, 1, out.len, stdout);
    vti_buf_fini(&out);
    return code;
}
