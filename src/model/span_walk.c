/*
 * span_walk.c - every span of a recording, with attributes, errors and times without our own cost.
 *
 * Spans of threads come track by track from the matcher. Async spans may end on another track than
 * they began on, so they are matched in a second pass over all tracks merged by time, which is only
 * made if the first one met any.
 */
#include "model/span_walk.h"

#include "base/error.h"
#include "model/match.h"

#include <stdlib.h>
#include <string.h>

enum phase { IN_THREADS, IN_ASYNCS, IN_UNFINISHED, AT_END };

struct vti_span_walk {
    struct vt_recording *recording; /* borrowed */
    struct vt_filter filter;
    enum phase phase;
    bool has_async;
    bool begins_only;
    /* Threads: */
    uint32_t track_at;       /* index of the next track */
    struct vti_track *track; /* NULL: start on the next one */
    uint64_t first_block;
    struct vti_matcher matcher;
    struct vti_match match;
    /* Async spans: */
    vt_cursor *cursor; /* owned */
    struct vti_asyncs asyncs;
    bool is_removal_due; /* of the one given last, once the caller is done with it */
    uint32_t given_process;
    uint64_t given_id;
    uint64_t async_number;
    struct vti_async **left; /* owned; without an end, by begin */
    size_t left_count, left_at;
    /* Numbers: */
    uint64_t *bases;  /* owned; spans in all tracks before, and one for all; NULL: not yet */
    uint64_t skipped; /* spans of the track that the matcher did not see */
    bool is_skipped_known;
};

bool vti_filter_overlaps(const struct vt_filter *filter, int64_t begin_ns, int64_t end_ns)
{
    return begin_ns < filter->to_ns && (end_ns > filter->from_ns || begin_ns >= filter->from_ns);
}

/* That in which the outermost span began that is open where the filter begins. */
uint64_t vti_track_first_block(vt_recording *recording, struct vti_track *track, int64_t from_ns)
{
    uint64_t at = vti_blocks_from_ns(recording, track, from_ns);
    struct vti_index_entry entry;
    struct vti_decoder decoder;
    uint64_t begin;
    uint32_t site;

    if (from_ns == INT64_MIN || !vti_blocks_open(recording, track, at, &entry, &decoder) ||
        vti_decoder_stack_next(&decoder, &site, &begin) <= 0)
        return at;
    return vti_blocks_from_ticks(track, begin);
}

int vti_span_walk_open(struct vti_span_walk **result, vt_recording *recording,
                       const struct vt_filter *filter)
{
    struct vti_span_walk *walk = calloc(1, sizeof *walk);
    int code = walk ? vti_recording_prepare(recording) : vti_fail(VTI_E_NOMEM, "out of memory");

    *result = NULL;
    if (code) {
        free(walk);
        return code;
    }
    walk->recording = recording;
    walk->filter = filter ? *filter : (struct vt_filter){INT64_MIN, INT64_MAX, VT_NONE};
    *result = walk;
    return 0;
}

void vti_span_walk_close(struct vti_span_walk *walk)
{
    if (!walk)
        return;
    vt_cursor_close(walk->cursor);
    vti_matcher_fini(&walk->matcher);
    vti_asyncs_fini(&walk->asyncs);
    free(walk->left);
    free(walk->bases);
    free(walk);
}

void vti_span_walk_begins_only(struct vti_span_walk *walk)
{
    walk->begins_only = true;
}

