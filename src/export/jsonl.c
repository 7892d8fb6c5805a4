/*
 * jsonl.c - everything a recording says, one JSON object a line: first the facts, then all events
 * in order of time, then what is damaged, and a summary as the last line, so that a reader sees
 * that nothing was cut off.
 *
 * This is the plain text of the format: events are given as they were recorded, not made into
 * spans. An end tells when its span began, because the begin itself may lie before the range, have
 * been cut away or lost.
 */
#include "analyze/calls.h"
#include "analyze/overview.h"
#include "analyze/values.h"
#include "base/error.h"
#include "export/export.h"
#include "export/jsonl_energy.h"
#include "export/jsonl_steps.h"
#include "export/jsonl_tasks.h"
#include "model/line_table.h"

struct jsonl {
    vt_recording *recording;
    const struct vti_sink *sink;
    struct vti_buf out;
    struct vti_json json;
    vt_cursor *cursor;        /* while events are written */
    struct vti_asyncs asyncs; /* those that are open: their ends tell no begin */
    uint64_t events;
    uint64_t spans;
};

static void add_text(struct jsonl *jsonl, const char *key, const struct vt_text *text)
{
    vti_json_key(&jsonl->json, key);
    vti_json_bytes(&jsonl->json, text->data, text->len);
}

static void open_line(struct jsonl *jsonl, const char *type)
{
    vti_json_init(&jsonl->json, &jsonl->out);
    vti_json_object(&jsonl->json);
    vti_json_add_string(&jsonl->json, "type", type);
}

static int close_line(struct jsonl *jsonl)
{
    vti_json_object_end(&jsonl->json);
    vti_buf_add_u8(&jsonl->out, '\n');
    return vti_sink_offer(jsonl->sink, &jsonl->out);
}

/* ---- facts ----------------------------------------------------------------------------------- */

static int add_recording(struct jsonl *jsonl)
{
    struct vt_recording_info info;

    vt_recording_info(jsonl->recording, &info);
    open_line(jsonl, "recording");
    vti_json_add_uint(&jsonl->json, "version", 1);
    vti_json_add_recording(&jsonl->json, &info);
    return close_line(jsonl);
}

static int add_hosts(struct jsonl *jsonl)
{
    struct vt_host_info host;
    int code = 0;

    for (uint32_t i = 0; !code && vt_recording_host(jsonl->recording, i, &host); i++) {
        open_line(jsonl, "host");
        vti_json_add_uint(&jsonl->json, "host", host.id);
        vti_json_add_host(&jsonl->json, &host);
        code = close_line(jsonl);
    }
    return code;
}

static int add_processes(struct jsonl *jsonl)
{
    struct vt_process_info process;
    int code = 0;

    for (uint32_t i = 0; !code && vt_recording_process(jsonl->recording, i, &process); i++) {
        open_line(jsonl, "process");
        vti_json_add_uint(&jsonl->json, "process", process.id);
        vti_json_add_process(&jsonl->json, &process);
        vti_json_add_string(&jsonl->json, "how", vti_end_text(process.how));
        code = close_line(jsonl);
    }
    return code;
}

static int add_tracks(struct jsonl *jsonl)
{
    struct vt_track_info track;
    int code = 0;

    for (uint32_t i = 0; !code && vt_recording_track(jsonl->recording, i, &track); i++) {
        open_line(jsonl, "track");
        vti_json_add_uint(&jsonl->json, "track", track.id);
        vti_json_add_track(&jsonl->json, &track);
        code = close_line(jsonl);
    }
    return code;
}

static int add_sites(struct jsonl *jsonl)
{
    struct vt_site_info site;
    int code = 0;

    for (uint32_t i = 0; !code && vt_recording_site(jsonl->recording, i, &site); i++) {
        open_line(jsonl, "site");
        vti_json_add_uint(&jsonl->json, "site", site.id);
        vti_json_add_string(&jsonl->json, "kind", vti_site_kind_text(site.type));
        vti_json_add_string(&jsonl->json, "name", site.name);
        vti_json_add_string(&jsonl->json, "function", site.function);
        vti_json_add_string(&jsonl->json, "file", site.file);
        vti_json_add_uint(&jsonl->json, "line", site.line);
        vti_json_add_string(&jsonl->json, "unit", site.unit);
        code = close_line(jsonl);
    }
    return code;
}

