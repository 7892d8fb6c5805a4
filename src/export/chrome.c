/*
 * chrome.c - Chrome's trace event JSON, which chrome://tracing, Perfetto, speedscope and many
 * scripts read.
 *
 * Spans of threads become complete events (X), so they are balanced whatever was recorded; async
 * spans become pairs (b, e). Times are microseconds with three decimals since the start of the
 * recording. What is known only after reading (damage) stands at the end, in otherData.
 */
#include "analyze/overview.h"
#include "analyze/tasks_stats.h"
#include "analyze/values.h"
#include "base/bytes.h"
#include "base/error.h"
#include "export/export.h"
#include "export/jsonl_steps.h"
#include "export/numbers.h"
#include "export/resource_counters.h"
#include "export/step_tracks.h"
#include "export/task_tracks.h"

#include <stdio.h>

#define FIRST_TASK_TRACK (1u << 30) /* above all numbers of threads, real and made up */
#define FIRST_STEP_TRACK (3u << 29) /* above those; below 2^31, for readers with signed numbers */

struct chrome {
    vt_recording *recording;
    const struct vti_sink *sink;
    struct vti_buf out;
    struct vti_json json;
    struct vti_numbers numbers;
    int64_t zero_ns; /* what times are counted from: readers do not like negative ones */
};

static void add_microseconds(struct chrome *chrome, const char *key, int64_t ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    unsigned rest = (unsigned)(size % 1000);
    const uint8_t decimals[] = {'.', (uint8_t)('0' + rest / 100), (uint8_t)('0' + rest / 10 % 10),
                                (uint8_t)('0' + rest % 10)};

    vti_json_key(&chrome->json, key);
    vti_json_raw(&chrome->json, ns < 0 ? "-" : "");
    vti_buf_add_decimal_u(&chrome->out, size / 1000);
    vti_buf_add(&chrome->out, decimals, sizeof decimals);
}

/* Difference of two times of a recording, which are below 2^62. */
static void add_time(struct chrome *chrome, int64_t ns)
{
    add_microseconds(chrome, "ts", ns - chrome->zero_ns);
}

static void open_event(struct chrome *chrome, const char *phase, const char *name)
{
    vti_json_object(&chrome->json);
    vti_json_add_string(&chrome->json, "ph", phase);
    vti_json_add_string(&chrome->json, "name", name);
}

static int close_event(struct chrome *chrome)
{
    vti_json_object_end(&chrome->json);
    vti_buf_add_u8(&chrome->out, '\n');
    return vti_sink_offer(chrome->sink, &chrome->out);
}

static void add_track(struct chrome *chrome, uint32_t id)
{
    struct vt_track_info track;

    vt_recording_track_by_id(chrome->recording, id, &track);
    vti_json_add_uint(&chrome->json, "pid", vti_numbers_pid(&chrome->numbers, track.process));
    vti_json_add_uint(&chrome->json, "tid", vti_numbers_tid(&chrome->numbers, id));
}

/* ---- who they are ---------------------------------------------------------------------------- */

static int add_metadata(struct chrome *chrome, const char *what, uint32_t pid, uint32_t tid,
                        const char *name, uint32_t order)
{
    open_event(chrome, "M", what);
    vti_json_add_uint(&chrome->json, "pid", pid);
    vti_json_add_uint(&chrome->json, "tid", tid);
    vti_json_key(&chrome->json, "args");
    vti_json_object(&chrome->json);
    if (name)
        vti_json_add_string(&chrome->json, "name", name);
    else
        vti_json_add_uint(&chrome->json, "sort_index", order);
    vti_json_object_end(&chrome->json);
    return close_event(chrome);
}

static int add_names(struct chrome *chrome)
{
    struct vt_process_info process;
    struct vt_track_info track;
    int code = 0;

    for (uint32_t i = 0; !code && vt_recording_process(chrome->recording, i, &process); i++) {
        uint32_t pid = vti_numbers_pid(&chrome->numbers, process.id);

        code = add_metadata(chrome, "process_name", pid, 0, process.name, 0);
        if (!code)
            code = add_metadata(chrome, "process_sort_index", pid, 0, NULL, i);
    }
    for (uint32_t i = 0; !code && vt_recording_track(chrome->recording, i, &track); i++) {
        uint32_t pid = vti_numbers_pid(&chrome->numbers, track.process);
        uint32_t tid = vti_numbers_tid(&chrome->numbers, track.id);

        code = add_metadata(chrome, "thread_name", pid, tid, track.name, 0);
        if (!code)
            code = add_metadata(chrome, "thread_sort_index", pid, tid, NULL, i);
    }
    return code;
}

/* ---- what happened --------------------------------------------------------------------------- */

