/* cmd_import.c - venturi import: a file of another profiler or tracer becomes a recording. */
#include "analyze/lines.h"
#include "analyze/profile.h"
#include "base/bytes.h"
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

static uint64_t count_lines(const char *output)
{
    const struct vti_lines_options what = {0};
    struct vti_lines lines;
    uint64_t count = 0;

    if (vti_lines_open(&lines, output, &what))
        return 0;
    for (size_t i = 0; i < lines.function_count; i++)
        count += lines.functions[i].line_count;
    vti_lines_fini(&lines);
    return count;
}

/* What there is of it; a profile has calls (or samples) instead of events. */
static void say_what_there_is(const char *output, const struct vti_writer_stats *stats)
{
    const struct vti_calls_options all = {.is_merged = true, .track = VT_NONE, .process = VT_NONE};
    struct vti_profile profile;
    uint64_t calls = 0, samples = 0, lines = 0, all_of_it;
    char bytes[VTI_NUMBER_BYTES];
    char count[VTI_NUMBER_BYTES];

    if (!stats->events && !vti_profile_open(&profile, output, &all)) {
        for (size_t i = 0; i < profile.row_count; i++) {
            calls = vti_add_capped(calls, profile.rows[i].numbers.calls);
            samples = vti_add_capped(samples, profile.rows[i].samples);
        }
        vti_profile_fini(&profile);
    }
    if (!stats->events && !calls && !samples)
        lines = count_lines(output);
    all_of_it = calls ? calls : samples ? samples : lines ? lines : stats->events;
    vti_text_count(count, all_of_it);
    vti_cmd_say("%s  %s, %s %s%s", output, vti_text_bytes(bytes, stats->bytes), count,
                calls     ? "call"
                : samples ? "sample"
                : lines   ? "line"
                          : "event",
                all_of_it == 1 ? "" : "s");
}

static int run(int argc, char **argv)
{
    struct vti_import import = {.is_stopped = vti_stop_asked};
    const struct vti_place places[] = {
        [OPT_FORMAT] = {.text = &import.format},
        [OPT_OUTPUT] = {.text = &import.output},
        [OPT_FORCE] = {.is_set = &import.force},
    };
    struct vti_import_result result;
    int code = vti_args_collect(&vti_cmd_import, argc, argv, places, &import.path, 1, "one FILE");

    if (code)
        return code;
    if (!import.path)
        return vti_cmd_fail("import", "which FILE? A profile of Python, a Chrome trace, a trace "
                                      "log, samples of perf, stacks");
    if (!import.output || !strcmp(import.output, "-"))
        return vti_cmd_fail("import", "where to? -o OUT");
    if (vti_file_is_same(import.path, import.output))
        return vti_cmd_fail("import", "%s: is the input, so it cannot be the output too",
                            import.output);
    vti_stop_watch(NULL);
    code = vti_import(&import, &result);
    vti_stop_end();
    if (code)
        return vti_cmd_error("import", code);
    if (result.note[0])
        vti_cmd_warn("import", "%s: %s", import.path, result.note);
    say_what_there_is(import.output, &result.file);
    return VTI_EXIT_OK;
}

const struct vti_command vti_cmd_import = {
    .name = "import",
    .summary = "a file of another profiler or tracer, as a recording",
    .usage = "[options] FILE -o OUT",
    .about = "Writes a recording of what is in FILE: a profile that cProfile (.prof) or\n"
             "line_profiler (.lprof) wrote, a trace in Chrome's JSON, samples as `perf script`\n"
             "prints them, a trace log of osprofiler (as in Mistral) or its report in JSON, or\n"
             "the collapsed stacks of flame graphs, in microseconds. OUT appears when it is\n"
             "whole.",
    .options = options,
    .run = run,
};
