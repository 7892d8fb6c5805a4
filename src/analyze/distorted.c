/*
 * distorted.c - which sites have figures that losses put wrong.
 *
 * What was lost cannot be told, so this goes by time: a site counts as distorted if a thread lost
 * events between its first and its last span there, or so soon before or after them that another
 * one was due. What was cut away as asked (slice, flight recorder) distorts only spans that reach into it: their
 * insides are missing. Damaged blocks distort all of their thread. Memory grows with the sites of a thread.
 */
#include "analyze/overview.h"

#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>

#define PAUSE_MOST (INT64_MAX / 4)

/* The spans of one site on one track. */
struct seen {
    uint32_t site;
    int64_t first_ns, last_ns;  /* from the first begin to the last end */
    int64_t begin_ns, pause_ns; /* of the last one given; the longest time from one to the next */
};

struct job {
    vt_recording *recording;
    struct vti_ids ids; /* of `seen` */
    struct seen *seen;  /* owned */
    size_t capacity;
};

static int see(const struct vt_span *span, void *arg)
{
    struct job *job = arg;
    uint32_t site = vti_site_same(job->recording, span->site);
    uint32_t known = job->ids.count;
    struct seen *seen;
    int64_t at;
    int64_t pause;

    if (vti_grow(&job->seen, known, &job->capacity, sizeof *job->seen))
        return VTI_E_NOMEM;
    at = vti_ids_add(&job->ids, site);
    if (at < 0)
        return VTI_E_NOMEM;
    seen = &job->seen[at];
    if (at == known)
        *seen = (struct seen){site, span->begin_ns, span->end_ns, span->begin_ns, 0};
    pause = span->begin_ns - seen->begin_ns;
    pause = pause < 0 ? -pause : pause;
    pause = pause < PAUSE_MOST ? pause : PAUSE_MOST;
    seen->pause_ns = pause > seen->pause_ns ? pause : seen->pause_ns;
    seen->begin_ns = span->begin_ns;
    seen->first_ns = span->begin_ns < seen->first_ns ? span->begin_ns : seen->first_ns;
    seen->last_ns = span->end_ns > seen->last_ns ? span->end_ns : seen->last_ns;
    return 0;
}

static bool is_of(const struct vti_loss_stats *loss, const struct vt_track_info *track)
{
    if (loss->is_of_steps)
        return false;
    if (loss->track != VT_NONE)
        return loss->track == track->id;
    return loss->process == VT_NONE || loss->process == track->process;
}

/* Whether blocks of the track are damaged, or may be: nobody knows whose they were. */
static bool is_damaged(const vt_recording *recording, uint32_t at)
{
    bool is_known = false; /* … of at least one */

    if (!recording->damage.count)
        return false;
    for (uint32_t i = 0; i < recording->facts.track_ids.count && !is_known; i++)
        is_known = recording->facts.tracks[i]->blocks.damaged_events;
    return !is_known || recording->facts.tracks[at]->blocks.damaged_events;
}

static bool has_losses(const struct vti_losses *losses, const struct vt_track_info *track)
{
    for (size_t i = 0; i < losses->count; i++)
        if (is_of(&losses->items[i], track))
            return true;
    return false;
}

/* Times of a recording are below 2^62 and pauses below 2^61: these sums do not overflow. */
static bool is_hit(const struct seen *seen, const struct vti_losses *losses,
                   const struct vt_track_info *track)
{
    for (size_t i = 0; i < losses->count; i++) {
        const struct vti_loss_stats *loss = &losses->items[i];
        int64_t pause_ns = loss->is_wanted ? -1 : seen->pause_ns;

        if (is_of(loss, track) && loss->begin_ns <= seen->last_ns + pause_ns &&
            loss->end_ns >= seen->first_ns - pause_ns)
            return true;
    }
    return false;
}

static int look_at_track(struct job *job, const struct vti_losses *losses,
                         const struct vt_track_info *track, bool is_damaged, struct vti_ids *sites)
{
    struct vt_filter filter = {INT64_MIN, INT64_MAX, track->id};
    int code;

    vti_ids_fini(&job->ids);
    code = vt_recording_spans(job->recording, &filter, see, job);
    for (uint32_t i = 0; i < job->ids.count && !code; i++)
        if ((is_damaged || is_hit(&job->seen[i], losses, track)) &&
            vti_ids_add(sites, job->seen[i].site) < 0)
            code = VTI_E_NOMEM;
    return code;
}

int vti_distorted_query(vt_recording *recording, const struct vti_losses *losses,
                        struct vti_ids *sites)
{
    struct job job = {.recording = recording};
    struct vt_track_info track;
    int code = 0;

    *sites = (struct vti_ids){0};
    for (uint32_t i = 0; !code && vt_recording_track(recording, i, &track); i++)
        if (has_losses(losses, &track) || is_damaged(recording, i))
            code = look_at_track(&job, losses, &track, is_damaged(recording, i), sites);
    vti_ids_fini(&job.ids);
    free(job.seen);
    if (!code)
        return 0;
    vti_ids_fini(sites);
    return code == VTI_E_NOMEM ? vti_fail(VTI_E_NOMEM, "out of memory") : code;
}
