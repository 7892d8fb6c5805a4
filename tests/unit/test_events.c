/*
 * test_events.c - encoder and decoder: what goes in comes out, block by block, with the right stack and
 * summary.
 */
#include "format/body.h"
#include "format/decode.h"
#include "format/encode.h"
#include "random_kit.h"

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

static void follow_block(uint64_t first)
{
    memset(&follower.summary, 0, sizeof follower.summary);
    follower.summary.deepest = follower.depth;
    follower.summary.open = follower.depth;
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
    assert_int_equal(found->open, expected->open);
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
        assert_int_equal(found->has_trace, expected->has_trace);
        if (expected->has_trace)
            assert_memory_equal(&found->trace, &expected->trace, sizeof found->trace);
        assert_int_equal(found->async_id, expected->async_id);
        break;
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

/* Few enough that they meet again. */
static void random_trace(struct vti_event *event)
{
    event->has_trace = below(4) != 0;
    event->trace.base[below(2) * 15] = (uint8_t)below(2);
    event->trace.span[15] = (uint8_t)below(4);
    event->trace.parent[15] = (uint8_t)below(4);
    if (below(4) == 0)
        memcpy(event->trace.parent, event->trace.base, sizeof event->trace.base);
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
    case VTI_EVENT_ASYNC_BEGIN:
        event->site = random_site();
        random_trace(event);
        break;
    default:
        event->site = random_site();
        random_value(&event->value);
    }
    event->async_id = random_u64() >> below(63) | 1; /* never 0 */
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

        random_seed(seed * 0x9e3779b97f4a7c15u);
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
    assert_int_equal(vti_encoder_take_too_deep(encoder), BEYOND + 1);
    assert_int_equal(vti_encoder_cut(encoder, &out, &header, &summary), 1);
    for (uint32_t i = 0; i < VTI_STACK_MAX + BEYOND; i++)
        vti_encoder_end(encoder, 200000 + i);
    assert_int_equal(vti_encoder_take_too_deep(encoder), BEYOND);
    assert_int_equal(vti_encoder_take_dropped(encoder), 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_streams),
        cmocka_unit_test(quick_way_is_the_same),
        cmocka_unit_test(every_kind_with_every_flag),
        cmocka_unit_test(bytes_as_specified),
        cmocka_unit_test(ticks_never_go_back),
        cmocka_unit_test(huge_steps_are_shortened),
        cmocka_unit_test(unmatched_ends_are_counted),
        cmocka_unit_test(spans_opened_before),
        cmocka_unit_test(deep_stacks),
        cmocka_unit_test(too_deep),
        cmocka_unit_test(too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
