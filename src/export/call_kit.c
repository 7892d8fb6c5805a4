/* call_kit.c - what the exporters of function profiles have in common. */
#include "export/call_kit.h"

#include "base/error.h"
#include "base/utf8.h"

#include <string.h>

static int nothing(vt_recording *recording)
{
    struct vt_recording_info info;

    vt_recording_info(recording, &info);
    return vti_fail(VTI_E_EMPTY, "%s: holds no calls of functions", info.path);
}

/* Who called whom is not enough for everybody. */
static int no_stacks(vt_recording *recording)
{
    struct vti_calls_options all = {.is_merged = true, .track = VT_NONE, .process = VT_NONE};
    struct vt_recording_info info;
    struct vti_profile profile;
    int code = vti_profile_load(&profile, recording, &all);

    if (code)
        return code;
    vt_recording_info(recording, &info);
    code = profile.row_count ? vti_fail(VTI_E_EMPTY,
                                        "%s: knows functions and who called them, but no stacks "
                                        "(-f pstats and callgrind need none)",
                                        info.path)
                             : nothing(recording);
    vti_profile_fini(&profile);
    return code;
}

int vti_export_calls(struct vti_calls *calls, vt_recording *recording)
{
    struct vti_calls_options all = {.track = VT_NONE, .process = VT_NONE};
    int code = vti_calls_load(calls, recording, &all);

    if (code || calls->call_count)
        return code;
    vti_calls_fini(calls);
    return no_stacks(recording);
}

int vti_export_profile(struct vti_profile *profile, vt_recording *recording)
{
    struct vti_calls_options all = {.is_merged = true, .track = VT_NONE, .process = VT_NONE};
    int code = vti_profile_load(profile, recording, &all);

    if (code || profile->row_count)
        return code;
    vti_profile_fini(profile);
    return nothing(recording);
}

void vti_export_line(struct vti_buf *out, const char *text, char without)
{
    size_t at = out->len;

    vti_utf8_repair(out, text, strlen(text));
    for (; at < out->len; at++) {
        if (out->data[at] < 0x20 || out->data[at] == 0x7f)
            out->data[at] = ' ';
        else if (without && out->data[at] == (uint8_t)without)
            out->data[at] = ':';
    }
}

void vti_export_name(struct vti_buf *out, const struct vti_function *function, char without)
{
    vti_export_line(out, function->name[0] ? function->name : function->function, without);
    if (function->twin)
        vti_buf_printf(out, " [%u]", function->twin + 1);
}

void vti_export_label(struct vti_buf *out, const struct vti_function *function, char without)
{
    vti_export_name(out, function, without);
    if (!function->file[0] || !strcmp(function->file, "~"))
        return;
    vti_buf_add_text(out, " (");
    vti_export_line(out, function->file, without);
    if (function->line)
        vti_buf_printf(out, ":%u", function->line);
    vti_buf_add_u8(out, ')');
}

const char *vti_export_track(const vt_recording *recording, const struct vti_call *call)
{
    struct vt_track_info track;

    if (call->track == VT_NONE || !vt_recording_track(recording, call->track, &track))
        return "all";
    return track.name[0] ? track.name : "thread";
}
