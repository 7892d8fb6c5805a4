/*
 * cmd_lines.c - venturi lines: the lines of functions, of recordings or of files of line_profiler, as
 * line_profiler prints them.
 */
#include "base/error.h"
#include "base/file.h"
#include "cli/cmd.h"
#include "cli/lines_render.h"
#include "cli/reading.h"
#include "cli/render.h"
#include "format/layout.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPERANDS 64
#define NAMED_MOST 20

enum {
    OPT_UNIT,
    OPT_SKIP,
    OPT_SORT,
    OPT_SUMMARY,
    OPT_RICH,
    OPT_COMPAT,
    OPT_RAW,
    OPT_THREADS,
    OPT_COLUMNS,
    OPT_CALLEES,
    OPT_JSON,
};

static const struct vti_option options[] = {
    [OPT_UNIT] = {'u', "unit", "SECONDS", "unit of the times (default 1e-6)"},
    [OPT_SKIP] = {'z', "skip-zero", NULL, "hide functions that were not called"},
    [OPT_SORT] = {'t', "sort", NULL, "sort functions by their time, the longest last"},
    [OPT_SUMMARY] = {'m', "summarize", NULL, "a line for each function at the end"},
    [OPT_RICH] = {'r', "rich", NULL, "colours, on a terminal (FORCE_COLOR=1: always)"},
    [OPT_COMPAT] = {0, "compat", NULL, "count line events, not statements"},
    [OPT_RAW] = {0, "raw", NULL, "times as measured, with Venturi's own cost left in"},
    [OPT_THREADS] = {0, "threads", NULL, "a table for each thread"},
    [OPT_COLUMNS] = {0, "columns", "LIST", "more columns: min,max,await,events,p50,p99, …"},
    [OPT_CALLEES] = {0, "callees", NULL, "what each line called, under it"},
    [OPT_JSON] = {0, "json", NULL, "write JSON"},
    {0},
};

extern const struct vti_command vti_cmd_lines;

struct request {
    const char *unit, *columns;
    bool skips_empty, is_sorted, has_summary, is_rich, has_callees, is_json;
    struct vti_lines_options what;
    const char *operands[OPERANDS + 1];
    const char *files[OPERANDS + 1];
    const char *names[OPERANDS + 1];
    size_t file_count, name_count;
};

/* ---- arguments ------------------------------------------------------------------------------- */

static bool has_ending(const char *word, const char *ending)
{
    size_t len = strlen(word), end = strlen(ending);

    return len > end && !strcmp(word + len - end, ending);
}

/* A file by its ending or by what it begins with; a program that is called like a function is none. */
static bool is_file(const char *word)
{
    struct vti_file_header header;
    struct vti_mapping map;
    bool result;

    if (has_ending(word, ".vt") || has_ending(word, ".lprof"))
        return true;
    if (access(word, F_OK) || vti_mapping_open(&map, word))
        return false;
    result = vti_file_header_parse(map.data, map.size, &header) != VTI_E_NOT_RECORDING ||
             vti_lines_is_lprof(map.data, map.size);
    vti_mapping_close(&map);
    return result;
}

static int take_arguments(struct request *request, int argc, char **argv)
{
    const struct vti_place places[] = {
        [OPT_UNIT] = {.text = &request->unit},
        [OPT_SKIP] = {.is_set = &request->skips_empty},
        [OPT_SORT] = {.is_set = &request->is_sorted},
        [OPT_SUMMARY] = {.is_set = &request->has_summary},
        [OPT_RICH] = {.is_set = &request->is_rich},
        [OPT_COMPAT] = {.is_set = &request->what.is_compat},
        [OPT_RAW] = {.is_set = &request->what.is_raw},
        [OPT_THREADS] = {.is_set = &request->what.is_apart},
        [OPT_COLUMNS] = {.text = &request->columns},
        [OPT_CALLEES] = {.is_set = &request->has_callees},
        [OPT_JSON] = {.is_set = &request->is_json},
    };
    int code = vti_args_collect(&vti_cmd_lines, argc, argv, places, request->operands, OPERANDS,
                                "64 FILEs and FUNCs");

    if (code)
        return code;
    if (!request->operands[0])
        return vti_cmd_fail("lines", "which FILE? A recording (.vt) or a line profile (.lprof)");
    code = vti_reading_check("lines", request->operands[0]);
    if (code)
        return code;
    for (size_t i = 0; request->operands[i]; i++) {
        if (!i || is_file(request->operands[i]))
            request->files[request->file_count++] = request->operands[i];
        else
            request->names[request->name_count++] = request->operands[i];
    }
    return 0;
}

