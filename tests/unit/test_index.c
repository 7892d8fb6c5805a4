/*
 * test_index.c - an index says what its blocks say, at every level, also after blocks were cut off; a
 * damaged one is refused or reads as nothing.
 */
#include "base/bytes.h"
#include "base/error.h"
#include "format/index.h"
#include "random_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BLOCKS 5000
#define LANES 5

struct block {
    uint64_t offset;
    struct vti_block_header header;
    struct vti_summary summary;
};

static struct block blocks[BLOCKS];
static int make_blocks(void **state)
{
    uint64_t offset = 64;
    uint64_t ticks = 1000000;

    (void)state;
    for (unsigned i = 0; i < BLOCKS; i++) {
        struct block *block = &blocks[i];

        block->offset = offset;
        block->header.kind = VTI_EVENTS;
        block->header.owner = 9;
        block->header.count = 100 + below(1000);
        block->header.payload_bytes = 1000 + below(1000);
        block->header.first = ticks + below(1000);
        block->header.last = block->header.first + 100 + below(100000);
        ticks = block->header.last;
        block->summary.busy = below(100);
        block->summary.begins = below(50);
        block->summary.deepest = below(20);
        block->summary.open = below(3);
        block->summary.open = below(2);
        block->summary.lane_count = below(LANES + 1);
        for (uint32_t k = 0; k < block->summary.lane_count; k++)
            if (below(4)) {
                struct vti_lane *lane = &block->summary.lanes[k];

                lane->site = 1 + below(300);
                lane->end = block->header.first + below((uint32_t)(ticks - block->header.first));
                lane->begin = lane->end - below(5000);
            }
        offset += 8 * (10 + below(1000));
    }
    return 0;
}

static void add(struct vti_index_builder *builder, size_t at)
{
    const struct block *block = &blocks[at];

    assert_int_equal(vti_index_builder_add(builder, block->offset, &block->header, &block->summary),
                     0);
}

static struct vti_index_builder *build(size_t count)
{
    struct vti_index_builder *builder;

    assert_int_equal(vti_index_builder_create(&builder, 9), 0);
    for (size_t i = 0; i < count; i++)
        add(builder, i);
    return builder;
}

static void open_index(const struct vti_buf *out, struct vti_index *index)
{
    struct vti_block_header header;

    assert_true(vti_block_header_parse(out->data, out->len, &header));
    assert_int_equal(header.kind, VTI_INDEX);
    assert_int_equal(header.owner, 9);
    assert_int_equal(vti_block_bytes(&header), out->len);
    assert_int_equal(vti_index_open(index, &header, out->data + VTI_BLOCK_HEADER_BYTES), 0);
}

/* The node over blocks [from, until), made without any level in between. */
static void assert_node(const struct vti_index *index, uint32_t level, uint64_t at, size_t from,
                        size_t until)
{
    struct vti_index_node node;
    uint64_t busy = 0;
    uint64_t begins = 0;
    uint64_t longest[LANES] = {0};
    bool is_any[LANES] = {false};
    uint32_t lanes = 0;

    for (size_t i = from; i < until; i++) {
        const struct vti_summary *summary = &blocks[i].summary;

        busy += summary->busy;
        if (i > from && summary->open)
            busy += blocks[i].header.first - blocks[i - 1].header.last;
        begins += summary->begins;
        if (summary->lane_count > lanes)
            lanes = summary->lane_count;
        for (uint32_t k = 0; k < summary->lane_count; k++)
            if (summary->lanes[k].site) {
                uint64_t length = summary->lanes[k].end - summary->lanes[k].begin;

                is_any[k] = true;
                if (length > longest[k])
                    longest[k] = length;
            }
    }
    vti_index_node_at(index, level, at, &node);
    assert_int_equal(node.first, blocks[from].header.first);
    assert_int_equal(node.last, blocks[until - 1].header.last);
    assert_int_equal(node.busy, busy);
    assert_int_equal(node.begins, begins);
    assert_int_equal(node.lane_count, lanes);
    for (uint32_t k = 0; k < lanes; k++) {
        struct vti_lane lane;

        vti_index_lane_at(&node, k, &lane);
        assert_int_equal(lane.site != 0, is_any[k]);
        assert_int_equal(lane.end - lane.begin, longest[k]);
    }
}