static void add_span_args(struct chrome *chrome, const struct vt_span *span)
{
    struct vti_buf text = {0};

    if (!span->attr_count && !span->has_error && !span->has_trace && span->is_finished)
        return;
    vti_json_key(&chrome->json, "args");
    vti_json_object(&chrome->json);
    vti_json_attrs(&chrome->json, chrome->recording, span);
    if (span->has_trace)
        vti_json_trace_ids(&chrome->json, span->trace_base, span->trace_span, span->trace_parent);
    if (span->has_error) {
        vti_error_text(&text, span);
        vti_json_key(&chrome->json, "error");
        vti_json_bytes(&chrome->json, (const char *)text.data, text.len);
        chrome->out.failed |= text.failed;
        vti_buf_fini(&text);
    }
    if (!span->is_finished)
        vti_json_add_bool(&chrome->json, "unfinished", true);
    vti_json_object_end(&chrome->json);
}

/* One half of an async span. Its id means something in its process only. */
static int add_async_half(struct chrome *chrome, const struct vt_span *span, const char *name,
                          bool is_begin)
{
    char id[24];

    open_event(chrome, is_begin ? "b" : "e", name);
    vti_json_add_string(&chrome->json, "cat", "async");
    vti_json_key(&chrome->json, "id2");
    vti_json_object(&chrome->json);
    snprintf(id, sizeof id, "0x%llx", (unsigned long long)span->async_id);
    vti_json_add_string(&chrome->json, "local", id);
    vti_json_object_end(&chrome->json);
    add_track(chrome, span->track);
    add_time(chrome, is_begin ? span->begin_ns : span->end_ns);
    if (is_begin)
        add_span_args(chrome, span);
    return close_event(chrome);
}

static int add_span(const struct vt_span *span, void *arg)
{
    struct chrome *chrome = arg;
    struct vt_site_info site;
    int code;

    vt_recording_site_by_id(chrome->recording, span->site, &site);
    if (span->async_id) {
        code = add_async_half(chrome, span, site.name, true);
        return code ? code : add_async_half(chrome, span, site.name, false);
    }
    open_event(chrome, "X", site.name);
    vti_json_add_string(&chrome->json, "cat", "span");
    add_track(chrome, span->track);
    add_time(chrome, span->begin_ns);
    add_microseconds(chrome, "dur", span->end_ns - span->begin_ns);
    add_span_args(chrome, span);
    return close_event(chrome);
}

static int add_mark(struct chrome *chrome, const struct vt_event *event)
{
    struct vt_site_info site;

    vt_recording_site_by_id(chrome->recording, event->site, &site);
    open_event(chrome, "i", site.name);
    vti_json_add_string(&chrome->json, "cat", "mark");
    vti_json_add_string(&chrome->json, "s", "t");
    add_track(chrome, event->track);
    add_time(chrome, event->time_ns);
    return close_event(chrome);
}

static int add_counter(struct chrome *chrome, const struct vt_event *event)
{
    struct vt_site_info site;

    if (event->value.type == VT_VALUE_TEXT || event->value.type == VT_VALUE_NONE)
        return 0;
    vt_recording_site_by_id(chrome->recording, event->site, &site);
    open_event(chrome, "C", site.name);
    vti_json_add_string(&chrome->json, "cat", "counter");
    add_track(chrome, event->track);
    add_time(chrome, event->time_ns);
    vti_json_key(&chrome->json, "args");
    vti_json_object(&chrome->json);
    vti_json_key(&chrome->json, *site.unit ? site.unit : "value");
    vti_json_value(&chrome->json, &event->value);
    vti_json_object_end(&chrome->json);
    return close_event(chrome);
}

static void add_loss_args(struct chrome *chrome, const char *reason, uint64_t events, int64_t ns)
{
    vti_json_key(&chrome->json, "args");
    vti_json_object(&chrome->json);
    vti_json_add_string(&chrome->json, "reason", reason);
    vti_json_add_uint(&chrome->json, "events", events);
    vti_json_add_int(&chrome->json, "length_ns", ns);
    vti_json_object_end(&chrome->json);
}

static int add_gap(struct chrome *chrome, const struct vt_event *event)
{
    open_event(chrome, "i", "gap");
    vti_json_add_string(&chrome->json, "cat", "loss");
    vti_json_add_string(&chrome->json, "s", "t");
    add_track(chrome, event->track);
    add_time(chrome, event->time_ns - event->loss_ns);
    add_loss_args(chrome, event->loss_reason, event->loss_events, event->loss_ns);
    return close_event(chrome);
}

static int add_others(struct chrome *chrome, const struct vt_filter *range)
{
    struct vt_event event;
    vt_cursor *cursor;
    int code = vt_cursor_open(&cursor, chrome->recording, range);
    int got = 0;

    if (code)
        return code;
    while (!code && (got = vt_cursor_next(cursor, &event)) > 0) {
        if (event.kind == VT_EVENT_MARK)
            code = add_mark(chrome, &event);
        else if (event.kind == VT_EVENT_COUNTER)
            code = add_counter(chrome, &event);
        else if (event.kind == VT_EVENT_LOSS)
            code = add_gap(chrome, &event);
    }
    vt_cursor_close(cursor);
    return code ? code : got;
}

