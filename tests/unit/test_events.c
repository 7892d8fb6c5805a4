/*
 * test_events.c - encoder and decoder: what goes in comes out, block by block, with the right stack and
 * summary; damaged payloads end in an error, never beyond their bytes.
 */
#include "base/error.h"
#include "base/varint.h"
#include "format/body.h"
#include "format/decode.h"
#include "format/encode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a second, plain bookkeeping to compare with ----------------------------------------------- */

#define DEPTH_MOST 70000

struct follower {
    uint32_t sites[DEPTH_MOST];
    uint64_t begins[DEPTH_MOST];
    uint32_t depth;
    struct vti_summary summary;
    uint64_t last;
};

static struct follower follower;

static uint64_t random_state = 1;

static uint64_t random_u64(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static uint32_t below(uint32_t limit)
{
    return (uint32_t)((random_u64() >> 32) * limit >> 32);
}

static void follow_block(uint64_t first)
{
    memset(&follower.summary, 0, sizeof follower.summary);
    follower.summary.deepest = follower.depth;
    follower.last = first;
}

static void follow(const struct vti_event *event)
{
    struct vti_summary *summary = &follower.summary;

    if (follower.depth)
        summary->busy += event->ticks - follower.last;
    follower.last = event->ticks;
    if (event->kind == VTI_EVENT_BEGIN) {
        follower.sites[follower.depth] = event->site;
        follower.begins[follower.depth++] = event->ticks;
        summary->begins++;
        if (follower.depth > summary->deepest)
            summary->deepest = follower.depth;
    } else if (event->kind == VTI_EVENT_END) {
        uint32_t depth = --follower.depth;

        summary->ends++;
        if (depth < VTI_LANES_MAX) {
            struct vti_lane *lane = &summary->lanes[depth];
            uint64_t duration = event->ticks - follower.begins[depth];

            if (!lane->site || duration >= lane->end - lane->begin)
                *lane = (struct vti_lane){follower.sites[depth], follower.begins[depth],
                                          event->ticks};
            if (depth >= summary->lane_count)
                summary->lane_count = depth + 1;
        }
    } else if (event->kind == VTI_EVENT_ERROR) {
        summary->errors++;
    }
}

static void assert_summary(const struct vti_summary *found)
{
    const struct vti_summary *expected = &follower.summary;

    assert_int_equal(found->busy, expected->busy);
    assert_int_equal(found->begins, expected->begins);
    assert_int_equal(found->ends, expected->ends);
    assert_int_equal(found->errors, expected->errors);
    assert_int_equal(found->deepest, expected->deepest);
    assert_int_equal(found->lane_count, expected->lane_count);
    for (uint32_t i = 0; i < found->lane_count; i++) {
        assert_int_equal(found->lanes[i].site, expected->lanes[i].site);
        assert_int_equal(found->lanes[i].begin, expected->lanes[i].begin);
        assert_int_equal(found->lanes[i].end, expected->lanes[i].end);
    }
}

static void assert_bytes(struct vti_bytes found, struct vti_bytes expected)
{
    assert_int_equal(found.len, expected.len);
    if (expected.len)
        assert_memory_equal(found.data, expected.data, expected.len);
}

static void assert_value(const struct vti_value *found, const struct vti_value *expected)
{
    assert_int_equal(found->type, expected->type);
    if (expected->type == VTI_VALUE_TEXT)
        assert_bytes(found->text, expected->text);
    else if (expected->type != VTI_VALUE_NONE)
        assert_int_equal(found->u, expected->u);
}

static void assert_event(const struct vti_event *found, const struct vti_event *expected)
{
    assert_int_equal(found->ticks, expected->ticks);
    assert_int_equal(found->kind, expected->kind);
    assert_int_equal(found->flags, expected->flags);
    if (expected->kind != VTI_EVENT_END)
        assert_int_equal(found->site, expected->site);
    switch (expected->kind) {
    case VTI_EVENT_COUNTER:
    case VTI_EVENT_ATTR:
        assert_value(&found->value, &expected->value);
        break;
    case VTI_EVENT_ERROR:
        assert_bytes(found->error_type, expected->error_type);
        assert_bytes(found->error_message, expected->error_message);
        break;
    case VTI_EVENT_ASYNC_ATTR:
        assert_value(&found->value, &expected->value);
        assert_int_equal(found->async_id, expected->async_id);
        break;
    case VTI_EVENT_ASYNC_BEGIN:
    case VTI_EVENT_ASYNC_END:
        assert_int_equal(found->async_id, expected->async_id);
        break;
    case VTI_EVENT_LOSS:
        assert_int_equal(found->loss_reason, expected->loss_reason);
        assert_int_equal(found->loss_events, expected->loss_events);
        assert_int_equal(found->loss_ticks, expected->loss_ticks);
        break;
    default:
        break;
    }
}

/* Cuts a block and compares everything in it with `events`. */
static void check_block(struct vti_encoder *encoder, const struct vti_event *events, uint32_t count)
{
    struct vti_buf out = {0};
    struct vti_block_header header;
    struct vti_block_header read;
    struct vti_summary summary;
    struct vti_summary parsed;
    struct vti_decoder decoder;
    struct vti_event event;
    uint64_t begin;
    uint32_t site;

    assert_int_equal(vti_encoder_pending(encoder), count);
    assert_int_equal(vti_encoder_first(encoder), events[0].ticks);
    assert_int_equal(vti_encoder_cut(encoder, &out, &header, &summary), 1);
    assert_int_equal(vti_encoder_pending(encoder), 0);
    assert_int_equal(out.len, vti_block_bytes(&header));
    assert_true(vti_block_header_parse(out.data, out.len, &read));
    assert_int_equal(read.payload_bytes, header.payload_bytes);
    assert_int_equal(read.payload_crc, header.payload_crc);
    assert_int_equal(header.count, count);
    assert_int_equal(header.owner, 5);
    assert_int_equal(header.first, events[0].ticks);
    assert_int_equal(header.last, events[count - 1].ticks);

    assert_int_equal(vti_decoder_init(&decoder, &read, out.data + VTI_BLOCK_HEADER_BYTES), 0);
    assert_int_equal(vti_decoder_stack_count(&decoder), follower.depth);
    for (uint32_t i = 0; i < follower.depth; i++) {
        assert_int_equal(vti_decoder_stack_next(&decoder, &site, &begin), 1);
        assert_int_equal(site, follower.sites[i]);
        assert_int_equal(begin, follower.begins[i]);
    }
    assert_int_equal(vti_decoder_stack_next(&decoder, &site, &begin), 0);
    follow_block(events[0].ticks);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(vti_decoder_next(&decoder, &event), 1);
        assert_event(&event, &events[i]);
        follow(&event);
    }
    assert_int_equal(vti_decoder_next(&decoder, &event), 0);
    assert_int_equal(vti_decoder_next(&decoder, &event), 0);
    assert_summary(&summary);
    assert_int_equal(vti_summary_parse(&read, out.data + VTI_BLOCK_HEADER_BYTES, &parsed), 0);
    assert_summary(&parsed);
    vti_buf_fini(&out);
}

