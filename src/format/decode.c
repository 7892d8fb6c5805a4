/*
 * decode.c - an EVENTS block becomes events again.
 *
 * Plain begins and ends whose numbers take up to three bytes go the quick way in vti_decoder_next();
 * everything else, and the last bytes of a payload, through bounded reads. Nothing here trusts a count.
 */
#include "format/decode.h"

#include "base/error.h"
#include "base/varint.h"

#include <string.h>

#define QUICK_ROOM 6 /* bytes that the quick way looks at: two numbers of three */

#define RARELY(condition) __builtin_expect(!!(condition), 0)

/* Nothing is read any more after this. */
static int damaged_at(struct vti_decoder *decoder, const char *what)
{
    decoder->reader.failed = true;
    decoder->reader.end = decoder->reader.at;
    return vti_fail(VTI_E_DAMAGED, "%s at payload byte %zu", what,
                    (size_t)(decoder->reader.at - decoder->payload));
}

int vti_decoder_init(struct vti_decoder *decoder, const struct vti_block_header *header,
                     const uint8_t *payload)
{
    struct vti_reader *in = &decoder->reader;

    if (header->kind != VTI_EVENTS || header->last < header->first ||
        header->summary_bytes > header->payload_bytes)
        return vti_fail(VTI_E_DAMAGED, "block header does not fit an event block");
    if (header->flags)
        return vti_fail(VTI_E_UNSUPPORTED, "event block with unknown flags %#x", header->flags);
    decoder->payload = payload;
    decoder->first = header->first;
    decoder->ticks = header->first;
    decoder->last_allowed = header->last;
    decoder->left = header->count;
    decoder->last_site = 0;
    decoder->bad_body = 0;
    decoder->trace_before.is_known = false;
    memset(decoder->guess, 0, sizeof decoder->guess);
    vti_reader_init(in, payload, header->payload_bytes);
    vti_reader_bytes(in, header->summary_bytes);
    decoder->stack_left = (uint32_t)vti_reader_count(in, VTI_STACK_MAX);
    decoder->stack = *in;
    for (uint32_t i = 0; i < decoder->stack_left && !in->failed; i++) {
        vti_reader_count(in, UINT32_MAX);
        vti_reader_count(in, header->first);
    }
    decoder->stack.end = in->at;
    if (in->failed)
        return damaged_at(decoder, "open stack does not parse");
    return 0;
}

uint32_t vti_decoder_stack_count(const struct vti_decoder *decoder)
{
    return decoder->stack_left;
}

int vti_decoder_stack_next(struct vti_decoder *decoder, uint32_t *site, uint64_t *begin_ticks)
{
    if (decoder->stack_left == 0)
        return 0;
    decoder->stack_left--;
    *site = (uint32_t)vti_reader_varint(&decoder->stack);
    *begin_ticks = decoder->first - vti_reader_varint(&decoder->stack);
    return 1;
}

static int begin_event(struct vti_decoder *decoder, struct vti_event *event, uint32_t site)
{
    decoder->guess[decoder->last_site % VTI_GUESSES] = site;
    decoder->last_site = site;
    event->kind = VTI_EVENT_BEGIN;
    event->site = site;
    return 1;
}

/* An event of code 3: 1, 0 if it was skipped, or a negative code. */
static int other_event(struct vti_decoder *decoder, struct vti_event *event)
{
    struct vti_reader *in = &decoder->reader;
    const uint8_t *start = in->at;
    uint8_t type = vti_reader_u8(in);
    uint64_t len = vti_reader_count(in, vti_reader_left(in));
    const uint8_t *body_at = vti_reader_bytes(in, (size_t)len);
    struct vti_reader body;
    int result;

    if (!body_at)
        return damaged_at(decoder, "event is cut off");
    vti_reader_init(&body, body_at, (size_t)len);
    result = vti_body_get(type, &body, event, &decoder->trace_before);
    if (result < 0 && !decoder->bad_body)
        decoder->bad_body = (size_t)(start - decoder->payload);
    return result > 0;
}

