/*
 * match.h - begins and ends of a track become spans, in order of their ends.
 *
 * What a matcher gives points into the recording and into itself. It must never believe that what begins also ends.
 */
#ifndef VENTURI_MODEL_MATCH_H
#define VENTURI_MODEL_MATCH_H

#include "model/model.h"

enum { VTI_FRAME_COUNTED = 256, VTI_FRAME_FAILED = 512 }; /* beside enum vti_event_flags */

struct vti_frame {
    uint64_t begin; /* ticks */
    int64_t begin_ns;
    int64_t children_ns;
    uint64_t begun;  /* spans begun on the track up to and including this one */
    uint64_t direct; /* spans directly inside that ended */
    uint32_t site;
    uint32_t slot;       /* index of the site in `sites` */
    uint32_t attr_start; /* in `attrs` */
    uint32_t flags;
};

struct vti_failure {
    struct vti_bytes type, message;
};

/* A span that has ended, or will not. */
struct vti_match {
    const struct vti_frame *frame; /* valid until the next call, as all pointers here */
    uint32_t depth;
    uint32_t parent_site;
    uint32_t flags; /* of begin and end, and VTI_FRAME_… */
    bool is_finished;
    bool is_outermost; /* no counted span of the same site is open around it */
    int64_t begin_ns, end_ns, self_ns;
    uint64_t inside;
    const struct vti_failure *failure; /* if VTI_FRAME_FAILED */
    const struct vt_attr *attrs;
    uint32_t attr_count;
};

#define VTI_NEAR 256

enum { VTI_MATCH_END, VTI_MATCH_SPAN, VTI_MATCH_EVENT };

struct vti_matcher {
    struct vti_walk walk;
    struct vti_event event; /* the last one, for VTI_MATCH_EVENT */
    int64_t event_ns;
    struct vti_clock_piece piece; /* of the clock, the one that was used last */
    struct vti_ids sites;         /* slots of all sites met so far */
    struct vti_near {             /* the same for those met last, by their low bits */
        uint64_t site_plus_one;
        uint32_t slot;
    } near[VTI_NEAR];
    uint32_t *open; /* owned; per slot: counted spans that are open */
    size_t open_capacity;
    struct vti_frame *frames; /* owned */
    size_t depth;
    size_t frame_capacity;
    size_t beyond;             /* spans open beyond VTI_STACK_MAX, not kept */
    struct vti_open *starting; /* owned; the open stack of the block that starts */
    size_t starting_count;
    size_t starting_capacity;
    size_t keep; /* while is_closing: frames above it end at close_ns */
    bool is_closing;
    bool is_done;
    size_t left_open; /* spans that never ended … */
    size_t unended;   /* … and how many of them are inside the last one given */
    int64_t close_ns;
    uint64_t begun;
    uint64_t counted_open;
    struct vt_attr *attrs; /* owned; a stack, as the spans are */
    size_t attr_count;
    size_t attr_capacity;
    struct vti_failure *failures; /* owned; likewise */
    size_t failure_count;
    size_t failure_capacity;
    /* For the caller to set after vti_matcher_start(): */
    int64_t from_ns, to_ns; /* spans that begin in here are counted; at first: all */
    bool stops_early;       /* stop after to_ns as soon as no counted span is open */
    bool leaves_open;       /* spans without an end stay in `frames` and are not given */
};

/* A zeroed struct is ready for vti_matcher_start(). */
void vti_matcher_fini(struct vti_matcher *matcher);

/* Starts on a track; slots of sites stay what they were. */
void vti_matcher_start(struct vti_matcher *matcher, struct vt_recording *recording,
                       struct vti_track *track, uint64_t first_block, uint64_t end_block);

/* VTI_MATCH_SPAN with *match, in order of the ends; VTI_MATCH_EVENT with matcher->event for
 * everything that is not about spans of the thread; VTI_MATCH_END after the spans that are left
 * open; or VTI_E_NOMEM. */
int vti_matcher_next(struct vti_matcher *matcher, struct vti_match *match);

/* The slot of a site, a new one if it was not met yet, shared by sites of one place in the source;
 * or VTI_E_NOMEM. */
int64_t vti_matcher_slot(struct vti_matcher *matcher, uint32_t site);

#endif