/* Everything in the index of the first `count` blocks. */
static void check_index(struct vti_index_builder *builder, size_t count)
{
    struct vti_buf out = {0};
    struct vti_index index;
    uint32_t level = 0;
    size_t elements = count;
    size_t span = 1;

    assert_int_equal(vti_index_builder_count(builder), count);
    assert_int_equal(vti_index_builder_finish(builder, &out), 0);
    open_index(&out, &index);
    assert_int_equal(index.counts[0], count);
    for (size_t i = 0; i < count; i++) {
        struct vti_index_entry entry;

        vti_index_entry_at(&index, i, &entry);
        assert_int_equal(entry.offset, blocks[i].offset);
        assert_int_equal(entry.first, blocks[i].header.first);
        assert_int_equal(entry.last, blocks[i].header.last);
        assert_int_equal(entry.payload_bytes, blocks[i].header.payload_bytes);
        assert_int_equal(entry.events, blocks[i].header.count);
        assert_int_equal(entry.begins, blocks[i].summary.begins);
        assert_int_equal(entry.deepest, blocks[i].summary.deepest);
    }
    while (elements > VTI_INDEX_FANOUT) {
        elements = (elements + VTI_INDEX_FANOUT - 1) / VTI_INDEX_FANOUT;
        span *= VTI_INDEX_FANOUT;
        level++;
        assert_int_equal(index.counts[level], elements);
        for (size_t i = 0; i < elements; i++)
            assert_node(&index, level, i, i * span, i + 1 == elements ? count : (i + 1) * span);
    }
    assert_int_equal(index.level_count, level + 1);
    vti_buf_fini(&out);
}

static void every_level(void **state)
{
    static const size_t counts[] = {1,  2,  15, 16,  17,  31,  32,   33,   79,    80,
                                    81, 96, 97, 255, 256, 257, 4096, 4097, BLOCKS};

    (void)state;
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct vti_index_builder *builder = build(counts[i]);

        check_index(builder, counts[i]);
        check_index(builder, counts[i]); /* finishing changes nothing */
        vti_index_builder_free(builder);
    }
}

static void nothing(void **state)
{
    struct vti_index_builder *builder = build(0);
    struct vti_index_entry entry;
    struct vti_buf out = {0};
    struct vti_index index;

    (void)state;
    assert_int_equal(vti_index_builder_finish(builder, &out), 0);
    open_index(&out, &index);
    assert_int_equal(index.counts[0], 0);
    assert_false(vti_index_builder_from(builder, 0, &entry));
    assert_false(vti_index_builder_before(builder, UINT64_MAX, &entry));
    assert_int_equal(vti_index_builder_cut(builder, 0), 0);
    vti_buf_fini(&out);
    vti_index_builder_free(builder);
}

static void find(void **state)
{
    struct vti_index_builder *builder = build(300);
    struct vti_index_entry entry;

    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        assert_true(vti_index_builder_from(builder, blocks[i].offset, &entry));
        assert_int_equal(entry.offset, blocks[i].offset);
        assert_true(vti_index_builder_before(builder, blocks[i].offset + 1, &entry));
        assert_int_equal(entry.offset, blocks[i].offset);
        assert_int_equal(vti_index_builder_before(builder, blocks[i].offset, &entry), i > 0);
        assert_int_equal(vti_index_builder_from(builder, blocks[i].offset + 1, &entry), i < 299);
    }
    vti_index_builder_free(builder);
}

/* Cuts off what was added last, then writes on: the same as if those blocks had never been there. */
static void cut_and_go_on(void **state)
{
    struct vti_index_builder *builder = build(0);
    size_t count = 0;

    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        uint32_t more = below(60);
        size_t left = count + below(more + 1);
        uint64_t events = 0;

        for (; more; more--, count++)
            add(builder, count);
        for (size_t i = left; i < count; i++)
            events += blocks[i].header.count;
        assert_int_equal(vti_index_builder_cut(builder, blocks[left].offset), events);
        count = left;
        if (round % 10 == 0)
            check_index(builder, count);
    }
    assert_true(count > 1000);
    check_index(builder, count);
    vti_index_builder_free(builder);
}

/* Far back, whole nodes are exact; of the last node the lanes that are not exact are empty. */
static void cut_far_back(void **state)
{
    (void)state;
    for (size_t left = 0; left < 700; left += 1 + below(40)) {
        struct vti_index_builder *builder = build(1500);
        struct vti_buf out = {0};
        struct vti_index index;
        struct vti_index_node node;
        struct vti_lane lane;
        size_t last = left / VTI_INDEX_FANOUT;

        vti_index_builder_cut(builder, blocks[left].offset);
        assert_int_equal(vti_index_builder_finish(builder, &out), 0);
        open_index(&out, &index);
        assert_int_equal(index.counts[0], left);
        for (size_t i = 0; left > VTI_INDEX_FANOUT && i < last; i++)
            assert_node(&index, 1, i, i * VTI_INDEX_FANOUT, (i + 1) * VTI_INDEX_FANOUT);
        if (left > VTI_INDEX_FANOUT && left % VTI_INDEX_FANOUT) {
            uint64_t busy = 0;

            for (size_t i = last * VTI_INDEX_FANOUT; i < left; i++) {
                busy += blocks[i].summary.busy;
                if (i > last * VTI_INDEX_FANOUT && blocks[i].summary.open)
                    busy += blocks[i].header.first - blocks[i - 1].header.last;
            }
            vti_index_node_at(&index, 1, last, &node);
            assert_int_equal(node.busy, busy);
            assert_int_equal(node.last, blocks[left - 1].header.last);
            for (uint32_t k = 0; k < node.lane_count; k++) {
                vti_index_lane_at(&node, k, &lane);
                assert_true(lane.end <= node.last);
            }
        }
        vti_buf_fini(&out);
        /* From the next whole node on all is exact again. */
        for (size_t i = left; i < left + 40; i++)
            add(builder, i);
        assert_int_equal(vti_index_builder_finish(builder, &out), 0);
        open_index(&out, &index);
        if (left % VTI_INDEX_FANOUT)
            last++;
        assert_node(&index, 1, last, last * VTI_INDEX_FANOUT, (last + 1) * VTI_INDEX_FANOUT);
        vti_buf_fini(&out);
        vti_index_builder_free(builder);
    }
}

