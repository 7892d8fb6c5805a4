/*
 * jsonl.c - everything a recording says, one JSON object a line: first the facts, then all events
 * in order of time, then what is damaged, and a summary as the last line, so that a reader sees
 * that nothing was cut off.
 *
 * This is the plain text of the format: events are given as they were recorded, not made into
 * spans.
 */
#include "analyze/values.h"
#include "base/error.h"
#include "export/export.h"

#include <stdio.h>

struct jsonl {
    vt_recording *recording;
    const struct vti_sink *sink;
    struct vti_buf out;
    struct vti_json json;
    uint64_t events;
    uint64_t spans;
};

static void add_string(struct jsonl *jsonl, const char *key, const char *text)
{
    vti_json_key(&jsonl->json, key);
    vti_json_string(&jsonl->json, text);
}

static void add_text(struct jsonl *jsonl, const char *key, const struct vt_text *text)
{
    vti_json_key(&jsonl->json, key);
    vti_json_bytes(&jsonl->json, text->data, text->len);
}

static void add_int(struct jsonl *jsonl, const char *key, int64_t value)
{
    vti_json_key(&jsonl->json, key);
    vti_json_int(&jsonl->json, value);
}

static void add_uint(struct jsonl *jsonl, const char *key, uint64_t value)
{
    vti_json_key(&jsonl->json, key);
    vti_json_uint(&jsonl->json, value);
}

static void add_double(struct jsonl *jsonl, const char *key, double value)
{
    vti_json_key(&jsonl->json, key);
    vti_json_double(&jsonl->json, value);
}

static void add_bool(struct jsonl *jsonl, const char *key, bool value)
{
    vti_json_key(&jsonl->json, key);
    vti_json_bool(&jsonl->json, value);
}

static void add_id(struct jsonl *jsonl, const char *key, uint32_t id)
{
    vti_json_key(&jsonl->json, key);
    vti_json_id(&jsonl->json, id);
}

static void open_line(struct jsonl *jsonl, const char *type)
{
    vti_json_init(&jsonl->json, &jsonl->out);
    vti_json_object(&jsonl->json);
    add_string(jsonl, "type", type);
}

static int close_line(struct jsonl *jsonl)
{
    vti_json_object_end(&jsonl->json);
    vti_buf_add_u8(&jsonl->out, '\n');
    return vti_sink_offer(jsonl->sink, &jsonl->out);
}

/* ---- facts ----------------------------------------------------------------------------------- */

static int add_recording(struct jsonl *jsonl)
{
    struct vt_recording_info info;
    char moment[VTI_MOMENT_BYTES];
    char id[2 * sizeof info.id + 1];

    vt_recording_info(jsonl->recording, &info);
    for (size_t i = 0; i < sizeof info.id; i++)
        snprintf(id + 2 * i, 3, "%02x", info.id[i]);
    open_line(jsonl, "recording");
    add_uint(jsonl, "version", 1);
    add_string(jsonl, "id", id);
    add_bool(jsonl, "closed", info.is_closed);
    add_string(jsonl, "start", vti_moment_text(moment, info.start_realtime_ns));
    add_int(jsonl, "start_realtime_ns", info.start_realtime_ns);
    add_int(jsonl, "duration_ns", info.duration_ns);
    add_string(jsonl, "writer", info.writer_version);
    add_string(jsonl, "policy", info.policy);
    add_string(jsonl, "directory", info.directory);
    add_string(jsonl, "command", info.command);
    add_string(jsonl, "clock", info.clock);
    add_double(jsonl, "ticks_per_ns", info.ticks_per_ns);
    return close_line(jsonl);
}

static int add_hosts(struct jsonl *jsonl)
{
    struct vt_host_info host;
    int code = 0;

    for (uint32_t i = 0; !code && vt_recording_host(jsonl->recording, i, &host); i++) {
        open_line(jsonl, "host");
        add_uint(jsonl, "host", host.id);
        add_string(jsonl, "name", host.name);
        add_string(jsonl, "os", host.os);
        add_string(jsonl, "cpu", host.cpu);
        add_uint(jsonl, "cpu_count", host.cpu_count);
        add_int(jsonl, "offset_ns", host.offset_ns);
        add_int(jsonl, "error_ns", host.error_ns);
        code = close_line(jsonl);
    }
    return code;
}