static struct vti_encoder *new_encoder(void)
{
    struct vti_encoder *encoder;

    assert_int_equal(vti_encoder_create(&encoder, 5), 0);
    memset(&follower, 0, sizeof follower);
    return encoder;
}

/* ---- round trips --------------------------------------------------------------------------------- */

static void random_value(struct vti_value *value)
{
    static const char words[] = "a value with \0 and \xff in it";

    switch (below(5)) {
    case 0:
        value->type = VTI_VALUE_NONE;
        break;
    case 1:
        value->type = VTI_VALUE_INT;
        value->i = (int64_t)random_u64() >> below(64);
        break;
    case 2:
        value->type = VTI_VALUE_UINT;
        value->u = random_u64() >> below(64);
        break;
    case 3:
        value->type = VTI_VALUE_DOUBLE;
        value->d = (double)random_u64() / 3;
        break;
    default:
        value->type = VTI_VALUE_TEXT;
        value->text = (struct vti_bytes){words, below(sizeof words)};
    }
}

static uint64_t random_gap(void)
{
    switch (below(20)) {
    case 0:
        return 0;
    case 1:
        return random_u64() >> (34 + below(29));
    case 2:
        return below(32);
    default:
        return below(4000);
    }
}

static uint32_t random_site(void)
{
    switch (below(20)) {
    case 0:
        return (uint32_t)random_u64();
    case 1:
        return 1 + below(1u << 22);
    default:
        return 1 + below(below(2) ? 4 : 300);
    }
}

static void random_other(struct vti_event *event)
{
    static const char words[] = "ValueError: not a number";

    event->kind = (uint8_t)(VTI_EVENT_MARK + below(VTI_EVENT_LOSS - VTI_EVENT_MARK + 1));
    switch (event->kind) {
    case VTI_EVENT_ERROR:
        event->error_type = (struct vti_bytes){words, below(11)};
        event->error_message = (struct vti_bytes){words + 12, below(13)};
        break;
    case VTI_EVENT_LOSS:
        event->loss_reason = 1 + below(7);
        event->loss_events = random_u64() >> below(64);
        event->loss_ticks = random_u64() >> below(64);
        break;
    case VTI_EVENT_ASYNC_END:
        event->flags = (uint8_t)below(8);
        break;
    default:
        event->site = random_site();
        random_value(&event->value);
    }
    event->async_id = random_u64() >> below(64);
}

static void random_event(struct vti_event *event, uint64_t ticks, uint32_t depth, uint32_t deepest)
{
    memset(event, 0, sizeof *event);
    event->ticks = ticks;
    if (below(10) == 0) {
        random_other(event);
    } else if (depth == 0 || (depth < deepest && below(2))) {
        event->kind = VTI_EVENT_BEGIN;
        event->site = random_site();
        event->flags = (uint8_t)(below(20) ? 0 : 1 + below(3));
    } else {
        event->kind = VTI_EVENT_END;
        event->flags = (uint8_t)(below(20) ? 0 : 1 + below(3));
    }
}

