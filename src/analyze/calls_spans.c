/*
 * calls_spans.c - a tree of calls from the spans of a recording: of those that are functions (--timeline), or of
 * all.
 *
 * In the first case other spans around and between them change nothing. Where spans were
 * lost or damaged the stack has frames that nobody saw begin: they are no calls.
 */
#include "analyze/calls.h"
#include "analyze/calls_sites.h"
#include "base/error.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>

/* An open span. */
struct frame {
    int64_t begin_ns;
    uint64_t begun; /* spans begun on the track up to and including this one */
    uint32_t call;  /* its place, or that of the function around it; VT_NONE: none */
    bool is_function;
};

struct reader {
    struct vti_calls *calls;
    vt_recording *recording;
    const struct vti_calls_options *options;
    struct vti_call_sites sites;
    struct vti_map *places; /* (parent, function, track) to an index of … */
    uint32_t *place_calls;  /* … these: indices of calls */
    size_t place_room;
    struct frame *frames;
    size_t depth, room;
    uint64_t begun;
    struct vti_track *track;
    uint32_t track_index; /* VT_NONE if tracks are merged */
    double pair_ns, inner_ns;
};

static uint32_t around(const struct reader *reader)
{
    return reader->depth ? reader->frames[reader->depth - 1].call : VT_NONE;
}

/* The place of a function under the innermost open one. */
static int64_t find_place(struct reader *reader, uint32_t function)
{
    uint32_t key[3] = {around(reader), function, reader->track_index};
    struct vti_call call = {.parent = key[0],
                            .function = function,
                            .track = reader->track_index,
                            .shortest_ns = NAN,
                            .longest_ns = NAN};
    const struct vti_durations none = {.ns_per_tick = 1};
    int is_new;
    int64_t at;
    int64_t index;

    if (vti_grow(&reader->place_calls, vti_map_count(reader->places), &reader->place_room,
                 sizeof *reader->place_calls))
        return VTI_E_NOMEM;
    at = vti_map_add(reader->places, key, sizeof key, &is_new);
    if (at < 0)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (is_new) {
        index = vti_calls_add(reader->calls, &call);
        if (index >= 0 && vti_calls_durations(reader->calls, function, &none))
            index = VTI_E_NOMEM;
        if (index < 0)
            return index;
        reader->place_calls[at] = (uint32_t)index;
    }
    return reader->place_calls[at];
}

static void leave(struct reader *reader, int64_t now, bool is_open)
{
    const struct frame *frame = &reader->frames[--reader->depth];
    struct vti_call *call;
    double inside = (double)(reader->begun - frame->begun);
    double raw = (double)(now - frame->begin_ns);
    double ns = raw - reader->inner_ns - inside * reader->pair_ns;

    if (!frame->is_function)
        return;
    if (!(ns > 0))
        ns = 0;
    call = &reader->calls->calls[frame->call];
    call->calls++;
    call->total_ns += ns;
    call->is_open |= is_open;
    if (!reader->depth || around(reader) == VT_NONE)
        reader->calls->cost_ns += raw - ns;
    if (is_open)
        return;
    call->shortest_ns = fmin(call->shortest_ns, ns);
    call->longest_ns = fmax(call->longest_ns, ns);
    vti_durations_note(reader->calls->durations[call->function], ns);
}

/* Frames that the events do not know of any more, or not yet. */
static int adjust(struct reader *reader, size_t depth, int64_t now)
{
    while (reader->depth > depth)
        leave(reader, now, false);
    while (reader->depth < depth) {
        if (vti_grow(&reader->frames, reader->depth, &reader->room, sizeof *reader->frames))
            return VTI_E_NOMEM;
        reader->frames[reader->depth] = (struct frame){.begin_ns = now, .call = around(reader)};
        reader->depth++;
    }
    return 0;
}

static int enter(struct reader *reader, const struct vt_event *event)
{
    struct frame frame = {.begin_ns = event->time_ns};
    int64_t function = vti_call_sites_find(&reader->sites, event->site);
    int64_t place = VT_NONE;
    int code = adjust(reader, event->depth, event->time_ns);

    if (code)
        return code;
    frame.begun = ++reader->begun;
    frame.is_function = function >= 0;
    if (frame.is_function)
        place = find_place(reader, (uint32_t)function);
    else if (function == VTI_E_NOT_FOUND)
        place = around(reader);
    else
        return (int)function;
    if (place < 0)
        return (int)place;
    frame.call = (uint32_t)place;
    if (vti_grow(&reader->frames, reader->depth, &reader->room, sizeof *reader->frames))
        return VTI_E_NOMEM;
    reader->frames[reader->depth++] = frame;
    return 0;
}

static int read_track(struct reader *reader)
{
    struct vt_filter filter = {INT64_MIN, INT64_MAX, reader->track->id};
    int64_t end_ns = vti_track_end_ns(reader->recording, reader->track);
    struct vt_event event;
    vt_cursor *cursor;
    int got = 0;
    int code = vt_cursor_open(&cursor, reader->recording, &filter);

    if (code)
        return code;
    reader->begun = 0;
    while (!code && (got = vt_cursor_next(cursor, &event)) > 0) {
        if (event.kind == VT_EVENT_BEGIN)
            code = enter(reader, &event);
        else if (event.kind == VT_EVENT_END)
            code = adjust(reader, event.depth, event.time_ns);
    }
    vt_cursor_close(cursor);
    while (reader->depth)
        leave(reader, end_ns, true);
    return code ? code : got;
}

static bool has_functions(const vt_recording *recording)
{
    for (uint32_t i = 0; i < recording->facts.site_ids.count; i++)
        if (recording->facts.sites[i].type == VTI_SITE_FUNCTION)
            return true;
    return false;
}

static int read_all(struct vti_calls *calls, vt_recording *recording,
                    const struct vti_calls_options *options, bool takes_spans)
{
    struct reader reader = {
        .calls = calls,
        .recording = recording,
        .options = options,
        .sites = {.calls = calls, .recording = recording, .takes_spans = takes_spans}};
    int code = vti_map_create(&reader.places);

    for (uint32_t i = 0; !code && i < recording->facts.track_ids.count; i++) {
        reader.track = recording->facts.tracks[i];
        reader.track_index = options->is_merged ? VT_NONE : i;
        reader.pair_ns = options->is_raw ? 0 : reader.track->pair_ns;
        reader.inner_ns = options->is_raw ? 0 : reader.track->inner_ns;
        if ((options->track == VT_NONE || options->track == reader.track->id) &&
            (options->process == VT_NONE || options->process == reader.track->process))
            code = read_track(&reader);
    }
    vti_map_free(reader.places);
    vti_call_sites_fini(&reader.sites);
    free(reader.place_calls);
    free(reader.frames);
    return code;
}

int vti_calls_from_spans(struct vti_calls *calls, vt_recording *recording,
                         const struct vti_calls_options *options)
{
    return has_functions(recording) ? read_all(calls, recording, options, false) : 0;
}

int vti_calls_load_spans(struct vti_calls *calls, vt_recording *recording,
                         const struct vti_calls_options *options)
{
    int code;

    vti_calls_init(calls);
    code = read_all(calls, recording, options, true);
    if (code)
        vti_calls_fini(calls);
    else
        vti_calls_finish(calls);
    return code;
}
