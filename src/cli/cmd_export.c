/* cmd_export.c - venturi export: a recording in a format that other tools read. */
#include "analyze/tasks.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/cmd.h"
#include "cli/reading.h"
#include "cli/render.h"
#include "cli/stop.h"
#include "export/export.h"
#include "model/step_log.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VTI_EXPORTER(name) "|" #name
static const char formats[] =
#include "export/exporters.def"
    ;
#undef VTI_EXPORTER

enum { OPT_FORMAT, OPT_OUTPUT, OPT_FORCE, OPT_FROM, OPT_TO, OPT_COMPAT, OPT_LIST };

static const struct vti_option options[] = {
    [OPT_FORMAT] = {'f', "format", formats + 1, "what to write (default: by the ending of OUT)"},
    [OPT_OUTPUT] = {'o', "output", "OUT", "where to (default: standard output)"},
    [OPT_FORCE] = {0, "force", NULL, "replace OUT if it exists"},
    [OPT_FROM] = {0, "from", "TIME", "leave out what ended before TIME"},
    [OPT_TO] = {0, "to", "TIME", "leave out what began after TIME"},
    [OPT_COMPAT] = {0, "compat", NULL, "lprof: count line events, not statements"},
    [OPT_LIST] = {0, "list", NULL, "list the formats, with what reads them"},
    {0},
};

extern const struct vti_command vti_cmd_export;

struct request {
    const char *file, *format, *output, *from, *to;
    bool force, is_compat, wants_list;
    const struct vti_exporter *exporter;
};

static int take_arguments(struct request *request, int argc, char **argv)
{
    const struct vti_place places[] = {
        [OPT_FORMAT] = {.text = &request->format},
        [OPT_OUTPUT] = {.text = &request->output},
        [OPT_FORCE] = {.is_set = &request->force},
        [OPT_FROM] = {.text = &request->from},
        [OPT_TO] = {.text = &request->to},
        [OPT_COMPAT] = {.is_set = &request->is_compat},
        [OPT_LIST] = {.is_set = &request->wants_list},
    };

    return vti_args_collect(&vti_cmd_export, argc, argv, places, &request->file, 1, "one FILE");
}

static bool has_ending(const char *path, const char *ending)
{
    size_t len = strlen(path);
    size_t more = strlen(ending);

    return len > more && path[len - more - 1] == '.' && !strcmp(path + len - more, ending);
}

/* By name, or by the ending of the output's name: the longest that fits, x.speedscope.json is not json. */
static const struct vti_exporter *find_exporter(const struct request *request)
{
    const struct vti_exporter *found = NULL;

    if (request->format)
        return vti_exporter_find(request->format);
    for (int i = 0; request->output && vti_exporters[i]; i++)
        if (has_ending(request->output, vti_exporters[i]->extension) &&
            (!found || strlen(vti_exporters[i]->extension) > strlen(found->extension)))
            found = vti_exporters[i];
    return found;
}

static int check_request(struct request *request)
{
    int code = vti_reading_check("export", request->file);

    if (code)
        return code;
    request->exporter = find_exporter(request);
    if (!request->exporter)
        return vti_cmd_fail("export", "which format? -f %s", formats + 1);
    if (request->is_compat && strcmp(request->exporter->name, "lprof") != 0)
        return vti_cmd_fail("export", "--compat: is for lines, so it needs -f lprof");
    if (!request->output)
        request->output = "-";
    if (vti_file_is_same(request->file, request->output))
        return vti_cmd_fail("export", "%s: is the input, so it cannot be the output too",
                            request->output);
    if (request->exporter->is_binary && !strcmp(request->output, "-") && isatty(STDOUT_FILENO))
        return vti_cmd_fail("export", "%s is binary, not for a terminal: use -o FILE",
                            request->exporter->name);
    return 0;
}

