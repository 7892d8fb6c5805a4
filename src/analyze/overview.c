/* overview.c - counters, marks, errors and losses of a recording, in one pass over its events. */
#include "analyze/overview.h"

#include "analyze/values.h"
#include "base/error.h"
#include "base/hash.h"
#include "model/match.h"

#include <stdlib.h>
#include <string.h>

#define ERRORS_MOST 1000 /* different ones; further ones count as the last */
#define TYPE_BYTES 120   /* of an error's type that tell it from another */
#define MESSAGE_BYTES 1000

struct job {
    struct vti_overview *overview; /* the result, as it grows */
    size_t counter_capacity, mark_capacity, error_capacity;
    struct vti_ids counter_ids, mark_ids;
    struct vti_map *errors; /* owned; site and type */
};

static int add_counter(struct job *job, const struct vti_event *event, uint32_t site,
                       int64_t time_ns)
{
    struct vti_overview *overview = job->overview;
    double value = vti_counter_number(&event->value);
    struct vti_counter_stats *counter;
    int64_t at;

    if (event->value.type == VTI_VALUE_TEXT || event->value.type == VTI_VALUE_NONE)
        return 0;
    if (vti_grow(&overview->counters, overview->counter_count, &job->counter_capacity,
                 sizeof *overview->counters))
        return VTI_E_NOMEM;
    at = vti_ids_add(&job->counter_ids, site);
    if (at < 0)
        return VTI_E_NOMEM;
    counter = &overview->counters[at];
    if ((size_t)at == overview->counter_count) {
        *counter = (struct vti_counter_stats){
            .site = site, .min = value, .max = value, .last_ns = INT64_MIN};
        overview->counter_count++;
    }
    counter->count++;
    counter->sum += value;
    counter->min = value < counter->min ? value : counter->min;
    counter->max = value > counter->max ? value : counter->max;
    if (time_ns >= counter->last_ns) {
        counter->last_ns = time_ns;
        counter->last = value;
    }
    return 0;
}

static int add_mark(struct job *job, uint32_t site, int64_t time_ns)
{
    struct vti_overview *overview = job->overview;
    struct vti_mark_stats *mark;
    int64_t at;

    if (vti_grow(&overview->marks, overview->mark_count, &job->mark_capacity,
                 sizeof *overview->marks))
        return VTI_E_NOMEM;
    at = vti_ids_add(&job->mark_ids, site);
    if (at < 0)
        return VTI_E_NOMEM;
    mark = &overview->marks[at];
    if ((size_t)at == overview->mark_count) {
        *mark = (struct vti_mark_stats){site, 0, time_ns, time_ns};
        overview->mark_count++;
    }
    mark->count++;
    mark->first_ns = time_ns < mark->first_ns ? time_ns : mark->first_ns;
    mark->last_ns = time_ns > mark->last_ns ? time_ns : mark->last_ns;
    return 0;
}

static int new_error(struct job *job, const struct vti_match *match, uint32_t site)
{
    struct vti_overview *overview = job->overview;
    const struct vti_failure *failure = match->failure;
    size_t message = failure->message.len < MESSAGE_BYTES ? failure->message.len : MESSAGE_BYTES;
    struct vti_error_stats *error;

    if (vti_grow(&overview->errors, overview->error_count, &job->error_capacity,
                 sizeof *overview->errors))
        return VTI_E_NOMEM;
    error = &overview->errors[overview->error_count++];
    *error = (struct vti_error_stats){.site = site};
    error->type = strndup(failure->type.data,
                          failure->type.len < TYPE_BYTES ? failure->type.len : TYPE_BYTES);
    error->message = strndup(failure->message.data, message);
    return error->type && error->message ? 0 : VTI_E_NOMEM;
}

