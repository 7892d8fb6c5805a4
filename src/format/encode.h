/*
 * encode.h - the events of one track become EVENTS blocks.
 *
 * The encoder follows the stack of open spans, so that each block can begin with it and carry its
 * summary. Ticks must not go back within a track; one that does is moved up to the previous event's
 * (the caller repairs order where it can do better). An end without an open span is not written and is
 * counted; so are events that cannot be kept: spans inside VTI_STACK_MAX others, or memory is short.
 */
#ifndef VENTURI_FORMAT_ENCODE_H
#define VENTURI_FORMAT_ENCODE_H

#include "base/buf.h"
#include "format/event.h"
#include "format/layout.h"

struct vti_encoder;

/* The longest span of each depth that ended in a stretch of events, absolute ticks. */
struct vti_lane {
    uint32_t site; /* 0: none */
    uint64_t begin;
    uint64_t end;
};

struct vti_summary {
    uint64_t busy;
    uint64_t begins;
    uint64_t ends;
    uint64_t errors;
    uint32_t deepest;
    uint32_t open; /* spans open at the first tick: what the open stack says, not written here */
    uint32_t lane_count;
    struct vti_lane lanes[VTI_LANES_MAX]; /* only the first lane_count are set */
};

/* Writes the summary of a block that ends at tick `last`; returns its length. */
#define VTI_SUMMARY_BYTES_MAX (6 * 10 + VTI_LANES_MAX * 25)
size_t vti_summary_put(uint8_t *to, const struct vti_summary *summary, uint64_t last);

int vti_encoder_create(struct vti_encoder **encoder, uint32_t track);
void vti_encoder_free(struct vti_encoder *encoder);

/* The two that make up nearly all events, without the detour over a struct. */
void vti_encoder_begin(struct vti_encoder *encoder, uint64_t ticks, uint32_t site);
void vti_encoder_end(struct vti_encoder *encoder, uint64_t ticks);

/* Any event. The struct's borrowed bytes are copied. */
void vti_encoder_add(struct vti_encoder *encoder, const struct vti_event *event);

/* Opens a span that began before this encoder saw the track (slice, merge), outermost first; only
 * before the first event. */
void vti_encoder_open(struct vti_encoder *encoder, uint64_t begin_ticks, uint32_t site);

/* Events waiting for the next block; the caller cuts a block at VTI_BLOCK_EVENTS or when it is old enough. */
uint32_t vti_encoder_pending(const struct vti_encoder *encoder);
uint64_t vti_encoder_first(const struct vti_encoder *encoder); /* first tick waiting */
uint32_t vti_encoder_depth(const struct vti_encoder *encoder); /* spans open now */
uint32_t vti_encoder_open_site(const struct vti_encoder *encoder, uint32_t depth);
uint64_t vti_encoder_unmatched(const struct vti_encoder *encoder); /* ends without a span, so far */

/* Events that could not be kept since the last call: for want of memory, or too long; and those of
 * spans that nest deeper than VTI_STACK_MAX. */
uint64_t vti_encoder_take_dropped(struct vti_encoder *encoder);
uint64_t vti_encoder_take_too_deep(struct vti_encoder *encoder);

/*
 * Appends one whole block (header, payload, padding) with all waiting events to `out` and starts the
 * next. Fills *header and *summary for the index. Nothing waiting: appends nothing and returns 0;
 * else 1, or VTI_E_NOMEM.
 */
int vti_encoder_cut(struct vti_encoder *encoder, struct vti_buf *out,
                    struct vti_block_header *header, struct vti_summary *summary);

#endif
