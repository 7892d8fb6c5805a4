/* cmd_flame.c - venturi flame: which path through the program took the time, as a picture in the terminal. */
#include "cli/cmd.h"
#include "cli/flame.h"
#include "cli/prose.h"
#include "cli/reading.h"
#include "cli/render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 40 /* levels: what is deeper is recursion, mostly */
#define DEPTH_MOST 1000000000
#define SHARE 0.001    /* of all time: no terminal has columns for less */
#define WIDTH_LEAST 20 /* below that no name fits */
#define WIDTH_MOST 10000

enum {
    OPT_THREAD,
    OPT_THREADS,
    OPT_SPANS,
    OPT_DEPTH,
    OPT_MIN,
    OPT_FOCUS,
    OPT_BOTTOM_UP,
    OPT_WIDTH,
    OPT_COLOR,
    OPT_JSON
};

static const struct vti_option options[] = {
    [OPT_THREAD] = {'t', "thread", "T", "one thread: its name or number"},
    [OPT_THREADS] = {0, "threads", NULL, "threads side by side, not added up"},
    [OPT_SPANS] = {0, "spans", NULL, "spans, also if there are calls"},
    [OPT_DEPTH] = {'d', "depth", "N", "show N levels (40)"},
    [OPT_MIN] = {0, "min", "SHARE", "leave out what takes less: 2% or 0.02 (0.1%)"},
    [OPT_FOCUS] = {'f', "focus", "NAME", "only what is within NAME, or a part of a name"},
    [OPT_BOTTOM_UP] = {'b', "bottom-up", NULL, "what took the time on top, its callers below"},
    [OPT_WIDTH] = {'w', "width", "N", "draw N columns wide (the terminal, else 80)"},
    [OPT_COLOR] = {0, "color", "auto|always|never", "colour: auto on a terminal without NO_COLOR"},
    [OPT_JSON] = {0, "json", NULL, "write JSON"},
    {0},
};

extern const struct vti_command vti_cmd_flame;

struct request {
    const char *file, *thread;
    struct vti_flame_options options;
    size_t width;
    bool is_spans, is_json;
};

/* ---- arguments ------------------------------------------------------------------------------- */

/* "2%" or "0.02". */
static int take_share(const char *text, double *share)
{
    char *end;
    double value = strtod(text, &end);

    if (end != text && !strcmp(end, "%")) {
        value /= 100;
        end++;
    }
    if (end == text || *end || !(value >= 0) || value > 1)
        return vti_cmd_fail("flame", "--min: '%s' is no share, as 2%% and 0.02 are", text);
    *share = value;
    return 0;
}

static int take_number(const char *option, const char *text, size_t least, size_t most,
                       size_t *number)
{
    char *end;

    *number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || *number < least || *number > most)
        return vti_cmd_fail("flame", "%s: '%s' is not a number from %zu to %zu", option, text,
                            least, most);
    return 0;
}

static int take_arguments(struct request *request, int argc, char **argv)
{
    const char *depth = NULL;
    const char *share = NULL;
    const char *width = NULL;
    const char *color = NULL;
    const struct vti_place places[] = {
        [OPT_THREAD] = {.text = &request->thread},
        [OPT_THREADS] = {.is_set = &request->options.is_by_thread},
        [OPT_SPANS] = {.is_set = &request->is_spans},
        [OPT_DEPTH] = {.text = &depth},
        [OPT_MIN] = {.text = &share},
        [OPT_FOCUS] = {.text = &request->options.focus},
        [OPT_BOTTOM_UP] = {.is_set = &request->options.is_bottom_up},
        [OPT_WIDTH] = {.text = &width},
        [OPT_COLOR] = {.text = &color},
        [OPT_JSON] = {.is_set = &request->is_json},
    };
    size_t levels = DEPTH;
    int code = vti_args_collect(&vti_cmd_flame, argc, argv, places, &request->file, 1, "one FILE");

    if (!code && depth)
        code = take_number("--depth", depth, 1, DEPTH_MOST, &levels);
    if (!code && share)
        code = take_share(share, &request->options.least_share);
    request->width = vti_prose_width();
    if (!code && width)
        code = take_number("--width", width, WIDTH_LEAST, WIDTH_MOST, &request->width);
    if (!code && request->options.is_by_thread && request->options.is_bottom_up)
        code = vti_cmd_fail("flame", "--threads and --bottom-up do not go together");
    request->options.depth = (uint32_t)levels;
    vti_terminal_color(color);
    return code;
}

