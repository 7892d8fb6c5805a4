/* report_spans.c - the spans of a recording in its summary. */
#include "base/error.h"
#include "base/hash.h"
#include "cli/prose.h"
#include "cli/render.h"
#include "cli/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_distorted(const struct vti_report *report, const struct vt_site_stats *stats)
{
    return vti_ids_find(&report->study.distorted, stats->site) >= 0;
}

/* How often each name occurs among the sites: by index of the name in the map. */
static int count_names(const struct vti_report *report, struct vti_map **names, uint32_t **counts)
{
    int code = vti_map_create(names);

    *counts = calloc(report->study.stats.site_count + 1, sizeof **counts);
    if (!code && !*counts)
        code = VTI_E_NOMEM;
    for (size_t i = 0; i < report->study.stats.site_count && !code; i++) {
        struct vt_site_info site;
        int is_new;
        int64_t at;

        vt_recording_site_by_id(report->study.recording, report->spans[i].site, &site);
        at = vti_map_add(*names, site.name, strlen(site.name), &is_new);
        if (at < 0)
            code = VTI_E_NOMEM;
        else
            (*counts)[at]++;
    }
    return code ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}

static bool is_in_a_thread(const struct vti_report *report, const struct vt_site_stats *stats)
{
    return vti_study_span_row(&report->study, stats->site) != VT_NONE;
}

/* The place stands beside a name that others share. */
static void add_row(const struct vti_report *report, struct vti_report_table *table,
                    const struct vt_site_stats *stats, bool is_shared)
{
    struct vti_buf name = {0};
    struct vt_site_info site;

    vt_recording_site_by_id(report->study.recording, stats->site, &site);
    vti_buf_add_text(&name, *site.name ? site.name : "(no name)");
    if (is_shared && *site.file)
        vti_buf_printf(&name, " %s:%u", site.file, site.line);
    vti_report_table_add(table, &(struct vti_report_row){.mark = is_distorted(report, stats) ? "~"
                                                                 : stats->unfinished         ? "+"
                                                                                             : "",
                                                         .count = stats->count,
                                                         .is_part = is_in_a_thread(report, stats),
                                                         .total_ns = (double)stats->total_ns,
                                                         .self_ns = (double)stats->self_ns,
                                                         .min_ns = (double)stats->min_ns,
                                                         .avg_ns = (double)stats->avg_ns,
                                                         .max_ns = (double)stats->max_ns,
                                                         .p50_ns = (double)stats->p50_ns,
                                                         .p99_ns = (double)stats->p99_ns,
                                                         .name = (const char *)name.data,
                                                         .name_len = name.len});
    vti_buf_fini(&name);
}

static int fill(const struct vti_report *report, struct vti_report_table *table)
{
    struct vti_map *names = NULL;
    uint32_t *counts = NULL;
    int code = count_names(report, &names, &counts);

    for (size_t i = 0; i < report->study.stats.site_count && i < report->limit && !code; i++) {
        struct vt_site_info site;
        int64_t at;

        vt_recording_site_by_id(report->study.recording, report->spans[i].site, &site);
        at = vti_map_find(names, site.name, strlen(site.name));
        add_row(report, table, &report->spans[i], at >= 0 && counts[at] > 1);
    }
    vti_map_free(names);
    free(counts);
    return code;
}

static void explain_signs(const struct vti_report *report)
{
    bool has_distorted = false, has_open = false;

    for (size_t i = 0; i < report->study.stats.site_count && i < report->limit; i++) {
        bool is_off = is_distorted(report, &report->spans[i]);

        has_distorted |= is_off;
        has_open |= !is_off && report->spans[i].unfinished;
    }
    if (has_distorted)
        vti_prose_print("~ events around these spans are missing: counts and times may be off", 2);
    if (has_open)
        vti_prose_print(
            "+ some of these did not end: they count until the end of what was recorded", 2);
}

static double all_self(const struct vti_report *report)
{
    double sum = 0;

    for (size_t i = 0; i < report->study.stats.site_count; i++)
        if (is_in_a_thread(report, &report->spans[i]))
            sum += (double)report->spans[i].self_ns;
    return sum;
}

int vti_report_print_spans(const struct vti_report *report)
{
    size_t count = report->study.stats.site_count;
    struct vti_report_table table;
    int code;

    if (!count) {
        if (!report->study.functions.row_count && !report->study.lines.function_count &&
            !report->study.tasks.run_count && !report->study.steps.ids.count)
            puts("\nNo spans were recorded. Does the program use trace points?");
        return 0;
    }
    code = vti_report_table_create(&table, false, all_self(report));
    if (!code)
        code = fill(report, &table);
    if (!code)
        code = vti_report_table_print(&table);
    else
        vti_table_free(table.table);
    if (!code)
        explain_signs(report);
    if (!code && count > report->limit)
        printf("... and %zu more, -n 0 shows all\n", count - report->limit);
    return code;
}