static void random_streams(void **state)
{
    enum { MOST = 700 };
    static struct vti_event events[MOST];

    (void)state;
    for (unsigned seed = 1; seed <= 40; seed++) {
        struct vti_encoder *encoder = new_encoder();
        uint64_t ticks = random_u64() >> (1 + below(40));
        uint32_t deepest = 1 + below(seed % 4 ? 20 : 200);
        uint32_t depth = 0;

        random_state = seed * 0x9e3779b97f4a7c15u;
        for (unsigned block = 0; block < 30; block++) {
            uint32_t count = 1 + below(below(4) ? 40 : MOST);

            for (uint32_t i = 0; i < count; i++) {
                random_event(&events[i], ticks += random_gap(), depth, deepest);
                vti_encoder_add(encoder, &events[i]);
                depth += events[i].kind == VTI_EVENT_BEGIN;
                depth -= events[i].kind == VTI_EVENT_END;
            }
            assert_int_equal(vti_encoder_depth(encoder), depth);
            check_block(encoder, events, count);
        }
        assert_int_equal(vti_encoder_unmatched(encoder), 0);
        assert_int_equal(vti_encoder_take_dropped(encoder), 0);
        vti_encoder_free(encoder);
    }
}

/* The two quick functions write what vti_encoder_add() writes. */
static void quick_way_is_the_same(void **state)
{
    struct vti_encoder *quick = new_encoder();
    struct vti_encoder *plain = new_encoder();
    struct vti_buf quick_out = {0};
    struct vti_buf plain_out = {0};
    struct vti_block_header header;
    struct vti_summary summary;
    struct vti_event event;
    uint64_t ticks = 1000;

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        ticks += random_gap();
        random_event(&event, ticks, vti_encoder_depth(plain), 30);
        if (event.kind > VTI_EVENT_END)
            continue;
        event.flags = 0;
        vti_encoder_add(plain, &event);
        if (event.kind == VTI_EVENT_BEGIN)
            vti_encoder_begin(quick, ticks, event.site);
        else
            vti_encoder_end(quick, ticks);
        if (i % 500 == 0) {
            vti_encoder_cut(quick, &quick_out, &header, &summary);
            vti_encoder_cut(plain, &plain_out, &header, &summary);
        }
    }
    assert_int_equal(quick_out.len, plain_out.len);
    assert_memory_equal(quick_out.data, plain_out.data, plain_out.len);
    vti_buf_fini(&quick_out);
    vti_buf_fini(&plain_out);
    vti_encoder_free(quick);
    vti_encoder_free(plain);
}

static void every_kind_with_every_flag(void **state)
{
    struct vti_event events[64];
    struct vti_encoder *encoder = new_encoder();
    uint32_t count = 0;

    (void)state;
    memset(events, 0, sizeof events);
    for (uint8_t flags = 0; flags < 8; flags++)
        events[count++] = (struct vti_event){
            .kind = VTI_EVENT_BEGIN, .site = 1 + flags, .flags = flags};
    for (uint8_t kind = VTI_EVENT_MARK; kind <= VTI_EVENT_LOSS; kind++)
        for (int value = VTI_VALUE_NONE; value <= VTI_VALUE_TEXT; value++) {
            struct vti_event *event = &events[count++];

            event->kind = kind;
            event->flags = kind == VTI_EVENT_ASYNC_END ? (uint8_t)(value + 3) : 0;
            event->site = kind == VTI_EVENT_ASYNC_END || kind == VTI_EVENT_LOSS ||
                                  kind == VTI_EVENT_ERROR
                              ? 0
                              : UINT32_MAX;
            event->async_id = UINT64_MAX;
            event->value.type = (enum vti_value_type)value;
            if (value == VTI_VALUE_TEXT)
                event->value.text = (struct vti_bytes){"", 0};
            else
                event->value.i = INT64_MIN;
            event->error_type = (struct vti_bytes){"E", 1};
            event->loss_ticks = UINT64_MAX;
        }
    for (uint8_t flags = 0; flags < 8; flags++)
        events[count++] = (struct vti_event){.kind = VTI_EVENT_END, .flags = flags};
    for (uint32_t i = 0; i < count; i++) {
        events[i].ticks = 100 + 10 * i;
        vti_encoder_add(encoder, &events[i]);
    }
    check_block(encoder, events, count);
    assert_int_equal(vti_encoder_depth(encoder), 0);
    vti_encoder_free(encoder);
}

/* ---- the bytes, by hand --------------------------------------------------------------------------- */

/* Token of an event: delta and code; all below 128 here. */
#define T(delta, code) (uint8_t)((delta) << 2 | (code))

