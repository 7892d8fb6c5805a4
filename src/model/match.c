/*
 * match.c - begins and ends of one track become spans, in the order in which they end.
 *
 * The stack of open spans is compared with the one that each block begins with: spans that the next
 * block does not have any more ended where events are missing and get the gap flag; spans that are
 * new there began in the gap, and the block says when. Depth is bounded by VTI_STACK_MAX.
 */
#include "model/match.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define RARELY(condition) __builtin_expect(!!(condition), 0)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define ATTRS_MOST 65536 /* of all spans that are open at one time; more are dropped */

void vti_matcher_fini(struct vti_matcher *matcher)
{
    vti_ids_fini(&matcher->sites);
    free(matcher->open);
    free(matcher->frames);
    free(matcher->starting);
    free(matcher->attrs);
    free(matcher->failures);
    memset(matcher, 0, sizeof *matcher);
}

void vti_matcher_start(struct vti_matcher *matcher, struct vt_recording *recording,
                       struct vti_track *track, uint64_t first_block, uint64_t end_block)
{
    vti_walk_init(&matcher->walk, recording, track, first_block, end_block);
    if (matcher->open)
        memset(matcher->open, 0, matcher->sites.count * sizeof *matcher->open);
    matcher->piece = matcher->walk.clock->pieces[0];
    matcher->depth = matcher->beyond = matcher->starting_count = matcher->keep = 0;
    matcher->is_closing = matcher->is_done = false;
    matcher->left_open = matcher->unended = 0;
    matcher->begun = matcher->counted_open = 0;
    matcher->attr_count = matcher->failure_count = 0;
    matcher->from_ns = INT64_MIN;
    matcher->to_ns = INT64_MAX;
    matcher->stops_early = matcher->leaves_open = false;
}

int64_t vti_matcher_slot(struct vti_matcher *matcher, uint32_t site)
{
    uint32_t known = matcher->sites.count;
    int64_t slot;

    if (vti_grow(&matcher->open, known, &matcher->open_capacity, sizeof *matcher->open))
        return VTI_E_NOMEM;
    slot = vti_ids_add(&matcher->sites, vti_site_same(matcher->walk.recording, site));
    if (slot == known)
        matcher->open[slot] = 0;
    if (slot >= 0)
        matcher->near[site % VTI_NEAR] = (struct vti_near){(uint64_t)site + 1, (uint32_t)slot};
    return slot;
}

static int64_t to_ns_slowly(struct vti_matcher *matcher, uint64_t ticks)
{
    struct vti_clock *clock = matcher->walk.clock;
    int64_t ns = vti_clock_ns(clock, ticks);

    matcher->piece = clock->pieces[clock->hint];
    return ns;
}

/* vti_clock_ns() for the two events of every span: nearly all lie in the same piece as the one
 * before. */
static inline int64_t to_ns(struct vti_matcher *matcher, uint64_t ticks)
{
    uint64_t since = ticks - matcher->piece.ticks;
    int64_t ns;

    if (RARELY(since >= matcher->piece.quick))
        return to_ns_slowly(matcher, ticks);
    ns = matcher->piece.ns + (int64_t)((double)(int64_t)since * matcher->piece.slope + 0.5);
    return ns < matcher->piece.most_ns ? ns : matcher->piece.most_ns;
}

static int grow_frames(struct vti_matcher *matcher)
{
    if (matcher->depth >= VTI_STACK_MAX) {
        matcher->beyond++;
        return 0;
    }
    return vti_grow(&matcher->frames, matcher->depth, &matcher->frame_capacity,
                    sizeof *matcher->frames);
}

/* These two run for every span of a recording: locals, because a store through a pointer makes the
 * compiler read the matcher's fields again. */