/* ---- showing --------------------------------------------------------------------------------- */

const char *vti_flame_name(char to[VTI_THREAD_BYTES], const struct vti_flame_view *view,
                           const struct vti_flame_frame *frame)
{
    const struct vti_function *function;
    struct vt_track_info track;

    if (frame->function == VT_NONE) {
        if (!vt_recording_track(view->recording, frame->track, &track))
            return "(a thread)";
        snprintf(to, VTI_THREAD_BYTES, "thread %u", track.tid);
        return *track.name ? track.name : to;
    }
    function = &view->calls->functions[frame->function];
    return strcmp(function->language, "c") || !*function->function ? function->name
                                                                   : function->function;
}

/* Calls, or where there are none spans, or those of traces, which are of no one thread. */
static int load(const struct request *request, vt_recording *recording, struct vti_calls *calls,
                bool *is_spans)
{
    struct vti_calls_options what = {
        .is_merged = !request->options.is_by_thread, .track = VT_NONE, .process = VT_NONE};
    int code = request->thread
                   ? vti_reading_thread("flame", request->thread, recording, &what.track)
                   : 0;

    if (code)
        return code;
    *is_spans = request->is_spans;
    if (!*is_spans) {
        code = vti_calls_load(calls, recording, &what);
        if (code || calls->call_count)
            return code ? vti_cmd_error("flame", code) : 0;
        vti_calls_fini(calls);
        *is_spans = true;
    }
    code = vti_calls_load_spans(calls, recording, &what);
    if (!code && !calls->call_count && what.is_merged && !request->thread) {
        vti_calls_fini(calls);
        code = vti_calls_load_traces(calls, recording);
    }
    return code ? vti_cmd_error("flame", code) : 0;
}

static int show(vt_recording *recording, void *arg)
{
    const struct request *request = arg;
    struct vti_calls calls = {0};
    struct vti_flame flame = {0};
    struct vti_flame_view view = {.recording = recording,
                                  .calls = &calls,
                                  .flame = &flame,
                                  .options = &request->options,
                                  .thread = request->thread,
                                  .width = request->width};
    int code = load(request, recording, &calls, &view.is_spans);

    if (code)
        goto out;
    code = vti_flame_make(&flame, &calls, &request->options);
    if (code) {
        code = vti_cmd_error("flame", code);
        goto out;
    }
    if (!(flame.total_ns > 0)) {
        code = vti_reading_lacks("flame", recording, "calls or spans that took time",
                                 " (venturi report shows what it holds)");
        goto out;
    }
    code = request->is_json ? vti_flame_json(&view) : vti_flame_draw(&view);
    if (code)
        code = vti_cmd_error("flame", code);
out:
    vti_flame_fini(&flame);
    vti_calls_fini(&calls);
    return code;
}

static int run(int argc, char **argv)
{
    struct request request = {.options = {.least_share = SHARE}};
    int code = take_arguments(&request, argc, argv);

    return code ? code : vti_reading_do("flame", request.file, show, &request);
}

const struct vti_command vti_cmd_flame = {
    .name = "flame",
    .summary = "a flame graph in the terminal: which path took the time",
    .usage = "[options] FILE",
    .about = "Draws the calls of the recording FILE, or its spans if it has no calls: each\n"
             "as wide as its share of the time, below it what it called, the longest first.\n"
             "A frame with nothing below it took the time itself; dots are frames too\n"
             "narrow to be drawn. ~ before a share: estimated from samples.",
    .options = options,
    .run = run,
};