static void bytes_as_specified(void **state)
{
    static const uint8_t expected[] = {
        /* summary: busy, begins, ends, errors, deepest, lanes */
        5,
        3,
        2,
        0,
        2,
        2,
        /* lane 0: site + 1, last - end, duration; lane 1 */
        8,
        1,
        5,
        8,
        3,
        1,
        /* open stack: none */
        0,
        /* begin 7; begin 7, not guessed: nothing was known after 7; end; end; begin 7, guessed */
        T(0, 2),
        7,
        T(2, 2),
        7,
        T(1, 0),
        T(2, 0),
        T(1, 1),
    };
    struct vti_encoder *encoder = new_encoder();
    struct vti_block_header header;
    struct vti_summary summary;
    struct vti_buf out = {0};

    (void)state;
    vti_encoder_begin(encoder, 1000, 7);
    vti_encoder_begin(encoder, 1002, 7);
    vti_encoder_end(encoder, 1003);
    vti_encoder_end(encoder, 1005);
    vti_encoder_begin(encoder, 1006, 7);
    assert_int_equal(vti_encoder_cut(encoder, &out, &header, &summary), 1);
    assert_int_equal(header.summary_bytes, 12);
    assert_int_equal(header.payload_bytes, sizeof expected);
    assert_int_equal(summary.busy, 5);
    assert_memory_equal(out.data + VTI_BLOCK_HEADER_BYTES, expected, sizeof expected);
    vti_buf_clear(&out);

    vti_encoder_end(encoder, 1016);
    assert_int_equal(vti_encoder_cut(encoder, &out, &header, &summary), 1);
    assert_int_equal(header.first, 1016);
    assert_memory_equal(
        out.data + VTI_BLOCK_HEADER_BYTES,
        ((const uint8_t[]){0, 0, 1, 0, 1, 1, 8, 0, 10, /* open: */ 1, 7, 10, T(0, 0)}), 13);
    assert_int_equal(vti_encoder_cut(encoder, &out, &header, &summary), 0);
    vti_buf_fini(&out);
    vti_encoder_free(encoder);
}

static struct vti_block_header header_for(size_t bytes, uint32_t count)
{
    return (struct vti_block_header){.kind = VTI_EVENTS,
                                     .payload_bytes = (uint32_t)bytes,
                                     .count = count,
                                     .first = 100,
                                     .last = 200};
}

/* Starts a decoder over a payload without a summary. */
static int start(struct vti_decoder *decoder, const uint8_t *payload, size_t bytes, uint32_t count)
{
    struct vti_block_header header = header_for(bytes, count);

    return vti_decoder_init(decoder, &header, payload);
}

static void unknown_types_are_skipped(void **state)
{
    static const uint8_t payload[] = {
        0,                                      /* open stack */
        T(1, 3), 200, 3, 'x', 'y',  'z',        /* a type of the future */
        T(1, 2), 9,                             /* begin 9 */
        T(1, 3), 77,  0,                        /* another, empty */
        T(1, 3), 4,   4, 3,   9,    0xff, 0xff, /* counter with a value of the future */
        T(1, 3), 1,   3, 1,   0xaa, 0xbb,       /* marked end with a longer body than we know */
        T(1, 3), 201, 0,                        /* the last one is skipped too */
    };
    struct vti_decoder decoder;
    struct vti_event event;

    (void)state;
    assert_int_equal(start(&decoder, payload, sizeof payload, 6), 0);
    assert_int_equal(vti_decoder_next(&decoder, &event), 1);
    assert_int_equal(event.kind, VTI_EVENT_BEGIN);
    assert_int_equal(event.ticks, 102);
    assert_int_equal(event.site, 9);
    assert_int_equal(vti_decoder_next(&decoder, &event), 1);
    assert_int_equal(event.kind, VTI_EVENT_COUNTER);
    assert_int_equal(event.ticks, 104);
    assert_int_equal(event.value.type, VTI_VALUE_NONE);
    assert_int_equal(vti_decoder_next(&decoder, &event), 1);
    assert_int_equal(event.kind, VTI_EVENT_END);
    assert_int_equal(event.flags, VTI_FLAG_IN_GAP);
    assert_int_equal(event.ticks, 105);
    assert_int_equal(vti_decoder_next(&decoder, &event), 0);
}

static void guesses(void **state)
{
    static const uint8_t payload[] = {
        0,       T(0, 1),           /* table[0] is 0: site 0 */
        T(0, 2), 5,                 /* table[0] = 5 */
        T(0, 2), 0x85,    2,        /* 261: table[5] = 261 */
        T(0, 2), 6,                 /* table[261 % 256 = 5] = 6 */
        T(0, 2), 5,                 /* table[6] = 5 */
        T(0, 1),                    /* table[5]: 6 */
        T(0, 3), 2,       2, 1, 99, /* a marked begin changes nothing */
        T(0, 1),                    /* table[6]: 5 */
        T(0, 1),                    /* table[5]: 6 */
    };
    static const uint32_t sites[] = {0, 5, 261, 6, 5, 6, 99, 5, 6};
    struct vti_decoder decoder;
    struct vti_event event;

    (void)state;
    assert_int_equal(start(&decoder, payload, sizeof payload, 9), 0);
    for (unsigned i = 0; i < 9; i++) {
        assert_int_equal(vti_decoder_next(&decoder, &event), 1);
        assert_int_equal(event.kind, VTI_EVENT_BEGIN);
        assert_int_equal(event.site, sites[i]);
    }
    assert_int_equal(vti_decoder_next(&decoder, &event), 0);
}