static int add_processes(struct jsonl *jsonl)
{
    struct vt_process_info process;
    int code = 0;

    for (uint32_t i = 0; !code && vt_recording_process(jsonl->recording, i, &process); i++) {
        open_line(jsonl, "process");
        add_uint(jsonl, "process", process.id);
        add_uint(jsonl, "host", process.host);
        add_uint(jsonl, "pid", process.pid);
        add_uint(jsonl, "parent_pid", process.parent_pid);
        add_id(jsonl, "parent", process.parent);
        add_int(jsonl, "start_ns", process.start_ns);
        add_int(jsonl, "end_ns", process.end_ns);
        add_string(jsonl, "how", vti_end_text(process.how));
        add_uint(jsonl, "status", process.status);
        add_string(jsonl, "name", process.name);
        add_string(jsonl, "command", process.command);
        add_double(jsonl, "pair_ns", process.pair_ns);
        add_double(jsonl, "inner_ns", process.inner_ns);
        code = close_line(jsonl);
    }
    return code;
}

static int add_tracks(struct jsonl *jsonl)
{
    struct vt_track_info track;
    int code = 0;

    for (uint32_t i = 0; !code && vt_recording_track(jsonl->recording, i, &track); i++) {
        open_line(jsonl, "track");
        add_uint(jsonl, "track", track.id);
        add_id(jsonl, "process", track.process);
        add_uint(jsonl, "tid", track.tid);
        add_string(jsonl, "name", track.name);
        add_int(jsonl, "start_ns", track.start_ns);
        add_int(jsonl, "end_ns", track.end_ns);
        code = close_line(jsonl);
    }
    return code;
}

static int add_sites(struct jsonl *jsonl)
{
    struct vt_site_info site;
    int code = 0;

    for (uint32_t i = 0; !code && vt_recording_site(jsonl->recording, i, &site); i++) {
        open_line(jsonl, "site");
        add_uint(jsonl, "site", site.id);
        add_string(jsonl, "kind", vti_site_kind_text(site.type));
        add_string(jsonl, "name", site.name);
        add_string(jsonl, "function", site.function);
        add_string(jsonl, "file", site.file);
        add_uint(jsonl, "line", site.line);
        add_string(jsonl, "unit", site.unit);
        code = close_line(jsonl);
    }
    return code;
}

static int add_losses(struct jsonl *jsonl)
{
    struct vt_loss_info loss;
    int code = 0;

    for (uint32_t i = 0; !code && vt_recording_loss(jsonl->recording, i, &loss); i++) {
        open_line(jsonl, "loss");
        add_id(jsonl, "process", loss.process);
        add_id(jsonl, "track", loss.track);
        add_string(jsonl, "reason", loss.reason);
        add_uint(jsonl, "events", loss.events);
        add_bool(jsonl, "lower_bound", loss.is_lower_bound);
        add_int(jsonl, "begin_ns", loss.begin_ns);
        add_int(jsonl, "end_ns", loss.end_ns);
        code = close_line(jsonl);
    }
    return code;
}

/* ---- events ---------------------------------------------------------------------------------- */

static const char *kind_text(enum vt_event_kind kind)
{
    static const char *const texts[] = {
        [VT_EVENT_BEGIN] = "begin",
        [VT_EVENT_END] = "end",
        [VT_EVENT_MARK] = "mark",
        [VT_EVENT_COUNTER] = "counter",
        [VT_EVENT_ATTR] = "attribute",
        [VT_EVENT_ERROR] = "error",
        [VT_EVENT_ASYNC_BEGIN] = "async_begin",
        [VT_EVENT_ASYNC_END] = "async_end",
        [VT_EVENT_ASYNC_ATTR] = "async_attribute",
        [VT_EVENT_LOSS] = "gap",
    };

    return texts[kind];
}

static void add_site(struct jsonl *jsonl, const struct vt_event *event, const char *key)
{
    struct vt_site_info site;

    vt_recording_site_by_id(jsonl->recording, event->site, &site);
    add_id(jsonl, "site", event->site);
    add_string(jsonl, key, site.name);
    if (event->kind == VT_EVENT_COUNTER)
        add_string(jsonl, "unit", site.unit);
}

static void add_flags(struct jsonl *jsonl, const struct vt_event *event)
{
    if (event->flags & VT_FLAG_IN_GAP)
        add_bool(jsonl, "in_gap", true);
    if (event->flags & VT_FLAG_ABANDONED)
        add_bool(jsonl, "abandoned", true);
    if (event->flags & VT_FLAG_FAILED)
        add_bool(jsonl, "failed", true);
}