static int add_resource(const struct vti_resource_counter *counter, void *arg)
{
    struct chrome *chrome = arg;

    open_event(chrome, "C", counter->name);
    vti_json_add_string(&chrome->json, "cat", "resources");
    vti_json_add_uint(&chrome->json, "pid", vti_numbers_pid(&chrome->numbers, counter->process));
    add_time(chrome, counter->time_ns);
    vti_json_key(&chrome->json, "args");
    vti_json_object(&chrome->json);
    vti_json_add_double(&chrome->json, counter->unit, counter->value);
    vti_json_object_end(&chrome->json);
    return close_event(chrome);
}

static void add_task_args(struct chrome *chrome, const struct vti_task *task)
{
    vti_json_key(&chrome->json, "args");
    vti_json_object(&chrome->json);
    vti_json_add_string(&chrome->json, "key", task->key);
    vti_json_add_string(&chrome->json, "state", vti_task_state_text(task->state));
    if (task->action)
        vti_json_add_string(&chrome->json, "action", vti_task_action_text(task->action));
    if (task->retries)
        vti_json_add_uint(&chrome->json, "retries", task->retries);
    if (task->cpu_ns != VTI_TASK_UNKNOWN)
        vti_json_add_uint(&chrome->json, task->cpu_is_estimated ? "estimated_cpu_ns" : "cpu_ns",
                          task->cpu_ns);
    if (task->bytes != VTI_TASK_UNKNOWN)
        vti_json_add_uint(&chrome->json, "bytes", task->bytes);
    vti_json_object_end(&chrome->json);
}

/* A thread that is none: NULL, it is described already. */
static int name_thread(struct chrome *chrome, uint32_t pid, uint32_t tid, const char *name)
{
    int code = name ? add_metadata(chrome, "thread_name", pid, tid, name, 0) : 0;

    return code || !name ? code : add_metadata(chrome, "thread_sort_index", pid, tid, NULL, tid);
}

static void open_slice(struct chrome *chrome, const char *name, const char *category, uint32_t pid,
                       uint32_t tid, int64_t begin_ns, int64_t end_ns)
{
    open_event(chrome, "X", name);
    vti_json_add_string(&chrome->json, "cat", category);
    vti_json_add_uint(&chrome->json, "pid", pid);
    vti_json_add_uint(&chrome->json, "tid", tid);
    add_time(chrome, begin_ns);
    add_microseconds(chrome, "dur", end_ns - begin_ns);
}

/* Each worker of a run is a thread of its own. */
static int add_task(const struct vti_task_slice *slice, void *arg)
{
    struct chrome *chrome = arg;
    uint32_t pid = vti_numbers_pid(&chrome->numbers, slice->process);
    uint32_t tid = FIRST_TASK_TRACK + slice->track;
    int code = name_thread(chrome, pid, tid, slice->is_new ? slice->name : NULL);

    if (code)
        return code;
    open_slice(chrome, slice->task->name, "task", pid, tid, slice->begin_ns, slice->end_ns);
    add_task_args(chrome, slice->task);
    return close_event(chrome);
}

static void add_seconds(struct chrome *chrome, const char *key, uint64_t ns)
{
    if (ns != VTI_STEP_UNKNOWN)
        vti_json_add_double(&chrome->json, key, (double)ns / 1e9);
}

/* Named as in the documents that stores get. */
static void add_step_args(struct chrome *chrome, const struct vti_step *step)
{
    vti_json_key(&chrome->json, "args");
    vti_json_object(&chrome->json);
    add_seconds(chrome, "execution_time", step->execute_ns);
    vti_json_add_uint(&chrome->json, "n_messages", step->messages);
    vti_json_add_bool(&chrome->json, "failed", step->is_failed);
    add_seconds(chrome, "pre_execute_time", step->pre_ns);
    add_seconds(chrome, "post_execute_time", step->post_ns);
    add_seconds(chrome, "produce_time", step->produce_ns);
    if (step->lag_ns != VTI_STEP_LAG_UNKNOWN)
        vti_json_add_double(&chrome->json, "queue_time", (double)step->lag_ns / 1e9);
    if (step->extra.len)
        vti_json_step_extra(&chrome->json, &chrome->out, step);
    vti_json_object_end(&chrome->json);
}

