/*
 * decode.h - an EVENTS block becomes events again. Input is hostile: every read is bounded, and a payload
 * that does not parse gives VTI_E_DAMAGED with the offset in the message, after the events before it.
 */
#ifndef VENTURI_FORMAT_DECODE_H
#define VENTURI_FORMAT_DECODE_H

#include "base/bytes.h"
#include "format/body.h"
#include "format/encode.h"
#include "format/event.h"
#include "format/layout.h"

struct vti_decoder {
    struct vti_reader reader; /* the events not yet given */
    const uint8_t *payload;
    uint64_t ticks;
    uint64_t last_allowed; /* the header's last tick: events beyond it are damage */
    uint32_t left;         /* events still to come */
    uint32_t last_site;
    uint32_t guess[VTI_GUESSES];
    struct vti_trace_before trace_before;
    struct vti_reader stack; /* the open stack's entries */
    uint32_t stack_left;
    uint64_t first;
    size_t bad_body; /* where the first event stands whose body did not parse, 0 if none */
};

/* Parses the summary alone. */
int vti_summary_parse(const struct vti_block_header *header, const uint8_t *payload,
                      struct vti_summary *summary);

/* Positions at the open stack. The payload must stay mapped while the decoder is used. */
int vti_decoder_init(struct vti_decoder *decoder, const struct vti_block_header *header,
                     const uint8_t *payload);

/* Number of spans open at the block's first tick, then each of them, outermost first: 1, or 0 at the end. */
uint32_t vti_decoder_stack_count(const struct vti_decoder *decoder);
int vti_decoder_stack_next(struct vti_decoder *decoder, uint32_t *site, uint64_t *begin_ticks);

/* The next event: 1, or 0 after the last, or VTI_E_DAMAGED. Unknown types are skipped; so are events with a
 * body that does not parse, but then VTI_E_DAMAGED follows the last. Sets ticks, kind, flags, site and
 * what belongs to the kind; the rest of *event keeps its old contents. */
int vti_decoder_next(struct vti_decoder *decoder, struct vti_event *event);

#endif