static int next_bounded(struct vti_decoder *decoder, struct vti_event *event)
{
    struct vti_reader *in = &decoder->reader;
    int result = 0;

    if (in->failed)
        return VTI_E_DAMAGED;
    while (result == 0 && decoder->left) {
        uint64_t token = vti_reader_varint(in);
        uint32_t site;

        if (in->failed)
            return damaged_at(decoder, "event is cut off");
        if (token >> 2 > decoder->last_allowed - decoder->ticks)
            return damaged_at(decoder, "event after the last tick of its block");
        decoder->ticks += token >> 2;
        decoder->left--;
        event->ticks = decoder->ticks;
        event->flags = 0;
        switch (token & 3) {
        case VTI_CODE_END:
            event->kind = VTI_EVENT_END;
            event->site = 0;
            return 1;
        case VTI_CODE_GUESSED:
            return begin_event(decoder, event, decoder->guess[decoder->last_site % VTI_GUESSES]);
        case VTI_CODE_BEGIN:
            site = (uint32_t)vti_reader_count(in, UINT32_MAX);
            if (in->failed)
                return damaged_at(decoder, "site does not parse");
            return begin_event(decoder, event, site);
        default:
            result = other_event(decoder, event);
        }
    }
    if (result == 0 && in->at != in->end)
        return damaged_at(decoder, "bytes after the last event");
    if (result == 0 && decoder->bad_body)
        return vti_fail(VTI_E_DAMAGED, "body of an event does not parse at payload byte %zu",
                        decoder->bad_body);
    return result;
}

/* A number of one to three bytes, written without a loop; 0 in *bytes if it is longer. */
static inline uint32_t get_short(const uint8_t *at, unsigned *bytes)
{
    uint32_t value = at[0];

    *bytes = 1;
    if (value < 0x80)
        return value;
    value = (value & 0x7f) | (uint32_t)at[1] << 7;
    *bytes = 2;
    if (__builtin_expect(value < 0x4000, 1))
        return value;
    value = (value & 0x3fff) | (uint32_t)at[2] << 14;
    *bytes = value < 0x200000 ? 3 : 0;
    return value;
}

/*
 * Decides nothing before it knows that all of the event is there and plain, so that the slow way can
 * start over. Branches, not masks: whoever takes the event branches on its kind next, so a wrong
 * guess of the CPU is paid once either way (2.6 ns an event against 3.9 on a regular stream).
 */
int vti_decoder_next(struct vti_decoder *decoder, struct vti_event *event)
{
    const uint8_t *at = decoder->reader.at;
    uint32_t site = 0;
    uint32_t token;
    unsigned bytes;

    if (RARELY(decoder->reader.end - at < QUICK_ROOM || decoder->left == 0))
        return next_bounded(decoder, event);
    token = get_short(at, &bytes);
    if (RARELY(bytes == 0 || (token & 3) == VTI_CODE_OTHER ||
               token >> 2 > decoder->last_allowed - decoder->ticks))
        return next_bounded(decoder, event);
    at += bytes;
    if (token & 3) {
        uint32_t *guess = &decoder->guess[decoder->last_site % VTI_GUESSES];

        site = *guess;
        if ((token & 3) == VTI_CODE_BEGIN) {
            site = get_short(at, &bytes);
            if (RARELY(bytes == 0))
                return next_bounded(decoder, event);
            at += bytes;
            *guess = site;
        }
        decoder->last_site = site;
        event->kind = VTI_EVENT_BEGIN;
    } else {
        event->kind = VTI_EVENT_END;
    }
    event->flags = 0;
    event->site = site;
    decoder->ticks += token >> 2;
    event->ticks = decoder->ticks;
    decoder->left--;
    decoder->reader.at = at;
    return 1;
}
