/*
 * cursor.c - the events of one track, or of all tracks merged by time.
 *
 * A heap holds one entry for each track, at the time of its next event; before a track's first
 * event is needed that is the start of its first block, so tracks cost nothing until their time has
 * come. Each keeps its open spans, so that an end knows what it ends.
 */
#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

struct stream {
    struct vti_walk walk;
    struct vti_event event;
    struct vti_open *open; /* owned; the spans that are open */
    size_t depth;
    size_t capacity;
    size_t beyond; /* spans open beyond VTI_STACK_MAX */
    uint32_t event_site;
    uint32_t event_depth;
    uint64_t event_begin; /* of an end: ticks at which its span began, UINT64_MAX unknown */
};

struct entry {
    int64_t ns;
    uint32_t order; /* of the track in the recording: ties go to the first */
    bool is_given;  /* its event has been given to the caller */
    uint64_t first_block;
    struct stream *stream; /* owned; NULL until its time has come */
};

struct vt_cursor {
    struct vt_recording *recording;
    unsigned generation;
    int64_t from_ns, to_ns;
    struct entry *heap; /* owned */
    size_t count;
    size_t capacity;
};

void vti_event_value(struct vt_value *to, const struct vti_value *from)
{
    memset(to, 0, sizeof *to);
    switch (from->type) {
    case VTI_VALUE_INT:
        to->type = VT_VALUE_INT;
        to->i = from->i;
        break;
    case VTI_VALUE_UINT:
        to->type = VT_VALUE_UINT;
        to->u = from->u;
        break;
    case VTI_VALUE_DOUBLE:
        to->type = VT_VALUE_DOUBLE;
        to->d = from->d;
        break;
    case VTI_VALUE_TEXT:
        to->type = VT_VALUE_TEXT;
        to->text = (struct vt_text){from->text.data, from->text.len};
        break;
    default:
        break;
    }
}

struct vti_value vti_event_value_of(const struct vt_value *value)
{
    struct vti_value to = {.type = (enum vti_value_type)value->type};

    if (value->type == VT_VALUE_TEXT)
        to.text = (struct vti_bytes){value->text.data, value->text.len};
    else if (value->type == VT_VALUE_DOUBLE)
        to.d = value->d;
    else
        to.u = value->type == VT_VALUE_INT ? (uint64_t)value->i : value->u;
    return to;
}

static void stream_free(struct stream *stream)
{
    if (!stream)
        return;
    free(stream->open);
    free(stream);
}

static int stream_push(struct stream *stream, uint32_t site, uint64_t begin)
{
    if (stream->depth >= VTI_STACK_MAX) {
        stream->beyond++;
        return 0;
    }
    if (vti_grow(&stream->open, stream->depth, &stream->capacity, sizeof *stream->open))
        return VTI_E_NOMEM;
    stream->open[stream->depth++] = (struct vti_open){begin, site};
    return 0;
}

static int stream_meet_block(struct stream *stream)
{
    uint64_t begin;
    uint32_t site;

    stream->depth = stream->beyond = 0;
    while (vti_decoder_stack_next(&stream->walk.decoder, &site, &begin) > 0)
        if (stream_push(stream, site, begin))
            return VTI_E_NOMEM;
    return 0;
}

/* Follows the stack. 1, 0 for an end without a span, which is left out, or a negative code. */
static int stream_take(struct stream *stream)
{
    const struct vti_event *event = &stream->event;

    stream->event_depth = (uint32_t)(stream->depth + stream->beyond);
    stream->event_site = event->site;
    if (event->kind == VTI_EVENT_BEGIN)
        return stream_push(stream, event->site, event->ticks) ? VTI_E_NOMEM : 1;
    if (event->kind != VTI_EVENT_END)
        return 1;
    if (!stream->depth)
        return 0;
    stream->event_depth--;
    stream->event_site = VT_NONE;
    stream->event_begin = UINT64_MAX;
    if (stream->beyond) {
        stream->beyond--;
        return 1;
    }
    stream->depth--;
    stream->event_site = stream->open[stream->depth].site;
    stream->event_begin = stream->open[stream->depth].begin;
    return 1;
}

/* The stream's next event in the time range: 1 with entry->ns set, 0 at the end, or a negative
 * code. */
static int advance(struct vt_cursor *cursor, struct entry *entry)
{
    struct stream *stream = entry->stream;
    int got;

    if (!stream) {
        struct vti_track *track = cursor->recording->facts.tracks[entry->order];

        stream = entry->stream = calloc(1, sizeof *stream);
        if (!stream)
            return vti_fail(VTI_E_NOMEM, "out of memory");
        vti_walk_init(&stream->walk, cursor->recording, track, entry->first_block, UINT64_MAX);
    }
    while ((got = vti_walk_next(&stream->walk, &stream->event)) != VTI_WALK_END) {
        got = got == VTI_WALK_BLOCK ? stream_meet_block(stream) : stream_take(stream);
        if (got < 0)
            return got;
        if (got == 0)
            continue;
        entry->ns = vti_clock_ns(stream->walk.clock, stream->event.ticks);
        if (entry->ns >= cursor->to_ns)
            return 0;
        if (entry->ns >= cursor->from_ns)
            return 1;
    }
    return 0;
}

static bool is_before(const struct entry *a, const struct entry *b)
{
    return a->ns != b->ns ? a->ns < b->ns : a->order < b->order;
}

