/*
 * source_spans.c - the events of one recording become sums of spans.
 *
 * Each track has a matcher that goes on where it stopped: the spans that were open stay on its stack, and each block begins with the
 * stack as it should be. Nothing that the matcher gave is kept, because the file is mapped anew as it grows.
 */
#include "base/error.h"
#include "live/state.h"

#include <stdlib.h>
#include <string.h>

#define SETTLE_NS 2000000000 /* blocks of other threads and processes have come by then */

struct vti_source_track *vti_source_track_at(struct vti_source *source, uint32_t at)
{
    while (source->track_count <= at) {
        if (vti_grow(&source->tracks, source->track_count, &source->track_room,
                     sizeof *source->tracks))
            return NULL;
        source->tracks[source->track_count] = calloc(1, sizeof **source->tracks);
        if (!source->tracks[source->track_count])
            return NULL;
        source->track_count++;
    }
    return source->tracks[at];
}

static void drop_matcher(struct vti_source_track *track)
{
    if (track->matcher)
        vti_matcher_fini(track->matcher);
    free(track->matcher);
    free(track->groups);
    track->matcher = NULL;
    track->groups = NULL;
    track->group_count = track->group_room = 0;
}

/* A pipeline may start threads and processes for as long as it runs: of those that are over little is kept. */
void vti_source_settle_track(struct vti_source *source, uint32_t at)
{
    const struct vti_track *of = source->recording->facts.tracks[at];
    struct vti_source_track *track = source->tracks[at];

    if (track->matcher && of->end && of->last <= of->end && !track->matcher->depth &&
        track->next_block == vti_blocks_count(of))
        drop_matcher(track);
}

void vti_source_tracks_fini(struct vti_source *source)
{
    for (size_t i = 0; i < source->track_count; i++) {
        drop_matcher(source->tracks[i]);
        free(source->tracks[i]);
    }
    free(source->tracks);
    source->tracks = NULL;
    source->track_count = source->track_room = 0;
}

static int64_t group_of_site(struct vti_source *source, uint32_t site)
{
    struct vt_site_info info;

    vt_recording_site_by_id(source->recording, site, &info);
    return vti_live_group(source->live, info.name, info.function, info.file, info.line);
}

/* The group of a slot of the track's matcher. */
static int64_t group_of_slot(struct vti_source *source, struct vti_source_track *track,
                             uint32_t slot, uint32_t site)
{
    while (track->group_count <= slot) {
        if (vti_grow(&track->groups, track->group_count, &track->group_room, sizeof *track->groups))
            return VTI_E_NOMEM;
        track->groups[track->group_count++] = 0;
    }
    if (!track->groups[slot]) {
        int64_t group = group_of_site(source, vti_site_same(source->recording, site));

        if (group < 0)
            return group;
        track->groups[slot] = (uint32_t)group + 1;
    }
    return track->groups[slot] - 1;
}

static int add_span(struct vti_source *source, int64_t group, int64_t begin_ns, int64_t end_ns,
                    int64_t self_ns, bool is_failed)
{
    struct vti_live *live = source->live;
    struct vti_live_group *sums;

    if (group < 0)
        return (int)group;
    sums = &live->groups[group];
    sums->self_ns += self_ns;
    sums->errors += is_failed;
    live->errors += is_failed;
    live->spans++;
    return vti_times_add(&sums->times, end_ns - begin_ns, live->is_caught_up);
}

/* ---- async spans ------------------------------------------------------------------------------- */

static int64_t group_of_async(struct vti_source *source, uint32_t site)
{
    uint32_t known = source->async_sites.count;
    int64_t at;
    int64_t group;

    if (vti_grow(&source->async_groups, known, &source->async_room, sizeof *source->async_groups))
        return VTI_E_NOMEM;
    at = vti_ids_add(&source->async_sites, vti_site_same(source->recording, site));
    if (at < 0)
        return at;
    if (at == known) {
        group = group_of_site(source, site);
        source->async_groups[at] = group < 0 ? 0 : (uint32_t)group + 1;
    }
    return (int64_t)source->async_groups[at] - 1;
}

static void add_self(void *arg, uint32_t group, int64_t self_ns)
{
    struct vti_live *live = arg;

    if (group < live->group_count)
        live->groups[group].self_ns += self_ns;
}

/* Of a trace: when its children are known. Others are all their own. */
static void take_self(struct vti_source *source, const struct vti_async *async, int64_t group)
{
    struct vti_live *live = source->live;

    if (async->has_trace && live->selves)
        vti_selves_end(live->selves, &async->trace, vti_source_unix(source, async->begin_ns),
                       vti_source_unix(source, async->end_ns), (uint32_t)group, live->now_ns,
                       add_self, live);
    else
        add_self(live, (uint32_t)group,
                 async->end_ns > async->begin_ns ? async->end_ns - async->begin_ns : 0);
}

static void begin_self(struct vti_source *source, const struct vti_async *async)
{
    struct vti_live *live = source->live;

    if (!live->selves)
        live->selves = vti_selves_create();
    if (live->selves)
        vti_selves_begin(live->selves, &async->trace, vti_source_unix(source, async->begin_ns),
                         live->now_ns);
}

/* What nobody writes any more, and is all read, has no children to come. */
void vti_live_settle_selves(struct vti_live *live)
{
    bool is_growing = false;

    if (!live->selves || !live->is_caught_up)
        return;
    for (size_t i = 0; i < live->source_count; i++)
        is_growing |= live->sources[i]->is_growing;
    vti_selves_settle(live->selves, is_growing ? live->now_ns - SETTLE_NS : INT64_MAX, add_self,
                      live);
}