static int take_unit(const char *text, double *unit_s)
{
    char *end;

    *unit_s = 1e-6;
    if (!text)
        return 0;
    errno = 0;
    *unit_s = strtod(text, &end);
    if (errno || end == text || *end || !isfinite(*unit_s) || !(*unit_s > 0))
        return vti_cmd_fail("lines", "--unit %s: not a number of seconds like 1e-6 or 0.001", text);
    return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int load(struct vti_lines *lines, const struct request *request)
{
    int code = vti_lines_open(lines, request->files[0], &request->what);

    for (size_t i = 1; i < request->file_count && !code; i++) {
        struct vti_lines more;

        code = vti_lines_open(&more, request->files[i], &request->what);
        if (code) {
            vti_lines_fini(lines);
            return code;
        }
        code = vti_lines_add(lines, &more);
        vti_lines_fini(&more);
        if (code)
            vti_lines_fini(lines);
    }
    return code;
}

/* Whether lines of C were counted, which then could not be named. */
static bool has_counters(const vt_recording *recording)
{
    struct vt_track_info track;

    for (uint32_t i = 0; vt_recording_track(recording, i, &track); i++)
        if (!strcmp(track.name, VTI_TRACK_OF_COUNTERS))
            return true;
    return false;
}

/* Whether functions of C were recorded, or none of Python in a program that is no Python. */
static bool is_about_c(const vt_recording *recording)
{
    struct vt_recording_info info;
    struct vt_site_info site;
    const char *program;
    bool has_python = false;

    for (uint32_t i = 0; vt_recording_site(recording, i, &site); i++) {
        if (site.type == VT_SITE_FUNCTION && !strcmp(site.unit, "c"))
            return true;
        has_python |= site.type == VT_SITE_FUNCTION && !strcmp(site.unit, "python");
    }
    vt_recording_info(recording, &info);
    program = info.command;
    for (const char *at = program; *at && *at != ' '; at++)
        if (*at == '/')
            program = at + 1;
    return !has_python && *program && strncmp(program, "python", 6) && strncmp(program, "pypy", 4);
}

/* Nothing to show: why, and what to do about it. */
static int say_empty(const struct request *request, const struct vti_lines *lines)
{
    const char *file = request->files[0];
    vt_recording *recording;
    int code;

    if (lines->is_file)
        return vti_cmd_fail("lines", "%s: holds no functions: nothing was decorated with @profile",
                            file);
    code = vt_recording_open(&recording, file);
    if (code)
        return vti_cmd_error("lines", code);
    code = vti_reading_lacks(
        "lines", recording, "lines",
        has_counters(recording) ? ": C was counted, but the notes of its objects (.gcno) were not "
                                  "there or do not fit: compile with `venturi cc -l`, run again"
        : lines->has_lines_on ? ": no function that is profiled was called while recording was on "
                                "(put @profile above one that is, or run -l -p MODULE)"
        : is_about_c(recording)
            ? ": it was recorded without -l, or paused, or not compiled for it (`venturi cc -l`, "
              "then `venturi run -l`; of Python @profile or -p MODULE); venturi stats shows "
              "functions"
            : ": it was recorded without -l, or paused, or nothing had @profile "
              "(venturi run -l, -p MODULE); venturi stats shows functions");
    vt_recording_close(recording);
    return code;
}

/* ---- showing --------------------------------------------------------------------------------- */

static bool wants_colours(void)
{
    const char *no = getenv("NO_COLOR"), *force = getenv("FORCE_COLOR");

    if (no && *no)
        return false;
    return (force && *force && strcmp(force, "0") != 0) ||
           *vti_terminal_style(stdout, VTI_STYLE_BOLD);
}

/* Without its text a table has no name of the function: it is said here, as many as fit into a line. */
static void name_functions(struct vti_buf *to, const struct vti_lines_view *view, const char *file)
{
    unsigned count = 0;

    for (size_t i = 0; i < view->count; i++) {
        const struct vti_lines_function *function = &view->lines->functions[view->functions[i]];

        if (strcmp(function->file, file) != 0)
            continue;
        if (count++ < NAMED_MOST)
            vti_buf_printf(to, "%s%s (line %u)", count == 1 ? "" : ", ", function->name,
                           function->line);
    }
    if (count > NAMED_MOST)
        vti_buf_printf(to, " and %u more", count - NAMED_MOST);
    vti_buf_add_u8(to, 0);
}

/* Once for each file whose text is not what ran. */
static void warn_of_sources(const struct vti_lines_view *view)
{
    for (size_t i = 0; i < view->texts.count; i++) {
        const struct vti_lines_text *text = view->texts.texts[i];

        if (text->state == VTI_TEXT_MISSING || text->state == VTI_TEXT_NO_FILE) {
            struct vti_buf names = {0};

            name_functions(&names, view, text->file);
            vti_cmd_warn("lines", "%s: %s", text->why ? text->why : text->file,
                         names.failed ? "" : (const char *)names.data);
            vti_buf_fini(&names);
        } else if (text->why)
            vti_cmd_warn("lines", "%s", text->why);
        else if (text->state == VTI_TEXT_CHANGED)
            vti_cmd_warn("lines",
                         "%s: was changed after this was recorded, its lines may be others",
                         text->file);
    }
}

/* Lines of a function that are not among those that are shown of it. */
static unsigned count_outsiders(struct vti_lines_view *view,
                                const struct vti_lines_function *function)
{
    const struct vti_lines_text *text = vti_lines_texts_find(&view->texts, view->lines, function);
    uint32_t last = text ? vti_lines_last(text, function) : UINT32_MAX;
    unsigned count = 0;

    for (size_t i = 0; i < function->line_count; i++)
        count += function->lines[i].line < function->line || function->lines[i].line > last;
    return count;
}

/* Of a .lprof only the lines of the function are shown, as line_profiler does. */
static void warn_of_outsiders(struct vti_lines_view *view)
{
    unsigned functions = 0, lines = 0;

    for (size_t i = 0; i < view->count; i++) {
        unsigned count = count_outsiders(view, &view->lines->functions[view->functions[i]]);

        functions += count > 0;
        lines += count;
    }
    if (lines)
        vti_cmd_warn("lines",
                     "%u line%s of %u function%s %s outside of what is shown: not their source any "
                     "more?",
                     lines, lines == 1 ? "" : "s", functions, functions == 1 ? "" : "s",
                     lines == 1 ? "is" : "are");
}

static bool has_line(const struct vti_lines *lines,
                     bool (*is_one)(const struct vti_lines_function *,
                                    const struct vti_lines_line *))
{
    for (size_t i = 0; i < lines->function_count; i++)
        for (size_t j = 0; j < lines->functions[i].line_count; j++)
            if (is_one(&lines->functions[i], &lines->functions[i].lines[j]))
                return true;
    return false;
}

static bool is_mixed(const struct vti_lines_function *function, const struct vti_lines_line *line)
{
    (void)function;
    return line->is_mixed;
}

static bool has_callees(const struct vti_lines_function *function,
                        const struct vti_lines_line *line)
{
    (void)function;
    return line->callee_count;
}

static void say_cost(const struct vti_lines *lines)
{
    char each[VTI_NUMBER_BYTES], all[VTI_NUMBER_BYTES], lost[64];

    snprintf(lost, sizeof lost, "%llu line%s lost", (unsigned long long)lines->lost_lines,
             lines->lost_lines == 1 ? "" : "s");
    if (lines->cost_ns > 0)
        fprintf(stderr, "venturi: %s of our own cost subtracted (%s a line), %s\n",
                vti_text_duration(all, lines->cost_ns),
                vti_text_duration(each, lines->cost_event_ns), lost);
    else if (lines->is_timed)
        fprintf(stderr, "venturi: our own cost is not subtracted, %s\n", lost);
    else if (lines->lost_lines)
        fprintf(stderr, "venturi: %s\n", lost);
}

/* How far the numbers of a recording are to be trusted. */
static void say_trust(const struct vti_lines *lines, bool is_apart)
{
    if (lines->is_file)
        return;
    if (lines->is_estimated)
        fputs("venturi: times with ~ are estimates, from samples; +/- is their standard error\n",
              stderr);
    if (has_line(lines, vti_lines_is_rough))
        fputs("venturi: exact times of C with ~ are rough: most of what was measured there was our "
              "own cost\n",
              stderr);
    if (has_line(lines, is_mixed))
        fputs("venturi: exact times of C: the compiler has mixed code of neighbouring lines (-O1 "
              "and up): read them together\n",
              stderr);
    if (is_apart && lines->has_counts)
        fputs("venturi: hits of C are counted for each process, not for each thread: they stand "
              "under (all threads)\n",
              stderr);
    if (lines->has_nameless)
        fputs("venturi: functions of C without debug info were timed: they have no table (compile "
              "with -g)\n",
              stderr);
    say_cost(lines);
}

static int show(const struct request *request, struct vti_lines_view *view)
{
    struct vti_buf out = {0};
    int code = request->is_json ? vti_lines_json(&out, view, request->files, request->file_count)
                                : vti_lines_text_tables(&out, view);

    if (!code) {
        fwrite(out.data, 1, out.len, stdout);
        fflush(stdout); /* before what goes to stderr */
        warn_of_sources(view);
        if (view->lines->is_file)
            warn_of_outsiders(view);
        if (view->lines->is_capped)
            vti_cmd_warn("lines", "numbers that are too large (above 2^63) are shown as the "
                                  "largest there is");
        if (view->has_callees && !has_line(view->lines, has_callees))
            vti_cmd_warn("lines", "what lines called was not recorded (run -l --callees does)");
        say_trust(view->lines, request->what.is_apart);
    }
    vti_buf_fini(&out);
    return code ? vti_cmd_error("lines", code) : VTI_EXIT_OK;
}

static int choose_and_show(const struct request *request, const struct vti_lines *lines,
                           struct vti_lines_view *view)
{
    int code;

    view->lines = lines;
    view->has_callees |= request->has_callees;
    view->skips_empty = request->skips_empty;
    view->has_summary = request->has_summary;
    view->is_rich = request->is_rich && wants_colours();
    view->is_terminal = isatty(STDOUT_FILENO);
    code = vti_lines_view_choose(view, request->names, request->is_sorted);
    if (code)
        return vti_cmd_error("lines", code);
    if (!lines->function_count)
        return say_empty(request, lines);
    if (!view->count)
        return vti_cmd_fail("lines", "%s: no function fits %s", request->files[0],
                            request->names[0]);
    return show(request, view);
}

static int run(int argc, char **argv)
{
    struct request request = {0};
    struct vti_lines_view view = {0};
    struct vti_lines lines;
    int code = take_arguments(&request, argc, argv);

    if (!code)
        code = take_unit(request.unit, &view.unit_s);
    if (!code && request.columns)
        code = vti_lines_columns_parse(&view, request.columns);
    if (code)
        return code;
    code = load(&lines, &request);
    if (code)
        return vti_reading_refuse("lines", request.files[0], code);
    code = choose_and_show(&request, &lines, &view);
    vti_lines_view_fini(&view);
    vti_lines_fini(&lines);
    return code;
}

const struct vti_command vti_cmd_lines = {
    .name = "lines",
    .summary = "lines of functions: hits and time, as line_profiler prints them",
    .usage = "[options] FILE… [FUNC…]",
    .about = "Shows how often each line of the profiled functions ran and how long it took,\n"
             "of recordings made with `venturi run -l`, or of what line_profiler wrote\n"
             "(.lprof); several FILEs are added up. FUNC is the name of a function, or a\n"
             "pattern (*). A statement over several lines counts once, on its first line.",
    .options = options,
    .run = run,
};