static void sift_down(struct vt_cursor *cursor, size_t at)
{
    struct entry *heap = cursor->heap;
    struct entry moving = heap[at];

    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < cursor->count && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (child >= cursor->count || !is_before(&heap[child], &moving))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

static int add_track(struct vt_cursor *cursor, uint32_t order)
{
    struct vt_recording *recording = cursor->recording;
    struct vti_track *track = recording->facts.tracks[order];
    uint64_t first = vti_blocks_from_ns(recording, track, cursor->from_ns);
    struct vti_index_entry block;
    int64_t ns;

    if (first >= vti_blocks_count(track))
        return 0;
    vti_blocks_at(track, first, &block);
    ns = vti_clock_ns(vti_track_clock(recording, track), block.first);
    if (ns >= cursor->to_ns)
        return 0;
    if (vti_grow(&cursor->heap, cursor->count, &cursor->capacity, sizeof *cursor->heap))
        return VTI_E_NOMEM;
    cursor->heap[cursor->count++] = (struct entry){
        .ns = ns > cursor->from_ns ? ns : cursor->from_ns, .order = order, .first_block = first};
    return 0;
}

int vt_cursor_open(vt_cursor **result, vt_recording *recording, const struct vt_filter *filter)
{
    struct vt_cursor *cursor = calloc(1, sizeof *cursor);
    int code;

    *result = NULL;
    if (!cursor)
        return vti_read_result(vti_fail(VTI_E_NOMEM, "out of memory"));
    cursor->recording = recording;
    cursor->generation = recording->generation;
    cursor->from_ns = filter ? filter->from_ns : INT64_MIN;
    cursor->to_ns = filter ? filter->to_ns : INT64_MAX;
    code = vti_recording_prepare(recording);
    if (!code && filter && filter->track != VT_NONE) {
        int64_t only = vti_ids_find(&recording->facts.track_ids, filter->track);

        code = only < 0 ? 0 : add_track(cursor, (uint32_t)only);
    } else {
        for (uint32_t i = 0; i < recording->facts.track_ids.count && !code; i++)
            code = add_track(cursor, i);
    }
    for (size_t i = cursor->count / 2; i-- > 0;)
        sift_down(cursor, i);
    if (code) {
        vt_cursor_close(cursor);
        return vti_read_result(code);
    }
    *result = cursor;
    return 0;
}

void vt_cursor_close(vt_cursor *cursor)
{
    if (!cursor)
        return;
    for (size_t i = 0; i < cursor->count; i++)
        stream_free(cursor->heap[i].stream);
    free(cursor->heap);
    free(cursor);
}

static void fill(const struct vt_cursor *cursor, const struct entry *entry, struct vt_event *event)
{
    const struct stream *stream = entry->stream;
    const struct vti_event *from = &stream->event;
    struct vti_clock *clock = stream->walk.clock;

    memset(event, 0, sizeof *event);
    event->time_ns = entry->ns;
    event->ticks = from->ticks;
    event->kind = (enum vt_event_kind)from->kind;
    event->flags = from->flags;
    event->track = cursor->recording->facts.tracks[entry->order]->id;
    event->depth = stream->event_depth;
    event->site = stream->event_site;
    switch (from->kind) {
    case VTI_EVENT_COUNTER:
    case VTI_EVENT_ATTR:
        vti_event_value(&event->value, &from->value);
        break;
    case VTI_EVENT_ERROR:
        event->site = 0;
        event->error_type = (struct vt_text){from->error_type.data, from->error_type.len};
        event->error_message = (struct vt_text){from->error_message.data, from->error_message.len};
        break;
    case VTI_EVENT_ASYNC_ATTR:
        vti_event_value(&event->value, &from->value);
        event->async_id = from->async_id;
        break;
    case VTI_EVENT_ASYNC_END:
        event->site = 0;
        event->async_id = from->async_id;
        break;
    case VTI_EVENT_ASYNC_BEGIN:
        event->async_id = from->async_id;
        event->has_trace = from->has_trace;
        if (from->has_trace) {
            memcpy(event->trace_base, from->trace.base, sizeof event->trace_base);
            memcpy(event->trace_span, from->trace.span, sizeof event->trace_span);
            memcpy(event->trace_parent, from->trace.parent, sizeof event->trace_parent);
        }
        break;
    case VTI_EVENT_LOSS:
        event->site = 0;
        event->loss_reason = vti_loss_reason_text(from->loss_reason);
        event->loss_events = from->loss_events;
        event->loss_ns = from->loss_ticks > from->ticks
                             ? 0
                             : entry->ns - vti_clock_ns(clock, from->ticks - from->loss_ticks);
        break;
    default:
        break;
    }
}

int vt_cursor_next(vt_cursor *cursor, struct vt_event *event)
{
    if (cursor->generation != cursor->recording->generation)
        return vti_read_result(vti_fail(VTI_E_USAGE, "%s: refreshed while a cursor was open",
                                        cursor->recording->path));
    while (cursor->count) {
        struct entry *top = &cursor->heap[0];
        int got;

        if (top->stream && !top->is_given) {
            fill(cursor, top, event);
            top->is_given = true;
            return 1;
        }
        got = advance(cursor, top);
        if (got < 0)
            return vti_read_result(got);
        top->is_given = false;
        if (got == 0) {
            stream_free(top->stream);
            *top = cursor->heap[--cursor->count];
        }
        if (cursor->count)
            sift_down(cursor, 0);
    }
    return 0;
}

uint32_t vti_cursor_parent_site(const vt_cursor *cursor)
{
    const struct stream *stream = cursor->count ? cursor->heap[0].stream : NULL;

    return stream && stream->depth ? stream->open[stream->depth - 1].site : VT_NONE;
}

bool vti_cursor_begin_ns(const vt_cursor *cursor, int64_t *begin_ns)
{
    const struct stream *stream = cursor->count ? cursor->heap[0].stream : NULL;

    if (!stream || stream->event.kind != VTI_EVENT_END || stream->event_begin == UINT64_MAX)
        return false;
    *begin_ns = vti_clock_ns(stream->walk.clock, stream->event_begin);
    return true;
}
