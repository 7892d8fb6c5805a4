/*
 * asyncs.c - async spans, by begin, each in a lane of its process in which none overlaps another.
 *
 * Where there are more than asked for, the shortest are left out, and a note says so.
 */
#include "base/error.h"
#include "base/number.h"
#include "model/span_walk.h"
#include "page/fold.h"
#include "page/job.h"

#include <stdlib.h>
#include <string.h>

struct async {
    int64_t begin_ns, end_ns;
    uint64_t id;
    uint32_t site, track;
    uint32_t flags;
};

/* When lanes become free, the soonest first: a heap. */
struct lane {
    int64_t free_ns;
    uint32_t number;
};

struct lanes {
    struct lane *heap; /* owned */
    size_t count, capacity;
};

struct asyncs {
    struct vti_page_job *job;
    struct async *items; /* owned */
    size_t count, capacity;
    uint64_t met;                           /* of all lengths */
    uint64_t by_level[VTI_FOLD_LEVELS + 1]; /* by the number of bits of their length */
    struct lanes *lanes;                    /* owned; one for each process, one for none */
    int64_t shortest_ns;                    /* to be shown */
};

static const struct vti_page_column columns[] = {
    {"track", VTI_PAGE_UINT},    {"site", VTI_PAGE_UINT},
    {"id", VTI_PAGE_UINT},       {"start", VTI_PAGE_DELTA},
    {"duration", VTI_PAGE_UINT}, {"flags", VTI_PAGE_UINT},
    {"lane", VTI_PAGE_UINT},     {NULL, 0}};

/* ---- gathering ------------------------------------------------------------------------------- */

/* When twice as many as wanted have gathered, those that will not be shown go. */
static void thin_out(struct asyncs *asyncs)
{
    uint64_t left = asyncs->met;
    unsigned level = 0;
    size_t kept = 0;

    while (level < VTI_FOLD_LEVELS && left > asyncs->job->options->events)
        left -= asyncs->by_level[level++];
    asyncs->shortest_ns = level ? (int64_t)1 << (level - 1) : 0;
    for (size_t i = 0; i < asyncs->count; i++)
        if (vti_fold_level(asyncs->items[i].end_ns - asyncs->items[i].begin_ns) >= level)
            asyncs->items[kept++] = asyncs->items[i];
    asyncs->count = kept;
}

static int take(struct asyncs *asyncs, const struct vt_span *span)
{
    asyncs->met++;
    asyncs->by_level[vti_fold_level(span->end_ns - span->begin_ns)]++;
    if (asyncs->count / 2 > asyncs->job->options->events)
        thin_out(asyncs);
    if (vti_grow(&asyncs->items, asyncs->count, &asyncs->capacity, sizeof *asyncs->items))
        return VTI_E_NOMEM;
    asyncs->items[asyncs->count++] = (struct async){.begin_ns = span->begin_ns,
                                                    .end_ns = span->end_ns,
                                                    .id = span->async_id & (VTI_PAGE_TIME_MOST - 1),
                                                    .site = span->site,
                                                    .track = span->track,
                                                    .flags = vti_page_span_flags(span)};
    return 0;
}

static int gather(struct asyncs *asyncs)
{
    struct vti_span_walk *walk;
    struct vt_span span;
    int got = 0;
    int code = vti_span_walk_open(&walk, asyncs->job->recording, NULL);

    if (code)
        return code;
    while (!code && (got = vti_span_walk_next(walk, &span)) > 0)
        if (span.async_id)
            code = take(asyncs, &span);
    vti_span_walk_close(walk);
    if (asyncs->count > asyncs->job->options->events)
        thin_out(asyncs);
    return code ? code : got;
}

