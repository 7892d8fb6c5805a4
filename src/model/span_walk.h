/*
 * span_walk.h - every span of a recording, one at a time: what vt_recording_spans() and the tables
 * of `venturi query` are made of.
 */
#ifndef VENTURI_MODEL_SPAN_WALK_H
#define VENTURI_MODEL_SPAN_WALK_H

#include "model/model.h"

struct vti_span_walk;

/* A NULL filter: everything. 0 or a negative code. */
int vti_span_walk_open(struct vti_span_walk **walk, vt_recording *recording,
                       const struct vt_filter *filter);
void vti_span_walk_close(struct vti_span_walk *walk);

/* Only spans that begin in the filter, which is quicker than to look for those that reach into
 * it. */
void vti_span_walk_begins_only(struct vti_span_walk *walk);

/* 1 with *span, whose borrowed parts live until the next call; 0 at the end, or a negative code. */
int vti_span_walk_next(struct vti_span_walk *walk, struct vt_span *span);

/*
 * A number of the span given last that does not depend on the filter: spans of threads count from
 * 1, track by track in the order of their begins, async spans after all of them. *parent is that of
 * the span around it, 0 if there is none or it is async. Where events are lost or damaged, numbers
 * may differ between filters.
 */
uint64_t vti_span_walk_number(struct vti_span_walk *walk, uint64_t *parent);

/* How many spans of its track had begun when the span of a thread given last did, itself included. */
uint64_t vti_span_walk_begun(const struct vti_span_walk *walk);

/* The block to start at, so that all that is said about a span that reaches into the filter is
 * known. */
uint64_t vti_track_first_block(vt_recording *recording, struct vti_track *track, int64_t from_ns);

/* Empty spans belong to where they begin. */
bool vti_filter_overlaps(const struct vt_filter *filter, int64_t begin_ns, int64_t end_ns);

#endif
