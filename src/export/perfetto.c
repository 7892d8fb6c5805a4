/*
 * perfetto.c - a Perfetto trace: one track for each thread, one for each async span and each
 * counter.
 *
 * Slices of a track must nest, also when two begin at the same time, so begins and ends are written
 * in the order in which they happened: the matcher tells of a span when it ends, and its stack
 * tells what has begun since. Attributes and errors go with the end, which viewers add to the
 * slice.
 */
#include "export/perfetto.h"

#include "analyze/values.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/protobuf.h"
#include "base/uuid.h"
#include "export/resource_counters.h"
#include "model/match.h"
#include "model/span_walk.h"

#include <string.h>

/* Tracks are told apart by 64-bit numbers: what they are above, which one below. */
enum { PROCESSES = 1, THREADS, COUNTERS, ASYNCS, LOSSES, RESOURCES, TASKS, STEPS };
#define UUID(what, at) ((uint64_t)(what) << 40 | (at))

enum { TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_COMMAND = 2, PROCESS_NAME = 6, PROCESS_START = 7 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT = 3, COUNTER_UNIT_NAME = 6 };
enum { UNIT_NS = 1, UNIT_COUNT = 2, UNIT_BYTES = 3 };

struct job {
    struct vti_perfetto perfetto;
    struct vti_numbers numbers;
    struct vt_filter range;
    struct vti_map *counters; /* owned; process and site of each counter track */
    uint64_t async_count;
    uint32_t resource_count; /* counters of resources that are described */
    bool has_async;
    /* Of the thread at hand: */
    uint64_t uuid;
    uint32_t process;
    size_t begun; /* spans of the stack whose begin is written */
    int64_t last_ns;
};

static uint64_t process_uuid(const struct job *job, uint32_t process)
{
    const struct vti_ids *ids = &job->perfetto.recording->facts.process_ids;
    int64_t at = vti_ids_find(ids, process);

    return UUID(PROCESSES, at < 0 ? ids->count : (uint64_t)at);
}

/* ---- tracks ---------------------------------------------------------------------------------- */

static int describe_process(struct job *job, const struct vt_process_info *process)
{
    struct vti_perfetto *perfetto = &job->perfetto;
    struct vti_buf *out = &perfetto->out;
    size_t track = vti_perfetto_open_track(perfetto, process_uuid(job, process->id), 0);
    size_t inner = vti_proto_begin(out, TRACK_PROCESS);

    vti_proto_varint(out, PROCESS_PID, vti_numbers_pid(&job->numbers, process->id));
    vti_proto_string(out, PROCESS_NAME, process->name, strlen(process->name));
    if (*process->command)
        vti_proto_string(out, PROCESS_COMMAND, process->command, strlen(process->command));
    vti_proto_end(out, inner);
    return vti_perfetto_close_track(perfetto, track);
}

static int describe_processes(struct job *job)
{
    vt_recording *recording = job->perfetto.recording;
    struct vt_process_info process;
    struct vt_track_info track;
    bool has_unknown = false;
    int code = 0;

    for (uint32_t i = 0; !code && vt_recording_process(recording, i, &process); i++)
        code = describe_process(job, &process);
    for (uint32_t i = 0; vt_recording_track(recording, i, &track); i++)
        has_unknown |= vti_ids_find(&recording->facts.process_ids, track.process) < 0;
    if (!code && has_unknown) {
        vt_recording_process_by_id(recording, VT_NONE, &process);
        code = describe_process(job, &process);
    }
    return code;
}

static int describe_thread(struct job *job, const struct vt_track_info *info)
{
    struct vti_buf *out = &job->perfetto.out;
    size_t track = vti_perfetto_open_track(&job->perfetto, job->uuid, 0);
    size_t inner = vti_proto_begin(out, TRACK_THREAD);

    vti_proto_varint(out, THREAD_PID, vti_numbers_pid(&job->numbers, info->process));
    vti_proto_varint(out, THREAD_TID, vti_numbers_tid(&job->numbers, info->id));
    if (*info->name)
        vti_proto_string(out, THREAD_NAME, info->name, strlen(info->name));
    vti_proto_end(out, inner);
    return vti_perfetto_close_track(&job->perfetto, track);
}

static void add_unit(struct vti_buf *out, const char *unit)
{
    static const struct {
        const char *name;
        unsigned unit;
    } known[] = {{"ns", UNIT_NS}, {"", UNIT_COUNT}, {"B", UNIT_BYTES}, {"bytes", UNIT_BYTES}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(unit, known[i].name)) {
            vti_proto_varint(out, COUNTER_UNIT, known[i].unit);
            return;
        }
    vti_proto_string(out, COUNTER_UNIT_NAME, unit, strlen(unit));
}

