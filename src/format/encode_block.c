/*
 * encode_block.c - the block that an encoder's events go into, from its start to its cut: the open stack
 * before them, the buffer that grows with them, the header and summary. Runs once a block, never
 * for each event.
 */
#include "base/error.h"
#include "base/varint.h"
#include "format/encoder.h"

#include <stdlib.h>
#include <string.h>

#define EVENTS_START 1024      /* first size of the buffer: many threads never fill a block */
#define EVENTS_MOST (1u << 29) /* leaves room for summary and stack below VTI_PAYLOAD_MAX */

int vti_encoder_create(struct vti_encoder **result, uint32_t track)
{
    struct vti_encoder *encoder = calloc(1, sizeof *encoder);

    /* A body that is not text always fits this. */
    if (!encoder || !vti_buf_reserve(&encoder->body, 96)) {
        vti_encoder_free(encoder);
        return vti_fail(VTI_E_NOMEM, "track %u: out of memory", track);
    }
    encoder->track = track;
    *result = encoder;
    return 0;
}

void vti_encoder_free(struct vti_encoder *encoder)
{
    if (!encoder)
        return;
    free(encoder->stack);
    free(encoder->events);
    vti_buf_fini(&encoder->opening);
    vti_buf_fini(&encoder->body);
    free(encoder);
}

/* The open stack, as of just before the event that starts the block. */
static bool write_opening(struct vti_encoder *encoder, uint64_t first)
{
    uint8_t *start;
    uint8_t *to;

    vti_buf_clear(&encoder->opening);
    start = vti_buf_reserve(&encoder->opening, 5 + (size_t)encoder->depth * 15);
    if (!start)
        return false;
    to = start + vti_varint_put(start, encoder->depth);
    for (uint32_t i = 0; i < encoder->depth; i++) {
        to += vti_varint_put(to, encoder->stack[i].site);
        to += vti_varint_put(to, first - encoder->stack[i].begin);
    }
    encoder->opening.len = (size_t)(to - start);
    return true;
}

static bool start_block(struct vti_encoder *encoder, uint64_t ticks)
{
    if (!encoder->events) {
        encoder->events = malloc(EVENTS_START);
        if (!encoder->events)
            return false;
        encoder->events_capacity = EVENTS_START;
    }
    if (!write_opening(encoder, ticks))
        return false;
    encoder->at = encoder->events;
    encoder->full = encoder->events + encoder->events_capacity - VTI_PLAIN_ROOM;
    encoder->first = ticks;
    encoder->previous = ticks;
    encoder->busy_from = ticks;
    encoder->last_site = 0;
    encoder->others = 0;
    memset(encoder->guess, 0, sizeof encoder->guess);
    memset(&encoder->summary, 0, sizeof encoder->summary);
    encoder->summary.deepest = encoder->depth;
    encoder->summary.open = encoder->depth;
    return true;
}

bool vti_encoder_grow(struct vti_encoder *encoder, size_t more)
{
    size_t used = (size_t)(encoder->at - encoder->events);
    size_t capacity = encoder->events_capacity;
    uint8_t *grown;

    if (more > EVENTS_MOST - used)
        return false;
    while (capacity < used + more)
        capacity *= 2;
    grown = realloc(encoder->events, capacity);
    if (!grown)
        return false;
    encoder->events = grown;
    encoder->events_capacity = capacity;
    encoder->at = grown + used;
    encoder->full = grown + capacity - VTI_PLAIN_ROOM;
    return true;
}

static void close_block(struct vti_encoder *encoder)
{
    encoder->is_closed = true;
    encoder->full = encoder->at;
    encoder->last = encoder->previous;
    if (encoder->depth)
        encoder->summary.busy += encoder->last - encoder->busy_from;
}

bool vti_encoder_make_room(struct vti_encoder *encoder, uint64_t ticks)
{
    if (encoder->is_closed)
        return false;
    if (encoder->pending == 0)
        return start_block(encoder, ticks);
    if (vti_encoder_grow(encoder, 2 * VTI_PLAIN_ROOM))
        return true;
    close_block(encoder);
    return false;
}

/* The depths that lanes describe: up to the deepest span that ended. */
static uint32_t count_lanes(const struct vti_summary *summary)
{
    uint32_t count = summary->deepest < VTI_LANES_MAX ? summary->deepest : VTI_LANES_MAX;

    while (count && summary->lanes[count - 1].site == 0)
        count--;
    return count;
}

int vti_encoder_cut(struct vti_encoder *encoder, struct vti_buf *out,
                    struct vti_block_header *header, struct vti_summary *summary)
{
    size_t events_bytes = (size_t)(encoder->at - encoder->events);
    uint8_t *payload;
    uint8_t *at;
    uint8_t *to;

    if (encoder->pending == 0)
        return 0;
    to = vti_buf_reserve(out, VTI_BLOCK_HEADER_BYTES + VTI_SUMMARY_BYTES_MAX +
                                  encoder->opening.len + events_bytes + VTI_BLOCK_ALIGN);
    if (!to)
        return vti_fail(VTI_E_NOMEM, "track %u: no memory for a block", encoder->track);
    if (!encoder->is_closed)
        close_block(encoder);
    encoder->summary.ends = encoder->pending - encoder->summary.begins - encoder->others;
    encoder->summary.lane_count = count_lanes(&encoder->summary);
    payload = to + VTI_BLOCK_HEADER_BYTES;
    at = payload + vti_summary_put(payload, &encoder->summary, encoder->last);
    *header = (struct vti_block_header){
        .kind = VTI_EVENTS,
        .count = encoder->pending,
        .owner = encoder->track,
        .summary_bytes = (uint32_t)(at - payload),
        .first = encoder->first,
        .last = encoder->last,
    };
    memcpy(at, encoder->opening.data, encoder->opening.len);
    at += encoder->opening.len;
    memcpy(at, encoder->events, events_bytes);
    at += events_bytes;
    header->payload_bytes = (uint32_t)(at - payload);
    memset(at, 0, VTI_BLOCK_ALIGN);
    vti_block_header_write(to, header, payload);
    out->len += vti_block_bytes(header);
    *summary = encoder->summary;
    encoder->pending = 0;
    encoder->trace_before.is_known = false;
    encoder->is_closed = false;
    encoder->at = encoder->full = encoder->events;
    return 1;
}