static int take_async(struct vti_source *source, const struct vti_track *track,
                      const struct vti_event *event, int64_t ns)
{
    struct vti_async *async = vti_asyncs_find(&source->asyncs, track->process, event->async_id);
    int64_t group;
    int code;

    if (!async && source->asyncs.count >= VTI_LIVE_ASYNC_MOST)
        return 0;
    if (!async)
        async = vti_asyncs_get(&source->asyncs, track->process, event->async_id);
    if (!async)
        return VTI_E_NOMEM;
    if (event->kind == VTI_EVENT_ASYNC_BEGIN) {
        async->has_begin = true;
        async->begin_ns = ns;
        async->site = event->site;
        async->has_trace = event->has_trace;
        async->trace = event->trace;
        if (async->has_trace)
            begin_self(source, async);
    } else {
        async->has_end = true;
        async->end_ns = ns;
        async->flags = event->flags;
    }
    if (!async->has_begin || !async->has_end)
        return 0;
    group = group_of_async(source, async->site);
    code = add_span(source, group, async->begin_ns, async->end_ns, 0,
                    async->flags & VTI_FLAG_FAILED);
    if (!code)
        take_self(source, async, group);
    if (!code && async->has_trace)
        vti_exemplars_note(&source->live->groups[group].exemplars, async->trace.base,
                           async->end_ns - async->begin_ns, vti_source_unix(source, async->end_ns));
    vti_asyncs_remove(&source->asyncs, async);
    return code;
}

/* ---- blocks ------------------------------------------------------------------------------------ */

static int start(struct vti_source *source, struct vti_source_track *track, uint32_t at)
{
    struct vti_track *of = source->recording->facts.tracks[at];
    struct vti_matcher *matcher = track->matcher;
    uint64_t next = track->next_block;

    if (!matcher) {
        matcher = track->matcher = calloc(1, sizeof *matcher);
        if (!matcher)
            return VTI_E_NOMEM;
        vti_matcher_start(matcher, source->recording, of, next, next + 1);
    } else {
        vti_walk_init(&matcher->walk, source->recording, of, next, next + 1);
        matcher->piece = matcher->walk.clock->pieces[0];
        matcher->is_done = matcher->is_closing = false;
        /* Attributes and texts of errors lay in a mapping that may be gone; that a span failed is still known. */
        matcher->attr_count = matcher->failure_count = 0;
        for (size_t i = 0; i < matcher->depth; i++) {
            matcher->frames[i].attr_start = 0;
            matcher->failure_count += !!(matcher->frames[i].flags & VTI_FRAME_FAILED);
        }
    }
    matcher->leaves_open = true;
    return 0;
}

int vti_source_take_block(struct vti_source *source, uint32_t track_at)
{
    struct vti_source_track *track = source->tracks[track_at];
    struct vti_track *of = source->recording->facts.tracks[track_at];
    struct vti_live *live = source->live;
    struct vti_index_entry entry;
    struct vti_match match;
    struct vti_clock *clock;
    int got;
    int code = start(source, track, track_at);

    while (!code && (got = vti_matcher_next(track->matcher, &match)) != VTI_MATCH_END) {
        if (got < 0)
            return got;
        if (got == VTI_MATCH_SPAN) {
            int64_t group = group_of_slot(source, track, match.frame->slot, match.frame->site);

            track->spans++;
            code = add_span(source, group, match.begin_ns, match.end_ns, match.self_ns,
                            match.flags & VTI_FRAME_FAILED);
        } else if (track->matcher->event.kind == VTI_EVENT_ASYNC_BEGIN ||
                   track->matcher->event.kind == VTI_EVENT_ASYNC_END) {
            code = take_async(source, of, &track->matcher->event, track->matcher->event_ns);
        } else if (track->matcher->event.kind == VTI_EVENT_COUNTER) {
            vti_source_take_counter(source, &track->matcher->event);
        }
    }
    vti_blocks_at(of, track->next_block, &entry);
    track->events += entry.events;
    live->events += entry.events;
    clock = vti_track_clock(source->recording, of);
    vti_live_note_times(live, vti_source_unix(source, vti_clock_ns(clock, entry.first)),
                        vti_source_unix(source, vti_clock_ns(clock, entry.last)));
    track->next_block++;
    return code;
}

void vti_source_count_open(struct vti_source *source)
{
    struct vti_live *live = source->live;
    struct vti_facts *facts;
    int64_t now_ns;

    if (!source->recording || !source->is_growing)
        return;
    facts = &source->recording->facts;
    now_ns = live->now_unix_ns - facts->clocks.start_realtime_ns;
    for (size_t i = 0; i < source->track_count && i < facts->track_ids.count; i++) {
        const struct vti_matcher *matcher = source->tracks[i]->matcher;

        for (size_t n = 0; matcher && n < matcher->depth; n++) {
            int64_t group = group_of_slot(source, source->tracks[i], matcher->frames[n].slot,
                                          matcher->frames[n].site);
            int64_t open_ns = now_ns - matcher->frames[n].begin_ns;

            if (group < 0)
                continue;
            live->groups[group].running++;
            live->groups[group].open_ns += open_ns > 0 ? open_ns : 0;
        }
    }
    for (size_t i = 0; i < source->asyncs.slot_count; i++) {
        const struct vti_async *async = &source->asyncs.slots[i];
        int64_t group = async->is_used && async->has_begin ? group_of_async(source, async->site)
                                                           : -1;

        if (group >= 0)
            live->groups[group].running++;
    }
}
