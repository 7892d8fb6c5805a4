/*
 * collapsed.c - one line for each stack: frames with semicolons between them, and the microseconds spent in
 * the last of them; what flamegraph.pl and its relatives read.
 *
 * What is left of a microsecond is carried to the next line, so that the sum is right.
 */
#include "base/error.h"
#include "export/call_kit.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

struct collapsed {
    vt_recording *recording;
    const struct vti_calls *calls;
    const struct vti_sink *sink;
    struct vti_buf path, out;
    size_t *lengths; /* of the path before each open frame */
    size_t depth, room;
    double carried_us;
    bool has_tracks; /* more than one: the outermost frame is the thread */
};

/* Writes the line of the path if a microsecond was spent there. */
static int add_line(struct collapsed *collapsed, const struct vti_call *call)
{
    uint64_t us;

    collapsed->carried_us += call->self_ns / 1000;
    us = (uint64_t)(collapsed->carried_us + 1e-6);
    if (!us)
        return 0;
    collapsed->carried_us -= (double)us;
    vti_buf_add(&collapsed->out, collapsed->path.data, collapsed->path.len);
    vti_buf_printf(&collapsed->out, " %llu\n", (unsigned long long)us);
    return vti_sink_offer(collapsed->sink, &collapsed->out);
}

static int enter(uint32_t at, void *arg)
{
    struct collapsed *collapsed = arg;
    const struct vti_call *call = &collapsed->calls->calls[at];

    if (vti_grow(&collapsed->lengths, collapsed->depth, &collapsed->room,
                 sizeof *collapsed->lengths))
        return VTI_E_NOMEM;
    collapsed->lengths[collapsed->depth++] = collapsed->path.len;
    if (collapsed->depth > VTI_STACK_FRAMES)
        return add_line(collapsed, call);
    if (collapsed->path.len)
        vti_buf_add_u8(&collapsed->path, ';');
    else if (collapsed->has_tracks) {
        vti_export_line(&collapsed->path, vti_export_track(collapsed->recording, call), ';');
        vti_buf_add_u8(&collapsed->path, ';');
    }
    vti_export_label(&collapsed->path, &collapsed->calls->functions[call->function], ';');
    if (collapsed->path.failed)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    return add_line(collapsed, call);
}

static int leave(uint32_t at, void *arg)
{
    struct collapsed *collapsed = arg;

    (void)at;
    collapsed->path.len = collapsed->lengths[--collapsed->depth];
    return 0;
}

static bool has_several_tracks(const struct vti_calls *calls)
{
    for (size_t i = 1; i < calls->call_count; i++)
        if (calls->calls[i].track != calls->calls[0].track)
            return true;
    return false;
}

static int run(vt_recording *recording, const struct vti_export_options *options,
               const struct vti_sink *sink)
{
    struct vti_calls calls;
    struct collapsed collapsed = {.recording = recording, .calls = &calls, .sink = sink};
    int code = vti_export_calls(&calls, recording);

    (void)options;
    if (code)
        return code;
    collapsed.has_tracks = has_several_tracks(&calls);
    code = vti_calls_walk(&calls, enter, leave, &collapsed);
    if (!code)
        code = vti_sink_flush(sink, &collapsed.out);
    vti_buf_fini(&collapsed.path);
    vti_buf_fini(&collapsed.out);
    free(collapsed.lengths);
    vti_calls_fini(&calls);
    return code;
}

const struct vti_exporter vti_export_collapsed = {
    .name = "collapsed",
    .summary = "functions, one line a stack, for flame graphs",
    .extension = "collapsed",
    .run = run,
};
