/*
 * stats.c - numbers per site: how often, how long, how long without what is inside, percentiles.
 *
 * A span counts if it begins in the filter's time, and then with its whole duration. Our own cost
 * is taken off as the process measured it: `inner` of the span itself, `pair` for each span inside;
 * spans that never ended cost less than that, and nothing is taken off for them.
 * Of spans of one site inside each other only the outermost adds to the total.
 */
#include "analyze/histogram.h"
#include "analyze/stats_timed.h"
#include "analyze/stats_traces.h"
#include "base/error.h"
#include "model/match.h"

#include <stdlib.h>
#include <string.h>

#define RARELY(condition) __builtin_expect(!!(condition), 0)

/* Sums wrap around rather than overflow: only made-up numbers get that far. */
struct sum {
    uint64_t count, unfinished, errors;
    uint64_t total, self, raw_total, raw_self;
    uint64_t all; /* of all spans, nested ones too: for the average */
    int64_t min_ns, max_ns;
    uint32_t site;
    struct vti_histogram histogram;
};

struct job {
    struct vt_recording *recording;
    struct vt_filter filter;
    struct vti_matcher matcher;
    struct sum *sums; /* owned; by slot of the matcher */
    size_t count;
    size_t capacity;
    struct vti_asyncs asyncs;
    bool has_traces;
    bool is_timed_only; /* async spans without an end are counted as such, and that is all */
    uint64_t untimed;
};

static int grow_sums(struct job *job, uint32_t slot)
{
    while (job->count <= slot) {
        if (vti_grow(&job->sums, job->count, &job->capacity, sizeof *job->sums))
            return VTI_E_NOMEM;
        memset(&job->sums[job->count], 0, sizeof *job->sums);
        job->sums[job->count++].min_ns = INT64_MAX;
    }
    return 0;
}

/* The part that spans of threads and async ones have in common. */
static inline int add_duration(struct sum *sum, int64_t ns, int64_t raw_ns, bool is_outermost)
{
    sum->count++;
    sum->all += (uint64_t)ns;
    sum->total += is_outermost ? (uint64_t)ns : 0;
    sum->raw_total += is_outermost ? (uint64_t)raw_ns : 0;
    sum->min_ns = ns < sum->min_ns ? ns : sum->min_ns;
    sum->max_ns = ns > sum->max_ns ? ns : sum->max_ns;
    return vti_histogram_add(&sum->histogram, ns);
}

/* `cost_ns` is what begin and end of a track's spans cost beyond what an empty one shows. */
static inline int add_match(struct job *job, const struct vti_track *track, double cost_ns,
                            const struct vti_match *match)
{
    const struct vti_frame *frame = match->frame;
    int64_t raw = match->end_ns - match->begin_ns;
    int64_t ended = (int64_t)(match->inside - job->matcher.unended);
    double own_ns = match->is_finished ? track->inner_ns : 0;
    int64_t ns = vti_corrected(raw, own_ns + (double)ended * track->pair_ns);
    int64_t self = vti_corrected(match->self_ns, own_ns + (double)(int64_t)frame->direct * cost_ns);
    struct sum *sum;

    if (RARELY(frame->slot >= job->count) && grow_sums(job, frame->slot))
        return VTI_E_NOMEM;
    sum = &job->sums[frame->slot];
    sum->site = frame->site;
    sum->self += (uint64_t)self;
    sum->raw_self += (uint64_t)match->self_ns;
    sum->unfinished += !match->is_finished;
    sum->errors += (match->flags & VTI_FRAME_FAILED) != 0;
    return add_duration(sum, ns, raw, match->is_outermost);
}

static int add_async(struct job *job, const struct vti_async *async, bool is_finished)
{
    int64_t ns = async->end_ns > async->begin_ns ? async->end_ns - async->begin_ns : 0;
    int64_t slot = vti_matcher_slot(&job->matcher, async->site);
    struct sum *sum;

    if (slot < 0 || grow_sums(job, (uint32_t)slot))
        return VTI_E_NOMEM;
    sum = &job->sums[slot];
    sum->site = async->site;
    sum->unfinished += !is_finished;
    sum->errors += (async->flags & VT_FLAG_FAILED) != 0;
    if (!is_finished && job->is_timed_only) {
        job->untimed++;
        return 0;
    }
    sum->self += (uint64_t)ns;
    sum->raw_self += (uint64_t)ns;
    return add_duration(sum, ns, ns, true);
}

