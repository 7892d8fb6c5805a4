/*
 * cmd_report.c - venturi report: the summary of a recording in the terminal. The JSON form is in
 * report_json.c.
 */
#include "cli/cmd.h"
#include "cli/reading.h"
#include "cli/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 20

enum { OPT_SORT, OPT_LIMIT, OPT_RAW, OPT_JSON };

static const struct vti_option options[] = {
    [OPT_SORT] = {0, "sort", "total|self|count|min|avg|max|p50|p99|errors|name",
                  "what decides the order (total; of functions self)"},
    [OPT_LIMIT] = {'n', "limit", "N", "show N spans and functions (20); 0 shows all"},
    [OPT_RAW] = {0, "raw", NULL, "times as measured, with Venturi's own cost left in"},
    [OPT_JSON] = {0, "json", NULL, "write JSON"},
    {0},
};

extern const struct vti_command vti_cmd_report;

struct request {
    const char *file;
    const char *sort;
    size_t limit;
    bool is_raw, is_json;
};

static int take_arguments(struct request *request, int argc, char **argv)
{
    const char *limit = NULL;
    const struct vti_place places[] = {
        [OPT_SORT] = {.text = &request->sort},
        [OPT_LIMIT] = {.text = &limit},
        [OPT_RAW] = {.is_set = &request->is_raw},
        [OPT_JSON] = {.is_set = &request->is_json},
    };
    int code = vti_args_collect(&vti_cmd_report, argc, argv, places, &request->file, 1, "one FILE");

    if (!code && limit)
        code = vti_args_limit("report", limit, 0, &request->limit);
    if (!request->limit)
        request->limit = SIZE_MAX;
    return code;
}

/* ---- order ----------------------------------------------------------------------------------- */

static const vt_recording *sorted; /* qsort has no argument for it */

static int by_name(const void *left, const void *right)
{
    const struct vt_site_stats *a = left;
    const struct vt_site_stats *b = right;
    struct vt_site_info one;
    struct vt_site_info other;

    vt_recording_site_by_id(sorted, a->site, &one);
    vt_recording_site_by_id(sorted, b->site, &other);
    return strcmp(one.name, other.name);
}

#define BY(key)                                                                                    \
    static int by_##key(const void *left, const void *right)                                       \
    {                                                                                              \
        const struct vt_site_stats *a = left;                                                      \
        const struct vt_site_stats *b = right;                                                     \
                                                                                                   \
        return a->key < b->key ? 1 : a->key > b->key ? -1 : by_name(left, right);                  \
    }
BY(total_ns)
BY(self_ns)
BY(count)
BY(min_ns)
BY(avg_ns)
BY(max_ns)
BY(p50_ns)
BY(p99_ns)
BY(errors)

static void sort(struct vti_report *report, const char *key)
{
    static const struct {
        const char *name;
        int (*compare)(const void *, const void *);
    } orders[] = {{"total", by_total_ns}, {"self", by_self_ns}, {"count", by_count},
                  {"min", by_min_ns},     {"avg", by_avg_ns},   {"max", by_max_ns},
                  {"p50", by_p50_ns},     {"p99", by_p99_ns},   {"errors", by_errors},
                  {"name", by_name}};

    sorted = report->recording;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (!strcmp(orders[i].name, key) && report->stats.site_count)
            qsort(report->stats.sites, report->stats.site_count, sizeof *report->stats.sites,
                  orders[i].compare);
}

/* ---- gathering ------------------------------------------------------------------------------- */

/* What the threads that recorded had of time, all together. */
static double thread_time(const vt_recording *recording)
{
    struct vt_track_info track;
    double ns = 0;

    for (uint32_t i = 0; vt_recording_track(recording, i, &track); i++)
        ns += (double)(track.end_ns - track.start_ns);
    return ns;
}

/* The raw figures know no cost: it is asked for beside them. */
static int gather_stats(struct vti_report *report)
{
    struct vt_stats corrected = {0};
    double ns = thread_time(report->recording);
    int code = vt_stats_query(report->recording, NULL, &corrected);

    if (code)
        return code;
    report->overhead_ns = corrected.overhead_ns;
    report->overhead_share = ns > 0 ? fmin((double)report->overhead_ns / ns, 1) : 0;
    if (!report->is_raw) {
        report->stats = corrected;
        return 0;
    }
    vt_stats_free(&corrected);
    return vti_stats_query_raw(report->recording, &report->stats);
}

/* Trees of calls, or the table of another profiler. Their cost is part of ours. */
static int gather_functions(struct vti_report *report, struct vti_calls *calls)
{
    const struct vti_calls_options options = {
        .is_raw = report->is_raw, .is_merged = true, .track = VT_NONE, .process = VT_NONE};
    double ns = thread_time(report->recording);
    int code = vti_calls_load_trees(calls, report->recording, &options);

    if (code)
        return code;
    report->overhead_ns += calls->cost_ns < ns ? (int64_t)calls->cost_ns : (int64_t)ns;
    report->overhead_share = ns > 0 ? fmin((double)report->overhead_ns / ns, 1) : 0;
    if (calls->call_count)
        return vti_profile_make(&report->functions, calls);
    code = vti_profile_load(&report->functions, report->recording, &options);
    if (!code && !report->functions.is_imported) {
        vti_profile_fini(&report->functions);
        report->functions = (struct vti_profile){0};
    }
    return code;
}

static int show(vt_recording *recording, void *arg)
{
    const struct request *request = arg;
    struct vti_report report = {.recording = recording,
                                .sort = request->sort,
                                .limit = request->limit,
                                .is_raw = request->is_raw};
    struct vti_calls calls = {0};
    int code = gather_stats(&report);

    if (!code)
        code = gather_functions(&report, &calls);
    if (!code)
        code = vti_overview_query(recording, &report.overview);
    if (!code)
        code = vti_distorted_query(recording, &report.overview.losses, &report.distorted);
    vt_recording_info(recording, &report.info);
    if (!code) {
        sort(&report, request->sort ? request->sort : "total");
        code = request->is_json ? vti_report_json(&report) : vti_report_print(&report);
        fflush(stdout);
        if (!code && vti_reading_has_lines(recording))
            vti_cmd_say("next  venturi lines %s, for the lines that it holds", request->file);
    }
    vt_stats_free(&report.stats);
    vti_overview_free(&report.overview);
    vti_ids_fini(&report.distorted);
    vti_profile_fini(&report.functions);
    vti_calls_fini(&calls);
    return code ? vti_cmd_error("report", code) : VTI_EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct request request = {.limit = LIMIT};
    int code = take_arguments(&request, argc, argv);

    return code ? code : vti_reading_do("report", request.file, show, &request);
}

const struct vti_command vti_cmd_report = {
    .name = "report",
    .summary = "the summary of a recording: where the time went",
    .usage = "[options] FILE",
    .about = "Shows the spans and functions of the recording FILE that took the most time,\n"
             "its counters, marks and errors, and how far the figures can be trusted. Total\n"
             "is the time of all spans (calls) of a row, one inside another of the same row\n"
             "counted once; self is the same without the time of spans (calls) inside. ~\n"
             "marks rows that losses put wrong. More about functions: venturi stats.",
    .options = options,
    .run = run,
};