/* What only this kind of event has. */
static void add_details(struct jsonl *jsonl, const struct vt_event *event)
{
    switch (event->kind) {
    case VT_EVENT_ASYNC_BEGIN:
        add_uint(jsonl, "id", event->async_id);
        add_site(jsonl, event, "name");
        break;
    case VT_EVENT_ASYNC_END:
        add_uint(jsonl, "id", event->async_id);
        break;
    case VT_EVENT_ASYNC_ATTR:
        add_uint(jsonl, "id", event->async_id);
        add_site(jsonl, event, "key");
        break;
    case VT_EVENT_ATTR:
        add_site(jsonl, event, "key");
        break;
    case VT_EVENT_ERROR:
        add_text(jsonl, "error_type", &event->error_type);
        add_text(jsonl, "message", &event->error_message);
        break;
    case VT_EVENT_LOSS:
        add_string(jsonl, "reason", event->loss_reason);
        add_uint(jsonl, "events", event->loss_events);
        add_int(jsonl, "length_ns", event->loss_ns);
        break;
    default:
        add_site(jsonl, event, "name");
    }
    if (event->value.type != VT_VALUE_NONE) {
        vti_json_key(&jsonl->json, "value");
        vti_json_value(&jsonl->json, &event->value);
    }
}

static int add_event(struct jsonl *jsonl, const struct vt_event *event)
{
    open_line(jsonl, kind_text(event->kind));
    add_int(jsonl, "time_ns", event->time_ns);
    add_uint(jsonl, "track", event->track);
    add_uint(jsonl, "depth", event->depth);
    add_details(jsonl, event);
    add_flags(jsonl, event);
    jsonl->events++;
    jsonl->spans += event->kind == VT_EVENT_BEGIN || event->kind == VT_EVENT_ASYNC_BEGIN;
    return close_line(jsonl);
}

static int add_events(struct jsonl *jsonl, const struct vt_filter *range)
{
    struct vt_event event;
    vt_cursor *cursor;
    int code = vt_cursor_open(&cursor, jsonl->recording, range);
    int got = 0;

    if (code)
        return code;
    while (!code && (got = vt_cursor_next(cursor, &event)) > 0)
        code = add_event(jsonl, &event);
    vt_cursor_close(cursor);
    return code ? code : got;
}

/* ---- the end --------------------------------------------------------------------------------- */

static int add_end(struct jsonl *jsonl)
{
    struct vt_recording_info info;
    struct vt_damage_info damage;
    int code = 0;

    for (uint32_t i = 0; !code && vt_recording_damage(jsonl->recording, i, &damage); i++) {
        open_line(jsonl, "damage");
        add_uint(jsonl, "begin_offset", damage.begin_offset);
        add_uint(jsonl, "end_offset", damage.end_offset);
        add_string(jsonl, "what", damage.what);
        code = close_line(jsonl);
    }
    if (code)
        return code;
    vt_recording_info(jsonl->recording, &info);
    open_line(jsonl, "summary");
    add_uint(jsonl, "events", jsonl->events);
    add_uint(jsonl, "spans", jsonl->spans);
    add_uint(jsonl, "lost_events", info.lost_events);
    add_uint(jsonl, "unknown_blocks", info.unknown_blocks);
    add_uint(jsonl, "damaged_ranges", info.damage_count);
    code = close_line(jsonl);
    return code ? code : vti_sink_flush(jsonl->sink, &jsonl->out);
}

static int run(vt_recording *recording, const struct vti_export_options *options,
               const struct vti_sink *sink)
{
    static int (*const facts[])(struct jsonl *) = {add_recording, add_hosts, add_processes,
                                                   add_tracks,    add_sites, add_losses};
    struct jsonl jsonl = {.recording = recording, .sink = sink};
    int code = 0;

    for (size_t i = 0; !code && i < sizeof facts / sizeof *facts; i++)
        code = facts[i](&jsonl);
    if (!code)
        code = add_events(&jsonl, &options->range);
    if (!code)
        code = add_end(&jsonl);
    vti_buf_fini(&jsonl.out);
    return code;
}

const struct vti_exporter vti_export_jsonl = {
    .name = "jsonl",
    .summary = "every fact and event, one JSON object a line",
    .extension = "jsonl",
    .run = run,
};
