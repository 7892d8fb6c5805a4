/*
 * speedscope.c - trees of calls for speedscope, one profile for each thread.
 *
 * A tree has no times of its own: calls stand one after the other, as if each function had been called once
 * for as long as all its calls took together. Order and widths are right, gaps are not shown.
 */
#include "base/error.h"
#include "base/json.h"
#include "export/call_kit.h"

#include <string.h>

struct speedscope {
    vt_recording *recording;
    const struct vti_calls *calls;
    const struct vti_sink *sink;
    struct vti_buf out, label;
    struct vti_json json;
    uint32_t track; /* of the profile at hand */
    bool is_open;
    double now_ns;
};

static void add_string(struct vti_json *json, const char *key, const char *text)
{
    vti_json_key(json, key);
    vti_json_string(json, text);
}

static void add_time(struct speedscope *to, const char *key)
{
    vti_json_key(&to->json, key);
    vti_json_uint(&to->json, (uint64_t)(to->now_ns + 0.5));
}

static int add_frames(struct speedscope *to)
{
    struct vti_json *json = &to->json;
    int code = 0;

    vti_json_key(json, "shared");
    vti_json_object(json);
    vti_json_key(json, "frames");
    vti_json_array(json);
    for (size_t i = 0; i < to->calls->function_count && !code; i++) {
        const struct vti_function *function = &to->calls->functions[i];

        vti_buf_clear(&to->label);
        vti_export_name(&to->label, function, 0);
        vti_json_object(json);
        vti_json_key(json, "name");
        vti_json_bytes(json, (const char *)to->label.data, to->label.len);
        if (function->file[0] && strcmp(function->file, "~")) {
            add_string(json, "file", function->file);
            vti_json_key(json, "line");
            vti_json_uint(json, function->line);
        }
        vti_json_object_end(json);
        code = vti_sink_offer(to->sink, &to->out);
    }
    vti_json_array_end(json);
    vti_json_object_end(json);
    return code;
}

static void close_profile(struct speedscope *to)
{
    if (!to->is_open)
        return;
    vti_json_array_end(&to->json);
    add_time(to, "endValue");
    vti_json_object_end(&to->json);
    to->is_open = false;
}

static void open_profile(struct speedscope *to, const struct vti_call *call)
{
    struct vti_json *json = &to->json;

    close_profile(to);
    to->is_open = true;
    to->track = call->track;
    to->now_ns = 0;
    vti_json_object(json);
    add_string(json, "type", "evented");
    add_string(json, "name", vti_export_track(to->recording, call));
    add_string(json, "unit", "nanoseconds");
    add_time(to, "startValue");
    vti_json_key(json, "events");
    vti_json_array(json);
}

static int add_event(struct speedscope *to, const char *type, uint32_t function)
{
    vti_json_object(&to->json);
    add_string(&to->json, "type", type);
    vti_json_key(&to->json, "frame");
    vti_json_uint(&to->json, function);
    add_time(to, "at");
    vti_json_object_end(&to->json);
    return vti_sink_offer(to->sink, &to->out);
}

static int enter(uint32_t at, void *arg)
{
    struct speedscope *to = arg;
    const struct vti_call *call = &to->calls->calls[at];

    if (!to->is_open || to->track != call->track)
        open_profile(to, call);
    return add_event(to, "O", call->function);
}

static int leave(uint32_t at, void *arg)
{
    struct speedscope *to = arg;
    const struct vti_call *call = &to->calls->calls[at];

    to->now_ns += call->self_ns;
    return add_event(to, "C", call->function);
}

static int add_all(struct speedscope *to)
{
    struct vti_json *json = &to->json;
    struct vt_recording_info info;
    int code;

    vt_recording_info(to->recording, &info);
    vti_json_init(json, &to->out);
    vti_json_object(json);
    add_string(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    add_string(json, "exporter", "venturi");
    add_string(json, "name", info.path);
    vti_json_key(json, "activeProfileIndex");
    vti_json_uint(json, 0);
    code = add_frames(to);
    vti_json_key(json, "profiles");
    vti_json_array(json);
    if (!code)
        code = vti_calls_walk(to->calls, enter, leave, to);
    close_profile(to);
    vti_json_array_end(json);
    vti_json_object_end(json);
    vti_buf_add_u8(&to->out, '\n');
    return code ? code : vti_sink_flush(to->sink, &to->out);
}

static int run(vt_recording *recording, const struct vti_export_options *options,
               const struct vti_sink *sink)
{
    struct vti_calls calls;
    struct speedscope to = {.recording = recording, .calls = &calls, .sink = sink};
    int code = vti_export_calls(&calls, recording);

    (void)options;
    if (code)
        return code;
    code = add_all(&to);
    vti_buf_fini(&to.out);
    vti_buf_fini(&to.label);
    vti_calls_fini(&calls);
    return code;
}

const struct vti_exporter vti_export_speedscope = {
    .name = "speedscope",
    .summary = "functions, a tree for each thread, for speedscope",
    .extension = "speedscope.json",
    .run = run,
};
