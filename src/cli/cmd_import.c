/* cmd_import.c - venturi import: a file of another profiler or tracer becomes a recording. */
#include "base/error.h"
#include "base/file.h"
#include "cli/cmd.h"
#include "cli/render.h"
#include "cli/stop.h"
#include "import/import.h"

#include <stdio.h>
#include <string.h>

#define VTI_IMPORTER(name) "|" #name
static const char formats[] =
#include "import/importers.def"
    ;
#undef VTI_IMPORTER

enum { OPT_FORMAT, OPT_OUTPUT, OPT_FORCE };

static const struct vti_option options[] = {
    [OPT_FORMAT] = {'f', "format", formats + 1, "what FILE is (default: see for yourself)"},
    [OPT_OUTPUT] = {'o', "output", "OUT", "the recording to write"},
    [OPT_FORCE] = {0, "force", NULL, "replace OUT if it exists"},
    {0},
};

extern const struct vti_command vti_cmd_import;

static int run(int argc, char **argv)
{
    struct vti_import import = {.is_stopped = vti_stop_asked};
    const struct vti_place places[] = {
        [OPT_FORMAT] = {.text = &import.format},
        [OPT_OUTPUT] = {.text = &import.output},
        [OPT_FORCE] = {.is_set = &import.force},
    };
    struct vti_writer_stats stats;
    char bytes[VTI_NUMBER_BYTES];
    char events[VTI_NUMBER_BYTES];
    int code = vti_args_collect(&vti_cmd_import, argc, argv, places, &import.path, 1, "one FILE");

    if (code)
        return code;
    if (!import.path)
        return vti_cmd_fail(
            "import", "which FILE? A profile of Python, a Chrome trace, samples of perf, stacks");
    if (!import.output || !strcmp(import.output, "-"))
        return vti_cmd_fail("import", "where to? -o OUT");
    if (vti_file_is_same(import.path, import.output))
        return vti_cmd_fail("import", "%s: is the input, so it cannot be the output too",
                            import.output);
    vti_stop_watch(NULL);
    code = vti_import(&import, &stats);
    vti_stop_end();
    if (code)
        return vti_cmd_error("import", code);
    fprintf(stderr, "venturi: %s  %s, %s events\n", import.output,
            vti_text_bytes(bytes, stats.bytes), vti_text_count(events, stats.events));
    return VTI_EXIT_OK;
}

const struct vti_command vti_cmd_import = {
    .name = "import",
    .summary = "a file of another profiler or tracer, as a recording",
    .usage = "[options] FILE -o OUT",
    .about = "Writes a recording of what is in FILE: a profile that cProfile wrote (.prof), a\n"
             "trace in Chrome's JSON, samples as `perf script` prints them, or the collapsed\n"
             "stacks of flame graphs, in microseconds. OUT appears when it is whole.",
    .options = options,
    .run = run,
};