static ALWAYS_INLINE int push(struct vti_matcher *matcher, uint32_t site, uint64_t ticks,
                              unsigned flags)
{
    const struct vti_near *near = &matcher->near[site % VTI_NEAR];
    int64_t begin_ns = to_ns(matcher, ticks);
    int64_t slot = near->slot;
    uint64_t begun = matcher->begun + 1;
    struct vti_frame *frame;

    if (RARELY(near->site_plus_one != (uint64_t)site + 1)) {
        slot = vti_matcher_slot(matcher, site);
        if (slot < 0)
            return VTI_E_NOMEM;
    }
    if (RARELY(matcher->depth == matcher->frame_capacity)) {
        int result = grow_frames(matcher);

        if (result || matcher->beyond)
            return result;
    }
    if (begin_ns >= matcher->from_ns && begin_ns < matcher->to_ns) {
        flags |= VTI_FRAME_COUNTED;
        matcher->open[slot]++;
        matcher->counted_open++;
    }
    matcher->begun = begun;
    frame = &matcher->frames[matcher->depth++];
    frame->begin = ticks;
    frame->begin_ns = begin_ns;
    frame->children_ns = 0;
    frame->begun = begun;
    frame->direct = 0;
    frame->site = site;
    frame->slot = (uint32_t)slot;
    frame->attr_start = (uint32_t)matcher->attr_count;
    frame->flags = flags;
    return 0;
}

static ALWAYS_INLINE void pop(struct vti_matcher *matcher, int64_t end_ns, unsigned flags,
                              struct vti_match *match)
{
    size_t depth = matcher->depth - 1;
    struct vti_frame *frame = &matcher->frames[depth];
    int64_t begin_ns = frame->begin_ns;
    int64_t duration = end_ns > begin_ns ? end_ns - begin_ns : 0;
    int64_t children = frame->children_ns;
    uint32_t parent_site = VT_NONE;

    flags |= frame->flags;
    if (depth) {
        struct vti_frame *parent = frame - 1;

        parent_site = parent->site;
        parent->direct++;
        if (__builtin_add_overflow(parent->children_ns, duration, &parent->children_ns))
            parent->children_ns = INT64_MAX;
    }
    match->is_outermost = false;
    if (flags & VTI_FRAME_COUNTED) {
        matcher->counted_open--;
        match->is_outermost = --matcher->open[frame->slot] == 0;
    }
    match->frame = frame;
    match->depth = (uint32_t)depth;
    match->parent_site = parent_site;
    match->flags = flags;
    match->is_finished = true;
    match->begin_ns = begin_ns;
    match->end_ns = begin_ns + duration;
    match->self_ns = duration > children ? duration - children : 0;
    match->inside = matcher->begun - frame->begun;
    match->attr_count = 0;
    matcher->depth = depth;
    if (RARELY(matcher->attr_count != frame->attr_start)) {
        match->attr_count = (uint32_t)matcher->attr_count - frame->attr_start;
        match->attrs = &matcher->attrs[frame->attr_start];
        matcher->attr_count = frame->attr_start;
    }
    if (RARELY(flags & VTI_FRAME_FAILED))
        match->failure = &matcher->failures[--matcher->failure_count];
}

/* Reads the open stack of the block that starts; frames that it does not have will be closed. */
static int meet_block(struct vti_matcher *matcher)
{
    struct vti_decoder *decoder = &matcher->walk.decoder;
    struct vti_open open;

    matcher->starting_count = 0;
    matcher->keep = 0;
    matcher->beyond = 0;
    while (vti_decoder_stack_next(decoder, &open.site, &open.begin) > 0) {
        size_t at = matcher->starting_count;

        if (vti_grow(&matcher->starting, at, &matcher->starting_capacity,
                     sizeof *matcher->starting))
            return VTI_E_NOMEM;
        matcher->starting[matcher->starting_count++] = open;
        if (matcher->keep == at && at < matcher->depth && matcher->frames[at].site == open.site &&
            matcher->frames[at].begin == open.begin)
            matcher->keep++;
    }
    matcher->is_closing = true;
    matcher->close_ns = vti_clock_ns(matcher->walk.clock, matcher->walk.entry.first);
    return 0;
}

/* After the closing: the spans that are open now and were not known. */
static int adopt(struct vti_matcher *matcher)
{
    for (size_t i = matcher->keep; i < matcher->starting_count; i++)
        if (push(matcher, matcher->starting[i].site, matcher->starting[i].begin, 0))
            return VTI_E_NOMEM;
    matcher->is_closing = false;
    return 0;
}

