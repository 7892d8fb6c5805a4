/* report_json.c - the summary of a recording, as JSON. docs/commands/report.md names the keys. */
#include "analyze/values.h"
#include "base/error.h"
#include "cli/report.h"

#include <stdio.h>

static void add_string(struct vti_json *json, const char *key, const char *text)
{
    vti_json_key(json, key);
    vti_json_string(json, text);
}

static void add_int(struct vti_json *json, const char *key, int64_t value)
{
    vti_json_key(json, key);
    vti_json_int(json, value);
}

static void add_uint(struct vti_json *json, const char *key, uint64_t value)
{
    vti_json_key(json, key);
    vti_json_uint(json, value);
}

static void add_double(struct vti_json *json, const char *key, double value)
{
    vti_json_key(json, key);
    vti_json_double(json, value);
}

static void add_site(struct vti_json *json, const struct vti_report *report, uint32_t id)
{
    struct vt_site_info site;

    vt_recording_site_by_id(report->recording, id, &site);
    add_string(json, "name", site.name);
    add_uint(json, "site", id);
    if (*site.function)
        add_string(json, "function", site.function);
    if (*site.file) {
        add_string(json, "file", site.file);
        add_uint(json, "line", site.line);
    }
    if (*site.unit)
        add_string(json, "unit", site.unit);
}

static void add_spans(struct vti_json *json, const struct vti_report *report)
{
    vti_json_key(json, "spans");
    vti_json_array(json);
    for (size_t i = 0; i < report->stats.site_count && i < report->limit; i++) {
        const struct vt_site_stats *site = &report->stats.sites[i];

        vti_json_object(json);
        add_site(json, report, site->site);
        add_uint(json, "count", site->count);
        add_uint(json, "unfinished", site->unfinished);
        add_uint(json, "errors", site->errors);
        add_int(json, "total_ns", site->total_ns);
        add_int(json, "self_ns", site->self_ns);
        add_int(json, "min_ns", site->min_ns);
        add_int(json, "avg_ns", site->avg_ns);
        add_int(json, "max_ns", site->max_ns);
        add_int(json, "p50_ns", site->p50_ns);
        add_int(json, "p90_ns", site->p90_ns);
        add_int(json, "p99_ns", site->p99_ns);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_counters(struct vti_json *json, const struct vti_report *report)
{
    vti_json_key(json, "counters");
    vti_json_array(json);
    for (size_t i = 0; i < report->overview.counter_count; i++) {
        const struct vti_counter_stats *counter = &report->overview.counters[i];

        vti_json_object(json);
        add_site(json, report, counter->site);
        add_uint(json, "count", counter->count);
        add_double(json, "min", counter->min);
        add_double(json, "avg", counter->sum / (double)counter->count);
        add_double(json, "max", counter->max);
        add_double(json, "last", counter->last);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_marks(struct vti_json *json, const struct vti_report *report)
{
    vti_json_key(json, "marks");
    vti_json_array(json);
    for (size_t i = 0; i < report->overview.mark_count; i++) {
        const struct vti_mark_stats *mark = &report->overview.marks[i];

        vti_json_object(json);
        add_site(json, report, mark->site);
        add_uint(json, "count", mark->count);
        add_int(json, "first_ns", mark->first_ns);
        add_int(json, "last_ns", mark->last_ns);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_errors(struct vti_json *json, const struct vti_report *report)
{
    vti_json_key(json, "errors");
    vti_json_array(json);
    for (size_t i = 0; i < report->overview.error_count; i++) {
        const struct vti_error_stats *error = &report->overview.errors[i];

        vti_json_object(json);
        add_site(json, report, error->site);
        add_uint(json, "count", error->count);
        add_string(json, "type", error->type);
        add_string(json, "message", error->message);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_trust(struct vti_json *json, const struct vti_report *report)
{
    vti_json_key(json, "trust");
    vti_json_object(json);
    add_uint(json, "lost_events", report->overview.losses.lost_events);
    add_uint(json, "sliced_events", report->overview.losses.sliced_events);
    add_uint(json, "damaged_ranges", report->info.damage_count);
    add_int(json, "overhead_ns", report->overhead_ns);
    add_double(json, "overhead_share", report->overhead_share);
    vti_json_key(json, "overhead_subtracted");
    vti_json_bool(json, !report->is_raw);
    add_string(json, "clock", report->info.clock);
    add_double(json, "ticks_per_ns", report->info.ticks_per_ns);
    vti_json_key(json, "closed");
    vti_json_bool(json, report->info.is_closed);
    vti_json_object_end(json);
}

int vti_report_json(const struct vti_report *report)
{
    const struct vt_recording_info *info = &report->info;
    struct vti_buf out = {0};
    struct vti_json json;
    char moment[VTI_MOMENT_BYTES];
    int code = 0;

    vti_json_init(&json, &out);
    vti_json_object(&json);
    add_string(&json, "file", info->path);
    add_string(&json, "command", info->command);
    add_string(&json, "start", vti_moment_text(moment, info->start_realtime_ns));
    add_int(&json, "duration_ns", info->duration_ns);
    add_uint(&json, "process_count", info->process_count);
    add_uint(&json, "thread_count", info->track_count);
    add_uint(&json, "span_count", report->stats.span_count);
    add_spans(&json, report);
    add_counters(&json, report);
    add_marks(&json, report);
    add_errors(&json, report);
    add_trust(&json, report);
    vti_json_object_end(&json);
    vti_buf_add_u8(&out, '\n');
    if (out.failed)
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    else
        fwrite(out.data, 1, out.len, stdout);
    vti_buf_fini(&out);
    return code;
}
