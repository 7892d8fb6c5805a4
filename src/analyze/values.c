/* values.c - facts, values, attributes, errors and moments of a recording as JSON. */
#include "analyze/values.h"

#include "base/uuid.h"
#include "format/facts.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

void vti_json_value(struct vti_json *json, const struct vt_value *value)
{
    switch (value->type) {
    case VT_VALUE_INT:
        vti_json_int(json, value->i);
        break;
    case VT_VALUE_UINT:
        vti_json_uint(json, value->u);
        break;
    case VT_VALUE_DOUBLE:
        vti_json_double(json, value->d);
        break;
    case VT_VALUE_TEXT:
        vti_json_bytes(json, value->text.data, value->text.len);
        break;
    default:
        vti_json_null(json);
    }
}

double vti_counter_number(const struct vti_value *value)
{
    switch (value->type) {
    case VTI_VALUE_INT:
        return (double)value->i;
    case VTI_VALUE_UINT:
        return (double)value->u;
    case VTI_VALUE_DOUBLE:
        return value->d;
    default:
        return 0;
    }
}

double vti_value_number(const struct vt_value *value)
{
    switch (value->type) {
    case VT_VALUE_INT:
        return (double)value->i;
    case VT_VALUE_UINT:
        return (double)value->u;
    case VT_VALUE_DOUBLE:
        return value->d;
    default:
        return 0;
    }
}

void vti_json_attrs(struct vti_json *json, const vt_recording *recording,
                    const struct vt_span *span)
{
    for (uint32_t i = 0; i < span->attr_count; i++) {
        struct vt_site_info key;

        vt_recording_site_by_id(recording, span->attrs[i].key, &key);
        vti_json_key(json, key.name);
        vti_json_value(json, &span->attrs[i].value);
    }
}

void vti_error_text(struct vti_buf *out, const struct vt_span *span)
{
    if (!span->error_type.len && !span->error_message.len) {
        vti_buf_add_text(out, "failed");
        return;
    }
    vti_buf_add(out, span->error_type.data, span->error_type.len);
    if (span->error_type.len && span->error_message.len)
        vti_buf_add_text(out, ": ");
    vti_buf_add(out, span->error_message.data, span->error_message.len);
}

void vti_json_add_id(struct vti_json *json, const char *key, uint32_t id)
{
    if (id == VT_NONE)
        vti_json_add_null(json, key);
    else
        vti_json_add_uint(json, key, id);
}

void vti_json_add_recording(struct vti_json *json, const struct vt_recording_info *info)
{
    char moment[VTI_MOMENT_BYTES];
    char id[2 * sizeof info->id + 1];

    for (size_t i = 0; i < sizeof info->id; i++)
        snprintf(id + 2 * i, 3, "%02x", info->id[i]);
    vti_json_add_string(json, "id", id);
    vti_json_add_bool(json, "closed", info->is_closed);
    vti_json_add_string(json, "start", vti_moment_text(moment, info->start_realtime_ns));
    vti_json_add_int(json, "start_realtime_ns", info->start_realtime_ns);
    vti_json_add_int(json, "duration_ns", info->duration_ns);
    vti_json_add_string(json, "command", info->command);
    vti_json_add_string(json, "directory", info->directory);
    vti_json_add_string(json, "writer", info->writer_version);
    vti_json_add_string(json, "policy", info->policy);
    vti_json_add_string(json, "clock", info->clock);
    vti_json_add_double(json, "ticks_per_ns", info->ticks_per_ns);
}

void vti_json_add_host(struct vti_json *json, const struct vt_host_info *host)
{
    vti_json_add_string(json, "name", host->name);
    vti_json_add_string(json, "os", host->os);
    vti_json_add_string(json, "cpu", host->cpu);
    vti_json_add_uint(json, "cpu_count", host->cpu_count);
    vti_json_add_int(json, "offset_ns", host->offset_ns);
    vti_json_add_int(json, "error_ns", host->error_ns);
}