/* Ends nobody opened are given as events: who follows the stack counts them. */
static void ends_without_a_span_are_given(void **state)
{
    static const uint8_t payload[] = {0, T(1, 0), T(1, 0)};
    struct vti_decoder decoder;
    struct vti_event event;

    (void)state;
    assert_int_equal(start(&decoder, payload, sizeof payload, 2), 0);
    assert_int_equal(vti_decoder_next(&decoder, &event), 1);
    assert_int_equal(event.kind, VTI_EVENT_END);
    assert_int_equal(vti_decoder_next(&decoder, &event), 1);
    assert_int_equal(vti_decoder_next(&decoder, &event), 0);
}

/* ---- rules of the encoder -------------------------------------------------------------------------- */

static void ticks_never_go_back(void **state)
{
    struct vti_event events[] = {
        {.ticks = 1000, .kind = VTI_EVENT_BEGIN, .site = 1},
        {.ticks = 900, .kind = VTI_EVENT_BEGIN, .site = 2},
        {.ticks = 999, .kind = VTI_EVENT_MARK, .site = 3},
        {.ticks = 5, .kind = VTI_EVENT_END},
        {.ticks = 1001, .kind = VTI_EVENT_END},
    };
    struct vti_event next = {.ticks = 1000, .kind = VTI_EVENT_BEGIN, .site = 4};
    struct vti_encoder *encoder = new_encoder();

    (void)state;
    for (int i = 0; i < 5; i++)
        vti_encoder_add(encoder, &events[i]);
    events[1].ticks = events[2].ticks = events[3].ticks = 1000;
    check_block(encoder, events, 5);
    vti_encoder_add(encoder, &next); /* nor from block to block */
    next.ticks = 1001;
    check_block(encoder, &next, 1);
    vti_encoder_free(encoder);
}

/* A step of 2^62 ticks has no room beside the code. */
static void huge_steps_are_shortened(void **state)
{
    struct vti_event events[] = {
        {.ticks = 0, .kind = VTI_EVENT_BEGIN, .site = 1},
        {.ticks = UINT64_MAX, .kind = VTI_EVENT_BEGIN, .site = 2},
        {.ticks = UINT64_MAX, .kind = VTI_EVENT_END},
    };
    struct vti_encoder *encoder = new_encoder();

    (void)state;
    for (int i = 0; i < 3; i++)
        vti_encoder_add(encoder, &events[i]);
    events[1].ticks = UINT64_MAX >> 2;
    events[2].ticks = (UINT64_MAX >> 2) * 2;
    check_block(encoder, events, 3);
    events[0] = (struct vti_event){.ticks = UINT64_MAX, .kind = VTI_EVENT_END};
    vti_encoder_add(encoder, &events[0]);
    events[1] = (struct vti_event){.ticks = 3, .kind = VTI_EVENT_MARK, .site = 1};
    vti_encoder_add(encoder, &events[1]);
    events[1].ticks = UINT64_MAX;
    check_block(encoder, events, 2);
    vti_encoder_free(encoder);
}

static void unmatched_ends_are_counted(void **state)
{
    struct vti_event begin = {.ticks = 20, .kind = VTI_EVENT_BEGIN, .site = 1};
    struct vti_event marked = {.ticks = 15, .kind = VTI_EVENT_END, .flags = VTI_FLAG_ABANDONED};
    struct vti_encoder *encoder = new_encoder();
    struct vti_block_header header;
    struct vti_summary summary;
    struct vti_buf out = {0};

    (void)state;
    vti_encoder_end(encoder, 10);
    vti_encoder_add(encoder, &marked);
    assert_int_equal(vti_encoder_unmatched(encoder), 2);
    assert_int_equal(vti_encoder_cut(encoder, &out, &header, &summary), 0);
    assert_int_equal(out.len, 0);
    vti_encoder_add(encoder, &begin);
    assert_int_equal(vti_encoder_open_site(encoder, 0), 1);
    assert_int_equal(vti_encoder_open_site(encoder, 1), 0);
    check_block(encoder, &begin, 1);
    vti_encoder_free(encoder);
}

