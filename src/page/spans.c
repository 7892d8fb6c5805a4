/*
 * spans.c - the spans of threads, by track and begin; the short ones folded where there are too many.
 *
 * The matcher gives spans as they end. A span that was begun as the n-th of its track is put in the n-th place, so that
 * nothing is sorted; memory is that of the largest track. With folding (fold.h) it is that of the rows that are left.
 */
#include "base/error.h"
#include "base/number.h"
#include "model/span_walk.h"
#include "page/fold.h"
#include "page/job.h"

#include <stdlib.h>
#include <string.h>

enum { UNFINISHED = 1, FAILED = 2, ABANDONED = 4, IN_GAP = 8 };

struct spans {
    struct vti_page_job *job;
    struct vti_page_rect *rects; /* owned; of the track at hand. count 0: no span is there */
    size_t count, capacity;
    uint32_t track; /* id of it, VT_NONE: none yet */
    struct vti_fold fold;
    bool is_folded;
    uint64_t rows, folded, rect_count; /* written; spans in rectangles of several, and these */
};

static const struct vti_page_column columns[] = {
    {"track", VTI_PAGE_UINT},    {"site", VTI_PAGE_UINT},
    {"depth", VTI_PAGE_UINT},    {"start", VTI_PAGE_DELTA},
    {"duration", VTI_PAGE_UINT}, {"flags", VTI_PAGE_UINT},
    {"count", VTI_PAGE_UINT},    {NULL, 0}};

uint32_t vti_page_span_flags(const struct vt_span *span)
{
    return (span->is_finished ? 0 : UNFINISHED) | (span->has_error ? FAILED : 0) |
           (span->flags & VT_FLAG_ABANDONED ? ABANDONED : 0) |
           (span->flags & VT_FLAG_IN_GAP ? IN_GAP : 0);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int compare(const void *left, const void *right)
{
    const struct vti_page_rect *a = left;
    const struct vti_page_rect *b = right;

    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns < b->end_ns ? -1 : 1;
    return a->site < b->site ? -1 : a->site > b->site;
}

static int write_rect(struct spans *spans, uint64_t track, const struct vti_page_rect *rect)
{
    int64_t site = vti_page_site(spans->job, rect->site);

    if (site < 0)
        return (int)site;
    spans->rows++;
    if (rect->count > 1) {
        spans->folded += rect->count;
        spans->rect_count++;
    }
    return vti_page_row(spans->job->page,
                        (union vti_page_value[]){{track},
                                                 {(uint64_t)site},
                                                 {rect->depth},
                                                 {vti_page_time(rect->begin_ns)},
                                                 {vti_page_length(rect->begin_ns, rect->end_ns)},
                                                 {rect->flags},
                                                 {rect->count}});
}

/* What has gathered of the track at hand. */
static int write_track(struct spans *spans)
{
    int64_t track = vti_page_track(spans->job, spans->track);
    int code = 0;

    if (spans->is_folded) {
        code = vti_fold_flush(&spans->fold, 0);
        spans->rects = spans->fold.rects;
        spans->count = spans->fold.count;
        if (spans->count)
            qsort(spans->rects, spans->count, sizeof *spans->rects, compare);
    }
    for (size_t i = 0; i < spans->count && !code; i++)
        if (spans->rects[i].count)
            code = write_rect(spans, track < 0 ? 0 : (uint64_t)track, &spans->rects[i]);
    spans->count = spans->fold.count = 0;
    return code;
}

/* As the n-th of its track: those before it may be still to come. */
static int place(struct spans *spans, uint64_t n, const struct vti_page_rect *rect)
{
    while (spans->count < n) {
        if (vti_grow(&spans->rects, spans->count, &spans->capacity, sizeof *spans->rects))
            return VTI_E_NOMEM;
        spans->rects[spans->count++].count = 0;
    }
    spans->rects[n - 1] = *rect;
    return 0;
}

/* ---- walking --------------------------------------------------------------------------------- */

static struct vti_page_rect rect_of(const struct vt_span *span)
{
    return (struct vti_page_rect){.begin_ns = span->begin_ns,
                                  .end_ns = span->end_ns,
                                  .site = span->site,
                                  .depth = span->depth,
                                  .count = 1,
                                  .flags = vti_page_span_flags(span)};
}

static int take(struct spans *spans, struct vti_span_walk *walk, const struct vt_span *span)
{
    struct vti_page_rect rect = rect_of(span);
    int code = 0;

    if (span->track != spans->track && spans->track != VT_NONE)
        code = write_track(spans);
    spans->track = span->track;
    if (code)
        return code;
    return spans->is_folded ? vti_fold_add(&spans->fold, &rect)
                            : place(spans, vti_span_walk_begun(walk), &rect);
}

static int walk_spans(struct spans *spans,
                      int (*each)(struct spans *spans, struct vti_span_walk *walk,
                                  const struct vt_span *span))
{
    struct vti_span_walk *walk;
    struct vt_span span;
    int got = 0;
    int code = vti_span_walk_open(&walk, spans->job->recording, NULL);

    if (code)
        return code;
    while (!code && (got = vti_span_walk_next(walk, &span)) > 0 && !span.async_id)
        code = each(spans, walk, &span);
    spans->job->has_async = got > 0 && span.async_id;
    vti_span_walk_close(walk);
    return code ? code : got < 0 ? got : 0;
}

static int count(struct spans *spans, struct vti_span_walk *walk, const struct vt_span *span)
{
    struct vti_page_rect rect = rect_of(span);

    (void)walk;
    if (span->track != spans->track)
        vti_fold_next_track(&spans->fold);
    spans->track = span->track;
    return vti_fold_count(&spans->fold, &rect);
}

static void say_folded(struct spans *spans)
{
    char shortest[VTI_NUMBER_BYTES];

    if (spans->folded)
        vti_page_note(
            spans->job->page, "folded",
            "%llu of %llu spans are shorter than %s and drawn in %llu rectangles of several; "
            "sums count every span. venturi report --events all writes them one by one.",
            (unsigned long long)spans->folded,
            (unsigned long long)(spans->folded + spans->rows - spans->rect_count),
            vti_text_duration(shortest, (double)vti_fold_shortest(&spans->fold)),
            (unsigned long long)spans->rect_count);
}

static int choose_fold(struct spans *spans)
{
    int code;

    spans->is_folded = spans->job->study->info.span_count > spans->job->options->events;
    if (!spans->is_folded)
        return 0;
    code = walk_spans(spans, count);
    vti_fold_choose(&spans->fold, spans->job->options->events);
    spans->track = VT_NONE;
    return code;
}

int vti_page_add_spans(struct vti_page_job *job)
{
    struct spans spans = {.job = job, .track = VT_NONE};
    int code = choose_fold(&spans);

    if (!code)
        code = vti_page_begin(job->page, "spans", columns);
    if (!code)
        code = walk_spans(&spans, take);
    if (!code && spans.track != VT_NONE)
        code = write_track(&spans);
    if (!code)
        code = vti_page_end(job->page);
    if (!code)
        say_folded(&spans);
    if (!spans.is_folded)
        free(spans.rects);
    vti_fold_fini(&spans.fold);
    return code;
}