static int add_step(const struct vti_step_slice *slice, void *arg)
{
    struct chrome *chrome = arg;
    uint32_t pid = vti_numbers_pid(&chrome->numbers, slice->process);
    uint32_t tid = FIRST_STEP_TRACK + slice->track;
    int code = name_thread(chrome, pid, tid, slice->is_new ? slice->name : NULL);

    if (code)
        return code;
    open_slice(chrome, slice->step->source, "step", pid, tid, slice->begin_ns, slice->end_ns);
    add_step_args(chrome, slice->step);
    return close_event(chrome);
}

/* ---- what is missing ------------------------------------------------------------------------- */

static int add_losses(struct chrome *chrome)
{
    struct vt_loss_info loss;
    int code = 0;

    for (uint32_t i = 0; !code && vt_recording_loss(chrome->recording, i, &loss); i++) {
        bool has_track = loss.track != VT_NONE;

        open_event(chrome, "i", "events lost");
        vti_json_add_string(&chrome->json, "cat", "loss");
        vti_json_add_string(&chrome->json, "s",
                            has_track                 ? "t"
                            : loss.process != VT_NONE ? "p"
                                                      : "g");
        if (has_track)
            add_track(chrome, loss.track);
        else
            vti_json_add_uint(&chrome->json, "pid",
                              vti_numbers_pid(&chrome->numbers, loss.process));
        add_time(chrome, loss.begin_ns);
        add_loss_args(chrome, loss.reason, loss.events, loss.end_ns - loss.begin_ns);
        code = close_event(chrome);
    }
    return code;
}

static int add_other_data(struct chrome *chrome)
{
    struct vt_recording_info info;
    struct vt_damage_info damage;
    struct vti_losses losses;
    char moment[VTI_MOMENT_BYTES];
    int code = vti_losses_query(chrome->recording, &losses);

    if (code)
        return code;
    vt_recording_info(chrome->recording, &info);
    vti_json_object(&chrome->json);
    vti_json_add_string(&chrome->json, "tool", "venturi " VENTURI_VERSION);
    vti_json_add_string(&chrome->json, "command", info.command);
    vti_json_add_string(
        &chrome->json, "start",
        vti_moment_text(moment, vti_ns_add(info.start_realtime_ns, chrome->zero_ns)));
    vti_json_add_string(&chrome->json, "clock", info.clock);
    vti_json_add_uint(&chrome->json, "lost_events", losses.lost_events);
    vti_json_add_uint(&chrome->json, "overwritten_events", losses.overwritten_events);
    vti_losses_free(&losses);
    vti_json_key(&chrome->json, "damage");
    vti_json_array(&chrome->json);
    for (uint32_t i = 0; vt_recording_damage(chrome->recording, i, &damage); i++) {
        vti_json_object(&chrome->json);
        vti_json_add_damage(&chrome->json, &damage);
        vti_json_object_end(&chrome->json);
    }
    vti_json_array_end(&chrome->json);
    vti_json_object_end(&chrome->json);
    return 0;
}

static int run(vt_recording *recording, const struct vti_export_options *options,
               const struct vti_sink *sink)
{
    struct chrome chrome = {.recording = recording, .sink = sink};
    int code = vti_numbers_init(&chrome.numbers, recording);
    int64_t end_ns;

    if (code)
        return code;
    vti_recording_extent(recording, &chrome.zero_ns, &end_ns);
    chrome.zero_ns = chrome.zero_ns < 0 ? chrome.zero_ns : 0;
    vti_json_init(&chrome.json, &chrome.out);
    vti_json_object(&chrome.json);
    vti_json_add_string(&chrome.json, "displayTimeUnit", "ns");
    vti_json_key(&chrome.json, "traceEvents");
    vti_json_array(&chrome.json);
    code = add_names(&chrome);
    if (!code)
        code = vt_recording_spans(recording, &options->range, add_span, &chrome);
    if (!code)
        code = add_others(&chrome, &options->range);
    if (!code)
        code = vti_resource_counters(recording, &options->range, add_resource, &chrome);
    if (!code)
        code = vti_task_slices(recording, &options->range, add_task, &chrome);
    if (!code)
        code = vti_step_slices(recording, &options->range, add_step, &chrome);
    if (!code)
        code = add_losses(&chrome);
    vti_json_array_end(&chrome.json);
    vti_json_key(&chrome.json, "otherData");
    if (!code)
        code = add_other_data(&chrome);
    vti_json_object_end(&chrome.json);
    vti_buf_add_u8(&chrome.out, '\n');
    if (!code)
        code = vti_sink_flush(sink, &chrome.out);
    vti_buf_fini(&chrome.out);
    vti_numbers_fini(&chrome.numbers);
    return code;
}

const struct vti_exporter vti_export_chrome = {
    .name = "chrome",
    .summary = "JSON for chrome://tracing, Perfetto, speedscope",
    .extension = "json",
    .is_of_events = true,
    .is_of_tasks = true,
    .is_of_steps = true,
    .run = run,
};
