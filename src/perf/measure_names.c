/*
 * measure_names.c - functions, spans, tasks and lines of a recording as quantities of a run.
 *
 * Functions and spans are those of analyze/diff.h, so that a check and a diff speak of the same numbers.
 */
#include "analyze/diff.h"
#include "analyze/lines.h"
#include "analyze/tasks_stats.h"
#include "base/error.h"
#include "perf/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *vti_measure_label(char to[VTI_LABEL_BYTES], const char *what, const char *name,
                              const char *file)
{
    const char *last = strrchr(file, '/');

    last = last ? last + 1 : file;
    snprintf(to, VTI_LABEL_BYTES, "%s:%.300s%s%.100s", what, name, *last && *last != '~' ? " " : "",
             *last == '~' ? "" : last);
    return to;
}

static double own_time(const struct vti_profile *profile)
{
    double sum = 0;

    for (size_t i = 0; i < profile->row_count; i++)
        sum += profile->rows[i].numbers.self_s;
    return sum;
}

static int by_own_time(const void *left, const void *right)
{
    double a = (*(const struct vti_profile_row *const *)left)->numbers.self_s;
    double b = (*(const struct vti_profile_row *const *)right)->numbers.self_s;

    return (a < b) - (a > b);
}

/* Calls of functions; of samples there are none. */
static int add_functions(const struct vti_measuring *measuring, const struct vti_diff_side *side)
{
    const struct vti_profile *profile = &side->counted;
    const struct vti_profile_row **rows = malloc((profile->row_count + 1) * sizeof *rows);
    double all = own_time(profile);
    char text[VTI_LABEL_BYTES];
    int code = rows ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");

    for (size_t i = 0; i < profile->row_count && !code; i++)
        rows[i] = &profile->rows[i];
    if (!code)
        qsort(rows, profile->row_count, sizeof *rows, by_own_time);
    for (size_t i = 0; i < profile->row_count && !code; i++) {
        const struct vti_profile_row *row = rows[i];
        const struct vti_function *function = &profile->calls->functions[row->function];
        double share = all > 0 ? row->numbers.self_s / all : 0;

        if (row->numbers.calls)
            code = vti_measuring_add(
                measuring, vti_measure_label(text, "calls", function->name, function->file),
                VTI_QUANTITY_COUNT, share, (double)row->numbers.calls);
    }
    free(rows);
    return code;
}

static int add_figures(const struct vti_measuring *measuring, const char *what, const char *name,
                       double share, const double seconds[4])
{
    static const char *const figures[4] = {"p50", "p90", "p99", "max"};
    char text[VTI_LABEL_BYTES];
    int code = 0;

    for (int i = 0; i < 4 && !code; i++) {
        snprintf(text, sizeof text, "%s:%.300s:%s", what, name, figures[i]);
        code = vti_measuring_add(measuring, text, VTI_QUANTITY_VALUE, share, seconds[i]);
    }
    return code;
}

static int add_spans(const struct vti_measuring *measuring)
{
    const struct vt_filter all = {0, INT64_MAX, VT_NONE};
    struct vt_stats stats = {0};
    double time = 0;
    char text[VTI_LABEL_BYTES];
    int code = vt_stats_query(measuring->recording, &all, &stats);

    for (size_t i = 0; i < stats.site_count; i++)
        time += (double)stats.sites[i].self_ns;
    for (size_t i = 0; i < stats.site_count && !code; i++) {
        const struct vt_site_stats *one = &stats.sites[i];
        const double figures[4] = {(double)one->p50_ns / 1e9, (double)one->p90_ns / 1e9,
                                   (double)one->p99_ns / 1e9, (double)one->max_ns / 1e9};
        double share = time > 0 ? (double)one->total_ns / time : 0;
        struct vt_site_info site;

        if (share > 1)
            share = 1;
        vt_recording_site_by_id(measuring->recording, one->site, &site);
        code = vti_measuring_add(measuring, vti_measure_label(text, "spans", site.name, ""),
                                 VTI_QUANTITY_COUNT, share, (double)one->count);
        if (!code)
            code = vti_measuring_add(measuring, vti_measure_label(text, "span", site.name, ""),
                                     VTI_QUANTITY_TIME, share, (double)one->total_ns / 1e9);
        if (!code)
            code = add_figures(measuring, "span", site.name, share, figures);
    }
    vt_stats_free(&stats);
    return code;
}

