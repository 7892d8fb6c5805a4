/*
 * cmd_stats.c - venturi stats: the table of functions of a recording or of a file of cProfile, as pstats
 * prints it.
 */
#include "analyze/overview.h"
#include "base/error.h"
#include "cli/cmd.h"
#include "cli/reading.h"
#include "cli/render.h"
#include "cli/stats.h"
#include "import/import.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RESTRICTIONS 16

enum {
    OPT_SORT,
    OPT_REVERSE,
    OPT_LIMIT,
    OPT_CALLERS,
    OPT_CALLEES,
    OPT_STRIP,
    OPT_WIDE,
    OPT_THREAD,
    OPT_PROCESS,
    OPT_RAW,
    OPT_JSON,
};

static const struct vti_option options[] = {
    [OPT_SORT] = {'s', "sort", "KEY", "what decides the order (cumulative); a,b for two"},
    [OPT_REVERSE] = {'r', "reverse", NULL, "the other way round"},
    [OPT_LIMIT] = {'n', "limit", "N", "show the first N functions"},
    [OPT_CALLERS] = {0, "callers", "F", "show who called the functions that fit F"},
    [OPT_CALLEES] = {0, "callees", "F", "show what the functions that fit F called"},
    [OPT_STRIP] = {0, "strip-dirs", NULL, "cut the folders off the files"},
    [OPT_WIDE] = {'w', "wide", NULL, "other columns: min, p50, p99, max, resumes, suspended"},
    [OPT_THREAD] = {'t', "thread", "T", "one thread of a recording: its name or number"},
    [OPT_PROCESS] = {'p', "process", "P", "one process of a recording: its pid"},
    [OPT_RAW] = {0, "raw", NULL, "times as measured, with Venturi's own cost left in"},
    [OPT_JSON] = {0, "json", NULL, "write JSON"},
    {0},
};

extern const struct vti_command vti_cmd_stats;

struct request {
    const char *file, *sort, *limit, *callers, *callees, *thread, *process;
    bool is_reversed, is_stripped, is_wide, is_raw, is_json;
    const char *operands[RESTRICTIONS + 1]; /* FILE, restrictions */
};