static int describe_counter(struct job *job, uint64_t uuid, uint32_t id)
{
    struct vti_buf *out = &job->perfetto.out;
    size_t track = vti_perfetto_open_track(&job->perfetto, uuid, process_uuid(job, job->process));
    struct vt_site_info site;
    size_t inner;

    vt_recording_site_by_id(job->perfetto.recording, id, &site);
    vti_proto_string(out, TRACK_NAME, site.name, strlen(site.name));
    inner = vti_proto_begin(out, TRACK_COUNTER);
    add_unit(out, site.unit);
    vti_proto_end(out, inner);
    return vti_perfetto_close_track(&job->perfetto, track);
}

/* ---- spans of a thread ----------------------------------------------------------------------- */

/* In a gap of lost events a span may have begun before those that the gap ended; slices must not
 * cross. */
static int64_t in_order(struct job *job, int64_t time_ns)
{
    if (time_ns > job->last_ns)
        job->last_ns = time_ns;
    return job->last_ns;
}

static int write_begin(struct job *job, uint32_t site, int64_t begin_ns)
{
    vti_perfetto_open_event(&job->perfetto, VTI_PERFETTO_BEGIN, job->uuid, in_order(job, begin_ns));
    vti_perfetto_site(&job->perfetto, site);
    job->begun++;
    return vti_perfetto_close_event(&job->perfetto);
}

static void add_error(struct vti_perfetto *perfetto, const struct vt_span *span)
{
    struct vti_buf text = {0};

    vti_error_text(&text, span);
    vti_perfetto_note_text(perfetto, "error", (const char *)text.data, text.len);
    perfetto->out.failed |= text.failed;
    vti_buf_fini(&text);
}

static void add_notes(struct vti_perfetto *perfetto, const struct vt_span *span)
{
    for (uint32_t i = 0; i < span->attr_count; i++)
        vti_perfetto_attr(perfetto, &span->attrs[i]);
    if (span->has_error)
        add_error(perfetto, span);
    if (!span->is_finished)
        vti_perfetto_note_true(perfetto, "unfinished");
}

static void add_trace_ids(struct vti_perfetto *perfetto, const struct vt_span *span)
{
    const uint8_t *const ids[] = {span->trace_base, span->trace_span, span->trace_parent};
    static const char *const keys[] = {"base_id", "trace_id", "parent_id"};
    char text[VTI_UUID_TEXT];

    for (size_t i = 0; span->has_trace && i < 3; i++) {
        if (vti_uuid_is_zero(ids[i]))
            continue;
        vti_uuid_text(ids[i], text);
        vti_perfetto_note_text(perfetto, keys[i], text, strlen(text));
    }
}

/* Begins of what is on the stack now. */
static int write_begins(struct job *job, const struct vti_matcher *matcher)
{
    int code = 0;

    while (!code && job->begun < matcher->depth) {
        const struct vti_frame *frame = &matcher->frames[job->begun];

        code = write_begin(job, frame->site, frame->begin_ns);
    }
    return code;
}

static int write_span(struct job *job, const struct vti_matcher *matcher,
                      const struct vti_match *match)
{
    struct vt_span span = {.attrs = match->attrs,
                           .attr_count = match->attr_count,
                           .has_error = match->flags & VTI_FRAME_FAILED,
                           .is_finished = match->is_finished};
    int code = write_begins(job, matcher);

    if (span.has_error) {
        const struct vti_failure *failure = match->failure;

        span.error_type = (struct vt_text){failure->type.data, failure->type.len};
        span.error_message = (struct vt_text){failure->message.data, failure->message.len};
    }
    if (!code && job->begun == match->depth)
        code = write_begin(job, match->frame->site, match->begin_ns);
    if (code)
        return code;
    vti_perfetto_open_event(&job->perfetto, VTI_PERFETTO_END, job->uuid,
                            in_order(job, match->end_ns));
    add_notes(&job->perfetto, &span);
    job->begun = match->depth;
    return vti_perfetto_close_event(&job->perfetto);
}

/* ---- other events of a thread ---------------------------------------------------------------- */

