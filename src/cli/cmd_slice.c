/* cmd_slice.c - venturi slice: a stretch of time of a recording becomes a recording of its own. */
#include "base/error.h"
#include "base/file.h"
#include "cli/cmd.h"
#include "cli/reading.h"
#include "cli/render.h"
#include "cli/stop.h"
#include "export/slice.h"

#include <stdio.h>

enum { OPT_FROM, OPT_TO, OPT_OUTPUT, OPT_FORCE };

static const struct vti_option options[] = {
    [OPT_FROM] = {0, "from", "TIME", "where it begins (default: with FILE)"},
    [OPT_TO] = {0, "to", "TIME", "where it ends (default: with FILE)"},
    [OPT_OUTPUT] = {'o', "output", "OUT", "the recording to write"},
    [OPT_FORCE] = {'f', "force", NULL, "replace OUT if it exists"},
    {0},
};

extern const struct vti_command vti_cmd_slice;

struct request {
    const char *file, *output, *from, *to;
    bool force;
};

static int take_arguments(struct request *request, int argc, char **argv)
{
    const struct vti_place places[] = {
        [OPT_FROM] = {.text = &request->from},
        [OPT_TO] = {.text = &request->to},
        [OPT_OUTPUT] = {.text = &request->output},
        [OPT_FORCE] = {.is_set = &request->force},
    };
    int code = vti_args_collect(&vti_cmd_slice, argc, argv, places, &request->file, 1, "one FILE");

    if (!code)
        code = vti_reading_check("slice", request->file);
    if (code)
        return code;
    if (!request->from && !request->to)
        return vti_cmd_fail("slice", "which part? --from TIME, --to TIME, or both");
    if (!request->output)
        return vti_cmd_fail("slice", "where to? -o OUT");
    return 0;
}

static int slice(vt_recording *recording, void *arg)
{
    const struct request *request = arg;
    struct vti_slice what = {.recording = recording,
                             .output = request->output,
                             .force = request->force,
                             .is_stopped = vti_stop_asked};
    struct vti_slice_report report;
    struct vt_filter range;
    char bytes[VTI_NUMBER_BYTES];
    char events[VTI_NUMBER_BYTES];
    char cut[VTI_NUMBER_BYTES];
    int code = vti_reading_range("slice", recording, request->from, request->to, &range);

    if (code)
        return code;
    what.from_ns = range.from_ns;
    what.to_ns = range.to_ns;
    vti_stop_watch(NULL);
    code = vti_slice(&what, &report);
    if (code)
        return vti_cmd_error("slice", code);
    fprintf(stderr, "venturi: %s  %s, %s events kept, %s cut away\n", request->output,
            vti_text_bytes(bytes, report.file.bytes), vti_text_count(events, report.file.events),
            vti_text_count(cut, report.cut_events));
    if (report.has_sums)
        vti_cmd_warn("slice",
                     "functions are left out: %s has sums of their calls over all its time",
                     request->file);
    return VTI_EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct request request = {0};
    int code = take_arguments(&request, argc, argv);

    if (code)
        return code;
    if (vti_file_is_same(request.file, request.output))
        return vti_cmd_fail("slice", "%s: is the input, so it cannot be the output too",
                            request.output);
    code = vti_reading_do("slice", request.file, slice, &request);
    vti_stop_end();
    return code;
}

const struct vti_command vti_cmd_slice = {
    .name = "slice",
    .summary = "a stretch of time of a recording, as a recording",
    .usage = "FILE [--from TIME] [--to TIME] -o OUT",
    .about = "Writes what happened in a stretch of time to a recording of its own. Spans that\n"
             "were open when it begins keep their true begin. Times stay what they were in\n"
             "FILE. TIME counts from the start (1.5s, 300ms), as a share of the whole (10%)\n"
             "or, with a minus, from the end (-2s).",
    .options = options,
    .run = run,
};