static bool is_wanted(const struct vti_span_walk *walk, int64_t begin_ns, int64_t end_ns)
{
    return vti_filter_overlaps(&walk->filter, begin_ns, end_ns) &&
           (!walk->begins_only || begin_ns >= walk->filter.from_ns);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void fill_from_match(const struct vti_span_walk *walk, struct vt_span *span)
{
    const struct vti_match *match = &walk->match;
    const struct vti_track *track = walk->track;
    uint64_t ended = match->inside - walk->matcher.unended;
    double own_ns = match->is_finished ? track->inner_ns : 0;

    memset(span, 0, sizeof *span);
    span->track = track->id;
    span->site = match->frame->site;
    span->depth = match->depth;
    span->flags = match->flags & 0xff; /* those above are the matcher's own */
    span->begin_ns = match->begin_ns;
    span->end_ns = match->end_ns;
    span->self_ns = match->self_ns;
    span->corrected_ns = vti_corrected(match->end_ns - match->begin_ns,
                                       own_ns + (double)ended * track->pair_ns);
    span->corrected_self_ns = vti_corrected(
        match->self_ns, own_ns + (double)match->frame->direct * (track->pair_ns - track->inner_ns));
    span->inside = match->inside;
    span->is_finished = match->is_finished;
    span->has_error = match->flags & VTI_FRAME_FAILED;
    if (span->has_error) {
        const struct vti_failure *failure = match->failure;

        span->error_type = (struct vt_text){failure->type.data, failure->type.len};
        span->error_message = (struct vt_text){failure->message.data, failure->message.len};
    }
    span->attrs = match->attr_count ? match->attrs : NULL;
    span->attr_count = match->attr_count;
    span->parent_site = match->parent_site;
}

/* Whether a span that reaches into the filter began before the block at which its track was
 * begun. */
static bool has_async_before(struct vti_span_walk *walk)
{
    uint64_t end = walk->begins_only ? 0 : walk->first_block;
    struct vti_event event = {0};
    struct vti_walk before;
    int got;

    vti_walk_init(&before, walk->recording, walk->track, 0, end);
    while ((got = vti_walk_next(&before, &event)) != VTI_WALK_END)
        if (got == VTI_WALK_EVENT && event.kind == VTI_EVENT_ASYNC_BEGIN)
            return true;
    return false;
}

/* The next track that the filter wants; false after the last. */
static bool start_track(struct vti_span_walk *walk)
{
    struct vti_facts *facts = &walk->recording->facts;

    while (walk->track_at < facts->track_ids.count) {
        struct vti_track *track = facts->tracks[walk->track_at++];

        if (walk->filter.track != VT_NONE && walk->filter.track != track->id)
            continue;
        walk->track = track;
        walk->first_block = vti_track_first_block(walk->recording, track, walk->filter.from_ns);
        walk->is_skipped_known = false;
        if (!walk->has_async)
            walk->has_async = has_async_before(walk);
        vti_matcher_start(&walk->matcher, walk->recording, track, walk->first_block, UINT64_MAX);
        walk->matcher.to_ns = walk->filter.to_ns;
        walk->matcher.stops_early = true;
        return true;
    }
    return false;
}

static int next_of_threads(struct vti_span_walk *walk, struct vt_span *span)
{
    while (walk->track || start_track(walk)) {
        int got = vti_matcher_next(&walk->matcher, &walk->match);

        if (got < 0)
            return got;
        if (got == VTI_MATCH_END) {
            walk->track = NULL;
        } else if (got == VTI_MATCH_EVENT) {
            walk->has_async |= walk->matcher.event.kind == VTI_EVENT_ASYNC_BEGIN;
        } else if (is_wanted(walk, walk->match.begin_ns, walk->match.end_ns)) {
            fill_from_match(walk, span);
            return 1;
        }
    }
    return 0;
}

/* ---- async spans ----------------------------------------------------------------------------- */

/* Whether the filter wants it. */
static bool fill_from_async(struct vti_span_walk *walk, const struct vti_async *async,
                            bool is_finished, struct vt_span *span)
{
    int64_t end_ns = async->end_ns > async->begin_ns ? async->end_ns : async->begin_ns;

    walk->async_number++;
    if (!is_wanted(walk, async->begin_ns, end_ns) ||
        (walk->filter.track != VT_NONE && walk->filter.track != async->track))
        return false;
    memset(span, 0, sizeof *span);
    span->track = async->track;
    span->site = async->site;
    span->depth = async->depth;
    span->flags = async->flags;
    span->begin_ns = async->begin_ns;
    span->end_ns = end_ns;
    span->self_ns = span->corrected_ns = span->corrected_self_ns = end_ns - async->begin_ns;
    span->async_id = async->id;
    span->is_finished = is_finished;
    span->has_error = async->flags & VT_FLAG_FAILED;
    span->attrs = async->attrs;
    span->attr_count = (uint32_t)async->attr_count;
    span->parent_site = async->parent_site;
    span->has_trace = async->has_trace;
    memcpy(span->trace_base, async->trace.base, sizeof span->trace_base);
    memcpy(span->trace_span, async->trace.span, sizeof span->trace_span);
    memcpy(span->trace_parent, async->trace.parent, sizeof span->trace_parent);
    return true;
}

static void begin_async(struct vti_async *async, const struct vt_event *event, uint32_t parent_site)
{
    async->has_begin = true;
    async->begin_ns = event->time_ns;
    async->begin_ticks = event->ticks;
    async->site = event->site;
    async->track = event->track;
    async->depth = event->depth;
    async->parent_site = parent_site;
    async->has_trace = event->has_trace;
    memcpy(async->trace.base, event->trace_base, sizeof async->trace.base);
    memcpy(async->trace.span, event->trace_span, sizeof async->trace.span);
    memcpy(async->trace.parent, event->trace_parent, sizeof async->trace.parent);
}

static int add_async_attr(struct vti_async *async, const struct vt_event *event)
{
    bool is_of_begin = async->has_begin && event->track == async->track &&
                       event->ticks == async->begin_ticks;

    if (vti_grow(&async->attrs, async->attr_count, &async->attr_capacity, sizeof *async->attrs))
        return VTI_E_NOMEM;
    async->attrs[async->attr_count++] = (struct vt_attr){event->site, event->value, is_of_begin};
    return 0;
}

static int take_async(struct vti_span_walk *walk, const struct vt_event *event,
                      struct vt_span *span)
{
    struct vti_facts *facts = &walk->recording->facts;
    int64_t at = vti_ids_find(&facts->track_ids, event->track);
    uint32_t process = at < 0 ? VT_NONE : facts->tracks[at]->process;
    struct vti_async *async = vti_asyncs_get(&walk->asyncs, process, event->async_id);
    bool is_given = false;

    if (!async)
        return VTI_E_NOMEM;
    if (event->kind == VT_EVENT_ASYNC_ATTR)
        return add_async_attr(async, event);
    if (event->kind == VT_EVENT_ASYNC_BEGIN) {
        if (async->has_begin) {
            /* The id is used again: what was open under it never ended. */
            async->end_ns = event->time_ns;
            is_given = fill_from_async(walk, async, false, span);
            async->attr_count = 0;
        }
        begin_async(async, event, vti_cursor_parent_site(walk->cursor));
    } else {
        async->has_end = true;
        async->end_ns = event->time_ns;
        async->flags = event->flags;
    }
    if (is_given || !async->has_begin || !async->has_end)
        return is_given;
    is_given = fill_from_async(walk, async, true, span);
    walk->is_removal_due = true;
    walk->given_process = process;
    walk->given_id = event->async_id;
    return is_given;
}

static int remove_given(struct vti_span_walk *walk)
{
    struct vti_async *async;

    if (!walk->is_removal_due)
        return 0;
    walk->is_removal_due = false;
    async = vti_asyncs_get(&walk->asyncs, walk->given_process, walk->given_id);
    if (!async)
        return VTI_E_NOMEM;
    vti_asyncs_remove(&walk->asyncs, async);
    return 0;
}

static int next_of_asyncs(struct vti_span_walk *walk, struct vt_span *span)
{
    struct vt_event event;
    int got;

    if (!walk->cursor) {
        got = vt_cursor_open(&walk->cursor, walk->recording, NULL);
        if (got)
            return got;
    }
    for (;;) {
        got = remove_given(walk);
        if (got)
            return got;
        got = vt_cursor_next(walk->cursor, &event);
        if (got <= 0)
            return got;
        if (event.kind != VT_EVENT_ASYNC_BEGIN && event.kind != VT_EVENT_ASYNC_END &&
            event.kind != VT_EVENT_ASYNC_ATTR)
            continue;
        got = take_async(walk, &event, span);
        if (got)
            return got;
    }
}

static int compare_begins(const void *left, const void *right)
{
    const struct vti_async *const *a = left;
    const struct vti_async *const *b = right;

    if ((*a)->begin_ns != (*b)->begin_ns)
        return (*a)->begin_ns < (*b)->begin_ns ? -1 : 1;
    return (*a)->id < (*b)->id ? -1 : (*a)->id > (*b)->id;
}

/* Those without an end last as long as the track on which they began, or until events of their process were lost. */
static int find_unfinished(struct vti_span_walk *walk)
{
    struct vti_facts *facts = &walk->recording->facts;
    struct vti_gaps gaps;
    int code = vti_gaps_find(&gaps, walk->recording);

    if (code)
        return code;
    walk->left = calloc(walk->asyncs.count + 1, sizeof *walk->left);
    if (!walk->left) {
        vti_gaps_fini(&gaps);
        return vti_fail(VTI_E_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < walk->asyncs.slot_count; i++) {
        struct vti_async *async = &walk->asyncs.slots[i];
        int64_t at = vti_ids_find(&facts->track_ids, async->track);

        if (!async->is_used || !async->has_begin || at < 0)
            continue;
        async->end_ns = vti_track_end_ns(walk->recording, facts->tracks[at]);
        vti_gaps_cut(&gaps, async);
        walk->left[walk->left_count++] = async;
    }
    qsort(walk->left, walk->left_count, sizeof *walk->left, compare_begins);
    vti_gaps_fini(&gaps);
    return 0;
}

static int next_of_unfinished(struct vti_span_walk *walk, struct vt_span *span)
{
    int code = walk->left ? 0 : find_unfinished(walk);

    while (!code && walk->left_at < walk->left_count)
        if (fill_from_async(walk, walk->left[walk->left_at++], false, span))
            return 1;
    return code;
}

/* ---- all together ---------------------------------------------------------------------------- */

int vti_span_walk_next(struct vti_span_walk *walk, struct vt_span *span)
{
    int got = 0;

    if (walk->phase == IN_THREADS) {
        got = next_of_threads(walk, span);
        if (got)
            return got;
        walk->phase = walk->has_async ? IN_ASYNCS : AT_END;
    }
    if (walk->phase == IN_ASYNCS) {
        got = next_of_asyncs(walk, span);
        if (got)
            return got;
        walk->phase = IN_UNFINISHED;
    }
    if (walk->phase == IN_UNFINISHED) {
        got = next_of_unfinished(walk, span);
        if (got)
            return got;
        walk->phase = AT_END;
    }
    return got;
}

/* A track's spans: those that begin in it and those that it begins with. */
static bool find_bases(struct vti_span_walk *walk)
{
    struct vti_facts *facts = &walk->recording->facts;
    uint32_t count = facts->track_ids.count;

    if (walk->bases)
        return true;
    walk->bases = calloc((size_t)count + 1, sizeof *walk->bases);
    for (uint32_t i = 0; walk->bases && i < count; i++)
        walk->bases[i + 1] = walk->bases[i] + facts->tracks[i]->blocks.begins +
                             vti_blocks_depth(walk->recording, facts->tracks[i], 0);
    return walk->bases;
}

static void find_skipped(struct vti_span_walk *walk)
{
    struct vti_index_entry entry;

    if (walk->is_skipped_known)
        return;
    walk->is_skipped_known = true;
    walk->skipped = 0;
    if (walk->first_block == 0)
        return;
    for (uint64_t i = 0; i < walk->first_block; i++) {
        vti_blocks_at(walk->track, i, &entry);
        walk->skipped += entry.begins;
    }
    walk->skipped += vti_blocks_depth(walk->recording, walk->track, 0);
    walk->skipped -= vti_blocks_depth(walk->recording, walk->track, walk->first_block);
}

uint64_t vti_span_walk_number(struct vti_span_walk *walk, uint64_t *parent)
{
    uint64_t base;

    *parent = 0;
    if (!find_bases(walk))
        return 0;
    if (walk->phase != IN_THREADS)
        return walk->bases[walk->recording->facts.track_ids.count] + walk->async_number;
    find_skipped(walk);
    base = walk->bases[walk->track_at - 1] + walk->skipped;
    if (walk->match.depth)
        *parent = base + walk->matcher.frames[walk->match.depth - 1].begun;
    return base + walk->matcher.begun - walk->match.inside;
}

uint64_t vti_span_walk_begun(const struct vti_span_walk *walk)
{
    return walk->match.frame->begun;
}