static void spans_opened_before(void **state)
{
    struct vti_event events[] = {
        {.ticks = 500, .kind = VTI_EVENT_END},
        {.ticks = 600, .kind = VTI_EVENT_END},
    };
    struct vti_encoder *encoder = new_encoder();

    (void)state;
    vti_encoder_open(encoder, 100, 11);
    vti_encoder_open(encoder, 550, 12);
    follower.depth = 2;
    follower.sites[0] = 11;
    follower.begins[0] = 100;
    follower.sites[1] = 12;
    follower.begins[1] = 550;
    vti_encoder_add(encoder, &events[0]);
    vti_encoder_add(encoder, &events[1]);
    events[0].ticks = 550; /* not before the span it ends */
    check_block(encoder, events, 2);
    assert_int_equal(follower.summary.lanes[0].begin, 100);
    vti_encoder_free(encoder);
}

static void deep_stacks(void **state)
{
    static const uint32_t depths[] = {63, 64, 65, 100, 10000};
    static struct vti_event events[10000];

    (void)state;
    for (unsigned k = 0; k < sizeof depths / sizeof *depths; k++) {
        struct vti_encoder *encoder = new_encoder();
        uint64_t ticks = 1u << 30;
        uint32_t at = 0;

        for (uint32_t i = 0; i < 2 * depths[k]; i++) {
            bool is_begin = i < depths[k];

            events[at] = (struct vti_event){.ticks = ticks += 1 + i % 50,
                                            .kind = is_begin ? VTI_EVENT_BEGIN : VTI_EVENT_END,
                                            .site = is_begin ? 1 + i % 1000 : 0};
            vti_encoder_add(encoder, &events[at++]);
            if (at == 3000 || i == depths[k] || i + 1 == 2 * depths[k]) {
                check_block(encoder, events, at);
                assert_true(follower.summary.lane_count <= VTI_LANES_MAX);
                at = 0;
            }
        }
        assert_int_equal(vti_encoder_depth(encoder), 0);
        vti_encoder_free(encoder);
    }
}

/* Deeper than a block may begin: such spans are left out and counted, the others stay whole. */
static void too_deep(void **state)
{
    enum { BEYOND = 100 };
    struct vti_event last = {.ticks = 300000, .kind = VTI_EVENT_BEGIN, .site = 7};
    struct vti_event inner = {.ticks = 150000, .kind = VTI_EVENT_ATTR, .site = 3};
    struct vti_encoder *encoder = new_encoder();
    struct vti_block_header header;
    struct vti_summary summary;
    struct vti_buf out = {0};

    (void)state;
    for (uint32_t i = 0; i < VTI_STACK_MAX + BEYOND; i++)
        vti_encoder_begin(encoder, 1000 + i, 1 + i % 7);
    vti_encoder_add(encoder, &inner); /* of a span that is not there */
    assert_int_equal(vti_encoder_depth(encoder), VTI_STACK_MAX);
    assert_int_equal(vti_encoder_pending(encoder), VTI_STACK_MAX);
    assert_int_equal(vti_encoder_take_dropped(encoder), BEYOND + 1);
    assert_int_equal(vti_encoder_cut(encoder, &out, &header, &summary), 1);
    for (uint32_t i = 0; i < VTI_STACK_MAX + BEYOND; i++)
        vti_encoder_end(encoder, 200000 + i);
    assert_int_equal(vti_encoder_take_dropped(encoder), BEYOND);
    assert_int_equal(vti_encoder_depth(encoder), 0);
    vti_buf_clear(&out);
    assert_int_equal(vti_encoder_cut(encoder, &out, &header, &summary), 1);
    assert_int_equal(header.count, VTI_STACK_MAX);
    assert_int_equal(summary.ends, VTI_STACK_MAX);
    vti_encoder_add(encoder, &last);
    check_block(encoder, &last, 1);
    vti_buf_fini(&out);
    vti_encoder_free(encoder);
}

/* Text of unreasonable length is left out and counted; the rest of the block stays. */
static void too_long(void **state)
{
    struct vti_event events[] = {
        {.ticks = 10, .kind = VTI_EVENT_BEGIN, .site = 1},
        {.ticks = 20, .kind = VTI_EVENT_END},
    };
    struct vti_event text = {.ticks = 5, .kind = VTI_EVENT_ATTR, .site = 2};
    size_t len = VTI_BODY_TEXT_MOST + 1;
    struct vti_encoder *encoder = new_encoder();
    char *long_text = calloc(1, len);

    (void)state;
    assert_non_null(long_text);
    text.value.type = VTI_VALUE_TEXT;
    text.value.text = (struct vti_bytes){long_text, len};
    vti_encoder_add(encoder, &text);
    vti_encoder_add(encoder, &events[0]);
    text.ticks = 15;
    vti_encoder_add(encoder, &text);
    vti_encoder_add(encoder, &events[1]);
    assert_int_equal(vti_encoder_take_dropped(encoder), 2);
    check_block(encoder, events, 2);
    text.value.text.len--;
    vti_encoder_add(encoder, &text);
    text.ticks = 20;
    check_block(encoder, &text, 1);
    free(long_text);
    vti_encoder_free(encoder);
}

/* ---- hostile payloads ------------------------------------------------------------------------------- */