static int add_attr(struct vti_matcher *matcher)
{
    struct vt_attr *attr;

    if (!matcher->depth || matcher->beyond || matcher->attr_count >= ATTRS_MOST)
        return 0;
    if (vti_grow(&matcher->attrs, matcher->attr_count, &matcher->attr_capacity,
                 sizeof *matcher->attrs))
        return VTI_E_NOMEM;
    attr = &matcher->attrs[matcher->attr_count++];
    attr->key = matcher->event.site;
    vti_event_value(&attr->value, &matcher->event.value);
    return 0;
}

static int add_failure(struct vti_matcher *matcher)
{
    struct vti_frame *frame;

    if (!matcher->depth || matcher->beyond)
        return 0;
    frame = &matcher->frames[matcher->depth - 1];
    if (vti_grow(&matcher->failures, matcher->failure_count, &matcher->failure_capacity,
                 sizeof *matcher->failures))
        return VTI_E_NOMEM;
    matcher->failure_count += !(frame->flags & VTI_FRAME_FAILED);
    frame->flags |= VTI_FRAME_FAILED;
    matcher->failures[matcher->failure_count - 1] = (struct vti_failure){
        matcher->event.error_type, matcher->event.error_message};
    return 0;
}

/* VTI_MATCH_SPAN or VTI_MATCH_EVENT if there is something to give, else 0 or a negative code. */
static inline int take_event(struct vti_matcher *matcher, struct vti_match *match)
{
    const struct vti_event *event = &matcher->event;

    switch (event->kind) {
    case VTI_EVENT_BEGIN:
        return push(matcher, event->site, event->ticks, event->flags);
    case VTI_EVENT_END:
        if (matcher->beyond) {
            matcher->beyond--;
            return 0;
        }
        if (!matcher->depth)
            return 0;
        pop(matcher, to_ns(matcher, event->ticks), event->flags, match);
        return VTI_MATCH_SPAN;
    case VTI_EVENT_ATTR:
        return add_attr(matcher);
    case VTI_EVENT_ERROR:
        return add_failure(matcher);
    default:
        matcher->event_ns = vti_clock_ns(matcher->walk.clock, event->ticks);
        return VTI_MATCH_EVENT;
    }
}

/* No more blocks: what is open now never ended. */
static void finish(struct vti_matcher *matcher)
{
    matcher->is_done = true;
    matcher->is_closing = !matcher->leaves_open;
    matcher->keep = 0;
    matcher->left_open = matcher->depth;
    matcher->close_ns = vti_track_end_ns(matcher->walk.recording, matcher->walk.track);
}

static bool may_stop(struct vti_matcher *matcher)
{
    return matcher->stops_early && !matcher->counted_open &&
           vti_clock_ns(matcher->walk.clock, matcher->walk.entry.first) >= matcher->to_ns;
}

/* One frame that the next block does not have, or that never ended. What never ended has not cost
 * the spans around it a begin and an end, so they must not have it taken off. */
static void close_frame(struct vti_matcher *matcher, struct vti_match *match)
{
    pop(matcher, matcher->close_ns, matcher->is_done ? 0 : VT_FLAG_IN_GAP, match);
    match->is_finished = !matcher->is_done;
    if (!matcher->is_done)
        return;
    matcher->unended = matcher->left_open - match->depth - 1;
    if (matcher->depth)
        matcher->frames[matcher->depth - 1].direct--;
}

/* A block begins, or there are no more. */
static int turn(struct vti_matcher *matcher, int got)
{
    if (vti_walk_block(&matcher->walk, got) == VTI_WALK_END)
        finish(matcher);
    else if (may_stop(matcher))
        matcher->is_done = true;
    else
        return meet_block(matcher);
    return 0;
}

int vti_matcher_next(struct vti_matcher *matcher, struct vti_match *match)
{
    int got;

    for (;;) {
        if (RARELY(matcher->is_closing)) {
            if (matcher->depth > matcher->keep) {
                close_frame(matcher, match);
                return VTI_MATCH_SPAN;
            }
            if (!matcher->is_done && adopt(matcher))
                return VTI_E_NOMEM;
        }
        if (RARELY(matcher->is_done))
            return VTI_MATCH_END;
        got = matcher->walk.in_block ? vti_decoder_next(&matcher->walk.decoder, &matcher->event)
                                     : 0;
        got = got > 0 ? take_event(matcher, match) : turn(matcher, got);
        if (got)
            return got;
    }
}
