/* flame_json.c - the frames of a flame graph as JSON: a flat list, because trees may be deeper than parsers like. */
#include "base/json.h"
#include "cli/flame.h"
#include "cli/render.h"

static void add_frame(struct vti_json *json, const struct vti_flame_view *view,
                      const struct vti_flame_frame *frame)
{
    char thread[VTI_THREAD_BYTES];

    vti_json_object(json);
    vti_json_add_string(json, "name", vti_flame_name(thread, view, frame));
    if (frame->function != VT_NONE) {
        const struct vti_function *function = &view->calls->functions[frame->function];

        vti_json_add_string(json, "file", function->file);
        vti_json_add_uint(json, "line", function->line);
        vti_json_add_string(json, "language", function->language);
    }
    vti_json_key(json, "parent");
    if (frame->parent == VT_NONE)
        vti_json_null(json);
    else
        vti_json_uint(json, frame->parent);
    vti_json_add_uint(json, "depth", frame->depth);
    vti_json_add_uint(json, "calls", frame->calls);
    vti_json_add_double(json, "total_ns", frame->total_ns);
    vti_json_add_double(json, "self_ns", frame->self_ns);
    vti_json_add_double(json, "share", frame->total_ns / view->flame->total_ns);
    vti_json_add_bool(json, "estimated", frame->is_estimated);
    vti_json_add_double(json, "folded_ns", frame->folded_ns);
    vti_json_add_uint(json, "folded", frame->folded);
    vti_json_object_end(json);
}

int vti_flame_json(const struct vti_flame_view *view)
{
    struct vt_recording_info info;
    struct vti_buf out = {0};
    struct vti_json json;

    vt_recording_info(view->recording, &info);
    vti_json_init(&json, &out);
    vti_json_object(&json);
    vti_json_add_string(&json, "file", info.path);
    vti_json_add_string(&json, "of", view->is_spans ? "spans" : "calls");
    vti_json_add_bool(&json, "bottom_up", view->options->is_bottom_up);
    vti_json_add_double(&json, "total_ns", view->flame->total_ns);
    vti_json_add_double(&json, "folded_ns", view->flame->folded_ns);
    vti_json_add_uint(&json, "folded", view->flame->folded);
    vti_json_add_uint(&json, "deeper", view->flame->deeper);
    vti_json_key(&json, "frames");
    vti_json_array(&json);
    for (size_t i = 0; i < view->flame->count; i++)
        add_frame(&json, view, &view->flame->frames[i]);
    vti_json_array_end(&json);
    vti_json_object_end(&json);
    return vti_print_json(&out);
}