static int add_error(struct job *job, const struct vti_match *match, uint32_t site)
{
    const struct vti_bytes *type = &match->failure->type;
    size_t len = type->len < TYPE_BYTES ? type->len : TYPE_BYTES;
    uint8_t key[sizeof(uint32_t) + TYPE_BYTES];
    int64_t at;
    int is_new = 0;

    memcpy(key, &site, sizeof site);
    memcpy(key + sizeof(uint32_t), type->data, len);
    at = vti_map_find(job->errors, key, sizeof(uint32_t) + len);
    if (at < 0 && vti_map_count(job->errors) >= ERRORS_MOST)
        at = ERRORS_MOST - 1;
    if (at < 0)
        at = vti_map_add(job->errors, key, sizeof(uint32_t) + len, &is_new);
    if (at < 0 || (is_new && new_error(job, match, site)))
        return VTI_E_NOMEM;
    job->overview->errors[at].count++;
    return 0;
}

static int take_event(struct job *job, const struct vti_matcher *matcher)
{
    uint32_t site = vti_site_same(matcher->walk.recording, matcher->event.site);

    if (matcher->event.kind == VTI_EVENT_COUNTER)
        return add_counter(job, &matcher->event, site, matcher->event_ns);
    if (matcher->event.kind == VTI_EVENT_MARK)
        return add_mark(job, site, matcher->event_ns);
    return 0;
}

static int take_track(struct job *job, struct vti_matcher *matcher, struct vt_recording *recording,
                      struct vti_track *track)
{
    struct vti_match match;
    int code = 0;
    int got;

    vti_matcher_start(matcher, recording, track, 0, UINT64_MAX);
    while (!code && (got = vti_matcher_next(matcher, &match)) != VTI_MATCH_END) {
        if (got < 0)
            return got;
        if (got == VTI_MATCH_EVENT)
            code = take_event(job, matcher);
        else if (match.flags & VTI_FRAME_FAILED)
            code = add_error(job, &match, vti_site_same(recording, match.frame->site));
    }
    return code;
}

static int compare_errors(const void *left, const void *right)
{
    const struct vti_error_stats *a = left;
    const struct vti_error_stats *b = right;

    return a->count > b->count ? -1 : a->count < b->count;
}

int vti_overview_query(vt_recording *recording, struct vti_overview *overview)
{
    struct job job = {.overview = overview};
    struct vti_matcher matcher = {0};
    int code;

    memset(overview, 0, sizeof *overview);
    code = vti_recording_prepare(recording);
    if (!code)
        code = vti_map_create(&job.errors);
    if (!code)
        code = vti_losses_query(recording, &overview->losses);
    for (uint32_t i = 0; i < recording->facts.track_ids.count && !code; i++)
        code = take_track(&job, &matcher, recording, recording->facts.tracks[i]);
    if (overview->error_count > 1)
        qsort(overview->errors, overview->error_count, sizeof *overview->errors, compare_errors);
    vti_matcher_fini(&matcher);
    vti_ids_fini(&job.counter_ids);
    vti_ids_fini(&job.mark_ids);
    vti_map_free(job.errors);
    if (!code)
        return 0;
    vti_overview_free(overview);
    return vti_fail(VTI_E_NOMEM, "out of memory");
}

void vti_overview_free(struct vti_overview *overview)
{
    for (size_t i = 0; i < overview->error_count; i++) {
        free(overview->errors[i].type);
        free(overview->errors[i].message);
    }
    free(overview->counters);
    free(overview->marks);
    free(overview->errors);
    vti_losses_free(&overview->losses);
    memset(overview, 0, sizeof *overview);
}

/* The cost that is taken off is that of the tracks: for this once there is none. */
int vti_stats_query_raw(vt_recording *recording, struct vt_stats *stats)
{
    int code = vti_recording_prepare(recording);
    uint32_t count = recording->facts.track_ids.count;
    struct vti_track **tracks = recording->facts.tracks;
    double(*kept)[2] = calloc((size_t)count + 1, sizeof *kept);

    if (!kept || code) {
        free(kept);
        return code ? code : vti_fail(VTI_E_NOMEM, "out of memory");
    }
    for (uint32_t i = 0; i < count; i++) {
        kept[i][0] = tracks[i]->pair_ns;
        kept[i][1] = tracks[i]->inner_ns;
        tracks[i]->pair_ns = tracks[i]->inner_ns = 0;
    }
    code = vt_stats_query(recording, NULL, stats);
    for (uint32_t i = 0; i < count; i++) {
        tracks[i]->pair_ns = kept[i][0];
        tracks[i]->inner_ns = kept[i][1];
    }
    free(kept);
    return code;
}