static int add_losses(struct jsonl *jsonl)
{
    struct vt_loss_info loss;
    int code = 0;

    for (uint32_t i = 0; !code && vt_recording_loss(jsonl->recording, i, &loss); i++) {
        open_line(jsonl, "loss");
        vti_json_add_id(&jsonl->json, "process", loss.process);
        vti_json_add_id(&jsonl->json, "track", loss.track);
        vti_json_add_string(&jsonl->json, "reason", loss.reason);
        vti_json_add_uint(&jsonl->json, "events", loss.events);
        vti_json_add_bool(&jsonl->json, "lower_bound", loss.is_lower_bound);
        vti_json_add_int(&jsonl->json, "begin_ns", loss.begin_ns);
        vti_json_add_int(&jsonl->json, "end_ns", loss.end_ns);
        code = close_line(jsonl);
    }
    return code;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void add_call(struct jsonl *jsonl, const struct vti_calls *calls, size_t at)
{
    const struct vti_call *call = &calls->calls[at];
    const struct vti_function *function = &calls->functions[call->function];
    struct vti_json *json = &jsonl->json;
    struct vt_track_info track;

    vt_recording_track(jsonl->recording, call->track, &track);
    vti_json_add_uint(json, "call", at);
    vti_json_add_id(json, "parent", call->parent);
    vti_json_add_uint(json, "track", track.id);
    vti_json_add_string(json, "name", function->name);
    vti_json_add_string(json, "file", function->file);
    vti_json_add_uint(json, "line", function->line);
    vti_json_add_uint(json, "twin", function->twin);
    vti_json_add_string(json, "language", function->language);
    vti_json_add_uint(json, "calls", call->calls);
    vti_json_add_uint(json, "resumes", call->resumes);
    vti_json_add_bool(json, "open", call->is_open);
    vti_json_add_double(json, "total_ns", call->total_ns);
    vti_json_add_double(json, "self_ns", call->self_ns);
    vti_json_add_double(json, "suspended_ns", call->suspended_ns);
    vti_json_add_double(json, "min_ns", call->shortest_ns);
    vti_json_add_double(json, "max_ns", call->longest_ns);
}

/* As they were counted, our own cost included. */
static int add_calls(struct jsonl *jsonl)
{
    const struct vti_calls_options options = {.is_raw = true, .track = VT_NONE, .process = VT_NONE};
    struct vti_calls calls;
    int code = vti_calls_load_trees(&calls, jsonl->recording, &options);

    if (code)
        return code;
    for (size_t i = 0; i < calls.call_count && !code; i++) {
        open_line(jsonl, "call");
        add_call(jsonl, &calls, i);
        code = close_line(jsonl);
    }
    vti_calls_fini(&calls);
    return code;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* As it was counted, our own cost included. */
static int add_line(struct jsonl *jsonl, const struct vti_track *track,
                    const struct vti_line_fact *line)
{
    const struct vti_clock *clock = &jsonl->recording->facts.clocks.clocks[track->clock];
    double scale = clock->ns_per_tick;
    uint64_t open = line->open_plus_one ? line->open_plus_one - 1 : 0;
    struct vti_json *json = &jsonl->json;

    open_line(jsonl, "line");
    vti_json_add_uint(json, "track", track->id);
    vti_json_add_uint(json, "site", line->site);
    vti_json_add_uint(json, "line", line->line);
    vti_json_add_uint(json, "statement", line->statement);
    vti_json_add_uint(json, "time", line->time);
    vti_json_add_uint(json, "events", line->events);
    vti_json_add_uint(json, "hits", line->hits);
    vti_json_add_double(json, "total_ns",
                        ((double)line->total + (double)open) *
                            (line->time == VTI_LINE_SAMPLED ? 1 : scale));
    vti_json_add_uint(json, "inner", line->inner);
    vti_json_add_double(json, "suspended_ns", (double)line->suspended * scale);
    vti_json_add_uint(json, "resumes", line->resumes);
    vti_json_add_bool(json, "open", line->open_plus_one != 0);
    return close_line(jsonl);
}

static int add_source(struct jsonl *jsonl, const struct vti_source_fact *source)
{
    open_line(jsonl, "source");
    vti_json_add_id(&jsonl->json, "process",
                    source->process_plus_one ? source->process_plus_one - 1 : VT_NONE);
    vti_json_key(&jsonl->json, "file");
    vti_json_bytes(&jsonl->json, source->file, source->file_len);
    vti_json_add_uint(&jsonl->json, "bytes", source->text_len);
    return close_line(jsonl);
}

static int add_lines(struct jsonl *jsonl)
{
    struct vti_line_tables tables;
    int code = vti_line_tables_load(&tables, jsonl->recording);

    if (code)
        return code;
    for (uint32_t i = 0; i < tables.track_ids.count && !code; i++) {
        const struct vti_line_track *track = &tables.tracks[i];

        for (uint32_t k = 0; k < track->node_ids.count && !code; k++)
            code = add_line(jsonl, jsonl->recording->facts.tracks[track->track], &track->lines[k]);
    }
    for (size_t i = 0; i < tables.source_count && !code; i++)
        code = add_source(jsonl, &tables.sources[i]);
    vti_line_tables_fini(&tables);
    return code;
}

/* ---- events ---------------------------------------------------------------------------------- */

static const char *kind_text(enum vt_event_kind kind)
{
    static const char *const texts[] = {
        [VT_EVENT_BEGIN] = "begin",
        [VT_EVENT_END] = "end",
        [VT_EVENT_MARK] = "mark",
        [VT_EVENT_COUNTER] = "counter",
        [VT_EVENT_ATTR] = "attribute",
        [VT_EVENT_ERROR] = "error",
        [VT_EVENT_ASYNC_BEGIN] = "async_begin",
        [VT_EVENT_ASYNC_END] = "async_end",
        [VT_EVENT_ASYNC_ATTR] = "async_attribute",
        [VT_EVENT_LOSS] = "gap",
    };

    return texts[kind];
}

static void add_site(struct jsonl *jsonl, const struct vt_event *event, const char *key)
{
    struct vt_site_info site;

    vt_recording_site_by_id(jsonl->recording, event->site, &site);
    vti_json_add_id(&jsonl->json, "site", event->site);
    vti_json_add_string(&jsonl->json, key, site.name);
    if (event->kind == VT_EVENT_COUNTER)
        vti_json_add_string(&jsonl->json, "unit", site.unit);
}

static void add_flags(struct jsonl *jsonl, const struct vt_event *event)
{
    if (event->flags & VT_FLAG_IN_GAP)
        vti_json_add_bool(&jsonl->json, "in_gap", true);
    if (event->flags & VT_FLAG_ABANDONED)
        vti_json_add_bool(&jsonl->json, "abandoned", true);
    if (event->flags & VT_FLAG_FAILED)
        vti_json_add_bool(&jsonl->json, "failed", true);
}

static void add_begin(struct jsonl *jsonl, const int64_t *begin_ns)
{
    if (begin_ns)
        vti_json_add_int(&jsonl->json, "begin_ns", *begin_ns);
    else
        vti_json_add_null(&jsonl->json, "begin_ns");
}

static uint32_t process_of(const struct jsonl *jsonl, uint32_t id)
{
    struct vt_track_info track;

    vt_recording_track_by_id(jsonl->recording, id, &track);
    return track.process;
}

static int note_async(struct jsonl *jsonl, uint32_t track, uint64_t id, uint32_t site,
                      int64_t begin_ns)
{
    struct vti_async *async = vti_asyncs_get(&jsonl->asyncs, process_of(jsonl, track), id);

    if (!async)
        return VTI_E_NOMEM;
    async->site = site;
    async->begin_ns = begin_ns;
    return 0;
}

/* Name and begin of the async span that ends, which is forgotten then. */
static void add_async_begin(struct jsonl *jsonl, const struct vt_event *event)
{
    struct vti_async *async = vti_asyncs_find(&jsonl->asyncs, process_of(jsonl, event->track),
                                              event->async_id);
    struct vt_site_info site = {.name = NULL};

    if (async)
        vt_recording_site_by_id(jsonl->recording, async->site, &site);
    vti_json_add_string(&jsonl->json, "name", site.name);
    add_begin(jsonl, async ? &async->begin_ns : NULL);
    if (async)
        vti_asyncs_remove(&jsonl->asyncs, async);
}

/* What only this kind of event has. */
static void add_details(struct jsonl *jsonl, const struct vt_event *event)
{
    int64_t begin_ns;

    switch (event->kind) {
    case VT_EVENT_ASYNC_BEGIN:
        vti_json_add_uint(&jsonl->json, "id", event->async_id);
        add_site(jsonl, event, "name");
        if (event->has_trace)
            vti_json_trace_ids(&jsonl->json, event->trace_base, event->trace_span,
                               event->trace_parent);
        break;
    case VT_EVENT_ASYNC_END:
        vti_json_add_uint(&jsonl->json, "id", event->async_id);
        add_async_begin(jsonl, event);
        break;
    case VT_EVENT_END:
        add_site(jsonl, event, "name");
        add_begin(jsonl, vti_cursor_begin_ns(jsonl->cursor, &begin_ns) ? &begin_ns : NULL);
        break;
    case VT_EVENT_ASYNC_ATTR:
        vti_json_add_uint(&jsonl->json, "id", event->async_id);
        add_site(jsonl, event, "key");
        break;
    case VT_EVENT_ATTR:
        add_site(jsonl, event, "key");
        break;
    case VT_EVENT_ERROR:
        add_text(jsonl, "error_type", &event->error_type);
        add_text(jsonl, "message", &event->error_message);
        break;
    case VT_EVENT_LOSS:
        vti_json_add_string(&jsonl->json, "reason", event->loss_reason);
        vti_json_add_uint(&jsonl->json, "events", event->loss_events);
        vti_json_add_int(&jsonl->json, "length_ns", event->loss_ns);
        break;
    default:
        add_site(jsonl, event, "name");
    }
    if (event->value.type != VT_VALUE_NONE) {
        vti_json_key(&jsonl->json, "value");
        vti_json_value(&jsonl->json, &event->value);
    }
}

static int add_event(struct jsonl *jsonl, const struct vt_event *event)
{
    open_line(jsonl, kind_text(event->kind));
    vti_json_add_int(&jsonl->json, "time_ns", event->time_ns);
    vti_json_add_uint(&jsonl->json, "track", event->track);
    vti_json_add_uint(&jsonl->json, "depth", event->depth);
    add_details(jsonl, event);
    add_flags(jsonl, event);
    jsonl->events++;
    jsonl->spans += event->kind == VT_EVENT_BEGIN || event->kind == VT_EVENT_ASYNC_BEGIN;
    return close_line(jsonl);
}

static int note_open_async(const struct vt_span *span, void *arg)
{
    struct jsonl *jsonl = arg;

    return span->async_id
               ? note_async(jsonl, span->track, span->async_id, span->site, span->begin_ns)
               : 0;
}

/* Async spans that began before the range; those of threads are known to the cursor. */
static int note_open_asyncs(struct jsonl *jsonl, const struct vt_filter *range)
{
    struct vt_filter before = {range->from_ns, range->from_ns, range->track};

    if (range->from_ns == INT64_MIN)
        return 0;
    before.from_ns--; /* one that ends just where the range begins has its end in it */
    before.to_ns++;
    return vt_recording_spans(jsonl->recording, &before, note_open_async, jsonl);
}

static int add_events(struct jsonl *jsonl, const struct vt_filter *range)
{
    struct vt_event event;
    int code = note_open_asyncs(jsonl, range);
    int got = 0;

    if (!code)
        code = vt_cursor_open(&jsonl->cursor, jsonl->recording, range);
    while (!code && (got = vt_cursor_next(jsonl->cursor, &event)) > 0) {
        if (event.kind == VT_EVENT_ASYNC_BEGIN)
            code = note_async(jsonl, event.track, event.async_id, event.site, event.time_ns);
        if (!code)
            code = add_event(jsonl, &event);
    }
    vt_cursor_close(jsonl->cursor);
    vti_asyncs_fini(&jsonl->asyncs);
    return code ? code : got;
}

/* ---- the end --------------------------------------------------------------------------------- */

static int add_end(struct jsonl *jsonl)
{
    struct vt_recording_info info;
    struct vt_damage_info damage;
    struct vti_losses losses;
    int code = 0;

    for (uint32_t i = 0; !code && vt_recording_damage(jsonl->recording, i, &damage); i++) {
        open_line(jsonl, "damage");
        vti_json_add_damage(&jsonl->json, &damage);
        code = close_line(jsonl);
    }
    if (!code)
        code = vti_losses_query(jsonl->recording, &losses);
    if (code)
        return code;
    vt_recording_info(jsonl->recording, &info);
    open_line(jsonl, "summary");
    vti_json_add_uint(&jsonl->json, "events", jsonl->events);
    vti_json_add_uint(&jsonl->json, "spans", jsonl->spans);
    vti_json_add_uint(&jsonl->json, "lost_events", losses.lost_events);
    vti_json_add_uint(&jsonl->json, "overwritten_events", losses.overwritten_events);
    vti_losses_free(&losses);
    vti_json_add_uint(&jsonl->json, "unknown_blocks", info.unknown_blocks);
    vti_json_add_uint(&jsonl->json, "damaged_ranges", info.damage_count);
    code = close_line(jsonl);
    return code ? code : vti_sink_flush(jsonl->sink, &jsonl->out);
}

static int run(vt_recording *recording, const struct vti_export_options *options,
               const struct vti_sink *sink)
{
    static int (*const facts[])(struct jsonl *) = {add_recording, add_hosts, add_processes,
                                                   add_tracks,    add_sites, add_losses,
                                                   add_calls,     add_lines};
    struct jsonl jsonl = {.recording = recording, .sink = sink};
    int code = 0;

    for (size_t i = 0; !code && i < sizeof facts / sizeof *facts; i++)
        code = facts[i](&jsonl);
    if (!code)
        code = vti_jsonl_tasks(recording, &options->range, sink, &jsonl.out);
    if (!code)
        code = vti_jsonl_steps(recording, &options->range, sink, &jsonl.out);
    if (!code)
        code = vti_jsonl_energy(recording, &options->range, sink, &jsonl.out);
    if (!code)
        code = add_events(&jsonl, &options->range);
    if (!code)
        code = add_end(&jsonl);
    vti_buf_fini(&jsonl.out);
    return code;
}

const struct vti_exporter vti_export_jsonl = {
    .name = "jsonl",
    .summary = "every fact and event, one JSON object a line",
    .extension = "jsonl",
    .run = run,
};