void vti_json_add_process(struct vti_json *json, const struct vt_process_info *process)
{
    vti_json_add_uint(json, "host", process->host);
    vti_json_add_uint(json, "pid", process->pid);
    vti_json_add_uint(json, "parent_pid", process->parent_pid);
    vti_json_add_id(json, "parent", process->parent);
    vti_json_add_string(json, "name", process->name);
    vti_json_add_string(json, "command", process->command);
    vti_json_add_int(json, "start_ns", process->start_ns);
    vti_json_add_int(json, "end_ns", process->end_ns);
    if (process->how == VT_END_UNKNOWN)
        vti_json_add_null(json, "status");
    else
        vti_json_add_uint(json, "status", process->status);
    vti_json_add_double(json, "pair_ns", process->pair_ns);
    vti_json_add_double(json, "inner_ns", process->inner_ns);
}

void vti_json_add_track(struct vti_json *json, const struct vt_track_info *track)
{
    vti_json_add_id(json, "process", track->process);
    vti_json_add_uint(json, "tid", track->tid);
    vti_json_add_string(json, "name", track->name);
    vti_json_add_int(json, "start_ns", track->start_ns);
    vti_json_add_int(json, "end_ns", track->end_ns);
}

void vti_json_add_damage(struct vti_json *json, const struct vt_damage_info *damage)
{
    vti_json_add_uint(json, "begin_offset", damage->begin_offset);
    vti_json_add_uint(json, "end_offset", damage->end_offset);
    vti_json_add_string(json, "what", damage->what);
}

const char *vti_end_text(unsigned how)
{
    static const char *const texts[] = {
        [VT_END_UNKNOWN] = "unknown",
        [VT_END_EXIT] = "exit",
        [VT_END_SIGNAL] = "signal",
        [VT_END_EXEC] = "exec",
    };

    return texts[how < sizeof texts / sizeof *texts ? how : VT_END_UNKNOWN];
}

const char *vti_site_kind_text(enum vt_site_type type)
{
    static const char *const texts[] = {
        [VT_SITE_SPAN] = "span", [VT_SITE_COUNTER] = "counter",   [VT_SITE_MARK] = "mark",
        [VT_SITE_KEY] = "key",   [VT_SITE_FUNCTION] = "function", [VT_SITE_STEP] = "step",
    };

    return texts[type];
}

void vti_recording_extent(const vt_recording *recording, int64_t *begin_ns, int64_t *end_ns)
{
    struct vt_process_info process;
    struct vt_track_info track;

    *begin_ns = INT64_MAX;
    *end_ns = INT64_MIN;
    for (uint32_t i = 0; vt_recording_process(recording, i, &process); i++) {
        *begin_ns = process.start_ns < *begin_ns ? process.start_ns : *begin_ns;
        *end_ns = process.end_ns > *end_ns ? process.end_ns : *end_ns;
    }
    for (uint32_t i = 0; vt_recording_track(recording, i, &track); i++) {
        if (!track.event_count)
            continue;
        *begin_ns = track.start_ns < *begin_ns ? track.start_ns : *begin_ns;
        *end_ns = track.end_ns > *end_ns ? track.end_ns : *end_ns;
    }
    if (*begin_ns > *end_ns)
        *begin_ns = *end_ns = 0;
}

bool vti_recording_is_imported(const vt_recording *recording)
{
    struct vt_host_info host;
    uint32_t count = 0;

    for (; vt_recording_host(recording, count, &host); count++)
        if (strcmp(host.name, VTI_HOST_IMPORTED))
            return false;
    return count;
}

const char *vti_moment_text(char to[VTI_MOMENT_BYTES], int64_t realtime_ns)
{
    int64_t part = realtime_ns % 1000000000;
    time_t seconds = (time_t)(realtime_ns / 1000000000 - (part < 0));
    struct tm when;

    if (!gmtime_r(&seconds, &when)) {
        to[0] = 0;
        return to;
    }
    snprintf(to, VTI_MOMENT_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d.%09dZ", when.tm_year + 1900,
             when.tm_mon + 1, when.tm_mday, when.tm_hour, when.tm_min, when.tm_sec,
             (int)(part < 0 ? part + 1000000000 : part));
    return to;
}

void vti_json_trace_ids(struct vti_json *json, const uint8_t base[16], const uint8_t span[16],
                        const uint8_t parent[16])
{
    const struct {
        const char *key;
        const uint8_t *id;
    } ids[] = {{"base_id", base}, {"trace_id", span}, {"parent_id", parent}};
    char text[VTI_UUID_TEXT];

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        if (vti_uuid_is_zero(ids[i].id))
            continue;
        vti_uuid_text(ids[i].id, text);
        vti_json_add_string(json, ids[i].key, text);
    }
}