/* Decodes all there is, from a copy without a byte to spare. Returns the last code. */
static int decode_all(const struct vti_block_header *header, const uint8_t *payload,
                      uint32_t *count)
{
    struct vti_decoder decoder;
    struct vti_summary summary;
    struct vti_event event;
    uint8_t *copy = malloc(header->payload_bytes + 1);
    uint64_t ticks = header->first;
    uint32_t site;
    uint64_t begin;
    int code;

    assert_non_null(copy);
    memcpy(copy + 1, payload, header->payload_bytes);
    *count = 0;
    vti_summary_parse(header, copy + 1, &summary);
    code = vti_decoder_init(&decoder, header, copy + 1);
    if (!code) {
        while (vti_decoder_stack_next(&decoder, &site, &begin))
            assert_true(begin <= header->first);
        while ((code = vti_decoder_next(&decoder, &event)) == 1) {
            assert_true(event.ticks >= ticks && event.ticks <= header->last);
            ticks = event.ticks;
            assert_true(++*count <= header->count);
        }
        if (code < 0) /* and it stays so */
            assert_int_equal(vti_decoder_next(&decoder, &event), VTI_E_DAMAGED);
    }
    free(copy);
    return code;
}

static struct vti_buf sample_block(struct vti_block_header *header)
{
    struct vti_encoder *encoder = new_encoder();
    struct vti_buf out = {0};
    struct vti_summary summary;
    struct vti_event event;
    uint64_t ticks = 1000000;
    uint32_t depth = 0;

    for (unsigned i = 0; i < 300; i++) {
        if (i == 150) {
            vti_encoder_cut(encoder, &out, header, &summary);
            vti_buf_clear(&out);
        }
        random_event(&event, ticks += random_gap(), depth, 20);
        depth += event.kind == VTI_EVENT_BEGIN;
        depth -= event.kind == VTI_EVENT_END;
        vti_encoder_add(encoder, &event);
    }
    assert_int_equal(vti_encoder_cut(encoder, &out, header, &summary), 1);
    vti_encoder_free(encoder);
    return out;
}

static void cut_anywhere(void **state)
{
    struct vti_block_header header;
    struct vti_buf block = sample_block(&header);
    uint32_t whole = header.payload_bytes;
    uint32_t before = 0;
    uint32_t count;

    (void)state;
    for (header.payload_bytes = 0; header.payload_bytes < whole; header.payload_bytes++) {
        assert_int_equal(decode_all(&header, block.data + VTI_BLOCK_HEADER_BYTES, &count),
                         VTI_E_DAMAGED);
        assert_true(count >= before && count < header.count);
        before = count;
    }
    assert_int_equal(decode_all(&header, block.data + VTI_BLOCK_HEADER_BYTES, &count), 0);
    assert_int_equal(count, header.count);
    vti_buf_fini(&block);
}

static void counts_that_lie(void **state)
{
    struct vti_block_header header;
    struct vti_buf block = sample_block(&header);
    const uint8_t *payload = block.data + VTI_BLOCK_HEADER_BYTES;
    struct vti_block_header lie = header;
    uint32_t count;

    (void)state;
    lie.count++;
    assert_int_equal(decode_all(&lie, payload, &count), VTI_E_DAMAGED);
    assert_int_equal(count, header.count);
    lie.count = UINT32_MAX;
    assert_int_equal(decode_all(&lie, payload, &count), VTI_E_DAMAGED);
    lie.count = header.count - 1;
    assert_int_equal(decode_all(&lie, payload, &count), VTI_E_DAMAGED);
    assert_int_equal(count, header.count - 1);
    lie = header;
    lie.summary_bytes = lie.payload_bytes + 1;
    assert_int_equal(decode_all(&lie, payload, &count), VTI_E_DAMAGED);
    lie = header;
    lie.last = lie.first - 1;
    assert_int_equal(decode_all(&lie, payload, &count), VTI_E_DAMAGED);
    lie = header;
    lie.last--;
    assert_int_equal(decode_all(&lie, payload, &count), VTI_E_DAMAGED);
    lie = header;
    lie.kind = VTI_META;
    assert_int_equal(decode_all(&lie, payload, &count), VTI_E_DAMAGED);
    lie = header;
    lie.flags = 1;
    assert_int_equal(decode_all(&lie, payload, &count), VTI_E_UNSUPPORTED);
    vti_buf_fini(&block);
}

static void stacks_that_lie(void **state)
{
    struct vti_decoder decoder;
    uint8_t payload[32];
    size_t bytes;

    (void)state;
    bytes = vti_varint_put(payload, VTI_STACK_MAX + 1);
    assert_int_equal(start(&decoder, payload, bytes, 0), VTI_E_DAMAGED);
    bytes = vti_varint_put(payload, 1);
    bytes += vti_varint_put(payload + bytes, 3);
    bytes += vti_varint_put(payload + bytes, 101); /* begins before tick 0 */
    assert_int_equal(start(&decoder, payload, bytes, 0), VTI_E_DAMAGED);
    bytes = vti_varint_put(payload, 1);
    bytes += vti_varint_put(payload + bytes, (uint64_t)UINT32_MAX + 1);
    bytes += vti_varint_put(payload + bytes, 1);
    assert_int_equal(start(&decoder, payload, bytes, 0), VTI_E_DAMAGED);
}