static int take_arguments(struct request *request, int argc, char **argv)
{
    const struct vti_place places[] = {
        [OPT_SORT] = {.text = &request->sort},
        [OPT_REVERSE] = {.is_set = &request->is_reversed},
        [OPT_LIMIT] = {.text = &request->limit},
        [OPT_CALLERS] = {.text = &request->callers},
        [OPT_CALLEES] = {.text = &request->callees},
        [OPT_STRIP] = {.is_set = &request->is_stripped},
        [OPT_WIDE] = {.is_set = &request->is_wide},
        [OPT_THREAD] = {.text = &request->thread},
        [OPT_PROCESS] = {.text = &request->process},
        [OPT_RAW] = {.is_set = &request->is_raw},
        [OPT_JSON] = {.is_set = &request->is_json},
    };
    size_t limit;
    int code = vti_args_collect(&vti_cmd_stats, argc, argv, places, request->operands,
                                RESTRICTIONS + 1, "one FILE and 16 RESTRICTIONs");

    request->file = request->operands[0];
    if (!code && !request->file)
        return vti_cmd_fail("stats", "which FILE? A recording (.vt) or a profile (.prof)");
    if (!code && request->limit)
        code = vti_args_limit("stats", request->limit, 0, &limit);
    if (!request->sort)
        request->sort = "cumulative";
    return code;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int find_process(const char *wanted, const vt_recording *recording, uint32_t *id)
{
    struct vt_process_info process;
    char *end;
    unsigned long pid = strtoul(wanted, &end, 10);

    for (uint32_t i = 0; end != wanted && !*end && vt_recording_process(recording, i, &process);
         i++)
        if (process.pid == pid) {
            *id = process.id;
            return 0;
        }
    return vti_cmd_fail("stats", "--process: no process has the number '%s', see venturi info",
                        wanted);
}

/* ---- showing --------------------------------------------------------------------------------- */

/* How far the numbers of a recording are to be trusted. */
static void say_trust(const struct vti_stats_sums *sums)
{
    char each[VTI_NUMBER_BYTES];
    char all[VTI_NUMBER_BYTES];
    const char *least = sums->has_unseen ? "at least " : "";

    if (sums->has_unseen)
        fputs(
            "venturi: while a thread was too deep in recursion the calls of others were not seen\n",
            stderr);
    if (sums->is_estimated)
        fputs("venturi: times with ~ are estimates, from samples of native stacks\n", stderr);
    if (sums->is_estimated && !sums->calls)
        return;
    if (sums->cost_s > 0)
        fprintf(stderr, "venturi: %s of our own cost subtracted (%s a call), %s%llu calls lost\n",
                vti_text_duration(all, sums->cost_s * 1e9),
                vti_text_duration(each, sums->cost_call_s * 1e9), least,
                (unsigned long long)sums->lost_calls);
    else
        fprintf(stderr, "venturi: our own cost is not subtracted, %s%llu calls lost\n", least,
                (unsigned long long)sums->lost_calls);
}

/* As pstats begins: when the file was written, and its name. */
static void write_title(struct vti_buf *title, const char *file)
{
    char when[64];
    struct stat status;

    if (!stat(file, &status) && ctime_r(&status.st_mtime, when))
        vti_buf_printf(title, "%.*s    ", (int)strcspn(when, "\n"), when);
    vti_buf_add_text(title, file);
    vti_buf_add_u8(title, 0);
}

static int print(const struct vti_buf *text)
{
    struct vti_buf safe = {0};

    if (text->failed)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (isatty(STDOUT_FILENO))
        vti_text_safe_lines(&safe, (const char *)text->data, text->len);
    else
        vti_buf_add(&safe, text->data, text->len);
    fwrite(safe.data, 1, safe.len, stdout);
    fflush(stdout); /* before what goes to stderr */
    vti_buf_fini(&safe);
    return 0;
}

static int restrict_list(struct vti_stats_list *list, const struct request *request,
                         const char *function)
{
    int code = function ? vti_stats_list_restrict(list, function) : 0;

    for (int i = 1; !code && i <= RESTRICTIONS && request->operands[i]; i++)
        code = vti_stats_list_restrict(list, request->operands[i]);
    if (!code && request->limit)
        code = vti_stats_list_restrict(list, request->limit);
    return code;
}

enum view { TABLE, CALLERS, CALLEES };

static int show(const struct request *request, const struct vti_profile *profile,
                const struct vti_stats_sums *sums, enum view view)
{
    const char *functions[] = {NULL, request->callers, request->callees};
    struct vti_stats_list list;
    struct vti_buf title = {0};
    struct vti_buf out = {0};
    int code = vti_stats_list_make(&list, profile, request->sort, request->is_reversed);

    if (!code)
        code = restrict_list(&list, request, functions[view]);
    if (!code && !list.count && list.all)
        vti_cmd_warn("stats", "no function fits %s",
                     functions[view] ? functions[view] : "the restrictions");
    write_title(&title, request->file);
    if (code)
        ;
    else if (request->is_json)
        vti_stats_json(&out, &list, sums, request->file);
    else if (view == CALLERS)
        code = vti_stats_text_callers(&out, &list);
    else if (view == CALLEES)
        code = vti_stats_text_callees(&out, &list);
    else if (request->is_wide)
        code = vti_stats_wide(&out, &list, vti_terminal_width(stdout));
    else
        vti_stats_text_table(&out, &list, sums, title.failed ? "" : (const char *)title.data);
    if (!code)
        code = print(&out);
    vti_stats_list_free(&list);
    vti_buf_fini(&title);
    vti_buf_fini(&out);
    return code;
}

static int show_all(const struct request *request, struct vti_profile *profile)
{
    bool is_ours = !profile->is_imported;
    struct vti_stats_sums sums;
    int code = 0;

    vti_stats_sum(&sums, profile);
    if (request->is_stripped)
        code = vti_profile_strip(profile);
    if (!code && ((!request->callers && !request->callees) || request->is_json))
        code = show(request, profile, &sums, TABLE);
    if (!code && request->callers && !request->is_json)
        code = show(request, profile, &sums, CALLERS);
    if (!code && request->callees && !request->is_json)
        code = show(request, profile, &sums, CALLEES);
    if (!code && sums.out_of_range)
        vti_cmd_warn("stats", "%s: " VTI_OUT_OF_RANGE, request->file,
                     (unsigned long long)sums.out_of_range, sums.out_of_range == 1 ? "" : "s");
    if (!code && is_ours)
        say_trust(&sums);
    vti_buf_fini(&sums.top);
    return code ? vti_cmd_error("stats", code) : VTI_EXIT_OK;
}

static void warn_about_processes(const vt_recording *recording, const char *file)
{
    struct vti_losses losses;

    if (vti_losses_query(recording, &losses))
        return;
    if (losses.missing_processes)
        vti_cmd_warn("stats", "%s: " VTI_MISSING_PROCESSES, file,
                     (unsigned long long)losses.missing_processes);
    vti_losses_free(&losses);
}

static int show_recording(vt_recording *recording, void *arg)
{
    const struct request *request = arg;
    struct vti_calls_options what = {
        .is_raw = request->is_raw, .is_merged = true, .track = VT_NONE, .process = VT_NONE};
    struct vti_profile profile;
    int code = 0;

    if (request->thread)
        code = vti_reading_thread("stats", request->thread, recording, &what.track);
    if (!code && request->process)
        code = find_process(request->process, recording, &what.process);
    if (code)
        return code;
    code = vti_profile_load(&profile, recording, &what);
    if (code)
        return vti_cmd_error("stats", code);
    if (profile.row_count)
        code = show_all(request, &profile);
    if (profile.row_count && !code) {
        warn_about_processes(recording, request->file);
        vti_reading_warn_of_open("stats", recording, "calls");
    }
    if (!profile.row_count)
        code = vti_reading_lacks("stats", recording, "calls of functions",
                                 vti_reading_has_lines(recording)
                                     ? " (venturi lines shows its lines)"
                                     : " (venturi report shows its spans)");
    vti_profile_fini(&profile);
    return code;
}

static int show_pstats(const struct request *request)
{
    struct vti_profile profile;
    int code;

    if (request->thread || request->process)
        return vti_cmd_fail("stats", "%s: is no recording: it knows no threads and processes",
                            request->file);
    code = vti_profile_open(&profile, request->file, NULL);
    if (code)
        return vti_reading_refuse("stats", request->file, code);
    code = show_all(request, &profile);
    vti_profile_fini(&profile);
    return code;
}

static int run(int argc, char **argv)
{
    struct request request = {0};
    int code = take_arguments(&request, argc, argv);

    if (!code)
        code = vti_reading_refuse_folder("stats", request.file);
    if (code)
        return code;
    if (vti_profile_is_recording(request.file) || vti_import_is_direct(request.file))
        return vti_reading_do("stats", request.file, show_recording, &request);
    return show_pstats(&request);
}

const struct vti_command vti_cmd_stats = {
    .name = "stats",
    .summary = "the functions of a program: calls, own and cumulative time",
    .usage = "[options] FILE [RESTRICTION…]",
    .about = "Shows the functions of a recording or of a profile that cProfile wrote, as\n"
             "pstats does. A RESTRICTION is a number of functions (20), a share of them\n"
             "(0.1) or a regular expression; they are applied one after the other. KEY is\n"
             "calls, cumulative, filename, line, name, nfl, pcalls, stdname, time, none.",
    .options = options,
    .run = run,
};