/* Tracks are read one after the other, so an end may come before its begin. */
static int take_async(struct job *job, const struct vti_track *track)
{
    const struct vti_event *event = &job->matcher.event;
    int64_t ns = job->matcher.event_ns;
    bool is_begin = event->kind == VTI_EVENT_ASYNC_BEGIN;
    struct vti_async *async;
    int result = 0;

    if (!is_begin && event->kind != VTI_EVENT_ASYNC_END)
        return 0;
    if (is_begin && (ns < job->filter.from_ns || ns >= job->filter.to_ns))
        return 0;
    async = vti_asyncs_get(&job->asyncs, track->process, event->async_id);
    if (!async)
        return VTI_E_NOMEM;
    job->has_traces |= event->has_trace;
    if (is_begin && async->has_begin) {
        async->end_ns = ns;
        result = add_async(job, async, false);
    }
    if (is_begin) {
        async->has_begin = true;
        async->begin_ns = ns;
        async->site = event->site;
        async->track = track->id;
    } else {
        async->has_end = true;
        async->end_ns = ns;
        async->flags = event->flags;
    }
    if (!result && async->has_begin && async->has_end) {
        result = add_async(job, async, true);
        vti_asyncs_remove(&job->asyncs, async);
    }
    return result;
}

static int add_track(struct job *job, struct vti_track *track)
{
    struct vti_matcher *matcher = &job->matcher;
    struct vti_match match;
    int result = 0;
    int got;

    vti_matcher_start(matcher, job->recording, track,
                      vti_blocks_from_ns(job->recording, track, job->filter.from_ns), UINT64_MAX);
    matcher->from_ns = job->filter.from_ns;
    matcher->to_ns = job->filter.to_ns;
    matcher->stops_early = true;
    while (!result && (got = vti_matcher_next(matcher, &match)) != VTI_MATCH_END) {
        if (got < 0)
            return got;
        if (got == VTI_MATCH_EVENT)
            result = take_async(job, track);
        else if (match.flags & VTI_FRAME_COUNTED)
            result = add_match(job, track, track->pair_ns - track->inner_ns, &match);
    }
    return result;
}

/* Looks for ends that lie beyond the filter, on any track. */
static int end_asyncs(struct job *job, struct vti_track *track)
{
    struct vti_walk *walk = &job->matcher.walk;
    struct vti_event event;
    int result = 0;
    int got;

    vti_walk_init(walk, job->recording, track,
                  vti_blocks_from_ns(job->recording, track, job->filter.from_ns), UINT64_MAX);
    while (!result && (got = vti_walk_next(walk, &event)) != VTI_WALK_END) {
        struct vti_async *async;

        if (got != VTI_WALK_EVENT || event.kind != VTI_EVENT_ASYNC_END)
            continue;
        async = vti_asyncs_find(&job->asyncs, track->process, event.async_id);
        if (!async || !async->has_begin)
            continue;
        async->end_ns = vti_clock_ns(walk->clock, event.ticks);
        async->flags = event.flags;
        result = add_async(job, async, true);
        vti_asyncs_remove(&job->asyncs, async);
    }
    return result;
}

static bool has_open_asyncs(const struct job *job)
{
    for (size_t i = 0; i < job->asyncs.slot_count; i++)
        if (job->asyncs.slots[i].is_used && job->asyncs.slots[i].has_begin)
            return true;
    return false;
}

/* Async spans whose end the filter hides, and those that have none. */
static int finish_asyncs(struct job *job)
{
    struct vti_facts *facts = &job->recording->facts;
    bool is_filtered = job->filter.to_ns != INT64_MAX || job->filter.track != VT_NONE;
    struct vti_gaps gaps;
    int result = vti_gaps_find(&gaps, job->recording);

    if (is_filtered && has_open_asyncs(job))
        for (uint32_t i = 0; i < facts->track_ids.count && !result; i++)
            result = end_asyncs(job, facts->tracks[i]);
    for (size_t i = 0; i < job->asyncs.slot_count && !result; i++) {
        struct vti_async *async = &job->asyncs.slots[i];
        int64_t at = vti_ids_find(&facts->track_ids, async->track);

        if (!async->is_used || !async->has_begin || at < 0)
            continue;
        async->end_ns = vti_track_end_ns(job->recording, facts->tracks[at]);
        vti_gaps_cut(&gaps, async);
        result = add_async(job, async, false);
    }
    vti_gaps_fini(&gaps);
    return result;
}

static void take_off(uint64_t *sum, int64_t ns)
{
    *sum -= (uint64_t)ns < *sum ? (uint64_t)ns : *sum;
}

/* What a span of a trace spent in its children is not its own, and one inside of its own site is in that one's total. */
static int take_trace_span(uint32_t site, int64_t inside_ns, int64_t nested_ns, void *arg)
{
    struct job *job = arg;
    int64_t slot = vti_matcher_slot(&job->matcher, site);
    struct sum *sum;

    if (slot < 0)
        return VTI_E_NOMEM;
    if ((size_t)slot >= job->count)
        return 0;
    sum = &job->sums[slot];
    take_off(&sum->self, inside_ns > 0 ? inside_ns : 0);
    take_off(&sum->raw_self, inside_ns > 0 ? inside_ns : 0);
    take_off(&sum->total, nested_ns > 0 ? nested_ns : 0);
    take_off(&sum->raw_total, nested_ns > 0 ? nested_ns : 0);
    return 0;
}