static int write_counter(struct job *job, const struct vti_event *event, int64_t time_ns)
{
    uint32_t key[2] = {job->process, event->site};
    struct vt_value value;
    int is_new = 0;
    int64_t at;
    int code = 0;

    vti_event_value(&value, &event->value);
    if (value.type == VT_VALUE_TEXT || value.type == VT_VALUE_NONE)
        return 0;
    at = vti_map_add(job->counters, key, sizeof key, &is_new);
    if (at < 0)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (is_new)
        code = describe_counter(job, UUID(COUNTERS, (uint64_t)at), event->site);
    if (code)
        return code;
    vti_perfetto_open_event(&job->perfetto, VTI_PERFETTO_COUNTER, UUID(COUNTERS, (uint64_t)at),
                            time_ns);
    vti_perfetto_counter(&job->perfetto, &value);
    return vti_perfetto_close_event(&job->perfetto);
}

static int write_loss(struct job *job, uint64_t uuid, int64_t time_ns, const char *name,
                      const char *reason, uint64_t events)
{
    struct vti_perfetto *perfetto = &job->perfetto;

    vti_perfetto_open_event(perfetto, VTI_PERFETTO_INSTANT, uuid, time_ns);
    vti_perfetto_name(perfetto, name);
    vti_perfetto_note_text(perfetto, "reason", reason, strlen(reason));
    vti_perfetto_note_number(perfetto, "events", (int64_t)events);
    return vti_perfetto_close_event(perfetto);
}

static int write_event(struct job *job, const struct vti_matcher *matcher)
{
    const struct vti_event *event = &matcher->event;
    int64_t time_ns = matcher->event_ns;
    int code;

    if (time_ns < job->range.from_ns || time_ns >= job->range.to_ns)
        return 0;
    code = write_begins(job, matcher);
    if (code)
        return code;
    switch (event->kind) {
    case VTI_EVENT_MARK:
        vti_perfetto_open_event(&job->perfetto, VTI_PERFETTO_INSTANT, job->uuid,
                                in_order(job, time_ns));
        vti_perfetto_site(&job->perfetto, event->site);
        return vti_perfetto_close_event(&job->perfetto);
    case VTI_EVENT_COUNTER:
        return write_counter(job, event, time_ns);
    case VTI_EVENT_LOSS:
        return write_loss(job, job->uuid, in_order(job, time_ns), "gap",
                          vti_loss_reason_text(event->loss_reason), event->loss_events);
    case VTI_EVENT_ASYNC_BEGIN:
    case VTI_EVENT_ASYNC_END:
        job->has_async = true;
        return 0;
    default:
        return 0;
    }
}

static int write_thread(struct job *job, struct vti_matcher *matcher, uint32_t at)
{
    vt_recording *recording = job->perfetto.recording;
    struct vti_track *track = recording->facts.tracks[at];
    struct vt_track_info info;
    struct vti_match match;
    int code;
    int got;

    vt_recording_track(recording, at, &info);
    job->uuid = UUID(THREADS, at);
    job->process = info.process;
    job->begun = 0;
    job->last_ns = INT64_MIN;
    code = describe_thread(job, &info);
    vti_matcher_start(matcher, recording, track,
                      vti_track_first_block(recording, track, job->range.from_ns), UINT64_MAX);
    matcher->to_ns = job->range.to_ns;
    matcher->stops_early = true;
    while (!code && (got = vti_matcher_next(matcher, &match)) != VTI_MATCH_END) {
        if (got < 0)
            return got;
        if (got == VTI_MATCH_EVENT)
            code = write_event(job, matcher);
        else if (vti_filter_overlaps(&job->range, match.begin_ns, match.end_ns))
            code = write_span(job, matcher, &match);
    }
    return code;
}

/* ---- what belongs to no thread --------------------------------------------------------------- */

static int write_async(const struct vt_span *span, void *arg)
{
    struct job *job = arg;
    struct vti_perfetto *perfetto = &job->perfetto;
    uint64_t uuid = UUID(ASYNCS, job->async_count);
    struct vt_track_info info;
    struct vt_site_info site;
    size_t track;
    int code;

    if (!span->async_id)
        return 0;
    job->async_count++;
    vt_recording_track_by_id(perfetto->recording, span->track, &info);
    vt_recording_site_by_id(perfetto->recording, span->site, &site);
    track = vti_perfetto_open_track(perfetto, uuid, process_uuid(job, info.process));
    vti_proto_string(&perfetto->out, TRACK_NAME, site.name, strlen(site.name));
    code = vti_perfetto_close_track(perfetto, track);
    if (code)
        return code;
    vti_perfetto_open_event(perfetto, VTI_PERFETTO_BEGIN, uuid, span->begin_ns);
    vti_perfetto_site(perfetto, span->site);
    code = vti_perfetto_close_event(perfetto);
    if (code)
        return code;
    vti_perfetto_open_event(perfetto, VTI_PERFETTO_END, uuid, span->end_ns);
    add_notes(perfetto, span);
    add_trace_ids(perfetto, span);
    return vti_perfetto_close_event(perfetto);
}