/* Sites that have no number one above them, and depths without lanes. */
static void odd_lanes(void **state)
{
    struct vti_index_builder *builder = build(0);
    struct vti_summary summary = {.lane_count = 2};
    struct vti_block_header header = {.kind = VTI_EVENTS, .first = 10, .last = 20, .count = 1};
    struct vti_buf out = {0};
    struct vti_index index;
    struct vti_index_node node;
    struct vti_lane lane;

    (void)state;
    summary.lanes[1] = (struct vti_lane){UINT32_MAX - 1, 5, 15};
    for (unsigned i = 0; i < 20; i++) {
        summary.lane_count = i % 2 ? 2 : 0;
        assert_int_equal(vti_index_builder_add(builder, 64 + 64 * i, &header, &summary), 0);
    }
    assert_int_equal(vti_index_builder_finish(builder, &out), 0);
    open_index(&out, &index);
    vti_index_node_at(&index, 1, 1, &node);
    assert_int_equal(node.lane_count, 2);
    vti_index_lane_at(&node, 0, &lane);
    assert_int_equal(lane.site, 0);
    vti_index_lane_at(&node, 1, &lane);
    assert_int_equal(lane.site, UINT32_MAX - 1);
    assert_int_equal(lane.begin, 5);
    assert_int_equal(lane.end, 15);
    vti_index_lane_at(&node, 2, &lane);
    assert_int_equal(lane.site, 0);
    vti_buf_fini(&out);
    vti_index_builder_free(builder);
}

/* Uses all that an index offers, in range and out of it. */
static void visit(const struct vti_index *index)
{
    struct vti_index_entry entry;
    struct vti_index_node node;
    struct vti_lane lane;

    for (uint64_t i = 0; i <= index->counts[0]; i++)
        vti_index_entry_at(index, i, &entry);
    vti_index_entry_at(index, UINT64_MAX, &entry);
    assert_int_equal(entry.offset, 0);
    for (uint32_t level = 0; level <= VTI_INDEX_LEVELS; level++)
        for (uint64_t i = 0; i < 40; i++) {
            vti_index_node_at(index, level, i, &node);
            assert_true(node.lane_count <= VTI_LANES_MAX);
            for (uint32_t k = 0; k <= node.lane_count; k++) {
                vti_index_lane_at(&node, k, &lane);
                assert_true(lane.begin <= lane.end);
            }
        }
}

static void damaged(void **state)
{
    struct vti_index_builder *builder = build(300);
    struct vti_buf out = {0};
    struct vti_block_header header;
    struct vti_index index;
    uint8_t *payload;

    (void)state;
    assert_int_equal(vti_index_builder_finish(builder, &out), 0);
    assert_true(vti_block_header_parse(out.data, out.len, &header));
    payload = malloc(header.payload_bytes);
    assert_non_null(payload);
    memcpy(payload, out.data + VTI_BLOCK_HEADER_BYTES, header.payload_bytes);
    for (unsigned round = 0; round < 3000; round++) {
        size_t at = below(round % 2 ? 64 : header.payload_bytes);
        uint8_t was = payload[at];

        payload[at] = (uint8_t)below(256);
        if (vti_index_open(&index, &header, payload) == 0)
            visit(&index);
        payload[at] = was;
    }
    for (uint32_t bytes = 0; bytes < 300 * 40; bytes += 7) {
        struct vti_block_header shorter = header;
        uint8_t *copy = malloc(bytes + 1);

        assert_non_null(copy);
        memcpy(copy + 1, payload, bytes);
        shorter.payload_bytes = bytes;
        assert_int_equal(vti_index_open(&index, &shorter, copy + 1), VTI_E_DAMAGED);
        free(copy);
    }
    header.count++;
    assert_int_equal(vti_index_open(&index, &header, payload), VTI_E_DAMAGED);
    header.count--;
    header.kind = VTI_EVENTS;
    assert_int_equal(vti_index_open(&index, &header, payload), VTI_E_DAMAGED);
    header.kind = VTI_INDEX;
    vti_put_u32(payload, 2); /* stops below level 2 although level 1 has 19 */
    assert_int_equal(vti_index_open(&index, &header, payload), VTI_E_DAMAGED);
    free(payload);
    vti_buf_fini(&out);
    vti_index_builder_free(builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level),  cmocka_unit_test(nothing),
        cmocka_unit_test(find),         cmocka_unit_test(cut_and_go_on),
        cmocka_unit_test(cut_far_back), cmocka_unit_test(odd_lanes),
        cmocka_unit_test(damaged),
    };

    return cmocka_run_group_tests(tests, make_blocks, NULL);
}