static int compare_sites(const void *left, const void *right)
{
    const struct vt_site_stats *a = left;
    const struct vt_site_stats *b = right;

    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    return a->site < b->site ? -1 : a->site > b->site;
}

static int64_t clamped(uint64_t sum)
{
    return sum < INT64_MAX ? (int64_t)sum : INT64_MAX;
}

static int fill_site(struct sum *sum, struct vt_site_stats *stats)
{
    static const double shares[] = {0.50, 0.90, 0.99};
    int64_t quantiles[3];

    if (!sum->count) {
        *stats = (struct vt_site_stats){
            .site = sum->site, .unfinished = sum->unfinished, .errors = sum->errors};
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        quantiles[i] = vti_histogram_quantile(&sum->histogram, shares[i]);
        if (quantiles[i] < 0)
            return (int)quantiles[i];
        /* Within 1 %, but never outside of what there was. */
        quantiles[i] = quantiles[i] > sum->max_ns ? sum->max_ns : quantiles[i];
        quantiles[i] = quantiles[i] < sum->min_ns ? sum->min_ns : quantiles[i];
    }
    *stats = (struct vt_site_stats){.site = sum->site,
                                    .count = sum->count,
                                    .unfinished = sum->unfinished,
                                    .errors = sum->errors,
                                    .total_ns = clamped(sum->total),
                                    .self_ns = clamped(sum->self),
                                    .raw_total_ns = clamped(sum->raw_total),
                                    .raw_self_ns = clamped(sum->raw_self),
                                    .min_ns = sum->min_ns,
                                    .max_ns = sum->max_ns,
                                    .avg_ns = clamped(sum->all / sum->count),
                                    .p50_ns = quantiles[0],
                                    .p90_ns = quantiles[1],
                                    .p99_ns = quantiles[2]};
    return 0;
}

static int fill(struct job *job, struct vt_stats *stats)
{
    uint64_t overhead = 0;
    int result = 0;

    stats->sites = calloc(job->count + 1, sizeof *stats->sites);
    if (!stats->sites)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; i < job->count && !result; i++) {
        struct sum *sum = &job->sums[i];

        if (!sum->count && !sum->unfinished)
            continue;
        sum->site = vti_site_same(job->recording, sum->site);
        /* A span loses no more than it has. So very short ones inside their own site lose less
         * than the outermost does for them, and their parts are more than the whole. */
        sum->self = sum->self < sum->total ? sum->self : sum->total;
        sum->raw_self = sum->raw_self < sum->raw_total ? sum->raw_self : sum->raw_total;
        result = fill_site(sum, &stats->sites[stats->site_count++]);
        overhead += sum->raw_self - sum->self;
        stats->span_count += sum->count;
    }
    stats->overhead_ns = clamped(overhead);
    qsort(stats->sites, stats->site_count, sizeof *stats->sites, compare_sites);
    if (result)
        vt_stats_free(stats);
    return result;
}

static int query(vt_recording *recording, const struct vt_filter *filter, struct vt_stats *stats,
                 uint64_t *untimed)
{
    struct job job = {.recording = recording,
                      .filter = {INT64_MIN, INT64_MAX, VT_NONE},
                      .is_timed_only = untimed != NULL};
    int result = vti_recording_prepare(recording);

    memset(stats, 0, sizeof *stats);
    if (filter)
        job.filter = *filter;
    for (uint32_t i = 0; i < recording->facts.track_ids.count && !result; i++) {
        struct vti_track *track = recording->facts.tracks[i];

        if (job.filter.track == VT_NONE || job.filter.track == track->id)
            result = add_track(&job, track);
    }
    if (!result)
        result = finish_asyncs(&job);
    if (!result && job.has_traces)
        result = vti_stats_traces(recording, &job.filter, job.is_timed_only, take_trace_span, &job);
    if (!result)
        result = fill(&job, stats);
    for (size_t i = 0; i < job.count; i++)
        vti_histogram_fini(&job.sums[i].histogram);
    free(job.sums);
    vti_matcher_fini(&job.matcher);
    vti_asyncs_fini(&job.asyncs);
    if (untimed)
        *untimed = job.untimed;
    return vti_read_result(result);
}

int vt_stats_query(vt_recording *recording, const struct vt_filter *filter, struct vt_stats *stats)
{
    return query(recording, filter, stats, NULL);
}

int vti_stats_timed(vt_recording *recording, const struct vt_filter *filter, struct vt_stats *stats,
                    uint64_t *untimed)
{
    return query(recording, filter, stats, untimed);
}

void vt_stats_free(struct vt_stats *stats)
{
    free(stats->sites);
    memset(stats, 0, sizeof *stats);
}
