/* report_others.c - counters, marks and errors of a recording, as tables. */
#include "cli/render.h"
#include "cli/report.h"

#include <math.h>
#include <stdio.h>

#define OTHERS_MOST 20 /* rows of each; --json has all */

static void add_number(struct vti_table *table, double value)
{
    char text[32] = "-"; /* for what is no finite number */
    double size = value < 0 ? -value : value;

    if (size < 1e15 && (size >= 1000 || value == (double)(int64_t)value))
        snprintf(text, sizeof text, "%.0f", value);
    else if (isfinite(value))
        snprintf(text, sizeof text, "%.4g", value);
    vti_table_text(table, text);
}

static void add_site_name(struct vti_table *table, const struct vti_report *report, uint32_t id)
{
    struct vt_site_info site;

    vt_recording_site_by_id(report->study.recording, id, &site);
    vti_table_text(table, *site.name ? site.name : "(no name)");
}

static int print_table(struct vti_table *table, size_t rows)
{
    int code;

    putchar('\n');
    code = vti_table_print(table, stdout);
    if (!code && rows > OTHERS_MOST)
        printf("... and %zu more, see --json\n", rows - OTHERS_MOST);
    vti_table_free(table);
    return code;
}

static int print_counters(const struct vti_report *report)
{
    static const struct vti_column columns[] = {
        {"Count", VTI_RIGHT}, {"Min", VTI_RIGHT}, {"Avg", VTI_RIGHT},    {"Max", VTI_RIGHT},
        {"Last", VTI_RIGHT},  {"Unit", VTI_LEFT}, {"Counter", VTI_LEFT},
    };
    struct vti_table *table;
    int code;

    if (!report->study.overview.counter_count)
        return 0;
    code = vti_table_create(&table, columns, 7);
    for (size_t i = 0; !code && i < report->study.overview.counter_count && i < OTHERS_MOST; i++) {
        const struct vti_counter_stats *counter = &report->study.overview.counters[i];
        struct vt_site_info site;

        vt_recording_site_by_id(report->study.recording, counter->site, &site);
        vti_table_count(table, counter->count);
        add_number(table, counter->min);
        add_number(table, counter->sum / (double)counter->count);
        add_number(table, counter->max);
        add_number(table, counter->last);
        vti_table_text(table, site.unit);
        add_site_name(table, report, counter->site);
    }
    return code ? code : print_table(table, report->study.overview.counter_count);
}

static int print_marks(const struct vti_report *report)
{
    static const struct vti_column columns[] = {
        {"Count", VTI_RIGHT}, {"First", VTI_RIGHT}, {"Last", VTI_RIGHT}, {"Mark", VTI_LEFT}};
    struct vti_table *table;
    int code;

    if (!report->study.overview.mark_count)
        return 0;
    code = vti_table_create(&table, columns, 4);
    for (size_t i = 0; !code && i < report->study.overview.mark_count && i < OTHERS_MOST; i++) {
        const struct vti_mark_stats *mark = &report->study.overview.marks[i];

        vti_table_count(table, mark->count);
        vti_table_time(table, (double)mark->first_ns);
        vti_table_time(table, (double)mark->last_ns);
        add_site_name(table, report, mark->site);
    }
    return code ? code : print_table(table, report->study.overview.mark_count);
}

static int print_errors(const struct vti_report *report)
{
    static const struct vti_column columns[] = {
        {"Count", VTI_RIGHT}, {"Failed span", VTI_LEFT}, {"Error", VTI_LEFT}};
    struct vti_table *table;
    int code;

    if (!report->study.overview.error_count)
        return 0;
    code = vti_table_create(&table, columns, 3);
    for (size_t i = 0; !code && i < report->study.overview.error_count && i < OTHERS_MOST; i++) {
        const struct vti_error_stats *error = &report->study.overview.errors[i];

        vti_table_count(table, error->count);
        add_site_name(table, report, error->site);
        vti_table_printf(table, "%s%s%s", error->type, *error->type && *error->message ? ": " : "",
                         error->message);
    }
    return code ? code : print_table(table, report->study.overview.error_count);
}

int vti_report_print_others(const struct vti_report *report)
{
    int code = print_counters(report);

    if (!code)
        code = print_marks(report);
    return code ? code : print_errors(report);
}
