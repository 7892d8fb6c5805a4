/* fold.c - fewer rectangles for many spans: see fold.h. */
#include "page/fold.h"

#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

unsigned vti_fold_level(int64_t ns)
{
    unsigned level = 0;

    while (level < VTI_FOLD_LEVELS && ns > 0 && (uint64_t)ns >> level)
        level++;
    return level;
}

static uint64_t stretch_of(const struct vti_page_rect *span, unsigned level)
{
    return ((span->begin_ns > 0 ? (uint64_t)span->begin_ns : 0) >> level) + 1;
}

/* ---- counting -------------------------------------------------------------------------------- */

static int make_depth(struct vti_fold *fold, size_t depth)
{
    while (fold->depth_count <= depth) {
        if (vti_grow(&fold->depths, fold->depth_count, &fold->depth_capacity, sizeof *fold->depths))
            return VTI_E_NOMEM;
        memset(&fold->depths[fold->depth_count++], 0, sizeof *fold->depths);
    }
    return 0;
}

static void end_inner(struct vti_fold *fold, unsigned level, size_t depth)
{
    while (fold->live[level] > depth)
        fold->depths[--fold->live[level]].stretches[level] = 0;
}

/* If a limit has a rectangle for it, all larger limits have too: their stretches are wider and fewer spans end them. */
int vti_fold_count(struct vti_fold *fold, const struct vti_page_rect *span)
{
    unsigned reached = vti_fold_level(span->end_ns - span->begin_ns);

    if (make_depth(fold, span->depth))
        return VTI_E_NOMEM;
    for (unsigned i = 0; i < reached; i++) {
        end_inner(fold, i, (size_t)span->depth + 1);
        fold->rows[i]++;
    }
    for (unsigned i = reached; i < VTI_FOLD_LEVELS; i++) {
        uint64_t *last = &fold->depths[span->depth].stretches[i];
        uint64_t stretch = stretch_of(span, i);

        if (*last == stretch)
            break;
        *last = stretch;
        fold->rows[i]++;
        if (fold->live[i] <= span->depth)
            fold->live[i] = (size_t)span->depth + 1;
    }
    return 0;
}

void vti_fold_next_track(struct vti_fold *fold)
{
    for (unsigned i = 0; i < VTI_FOLD_LEVELS; i++)
        end_inner(fold, i, 0);
}

void vti_fold_choose(struct vti_fold *fold, uint64_t rows)
{
    fold->level = 0;
    while (fold->level < VTI_FOLD_LEVELS - 1 && fold->rows[fold->level] > rows)
        fold->level++;
}

int64_t vti_fold_shortest(const struct vti_fold *fold)
{
    return (int64_t)1 << fold->level;
}

/* ---- folding --------------------------------------------------------------------------------- */

static int finish(struct vti_fold *fold, const struct vti_page_rect *rect)
{
    if (vti_grow(&fold->rects, fold->count, &fold->capacity, sizeof *fold->rects))
        return VTI_E_NOMEM;
    fold->rects[fold->count++] = *rect;
    return 0;
}

int vti_fold_flush(struct vti_fold *fold, size_t from_depth)
{
    int code = 0;

    while (fold->open_count > from_depth && !code) {
        const struct vti_fold_open *open = &fold->open[--fold->open_count];

        if (open->rect.count)
            code = finish(fold, &open->rect);
    }
    return code;
}

/* The rectangle at that depth, which may be none yet; NULL without memory. */
static struct vti_fold_open *open_at(struct vti_fold *fold, size_t depth)
{
    while (fold->open_count <= depth) {
        if (vti_grow(&fold->open, fold->open_count, &fold->open_capacity, sizeof *fold->open))
            return NULL;
        fold->open[fold->open_count++].rect.count = 0;
    }
    return &fold->open[depth];
}

static void merge(struct vti_fold_open *open, const struct vti_page_rect *span)
{
    int64_t ns = span->end_ns - span->begin_ns;

    if (span->end_ns > open->rect.end_ns)
        open->rect.end_ns = span->end_ns;
    open->rect.count++;
    open->rect.flags |= span->flags;
    if (ns > open->longest_ns) {
        open->longest_ns = ns;
        open->rect.site = span->site;
    }
}

int vti_fold_add(struct vti_fold *fold, const struct vti_page_rect *span)
{
    uint64_t stretch = stretch_of(span, fold->level);
    struct vti_fold_open *open;
    int code = 0;

    if (vti_fold_level(span->end_ns - span->begin_ns) > fold->level) {
        code = vti_fold_flush(fold, (size_t)span->depth + 1);
        return code ? code : finish(fold, span);
    }
    open = open_at(fold, span->depth);
    if (!open)
        return VTI_E_NOMEM;
    if (open->rect.count && open->stretch == stretch) {
        merge(open, span);
        return 0;
    }
    if (open->rect.count)
        code = finish(fold, &open->rect);
    *open = (struct vti_fold_open){*span, stretch, span->end_ns - span->begin_ns};
    return code;
}

void vti_fold_fini(struct vti_fold *fold)
{
    free(fold->depths);
    free(fold->open);
    free(fold->rects);
}
