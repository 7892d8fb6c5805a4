/*
 * fold.h - fewer rectangles for many spans: those shorter than a limit are folded with their neighbours of the same depth.
 *
 * With limit L a rectangle holds spans that begin within one stretch of length L; a longer span that ends in between ends
 * those inside of it, so that what is drawn nests as the spans do. A first pass counts what every limit would leave, a
 * second one folds. Spans come track by track in the order of their ends.
 */
#ifndef VENTURI_PAGE_FOLD_H
#define VENTURI_PAGE_FOLD_H

#include <stddef.h>
#include <stdint.h>

#define VTI_FOLD_LEVELS 54 /* limits are powers of two, in nanoseconds */

struct vti_page_rect {
    int64_t begin_ns, end_ns;
    uint32_t site; /* id; of the longest */
    uint32_t depth;
    uint32_t count; /* spans; 1: this one */
    uint32_t flags; /* of all of them together */
};

struct vti_fold_depth {
    uint64_t stretches[VTI_FOLD_LEVELS]; /* plus 1: of the last rectangle; 0: none */
};

/* A rectangle that may still grow. */
struct vti_fold_open {
    struct vti_page_rect rect;
    uint64_t stretch;
    int64_t longest_ns;
};

/* A zeroed one is ready. Arrays are owned. */
struct vti_fold {
    /* Counting: */
    struct vti_fold_depth *depths;
    size_t depth_count, depth_capacity;
    size_t live[VTI_FOLD_LEVELS];   /* depths below this may have a rectangle */
    uint64_t rows[VTI_FOLD_LEVELS]; /* that each limit would leave */
    /* Folding: */
    unsigned level;
    struct vti_fold_open *open; /* by depth; a count of 0: none */
    size_t open_count, open_capacity;
    struct vti_page_rect *rects; /* what is finished, in no order */
    size_t count, capacity;
};

/* The number of limits that a length is not shorter than: 0 of nothing. */
unsigned vti_fold_level(int64_t ns);

/* One span more, in the first pass. 0 or VTI_E_NOMEM. */
int vti_fold_count(struct vti_fold *fold, const struct vti_page_rect *span);
void vti_fold_next_track(struct vti_fold *fold);

/* The smallest limit that leaves at most so many rows, or the largest of all. */
void vti_fold_choose(struct vti_fold *fold, uint64_t rows);
int64_t vti_fold_shortest(const struct vti_fold *fold); /* what is not folded lasts so long */

/* One span, in the second pass; what cannot grow any more goes to `rects`. _flush() puts all from a depth on there. 0 or VTI_E_NOMEM. */
int vti_fold_add(struct vti_fold *fold, const struct vti_page_rect *span);
int vti_fold_flush(struct vti_fold *fold, size_t from_depth);

void vti_fold_fini(struct vti_fold *fold);

#endif
