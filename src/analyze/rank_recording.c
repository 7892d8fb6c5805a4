/*
 * rank_recording.c - the same rows from a recording: one for each name, whatever sites use it.
 *
 * Totals come from the statistics of the reader. They know no raw extremes and no percentiles of
 * several sites together: where those are wanted, the spans are walked once.
 */
#include "analyze/rank_impl.h"

#include "analyze/overview.h"
#include "analyze/stats_timed.h"
#include "base/error.h"
#include "model/step_log.h"
#include "venturi/read.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_SECOND 1e9 /* divided by, not multiplied with its inverse: that would round twice */

static int64_t entry_of_site(struct vti_rank *rank, const vt_recording *recording, uint32_t id)
{
    struct vt_site_info site;

    if (!vt_recording_site_by_id(recording, id, &site) || !site.name)
        site.name = "";
    return vti_rank_entry(rank, site.name, strlen(site.name));
}

static void add_site(const struct vti_rank *rank, struct vti_rank_entry *entry,
                     const struct vt_site_stats *stats)
{
    double min = (double)stats->min_ns / NS_PER_SECOND;
    double max = (double)stats->max_ns / NS_PER_SECOND;
    double sum = entry->avg * (double)entry->count;

    entry->unfinished += stats->unfinished;
    entry->errors += stats->errors;
    if (!stats->count)
        return;
    entry->min = entry->count == 0 || min < entry->min ? min : entry->min;
    entry->max = entry->count == 0 || max > entry->max ? max : entry->max;
    entry->count += stats->count;
    /* Not total / count: the total counts nested spans of one site once. */
    sum += (double)stats->avg_ns / NS_PER_SECOND * (double)stats->count;
    entry->avg = entry->count ? sum / (double)entry->count : 0;
    entry->total += (double)(rank->options.is_raw ? stats->raw_total_ns : stats->total_ns) /
                    NS_PER_SECOND;
    entry->self += (double)(rank->options.is_raw ? stats->raw_self_ns : stats->self_ns) /
                   NS_PER_SECOND;
    entry->p50 = (double)stats->p50_ns / NS_PER_SECOND;
    entry->p99 = (double)stats->p99_ns / NS_PER_SECOND;
}

/* One row for each name; *is_walk_due when the figures of several sites met whose percentiles do
 * not add up. */
static int add_sites(struct vti_rank *rank, const vt_recording *recording,
                     const struct vt_stats *stats, bool *is_walk_due)
{
    for (size_t i = 0; i < stats->site_count; i++) {
        int64_t index = entry_of_site(rank, recording, stats->sites[i].site);

        if (index < 0)
            return vti_fail(VTI_E_NOMEM, "out of memory");
        *is_walk_due |= rank->options.is_wide && rank->entries[index].count > 0;
        add_site(rank, &rank->entries[index], &stats->sites[i]);
    }
    return 0;
}

/* The figures that are taken anew from every span, kept apart from the totals. */
struct walk {
    struct vti_rank *rank;
    const vt_recording *recording;
    struct vti_rank_entry *entries; /* owned, as many as the rank has */
    uint32_t count;
};

static int walk_span(const struct vt_span *span, void *arg)
{
    struct walk *walk = arg;
    int64_t raw = span->end_ns - span->begin_ns;
    double duration = (double)(walk->rank->options.is_raw ? raw : span->corrected_ns) /
                      NS_PER_SECOND;
    int64_t index = entry_of_site(walk->rank, walk->recording, span->site);
    struct vti_rank_entry *entry;

    if (index < 0)
        return VTI_E_NOMEM;
    if (!span->is_finished && span->async_id) /* not timed: stats_timed.h */
        return 0;
    if (index >= walk->count) /* a recording that grows may have got a new name meanwhile */
        return 0;
    entry = &walk->entries[index];
    entry->min = entry->count == 0 || duration < entry->min ? duration : entry->min;
    entry->max = entry->count == 0 || duration > entry->max ? duration : entry->max;
    entry->count++;
    entry->total += duration;
    return vti_rank_note(entry, duration);
}

static int walk_spans(struct vti_rank *rank, vt_recording *recording, const struct vt_filter *all)
{
    struct walk walk = {rank, recording, NULL, rank->entry_count};
    int code;

    walk.entries = calloc(walk.count + 1u, sizeof *walk.entries);
    code = walk.entries ? vt_recording_spans(recording, all, walk_span, &walk) : VTI_E_NOMEM;
    for (uint32_t i = 0; walk.entries && i < walk.count; i++) {
        struct vti_rank_entry *from = &walk.entries[i];
        struct vti_rank_entry *to = &rank->entries[i];

        if (!code && from->count) {
            code = vti_rank_percentiles(from);
            to->min = from->min;
            to->max = from->max;
            to->avg = from->total / (double)from->count;
            to->p50 = from->p50;
            to->p99 = from->p99;
        }
        vti_rank_entry_fini(from);
    }
    free(walk.entries);
    if (code == VTI_E_NOMEM)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    return code;
}

static int take_trust(struct vti_rank *rank, const vt_recording *recording)
{
    struct vt_recording_info info;
    struct vt_damage_info damage;
    struct vti_losses losses;
    int code = vti_losses_query(recording, &losses);

    if (code)
        return code;
    rank->trust.lost_events = losses.lost_events;
    rank->trust.missing_processes = losses.missing_processes;
    rank->trust.overwritten_events = losses.overwritten_events;
    vti_losses_free(&losses);
    vt_recording_info(recording, &info);
    rank->trust.damage_count = info.damage_count;
    if (vt_recording_damage(recording, 0, &damage)) {
        rank->trust.damage_begin = damage.begin_offset;
        rank->trust.damage_end = damage.end_offset;
    }
    return 0;
}

int vti_rank_opened(struct vti_rank *rank, vt_recording *recording)
{
    static const struct vt_filter all = {INT64_MIN, INT64_MAX, VT_NONE};
    struct vt_recording_info info;
    struct vt_stats stats = {0};
    bool is_walk_due = rank->options.is_raw;
    int code = vti_stats_timed(recording, &all, &stats, &rank->trust.untimed);

    rank->is_recording = true;
    if (code)
        goto out;
    code = take_trust(rank, recording); /* now that every block has been looked at */
    if (code)
        goto out;
    if (stats.site_count == 0) {
        vt_recording_info(recording, &info);
        code = vti_fail(VTI_E_EMPTY, "%s: holds no spans%s", info.path,
                        vti_steps_are_there(recording)
                            ? ", but steps (venturi report shows what they took)"
                            : " (venturi stats shows functions)");
        goto out;
    }
    code = add_sites(rank, recording, &stats, &is_walk_due);
    if (!code && is_walk_due)
        code = walk_spans(rank, recording, &all);
out:
    vt_stats_free(&stats);
    return code;
}

int vti_rank_recording(struct vti_rank *rank, const char *path)
{
    vt_recording *recording = NULL;
    int code = vt_recording_open(&recording, path);

    if (code)
        return code;
    code = vti_rank_opened(rank, recording);
    vt_recording_close(recording);
    return code;
}
