/* report_json.c - the summary of a recording, as JSON. docs/commands/report.md names the keys. */
#include "analyze/values.h"
#include "cli/render.h"
#include "cli/report.h"

static void add_site(struct vti_json *json, const struct vti_report *report, uint32_t id)
{
    struct vt_site_info site;

    vt_recording_site_by_id(report->study.recording, id, &site);
    vti_json_add_string(json, "name", site.name);
    vti_json_add_uint(json, "site", id);
    if (*site.function)
        vti_json_add_string(json, "function", site.function);
    if (*site.file) {
        vti_json_add_string(json, "file", site.file);
        vti_json_add_uint(json, "line", site.line);
    }
    if (*site.unit)
        vti_json_add_string(json, "unit", site.unit);
}

static void add_spans(struct vti_json *json, const struct vti_report *report)
{
    vti_json_key(json, "spans");
    vti_json_array(json);
    for (size_t i = 0; i < report->study.stats.site_count && i < report->limit; i++) {
        const struct vt_site_stats *site = &report->spans[i];

        vti_json_object(json);
        add_site(json, report, site->site);
        vti_json_add_uint(json, "count", site->count);
        vti_json_add_uint(json, "unfinished", site->unfinished);
        vti_json_add_uint(json, "errors", site->errors);
        vti_json_add_bool(json, "distorted",
                          vti_ids_find(&report->study.distorted, site->site) >= 0);
        vti_json_add_int(json, "total_ns", site->total_ns);
        vti_json_add_int(json, "self_ns", site->self_ns);
        vti_json_add_int(json, "min_ns", site->min_ns);
        vti_json_add_int(json, "avg_ns", site->avg_ns);
        vti_json_add_int(json, "max_ns", site->max_ns);
        vti_json_add_int(json, "p50_ns", site->p50_ns);
        vti_json_add_int(json, "p90_ns", site->p90_ns);
        vti_json_add_int(json, "p99_ns", site->p99_ns);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_counters(struct vti_json *json, const struct vti_report *report)
{
    vti_json_key(json, "counters");
    vti_json_array(json);
    for (size_t i = 0; i < report->study.overview.counter_count; i++) {
        const struct vti_counter_stats *counter = &report->study.overview.counters[i];

        vti_json_object(json);
        add_site(json, report, counter->site);
        vti_json_add_uint(json, "count", counter->count);
        vti_json_add_double(json, "min", counter->min);
        vti_json_add_double(json, "avg", counter->sum / (double)counter->count);
        vti_json_add_double(json, "max", counter->max);
        vti_json_add_double(json, "last", counter->last);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_marks(struct vti_json *json, const struct vti_report *report)
{
    vti_json_key(json, "marks");
    vti_json_array(json);
    for (size_t i = 0; i < report->study.overview.mark_count; i++) {
        const struct vti_mark_stats *mark = &report->study.overview.marks[i];

        vti_json_object(json);
        add_site(json, report, mark->site);
        vti_json_add_uint(json, "count", mark->count);
        vti_json_add_int(json, "first_ns", mark->first_ns);
        vti_json_add_int(json, "last_ns", mark->last_ns);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_errors(struct vti_json *json, const struct vti_report *report)
{
    vti_json_key(json, "errors");
    vti_json_array(json);
    for (size_t i = 0; i < report->study.overview.error_count; i++) {
        const struct vti_error_stats *error = &report->study.overview.errors[i];

        vti_json_object(json);
        add_site(json, report, error->site);
        vti_json_add_uint(json, "count", error->count);
        vti_json_add_string(json, "type", error->type);
        vti_json_add_string(json, "message", error->message);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_trust(struct vti_json *json, const struct vti_report *report)
{
    vti_json_key(json, "trust");
    vti_json_object(json);
    vti_json_add_uint(json, "lost_events", report->study.overview.losses.lost_events);
    vti_json_add_uint(json, "overwritten_events", report->study.overview.losses.overwritten_events);
    vti_json_add_uint(json, "sliced_events", report->study.overview.losses.sliced_events);
    vti_json_add_uint(json, "missing_processes", report->study.overview.losses.missing_processes);
    vti_json_add_uint(json, "damaged_ranges", report->study.info.damage_count);
    vti_json_add_int(json, "overhead_ns", report->study.overhead_ns);
    vti_json_add_double(json, "overhead_share", report->study.overhead_share);
    vti_json_add_bool(json, "overhead_subtracted", !report->study.is_raw);
    vti_json_add_string(json, "clock", report->study.info.clock);
    vti_json_add_double(json, "ticks_per_ns", report->study.info.ticks_per_ns);
    vti_json_add_bool(json, "closed", report->study.info.is_closed);
    vti_json_object_end(json);
}

int vti_report_json(const struct vti_report *report)
{
    const struct vt_recording_info *info = &report->study.info;
    struct vti_buf out = {0};
    struct vti_json json;
    char moment[VTI_MOMENT_BYTES];

    vti_json_init(&json, &out);
    vti_json_object(&json);
    vti_json_add_string(&json, "file", info->path);
    vti_json_add_string(&json, "command", info->command);
    vti_json_add_string(&json, "start", vti_moment_text(moment, info->start_realtime_ns));
    vti_json_add_int(&json, "duration_ns", info->duration_ns);
    vti_json_add_uint(&json, "process_count", info->process_count);
    vti_json_add_uint(&json, "thread_count", info->track_count);
    vti_json_add_uint(&json, "span_count", report->study.stats.span_count);
    add_spans(&json, report);
    vti_report_json_functions(&json, report);
    vti_report_json_tasks(&json, report);
    vti_report_json_steps(&json, report);
    vti_report_json_energy(&json, report);
    add_counters(&json, report);
    add_marks(&json, report);
    add_errors(&json, report);
    vti_report_json_findings(&json, report);
    vti_report_json_resources(&json, report);
    add_trust(&json, report);
    vti_json_object_end(&json);
    return vti_print_json(&out);
}