static void ticks_that_overflow(void **state)
{
    struct vti_block_header header = {
        .kind = VTI_EVENTS, .count = 2, .first = UINT64_MAX - 10, .last = UINT64_MAX};
    uint8_t payload[32] = {0, T(5, 0)};
    uint32_t count;

    (void)state;
    header.payload_bytes = (uint32_t)(2 + vti_varint_put(payload + 2, (uint64_t)6 << 2));
    assert_int_equal(decode_all(&header, payload, &count), VTI_E_DAMAGED);
    assert_int_equal(count, 1);
    header.payload_bytes = (uint32_t)(2 + vti_varint_put(payload + 2, UINT64_MAX - 3));
    assert_int_equal(decode_all(&header, payload, &count), VTI_E_DAMAGED);
    header.payload_bytes = (uint32_t)(2 + vti_varint_put(payload + 2, (uint64_t)5 << 2));
    assert_int_equal(decode_all(&header, payload, &count), 0);
}

static void summaries_that_lie(void **state)
{
    static const uint8_t busy[] = {101, 0, 0, 0, 0, 0};
    static const uint8_t lanes[] = {1, 0, 0, 0, 0, 65};
    static const uint8_t late[] = {1, 0, 0, 0, 0, 1, 4, 101, 1};
    static const uint8_t early[] = {1, 0, 0, 0, 0, 1, 4, 50, 0x97, 1};
    static const uint8_t fine[] = {100, 1, 1, 1, 9, 2, 0, 4, 50, 0x96, 1};
    struct vti_block_header header = header_for(16, 1);
    struct vti_summary summary;

    (void)state;
    header.summary_bytes = sizeof busy;
    assert_int_equal(vti_summary_parse(&header, busy, &summary), VTI_E_DAMAGED);
    header.summary_bytes = sizeof lanes;
    assert_int_equal(vti_summary_parse(&header, lanes, &summary), VTI_E_DAMAGED);
    header.summary_bytes = sizeof late;
    assert_int_equal(vti_summary_parse(&header, late, &summary), VTI_E_DAMAGED);
    header.summary_bytes = sizeof early;
    assert_int_equal(vti_summary_parse(&header, early, &summary), VTI_E_DAMAGED);
    header.summary_bytes = sizeof fine;
    assert_int_equal(vti_summary_parse(&header, fine, &summary), 0);
    assert_int_equal(summary.lanes[0].site, 0);
    assert_int_equal(summary.lanes[1].site, 3);
    assert_int_equal(summary.lanes[1].end, 150);
    assert_int_equal(summary.lanes[1].begin, 0);
    for (header.summary_bytes = 0; header.summary_bytes < sizeof fine; header.summary_bytes++)
        assert_int_equal(vti_summary_parse(&header, fine, &summary), VTI_E_DAMAGED);
}

static void random_bytes(void **state)
{
    struct vti_block_header header;
    struct vti_buf block = sample_block(&header);
    uint8_t *payload = block.data + VTI_BLOCK_HEADER_BYTES;
    uint32_t count;

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        uint32_t at = below(header.payload_bytes);
        uint8_t was = payload[at];

        payload[at] = (uint8_t)random_u64();
        decode_all(&header, payload, &count);
        payload[at] = was;
    }
    for (unsigned round = 0; round < 2000; round++) {
        uint8_t noise[64];

        for (unsigned i = 0; i < sizeof noise; i++)
            noise[i] = (uint8_t)random_u64();
        header = header_for(below(sizeof noise), below(100));
        header.summary_bytes = below(header.payload_bytes + 1);
        decode_all(&header, noise, &count);
    }
    vti_buf_fini(&block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_streams),
        cmocka_unit_test(quick_way_is_the_same),
        cmocka_unit_test(every_kind_with_every_flag),
        cmocka_unit_test(bytes_as_specified),
        cmocka_unit_test(unknown_types_are_skipped),
        cmocka_unit_test(guesses),
        cmocka_unit_test(ends_without_a_span_are_given),
        cmocka_unit_test(ticks_never_go_back),
        cmocka_unit_test(huge_steps_are_shortened),
        cmocka_unit_test(unmatched_ends_are_counted),
        cmocka_unit_test(spans_opened_before),
        cmocka_unit_test(deep_stacks),
        cmocka_unit_test(too_deep),
        cmocka_unit_test(too_long),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(counts_that_lie),
        cmocka_unit_test(stacks_that_lie),
        cmocka_unit_test(ticks_that_overflow),
        cmocka_unit_test(summaries_that_lie),
        cmocka_unit_test(random_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