static int add_groups(const struct vti_measuring *measuring, const struct vti_task_groups *groups)
{
    char text[VTI_LABEL_BYTES];
    int code = 0;

    for (uint32_t i = 0; i < groups->count && !code; i++) {
        const struct vti_task_group *group = &groups->items[i];
        const double figures[4] = {(double)group->p50_ns / 1e9, (double)group->p90_ns / 1e9,
                                   (double)group->p99_ns / 1e9, (double)group->max_ns / 1e9};
        double share = groups->total_ns > 0 ? (double)group->total_ns / (double)groups->total_ns
                                            : 1;

        if (!*group->name) /* transfers and the like */
            continue;
        code = vti_measuring_add(measuring, vti_measure_label(text, "tasks", group->name, ""),
                                 VTI_QUANTITY_COUNT, share, (double)group->ran);
        if (!code)
            code = vti_measuring_add(measuring, vti_measure_label(text, "task", group->name, ""),
                                     VTI_QUANTITY_TIME, share, (double)group->total_ns / 1e9);
        if (!code)
            code = add_figures(measuring, "task", group->name, share, figures);
    }
    return code;
}

static int add_tasks(const struct vti_measuring *measuring)
{
    struct vti_tasks tasks = {0};
    struct vti_task_groups groups = {0};
    int code = vti_tasks_load(measuring->recording, &tasks);

    if (!code && tasks.task_count)
        code = vti_task_groups_make(&groups, &tasks, VTI_NO_TASK);
    if (!code)
        code = add_groups(measuring, &groups);
    vti_task_groups_fini(&groups);
    vti_tasks_free(&tasks);
    return code;
}

/* Lines move from one version to the next: hits are those of a function's lines together. */
static int add_hits(const struct vti_measuring *measuring, bool *has_lines)
{
    const struct vti_lines_options options = {0};
    struct vti_lines lines = {0};
    double all = 0;
    char text[VTI_LABEL_BYTES];
    int code = vti_lines_load(&lines, measuring->recording, &options);

    for (size_t i = 0; i < lines.function_count && !code; i++)
        for (size_t j = 0; j < lines.functions[i].line_count; j++)
            all += lines.functions[i].lines[j].time;
    for (size_t i = 0; i < lines.function_count && !code; i++) {
        const struct vti_lines_function *function = &lines.functions[i];
        double hits = 0;
        double time = 0;

        for (size_t j = 0; j < function->line_count; j++) {
            hits += (double)function->lines[j].hits;
            time += function->lines[j].time;
        }
        if (hits > 0)
            code = vti_measuring_add(
                measuring, vti_measure_label(text, "hits", function->name, function->file),
                VTI_QUANTITY_COUNT, all > 0 ? time / all : 1, hits);
    }
    *has_lines = lines.function_count > 0;
    vti_lines_fini(&lines);
    return code;
}

static const char *mode_of(const struct vti_diff_side *side, bool has_lines)
{
    return side->is_sampled            ? "sampled"
           : side->counted.is_imported ? "imported"
           : has_lines                 ? "lines"
           : side->counted.row_count   ? "functions"
                                       : "recorded";
}

int vti_measure_names(const struct vti_measuring *measuring)
{
    struct vti_diff_side loaded = {0};
    const struct vti_diff_side *side = measuring->side ? measuring->side : &loaded;
    bool has_lines = false;
    int code = measuring->side ? 0 : vti_diff_side_load(&loaded, measuring->recording);

    if (!code && !side->is_sampled)
        code = add_functions(measuring, side);
    if (!code)
        code = add_spans(measuring);
    if (!code)
        code = add_tasks(measuring);
    if (!code)
        code = add_hits(measuring, &has_lines);
    if (!code && !measuring->counts_only)
        code = vti_bench_text(&measuring->entry->mode, mode_of(side, has_lines));
    vti_diff_side_fini(&loaded);
    return code;
}
