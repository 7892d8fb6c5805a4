/*
 * cmd_report.c - venturi report: the summary of a recording in the terminal. The JSON form is in
 * report_json.c.
 */
#include "cli/cmd.h"
#include "cli/reading.h"
#include "cli/render.h"
#include "cli/report.h"
#include "cli/report_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 20

enum {
    OPT_OUTPUT,
    OPT_OPEN,
    OPT_EVENTS,
    OPT_NO_SOURCE,
    OPT_GROWING,
    OPT_FORCE,
    OPT_SORT,
    OPT_LIMIT,
    OPT_RAW,
    OPT_COUNTRY,
    OPT_INTENSITY,
    OPT_PUE,
    OPT_WUE,
    OPT_COLOR,
    OPT_JSON
};

static const struct vti_option options[] = {
    [OPT_OUTPUT] = {'o', "output", "PAGE", "write a page for a browser instead (page.html, -)"},
    [OPT_OPEN] = {0, "open", NULL, "open the page in a browser"},
    [OPT_EVENTS] = {0, "events", "N", "of a page: spans to draw one by one (2000000, or all)"},
    [OPT_NO_SOURCE] = {0, "no-source", NULL, "of a page: leave the text of source files out"},
    [OPT_GROWING] = {0, "growing", NULL, "of a page: say that FILE is still being recorded"},
    [OPT_FORCE] = {'f', "force", NULL, "replace PAGE even if it is no page of Venturi's"},
    [OPT_SORT] = {0, "sort", "total|self|count|min|avg|max|p50|p99|errors|name",
                  "what decides the order (total; of functions self)"},
    [OPT_LIMIT] = {'n', "limit", "N", "show N spans and functions (20); 0 shows all"},
    [OPT_RAW] = {0, "raw", NULL, "times as measured, with Venturi's own cost left in"},
    [OPT_COUNTRY] = {0, "country", "ISO", "of energy: where the power comes from: FRA, DEU, …"},
    [OPT_INTENSITY] = {0, "intensity", "G", "… or its grams of CO2e a kWh"},
    [OPT_PUE] = {0, "pue", "X", "power of the building for each of the computer's (1)"},
    [OPT_WUE] = {0, "wue", "L", "litres of water a kWh"},
    [OPT_COLOR] = {0, "color", "auto|always|never", "colour: auto on a terminal without NO_COLOR"},
    [OPT_JSON] = {0, "json", NULL, "write JSON"},
    {0},
};

extern const struct vti_command vti_cmd_report;

struct request {
    const char *file;
    const char *sort;
    size_t limit;
    bool is_raw, is_json;
    struct vti_report_page page;
};

static bool wants_page(const struct vti_report_page *page)
{
    return page->output.opens || page->output.force || page->events || page->has_no_source ||
           page->is_growing;
}

static int take_arguments(struct request *request, int argc, char **argv)
{
    const char *limit = NULL;
    const char *color = NULL;
    const struct vti_place places[] = {
        [OPT_OUTPUT] = {.text = &request->page.output.path},
        [OPT_OPEN] = {.is_set = &request->page.output.opens},
        [OPT_EVENTS] = {.text = &request->page.events},
        [OPT_NO_SOURCE] = {.is_set = &request->page.has_no_source},
        [OPT_GROWING] = {.is_set = &request->page.is_growing},
        [OPT_FORCE] = {.is_set = &request->page.output.force},
        [OPT_SORT] = {.text = &request->sort},
        [OPT_LIMIT] = {.text = &limit},
        [OPT_RAW] = {.is_set = &request->is_raw},
        [OPT_COUNTRY] = {.text = &request->page.stated.country},
        [OPT_INTENSITY] = {.text = &request->page.stated.intensity},
        [OPT_PUE] = {.text = &request->page.stated.pue},
        [OPT_WUE] = {.text = &request->page.stated.wue},
        [OPT_COLOR] = {.text = &color},
        [OPT_JSON] = {.is_set = &request->is_json},
    };
    int code = vti_args_collect(&vti_cmd_report, argc, argv, places, &request->file, 1,
                                "one FILE (venturi merge makes one of several)");

    if (!code && limit)
        code = vti_args_limit("report", limit, 0, &request->limit);
    vti_terminal_color(color);
    if (!request->limit)
        request->limit = SIZE_MAX;
    if (!code && request->page.output.path &&
        (request->sort || limit || request->is_raw || request->is_json))
        code = vti_cmd_fail("report",
                            "-o: a page has everything; --sort, -n, --raw and --json are for "
                            "the terminal");
    if (!code && !request->page.output.path && wants_page(&request->page))
        code = vti_cmd_fail("report",
                            "--open, --events, --no-source and --force are for a page: use "
                            "-o page.html");
    if (!code && !vti_energy_stated_check("report", &request->page.stated))
        code = VTI_EXIT_BAD;
    request->page.file = request->file;
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

    sorted = report->study.recording;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (!strcmp(orders[i].name, key) && report->study.stats.site_count)
            qsort(report->spans, report->study.stats.site_count, sizeof *report->spans,
                  orders[i].compare);
}

/* ---- showing --------------------------------------------------------------------------------- */

static int show(vt_recording *recording, void *arg)
{
    const struct request *request = arg;
    struct vti_report report = {.sort = request->sort, .limit = request->limit};
    int code = vti_study_load(&report.study, recording, request->is_raw);

    if (!code)
        code = vti_energy_state(&report.study.energy, &request->page.stated);
    if (!code)
        code = vti_findings_make(&report.study, &report.findings);
    if (!code) {
        report.spans = report.study.stats.sites;
        sort(&report, request->sort ? request->sort : "total");
        code = request->is_json ? vti_report_json(&report) : vti_report_print(&report);
        fflush(stdout);
        if (!code && vti_reading_has_lines(recording))
            vti_cmd_say("next  venturi lines %s, for the lines that it holds", request->file);
    }
    vti_findings_fini(&report.findings);
    vti_study_fini(&report.study);
    return code ? vti_cmd_error("report", code) : VTI_EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct request request = {.limit = LIMIT};
    int code = take_arguments(&request, argc, argv);

    if (code)
        return code;
    return request.page.output.path ? vti_report_page(&request.page)
                                    : vti_reading_do("report", request.file, show, &request);
}

const struct vti_command vti_cmd_report = {
    .name = "report",
    .summary = "the summary of a recording: where the time went",
    .usage = "[options] FILE [-o PAGE]",
    .about = "Says what stands out in the recording FILE, and shows the spans and functions\n"
             "that took the most time, its counters, marks and errors, and how far the\n"
             "figures can be trusted. Total is the time of all spans (calls) of a row, one\n"
             "inside another of the same row counted once; self is the same without the\n"
             "time of spans (calls) inside. ~ marks rows that losses put wrong. As a flame\n"
             "graph: venturi flame. More about functions: venturi stats. With -o: all of it\n"
             "as one file for a browser, that needs no network; FILE may then also be a\n"
             "profile of cProfile (.prof) or line_profiler (.lprof). FILE may always be a\n"
             "trace log of a service, too.",
    .options = options,
    .run = run,
};
