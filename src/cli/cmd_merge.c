/* cmd_merge.c - venturi merge: several recordings become one. */
#include "base/error.h"
#include "cli/cmd.h"
#include "cli/importing.h"
#include "cli/quantity.h"
#include "cli/reading.h"
#include "cli/render.h"
#include "cli/stop.h"
#include "export/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_OUTPUT, OPT_FORCE, OPT_OFFSET };

static const struct vti_option options[] = {
    [OPT_OUTPUT] = {'o', "output", "OUT", "the recording to write"},
    [OPT_FORCE] = {'f', "force", NULL, "replace OUT if it exists"},
    [OPT_OFFSET] = {0, "offset", "N=TIME", "add TIME to the wall clock of the Nth FILE: 2=-1.5ms"},
    {0},
};

extern const struct vti_command vti_cmd_merge;

struct request {
    struct vti_merge_input *inputs; /* owned; room for all arguments */
    size_t count;
    const char **offsets; /* owned; as given */
    size_t offset_count;
    const char *output;
    bool force;
};

static int take_arguments(struct request *request, int argc, char **argv)
{
    struct vti_args args;
    const char *value;
    int option;

    vti_args_init(&args, &vti_cmd_merge, argc, argv);
    while ((option = vti_args_next(&args, &value)) != VTI_OPT_DONE) {
        switch (option) {
        case OPT_OUTPUT:
            request->output = value;
            break;
        case OPT_FORCE:
            request->force = true;
            break;
        case OPT_OFFSET:
            request->offsets[request->offset_count++] = value;
            break;
        case VTI_OPT_OPERAND:
            request->inputs[request->count++].path = value;
            break;
        default:
            return VTI_EXIT_BAD;
        }
    }
    if (!request->count)
        return vti_cmd_fail("merge", "which FILEs? The recordings to merge");
    for (size_t i = 0; i < request->count; i++)
        if (vti_reading_check("merge", request->inputs[i].path))
            return VTI_EXIT_BAD;
    if (!request->output)
        return vti_cmd_fail("merge", "where to? -o OUT");
    return 0;
}

/* "2=-1.5ms" */
static int take_offset(struct request *request, const char *text)
{
    struct vti_merge_input *input;
    unsigned long at;
    const char *time;
    char *end;
    int64_t ns;

    errno = 0;
    at = strtoul(text, &end, 10);
    time = end + 1;
    if (errno || end == text || *end != '=' ||
        !vti_parse_duration(time + (*time == '-' || *time == '+'), &ns))
        return vti_cmd_fail("merge", "--offset: '%s' is not like 2=-1.5ms", text);
    if (at < 1 || at > request->count)
        return vti_cmd_fail("merge", "--offset %s: there are %zu FILEs", text, request->count);
    if (at == 1)
        return vti_cmd_fail("merge",
                            "--offset %s: times count from the first FILE, shift the others", text);
    input = &request->inputs[at - 1];
    input->has_offset = true;
    input->offset_ns = *time == '-' ? -ns : ns;
    return 0;
}

static void warn(const char *text, void *arg)
{
    (void)arg;
    vti_cmd_warn("merge", "%s", text);
}

/* Trace logs too; reading one ends the watch for signals. */
static int open_input(const char *path, vt_recording **recording)
{
    int code = vti_importing_open("merge", path, recording);

    vti_stop_watch(NULL);
    return code;
}

static int merge(struct request *request)
{
    struct vti_merge merge = {.inputs = request->inputs,
                              .count = request->count,
                              .output = request->output,
                              .force = request->force,
                              .open = open_input,
                              .warn = warn,
                              .is_stopped = vti_stop_asked};
    struct vti_writer_stats stats;
    char bytes[VTI_NUMBER_BYTES];
    char events[VTI_NUMBER_BYTES];
    int code = 0;

    for (size_t i = 0; i < request->offset_count && !code; i++)
        code = take_offset(request, request->offsets[i]);
    if (code)
        return code;
    vti_stop_watch(NULL);
    code = vti_merge(&merge, &stats);
    if (code)
        return vti_cmd_error("merge", code);
    fprintf(stderr, "venturi: %s  %s, %s events, %llu lost\n", request->output,
            vti_text_bytes(bytes, stats.bytes), vti_text_count(events, stats.events),
            (unsigned long long)stats.lost_events);
    return VTI_EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct request request = {.inputs = calloc((size_t)argc, sizeof *request.inputs),
                              .offsets = calloc((size_t)argc, sizeof *request.offsets)};
    int code = VTI_E_NOMEM;

    if (!request.inputs || !request.offsets)
        code = vti_cmd_error("merge", code);
    else
        code = take_arguments(&request, argc, argv);
    if (!code)
        code = merge(&request);
    free(request.inputs);
    free(request.offsets);
    vti_stop_end();
    return code;
}

const struct vti_command vti_cmd_merge = {
    .name = "merge",
    .summary = "several recordings become one",
    .usage = "[options] FILE... -o OUT",
    .about = "Puts recordings of several processes, runs or hosts on one time line. Each\n"
             "keeps its own clock; clock links in the recordings are applied. Recordings of\n"
             "different hosts without a link are aligned by their wall clocks; --offset\n"
             "corrects that. Damaged parts are left out and counted as lost.",
    .options = options,
    .run = run,
};
