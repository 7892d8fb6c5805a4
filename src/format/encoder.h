/*
 * encoder.h - what encode.c (events, the inner loop) and encode_block.c (the block around them) share.
 * Private to these two.
 */
#ifndef VENTURI_FORMAT_ENCODER_H
#define VENTURI_FORMAT_ENCODER_H

#include "format/body.h"
#include "format/encode.h"

#define VTI_PLAIN_ROOM 24 /* a marked begin at its longest is 19 bytes */

struct vti_open_span {
    uint64_t begin;
    uint32_t site;
};

struct vti_encoder {
    uint8_t *at;        /* where the next event goes, in `events` */
    uint8_t *full;      /* from here on a plain event may not fit; equal to `at` between blocks */
    uint64_t previous;  /* tick of the last event, also across blocks */
    uint64_t busy_from; /* since when a span has been open, not before the block's first tick */
    uint32_t pending;
    uint32_t others; /* of these, neither begins nor ends */
    uint32_t last_site;
    uint32_t depth;
    uint32_t depth_limit; /* spans that fit `stack`, or `depth` while begins are being dropped */
    struct vti_open_span *stack; /* owned, outermost first */
    uint32_t stack_capacity;
    uint32_t beyond; /* spans open now that are not on the stack */
    uint32_t track;
    bool is_closed; /* the block takes no more events: its buffer could not grow */
    uint64_t first;
    uint64_t last; /* once the block is closed */
    uint64_t unmatched;
    uint64_t dropped;
    uint64_t too_deep;
    uint8_t *events; /* owned */
    size_t events_capacity;
    struct vti_buf opening; /* the open stack as the block will carry it */
    struct vti_buf body;    /* of the event at hand, if it is not a plain one */
    struct vti_trace_before trace_before;
    uint32_t guess[VTI_GUESSES];
    struct vti_summary summary;
};

/*
 * The way out of the quick path: the first event of a block, or no room for another. Without memory the
 * block is closed, so that it stays true as far as it goes; the stack is followed on, and the next
 * block begins with the right one.
 */
bool vti_encoder_make_room(struct vti_encoder *encoder, uint64_t ticks);

/* Room for so many more bytes of events; false without memory, or if the block gets too long. */
bool vti_encoder_grow(struct vti_encoder *encoder, size_t more);

#endif