static int write_resource(const struct vti_resource_counter *counter, void *arg)
{
    struct job *job = arg;
    struct vti_buf *out = &job->perfetto.out;
    uint64_t uuid = UUID(RESOURCES, counter->number);
    const struct vt_value value = {.type = VT_VALUE_DOUBLE, .d = counter->value};
    int code = 0;

    if (job->resource_count <= counter->number) {
        size_t track = vti_perfetto_open_track(&job->perfetto, uuid, 0);
        size_t inner;

        job->resource_count = counter->number + 1;
        vti_proto_string(out, TRACK_NAME, counter->name, strlen(counter->name));
        inner = vti_proto_begin(out, TRACK_COUNTER);
        add_unit(out, counter->unit);
        vti_proto_end(out, inner);
        code = vti_perfetto_close_track(&job->perfetto, track);
    }
    if (code)
        return code;
    vti_perfetto_open_event(&job->perfetto, VTI_PERFETTO_COUNTER, uuid, counter->time_ns);
    vti_perfetto_counter(&job->perfetto, &value);
    return vti_perfetto_close_event(&job->perfetto);
}

static int write_task(const struct vti_task_slice *slice, void *arg)
{
    struct job *job = arg;

    return vti_perfetto_task(&job->perfetto, slice, UUID(TASKS, slice->track),
                             process_uuid(job, slice->process));
}

static int write_step(const struct vti_step_slice *slice, void *arg)
{
    struct job *job = arg;

    return vti_perfetto_step(&job->perfetto, slice, UUID(STEPS, slice->track),
                             process_uuid(job, slice->process));
}

static int write_losses(struct job *job)
{
    struct vt_loss_info loss;
    int code = 0;

    for (uint32_t i = 0; !code && vt_recording_loss(job->perfetto.recording, i, &loss); i++) {
        if (i == 0) {
            size_t track = vti_perfetto_open_track(&job->perfetto, UUID(LOSSES, 0), 0);

            vti_proto_string(&job->perfetto.out, TRACK_NAME, "lost events", 11);
            code = vti_perfetto_close_track(&job->perfetto, track);
        }
        if (!code)
            code = write_loss(job, UUID(LOSSES, 0), loss.begin_ns, "events lost", loss.reason,
                              loss.events);
    }
    return code;
}

static int run(vt_recording *recording, const struct vti_export_options *options,
               const struct vti_sink *sink)
{
    struct job job = {.range = options->range};
    struct vti_matcher matcher = {0};
    int code = vti_numbers_init(&job.numbers, recording);

    vti_perfetto_init(&job.perfetto, recording, sink);
    if (!code)
        code = vti_map_create(&job.counters);
    if (code)
        goto out;
    vti_perfetto_start(&job.perfetto);
    code = describe_processes(&job);
    for (uint32_t i = 0; !code && i < recording->facts.track_ids.count; i++)
        code = write_thread(&job, &matcher, i);
    /* Async spans may have begun before all that was looked at. */
    if (!code && (job.has_async || options->range.from_ns > INT64_MIN))
        code = vt_recording_spans(recording, &options->range, write_async, &job);
    if (!code)
        code = vti_resource_counters(recording, &options->range, write_resource, &job);
    if (!code)
        code = vti_task_slices(recording, &options->range, write_task, &job);
    if (!code)
        code = vti_step_slices(recording, &options->range, write_step, &job);
    if (!code)
        code = write_losses(&job);
    if (!code)
        code = vti_sink_flush(sink, &job.perfetto.out);
out:
    vti_matcher_fini(&matcher);
    vti_map_free(job.counters);
    vti_numbers_fini(&job.numbers);
    vti_perfetto_fini(&job.perfetto);
    return code;
}

const struct vti_exporter vti_export_perfetto = {
    .name = "perfetto",
    .summary = "binary, for ui.perfetto.dev and trace processor",
    .extension = "pftrace",
    .is_binary = true,
    .is_of_events = true,
    .is_of_tasks = true,
    .is_of_steps = true,
    .run = run,
};