static int print_list(void)
{
    static const struct vti_column columns[] = {
        {"Format", VTI_LEFT}, {"Ending", VTI_LEFT}, {"What", VTI_LEFT}};
    struct vti_table *table;
    int code = vti_table_create(&table, columns, 3);

    for (int i = 0; !code && vti_exporters[i]; i++) {
        vti_table_text(table, vti_exporters[i]->name);
        vti_table_printf(table, ".%s", vti_exporters[i]->extension);
        vti_table_text(table, vti_exporters[i]->summary);
    }
    if (!code) {
        code = vti_table_print(table, stdout);
        vti_table_free(table);
    }
    return code ? vti_cmd_error("export", code) : VTI_EXIT_OK;
}

static int write_output(void *arg, const void *bytes, size_t count)
{
    if (vti_stop_asked())
        return vti_fail(VTI_E_TIMEOUT, "interrupted, nothing written");
    return vti_output_write(arg, bytes, count);
}

/* Whole lines, in which nothing may steer the terminal. */
static int write_terminal(void *arg, const void *bytes, size_t count)
{
    struct vti_buf safe = {0};
    int code;

    vti_text_safe_lines(&safe, bytes, count);
    code = safe.failed ? vti_fail(VTI_E_NOMEM, "out of memory")
                       : write_output(arg, safe.data, safe.len);
    vti_buf_fini(&safe);
    return code;
}

static bool has_tasks(vt_recording *recording)
{
    struct vti_tasks tasks;
    bool has_some = !vti_tasks_load(recording, &tasks) && tasks.task_count;

    vti_tasks_free(&tasks);
    return has_some;
}

/* A file in which nothing is, is what was asked for; but whoever asked expects something else. */
static void warn_if_empty(const struct request *request, vt_recording *recording)
{
    struct vt_recording_info info;

    vt_recording_info(recording, &info);
    if (!request->exporter->is_of_events || info.event_count)
        return;
    if (request->exporter->is_of_tasks && has_tasks(recording))
        return;
    if (request->exporter->is_of_steps && vti_steps_are_there(recording))
        return;
    if (vti_steps_are_there(recording))
        vti_cmd_warn("export",
                     "%s: holds no spans, but steps (-f steps, jsonl, chrome or perfetto)",
                     request->file);
    else
        vti_cmd_warn("export",
                     "%s: holds no spans (functions: -f pstats, collapsed, speedscope, pprof or "
                     "callgrind; with `run --timeline` they are spans)",
                     request->file);
}

static int export(vt_recording *recording, void *arg)
{
    const struct request *request = arg;
    struct vti_export_options what = {.is_compat = request->is_compat};
    struct vti_output *output = NULL;
    struct vti_sink sink;
    bool is_terminal = !strcmp(request->output, "-") && isatty(STDOUT_FILENO);
    int code = vti_reading_range("export", recording, request->from, request->to, &what.range);

    if (code)
        return code;
    vti_stop_watch(NULL);
    code = vti_output_open(&output, request->output, request->force, false);
    if (code)
        return vti_cmd_error("export", code);
    warn_if_empty(request, recording);
    sink = (struct vti_sink){is_terminal ? write_terminal : write_output, output};
    code = request->exporter->run(recording, &what, &sink);
    if (!code)
        code = vti_output_commit(output);
    else
        vti_output_abandon(output);
    return code ? vti_cmd_error("export", code) : VTI_EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct request request = {0};
    int code = take_arguments(&request, argc, argv);

    if (code)
        return code;
    if (request.wants_list)
        return print_list();
    code = check_request(&request);
    if (!code)
        code = vti_reading_do("export", request.file, export, &request);
    vti_stop_end();
    return code;
}

const struct vti_command vti_cmd_export = {
    .name = "export",
    .summary = "a recording in a format that other tools read",
    .usage = "[options] FILE [-o OUT]",
    .about = "Writes the recording FILE for another tool, in the format that -f or the ending\n"
             "of OUT names. OUT appears when it is whole; without it, text goes to standard\n"
             "output. TIME counts from the start (1.5s, 300ms), as a share of the whole (10%)\n"
             "or, with a minus, from the end (-2s).",
    .options = options,
    .run = run,
};
