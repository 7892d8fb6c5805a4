/*
 * test_decode.c - event blocks that the encoder did not write: by hand, from a later version, damaged in every
 * way. Decoding ends in an error where it must, never beyond the payload's bytes.
 */
#include "base/error.h"
#include "base/varint.h"
#include "format/decode.h"
#include "format/encode.h"
#include "random_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- by hand ------------------------------------------------------------------------------------- */

/* Token of an event: delta and code; all below 128 here. */
#define T(delta, code) (uint8_t)((delta) << 2 | (code))

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

/* No async span has the id 0: begin, end, attribute and begin in a trace (whose ids are not there either). */
static void async_spans_without_id_are_skipped(void **state)
{
    static const uint8_t payload[] = {
        0,                          /* open stack */
        T(1, 3), 7,  2, 9, 0,       /* begins */
        T(1, 3), 8,  2, 0, 0,       /* ends */
        T(1, 3), 9,  4, 0, 9, 1, 2, /* has an attribute */
        T(1, 3), 11, 2, 9, 0,       /* begins */
        T(1, 3), 7,  2, 9, 1,       /* one with an id */
    };
    struct vti_decoder decoder;
    struct vti_event event;

    (void)state;
    assert_int_equal(start(&decoder, payload, sizeof payload, 5), 0);
    assert_int_equal(vti_decoder_next(&decoder, &event), 1);
    assert_int_equal(event.kind, VTI_EVENT_ASYNC_BEGIN);
    assert_int_equal(event.async_id, 1);
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

/* An event whose body is too short is left out; that is said after the others. */
static void short_bodies(void **state)
{
    static const uint8_t payload[] = {
        0, T(1, 3), 3, 0, T(1, 2), 9, T(1, 3), 4, 3, 9, 3, 0, T(1, 3), 2, 1, 1, T(1, 0),
    };
    struct vti_decoder decoder;
    struct vti_event event;

    (void)state;
    assert_int_equal(start(&decoder, payload, sizeof payload, 5), 0);
    assert_int_equal(vti_decoder_next(&decoder, &event), 1);
    assert_int_equal(event.kind, VTI_EVENT_BEGIN);
    assert_int_equal(event.ticks, 102);
    assert_int_equal(vti_decoder_next(&decoder, &event), 1);
    assert_int_equal(event.kind, VTI_EVENT_END);
    assert_int_equal(event.ticks, 105);
    assert_int_equal(vti_decoder_next(&decoder, &event), VTI_E_DAMAGED);
    assert_non_null(strstr(vti_error_message(VTI_E_DAMAGED), "payload byte 2"));
    assert_int_equal(vti_decoder_next(&decoder, &event), VTI_E_DAMAGED);
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

/* A block that begins with open spans and holds every kind of event. */
static struct vti_buf sample_block(struct vti_block_header *header)
{
    struct vti_encoder *encoder;
    struct vti_buf out = {0};
    struct vti_summary summary;
    uint64_t ticks = 1000000;

    assert_int_equal(vti_encoder_create(&encoder, 5), 0);
    for (uint32_t i = 1; i < 8; i++)
        vti_encoder_open(encoder, ticks += below(100000), i * i * i * i);
    for (unsigned i = 0; i < 150; i++) {
        struct vti_event event = {
            .ticks = ticks += random_u64() >> (40 + below(22)),
            .kind = (uint8_t)(i % 5 ? 1 + below(2) : 1 + i / 5 % 10),
            .flags = i % 11 == 0,
            .site = below(below(2) ? 4 : 300),
            .async_id = random_u64(),
            .value = {.type = VTI_VALUE_TEXT, .text = {"some text", below(10)}},
            .error_type = {"Error", 5},
            .error_message = {"it failed", below(10)},
            .loss_events = below(1000),
            .has_trace = i % 2,
            .trace = {{(uint8_t)(i / 60)}, {(uint8_t)i}, {(uint8_t)(i / 20)}}};

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
    static const uint8_t busy[16] = {101, 0, 0, 0, 0, 0};
    static const uint8_t lanes[16] = {1, 0, 0, 0, 0, 65};
    static const uint8_t late[16] = {1, 0, 0, 0, 0, 1, 4, 101, 1};
    static const uint8_t early[16] = {1, 0, 0, 0, 0, 1, 4, 50, 0x97, 1};
    static const uint8_t fine[16] = {100, 1, 1, 1, 9, 2, 0, 4, 50, 0x96, 1};
    struct vti_block_header header = header_for(16, 1);
    struct vti_summary summary;

    (void)state;
    header.summary_bytes = 6;
    assert_int_equal(vti_summary_parse(&header, busy, &summary), VTI_E_DAMAGED);
    header.summary_bytes = 6;
    assert_int_equal(vti_summary_parse(&header, lanes, &summary), VTI_E_DAMAGED);
    header.summary_bytes = 9;
    assert_int_equal(vti_summary_parse(&header, late, &summary), VTI_E_DAMAGED);
    header.summary_bytes = 10;
    assert_int_equal(vti_summary_parse(&header, early, &summary), VTI_E_DAMAGED);
    header.summary_bytes = 11;
    assert_int_equal(vti_summary_parse(&header, fine, &summary), 0);
    assert_int_equal(summary.lanes[0].site, 0);
    assert_int_equal(summary.lanes[1].site, 3);
    assert_int_equal(summary.lanes[1].end, 150);
    assert_int_equal(summary.lanes[1].begin, 0);
    for (header.summary_bytes = 0; header.summary_bytes < 11; header.summary_bytes++)
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

/* ---- ids of traces ------------------------------------------------------------------------------- */

#define ID(x) x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x

static void assert_ids(const struct vti_event *event, uint8_t base, uint8_t span, uint8_t parent)
{
    const struct vti_trace_ids ids = {{ID(base)}, {ID(span)}, {ID(parent)}};

    assert_int_equal(event->kind, VTI_EVENT_ASYNC_BEGIN);
    assert_true(event->has_trace);
    assert_memory_equal(&event->trace, &ids, sizeof ids);
}

static void trace_ids(void **state)
{
    static const uint8_t payload[] = {
        0,       T(1, 3), 11, 35, 9, 1, 2,     ID(1),  ID(2), /* a root */
        T(1, 3), 11,      19, 9,  2, 5, ID(3),                /* its child */
        T(1, 3), 11,      19, 9,  3, 9, ID(4),                /* another one */
        T(1, 3), 7,       2,  9,  4,                 /* an async span without ids in between */
        T(1, 3), 11,      20, 9,  5, 5, ID(5), 0xee, /* a child of that; a byte too many */
        T(1, 3), 11,      51, 9,  6, 0, ID(6), ID(7),  ID(8), /* another trace, all of it */
        T(1, 3), 11,      35, 9,  7, 1, ID(9), ID(10), /* the same, with a parent from elsewhere */
    };
    static const uint8_t expected[][3] = {{1, 2, 1}, {1, 3, 2}, {1, 4, 2}, {0},
                                          {1, 5, 4}, {6, 7, 8}, {6, 9, 10}};
    struct vti_decoder decoder;
    struct vti_event event;

    (void)state;
    assert_int_equal(start(&decoder, payload, sizeof payload, 7), 0);
    for (unsigned i = 0; i < 7; i++) {
        assert_int_equal(vti_decoder_next(&decoder, &event), 1);
        assert_int_equal(event.async_id, i + 1);
        if (i == 3)
            assert_false(event.has_trace);
        else
            assert_ids(&event, expected[i][0], expected[i][1], expected[i][2]);
    }
    assert_int_equal(vti_decoder_next(&decoder, &event), 0);
}

/* Each is left out, the one after it is read, and then there is damage. One decoder for all: what it knows of a block it does not know of the next. */
static void trace_ids_that_lie(void **state)
{
    static const struct {
        bool has_before;
        uint8_t how[20];
    } bad[] = {
        {true, {16, ID(2)}},                            /* a bit of the future */
        {true, {6, ID(2)}},                             /* two parents */
        {true, {13, ID(2)}},       {false, {1, ID(2)}}, /* the base of one that is not there */
        {false, {4, ID(2)}},                            /* its span */
        {false, {8, ID(2)}},                            /* its parent */
        {false, {0x81, 0, ID(2)}},                      /* the first again, written longer */
    };
    static const uint8_t root[] = {T(1, 3), 11, 35, 9, 1, 2, ID(1), ID(2)};
    static const uint8_t after[] = {T(1, 2), 9};
    struct vti_decoder decoder;

    (void)state;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint8_t payload[128] = {0};
        size_t at = 1;
        struct vti_event event;

        if (bad[i].has_before) {
            memcpy(payload + at, root, sizeof root);
            at += sizeof root;
        }
        memcpy(payload + at, (const uint8_t[]){T(1, 3), 11, 51, 9, 1}, 5);
        memcpy(payload + at + 5, bad[i].how, sizeof bad[i].how);
        at += 3 + 51; /* long enough for all three ids */
        memcpy(payload + at, after, sizeof after);
        at += sizeof after;
        assert_int_equal(start(&decoder, payload, at, bad[i].has_before ? 3 : 2), 0);
        if (bad[i].has_before)
            assert_int_equal(vti_decoder_next(&decoder, &event), 1);
        assert_int_equal(vti_decoder_next(&decoder, &event), 1);
        assert_int_equal(event.kind, VTI_EVENT_BEGIN);
        assert_int_equal(vti_decoder_next(&decoder, &event), VTI_E_DAMAGED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_types_are_skipped),
        cmocka_unit_test(async_spans_without_id_are_skipped),
        cmocka_unit_test(guesses),
        cmocka_unit_test(short_bodies),
        cmocka_unit_test(ends_without_a_span_are_given),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(counts_that_lie),
        cmocka_unit_test(stacks_that_lie),
        cmocka_unit_test(ticks_that_overflow),
        cmocka_unit_test(summaries_that_lie),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(trace_ids),
        cmocka_unit_test(trace_ids_that_lie),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