static int compare(const void *left, const void *right)
{
    const struct async *a = left;
    const struct async *b = right;

    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->track < b->track ? -1 : a->track > b->track;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static void sift_down(struct lanes *lanes)
{
    struct lane lane = lanes->heap[0];
    size_t at = 0;
    size_t child;

    while ((child = 2 * at + 1) < lanes->count) {
        if (child + 1 < lanes->count && lanes->heap[child + 1].free_ns < lanes->heap[child].free_ns)
            child++;
        if (lanes->heap[child].free_ns >= lane.free_ns)
            break;
        lanes->heap[at] = lanes->heap[child];
        at = child;
    }
    lanes->heap[at] = lane;
}

static void sift_up(struct lanes *lanes)
{
    size_t at = lanes->count - 1;
    struct lane lane = lanes->heap[at];

    while (at && lanes->heap[(at - 1) / 2].free_ns > lane.free_ns) {
        lanes->heap[at] = lanes->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    lanes->heap[at] = lane;
}

/* The lane that has been free for longest, or a new one. */
static int64_t choose_lane(struct lanes *lanes, const struct async *async)
{
    if (lanes->count && lanes->heap[0].free_ns <= async->begin_ns) {
        uint32_t number = lanes->heap[0].number;

        lanes->heap[0].free_ns = async->end_ns;
        sift_down(lanes);
        return number;
    }
    if (vti_grow(&lanes->heap, lanes->count, &lanes->capacity, sizeof *lanes->heap))
        return VTI_E_NOMEM;
    lanes->heap[lanes->count] = (struct lane){async->end_ns, (uint32_t)lanes->count};
    lanes->count++;
    sift_up(lanes);
    return (int64_t)lanes->count - 1;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int write_async(struct asyncs *asyncs, const struct async *async)
{
    struct vti_page_job *job = asyncs->job;
    int64_t track = vti_page_track(job, async->track);
    int64_t process = track < 0
                          ? -1
                          : vti_page_process(job, job->recording->facts.tracks[track]->process);
    int64_t site = vti_page_site(job, async->site);
    int64_t lane = choose_lane(&asyncs->lanes[process + 1], async);

    if (site < 0 || lane < 0)
        return VTI_E_NOMEM;
    return vti_page_row(job->page,
                        (union vti_page_value[]){{track < 0 ? 0 : (uint64_t)track},
                                                 {(uint64_t)site},
                                                 {async->id},
                                                 {vti_page_time(async->begin_ns)},
                                                 {vti_page_length(async->begin_ns, async->end_ns)},
                                                 {async->flags},
                                                 {(uint64_t)lane}});
}

static int write_all(struct asyncs *asyncs)
{
    int code = vti_page_begin(asyncs->job->page, "async", columns);

    if (asyncs->count)
        qsort(asyncs->items, asyncs->count, sizeof *asyncs->items, compare);
    for (size_t i = 0; i < asyncs->count && !code; i++)
        code = write_async(asyncs, &asyncs->items[i]);
    return code ? code : vti_page_end(asyncs->job->page);
}

static void say_left_out(const struct asyncs *asyncs)
{
    char shortest[VTI_NUMBER_BYTES];

    if (asyncs->met > asyncs->count)
        vti_page_note(
            asyncs->job->page, "folded",
            "%llu of %llu async spans are shorter than %s and not drawn; sums count every span. "
            "venturi report --events all draws them.",
            (unsigned long long)(asyncs->met - asyncs->count), (unsigned long long)asyncs->met,
            vti_text_duration(shortest, (double)asyncs->shortest_ns));
}

int vti_page_add_async(struct vti_page_job *job)
{
    uint32_t processes = job->recording->facts.process_ids.count + 1;
    struct asyncs asyncs = {.job = job};
    int code;

    if (!job->has_async)
        return 0;
    asyncs.lanes = calloc(processes, sizeof *asyncs.lanes);
    code = asyncs.lanes ? gather(&asyncs) : vti_fail(VTI_E_NOMEM, "out of memory");
    if (!code)
        code = write_all(&asyncs);
    if (!code)
        say_left_out(&asyncs);
    for (uint32_t i = 0; asyncs.lanes && i < processes; i++)
        free(asyncs.lanes[i].heap);
    free(asyncs.lanes);
    free(asyncs.items);
    return code;
}
