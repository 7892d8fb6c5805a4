/*
 * encode.c - the events of one track become bytes; encode_block.c puts them into EVENTS blocks.
 *
 * vti_encoder_begin() and vti_encoder_end() are the inner loop of whoever writes a recording: they write
 * straight into a buffer with room to spare and leave the rare cases (first event of a block, buffer
 * or stack full) to functions of their own. They never allocate once the buffers have grown.
 */
#include "format/encoder.h"

#include <stdlib.h>
#include <string.h>

#define OTHER_ROOM 16 /* what precedes the body of any other event: time, type, length */
#define STACK_START 32
#define DELTA_MOST (UINT64_MAX >> 2)
#define QUICK_DELTA (1u << 19) /* shorter steps, with their code, take at most three bytes */
#define QUICK_SITE (1u << 14)  /* smaller sites take at most two */

#define RARELY(condition) __builtin_expect(!!(condition), 0)

/* Nearly all numbers take one or two bytes. */
static inline uint8_t *put_varint(uint8_t *to, uint64_t value)
{
    while (RARELY(value >= 0x4000)) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    if (value >= 0x80) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

static bool grow_stack(struct vti_encoder *encoder)
{
    uint32_t capacity = encoder->stack_capacity ? encoder->stack_capacity * 2 : STACK_START;
    struct vti_open_span *grown;

    if (encoder->beyond || capacity > VTI_STACK_MAX)
        return false;
    grown = realloc(encoder->stack, capacity * sizeof *grown);
    if (!grown)
        return false;
    encoder->stack = grown;
    encoder->stack_capacity = capacity;
    encoder->depth_limit = capacity;
    return true;
}

static void push(struct vti_encoder *encoder, uint64_t ticks, uint32_t site)
{
    encoder->stack[encoder->depth].begin = ticks;
    encoder->stack[encoder->depth].site = site;
    encoder->depth++;
}

/* A span that does not fit the stack: its begin and end, and all inside, are dropped. */
static void go_beyond(struct vti_encoder *encoder)
{
    encoder->beyond++;
    encoder->depth_limit = encoder->depth;
    encoder->too_deep++;
}

static void come_back(struct vti_encoder *encoder)
{
    encoder->too_deep++;
    if (--encoder->beyond == 0)
        encoder->depth_limit = encoder->stack_capacity;
}

/* Moves on to `ticks` and returns the step, which must leave room for the code beside it. */
static inline uint64_t step_to(struct vti_encoder *encoder, uint64_t ticks)
{
    uint64_t delta = ticks - encoder->previous;

    if (delta > DELTA_MOST)
        delta = DELTA_MOST;
    encoder->previous += delta;
    return delta << 2;
}

static inline void count_begin(struct vti_encoder *encoder, uint32_t site)
{
    uint64_t now = encoder->previous;

    if (encoder->depth == 0)
        encoder->busy_from = now;
    push(encoder, now, site);
    if (encoder->depth > encoder->summary.deepest)
        encoder->summary.deepest = encoder->depth;
    encoder->summary.begins++;
    encoder->pending++;
}

static inline void count_end(struct vti_encoder *encoder)
{
    uint64_t now = encoder->previous;
    uint32_t depth = --encoder->depth;
    const struct vti_open_span *span = &encoder->stack[depth];

    if (depth == 0)
        encoder->summary.busy += now - encoder->busy_from;
    if (depth < VTI_LANES_MAX) {
        struct vti_lane *lane = &encoder->summary.lanes[depth];

        if (now - span->begin >= lane->end - lane->begin) {
            lane->site = span->site;
            lane->begin = span->begin;
            lane->end = now;
        }
    }
    encoder->pending++;
}

/* Whether a begin can be written; if not it has been dropped, and the stack still follows it if it can. */
static inline bool can_begin(struct vti_encoder *encoder, uint64_t ticks, uint32_t site)
{
    if (RARELY(encoder->depth == encoder->depth_limit) && !grow_stack(encoder)) {
        go_beyond(encoder);
        return false;
    }
    if (RARELY(encoder->at >= encoder->full) && !vti_encoder_make_room(encoder, ticks)) {
        encoder->previous = ticks;
        encoder->dropped++;
        push(encoder, ticks, site);
        return false;
    }
    return true;
}

static inline bool can_end(struct vti_encoder *encoder, uint64_t ticks)
{
    if (RARELY(encoder->beyond)) {
        come_back(encoder);
        return false;
    }
    if (RARELY(encoder->depth == 0)) {
        encoder->unmatched++;
        return false;
    }
    if (RARELY(encoder->at >= encoder->full) && !vti_encoder_make_room(encoder, ticks)) {
        encoder->previous = ticks;
        encoder->dropped++;
        encoder->depth--;
        return false;
    }
    return true;
}

static inline uint64_t not_back(const struct vti_encoder *encoder, uint64_t ticks)
{
    return ticks < encoder->previous ? encoder->previous : ticks;
}

static __attribute__((noinline)) void begin_slowly(struct vti_encoder *encoder, uint64_t ticks,
                                                   uint32_t site)
{
    uint32_t *guess;
    uint64_t step;

    ticks = not_back(encoder, ticks);
    if (!can_begin(encoder, ticks, site))
        return;
    guess = &encoder->guess[encoder->last_site % VTI_GUESSES];
    step = step_to(encoder, ticks);
    if (*guess == site) {
        encoder->at = put_varint(encoder->at, step | VTI_CODE_GUESSED);
    } else {
        encoder->at = put_varint(encoder->at, step | VTI_CODE_BEGIN);
        encoder->at = put_varint(encoder->at, site);
    }
    *guess = site;
    encoder->last_site = site;
    count_begin(encoder, site);
}

static __attribute__((noinline)) void end_slowly(struct vti_encoder *encoder, uint64_t ticks)
{
    ticks = not_back(encoder, ticks);
    if (!can_end(encoder, ticks))
        return;
    encoder->at = put_varint(encoder->at, step_to(encoder, ticks) | VTI_CODE_END);
    count_end(encoder);
}

/* Most take two bytes. */
static inline uint8_t *put_token(uint8_t *to, uint32_t token)
{
    if (token < 0x80) {
        to[0] = (uint8_t)token;
        return to + 1;
    }
    to[0] = (uint8_t)(token | 0x80);
    if (token < 0x4000) {
        to[1] = (uint8_t)(token >> 7);
        return to + 2;
    }
    to[1] = (uint8_t)(token >> 7 | 0x80);
    to[2] = (uint8_t)(token >> 14);
    return to + 3;
}

/*
 * A tick that goes back gives a huge step here, and so takes the slow way with the other rare cases.
 * The site is written in any case and counted only if it was not guessed: whether it was is hard to
 * foresee for the CPU too.
 */
void vti_encoder_begin(struct vti_encoder *encoder, uint64_t ticks, uint32_t site)
{
    uint64_t delta = ticks - encoder->previous;
    uint8_t *at = encoder->at;
    uint32_t *guess;
    uint32_t is_given;
    uint32_t is_long;

    if (RARELY(delta >= QUICK_DELTA || site >= QUICK_SITE || at >= encoder->full ||
               encoder->depth == encoder->depth_limit)) {
        begin_slowly(encoder, ticks, site);
        return;
    }
    guess = &encoder->guess[encoder->last_site % VTI_GUESSES];
    is_given = *guess != site;
    is_long = site >= 0x80;
    *guess = site;
    encoder->last_site = site;
    at = put_token(at, (uint32_t)delta << 2 | (VTI_CODE_GUESSED + is_given));
    at[0] = (uint8_t)(site | is_long << 7);
    at[1] = (uint8_t)(site >> 7);
    encoder->at = at + (is_given << (is_long & is_given));
    encoder->previous = ticks;
    count_begin(encoder, site);
}

void vti_encoder_end(struct vti_encoder *encoder, uint64_t ticks)
{
    uint64_t delta = ticks - encoder->previous;
    uint8_t *at = encoder->at;

    if (RARELY(delta >= QUICK_DELTA || at >= encoder->full || encoder->depth == 0 ||
               encoder->beyond)) {
        end_slowly(encoder, ticks);
        return;
    }
    encoder->at = put_token(at, (uint32_t)delta << 2 | VTI_CODE_END);
    encoder->previous = ticks;
    count_end(encoder);
}

static void put_other(struct vti_encoder *encoder, uint64_t ticks, uint8_t type)
{
    encoder->at = put_varint(encoder->at, step_to(encoder, ticks) | VTI_CODE_OTHER);
    *encoder->at++ = type;
    encoder->at = put_varint(encoder->at, encoder->body.len);
    memcpy(encoder->at, encoder->body.data, encoder->body.len);
    encoder->at += encoder->body.len;
}

/* Room for the body too. What is too long is dropped without closing the block. */
static bool can_add(struct vti_encoder *encoder, uint64_t ticks)
{
    size_t need = OTHER_ROOM + encoder->body.len;

    if (encoder->body.failed ||
        (encoder->at >= encoder->full && !vti_encoder_make_room(encoder, ticks)))
        return false;
    if (need <= (size_t)(encoder->full - encoder->at) ||
        vti_encoder_grow(encoder, need + VTI_PLAIN_ROOM))
        return true;
    if (encoder->pending == 0)
        encoder->full = encoder->at;
    return false;
}

static void add_other(struct vti_encoder *encoder, const struct vti_event *event, uint64_t ticks,
                      uint8_t type)
{
    bool is_of_dropped_span = encoder->beyond &&
                              (type == VTI_OTHER_ATTR || type == VTI_OTHER_ERROR);

    if (is_of_dropped_span) {
        encoder->too_deep++;
        return;
    }
    if (!can_add(encoder, ticks)) {
        encoder->dropped++;
        return;
    }
    put_other(encoder, ticks, type);
    if (type == VTI_OTHER_TRACE_BEGIN)
        encoder->trace_before = (struct vti_trace_before){true, event->trace};
    encoder->summary.errors += type == VTI_OTHER_ERROR;
    encoder->others++;
    encoder->pending++;
}

void vti_encoder_add(struct vti_encoder *encoder, const struct vti_event *event)
{
    uint64_t ticks = not_back(encoder, event->ticks);
    uint8_t type;

    if (event->kind == VTI_EVENT_BEGIN && !event->flags) {
        vti_encoder_begin(encoder, ticks, event->site);
        return;
    }
    if (event->kind == VTI_EVENT_END && !event->flags) {
        vti_encoder_end(encoder, ticks);
        return;
    }
    type = vti_body_put(&encoder->body, event, &encoder->trace_before);
    if (type == VTI_OTHER_BEGIN) {
        if (!can_begin(encoder, ticks, event->site))
            return;
        put_other(encoder, ticks, type);
        count_begin(encoder, event->site);
    } else if (type == VTI_OTHER_END) {
        if (!can_end(encoder, ticks))
            return;
        put_other(encoder, ticks, type);
        count_end(encoder);
    } else if (type != 0) {
        add_other(encoder, event, ticks, type);
    }
}

void vti_encoder_open(struct vti_encoder *encoder, uint64_t begin_ticks, uint32_t site)
{
    if (encoder->pending)
        return;
    if (encoder->depth == encoder->depth_limit && !grow_stack(encoder)) {
        go_beyond(encoder);
        return;
    }
    /* The first event must not lie before the spans it finds open. */
    encoder->previous = not_back(encoder, begin_ticks);
    push(encoder, encoder->previous, site);
}

uint32_t vti_encoder_pending(const struct vti_encoder *encoder)
{
    return encoder->pending;
}

uint64_t vti_encoder_first(const struct vti_encoder *encoder)
{
    return encoder->first;
}

uint32_t vti_encoder_depth(const struct vti_encoder *encoder)
{
    return encoder->depth;
}

uint32_t vti_encoder_open_site(const struct vti_encoder *encoder, uint32_t depth)
{
    return depth < encoder->depth ? encoder->stack[depth].site : 0;
}

uint64_t vti_encoder_unmatched(const struct vti_encoder *encoder)
{
    return encoder->unmatched;
}

static uint64_t take(uint64_t *count)
{
    uint64_t taken = *count;

    *count = 0;
    return taken;
}

uint64_t vti_encoder_take_dropped(struct vti_encoder *encoder)
{
    return take(&encoder->dropped);
}

uint64_t vti_encoder_take_too_deep(struct vti_encoder *encoder)
{
    return take(&encoder->too_deep);
}
