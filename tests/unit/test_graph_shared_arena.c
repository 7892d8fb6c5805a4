/* test_graph_shared_arena.c - blocks in shared segments: they do not overlap, what is given back can be had again, owners stay apart. */
#include "graph/shared_arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEGMENT 4096u
#define COUNT 64u
#define FIRST 4096u

static _Atomic uint32_t owners[COUNT];
static uint8_t memory[FIRST + SEGMENT * COUNT] __attribute__((aligned(64)));

static const struct vti_segments segments = {memory, owners, FIRST, SEGMENT, COUNT};

static int start(void **state)
{
    (void)state;
    memset((void *)owners, 0, sizeof owners);
    return 0;
}

struct block {
    uint64_t offset;
    size_t size;
    uint8_t mark;
};

static int is_marked(const struct block *block)
{
    for (size_t i = 0; i < block->size; i++)
        if (memory[block->offset + i] != block->mark)
            return 0;
    return 1;
}

/* Two owners take and give at random; every block keeps what was written into it. */
static void test_random(void **state)
{
    struct vti_space spaces[2];
    struct block blocks[2][60] = {{{0}}};
    unsigned seed = 1, taken = 0;

    (void)state;
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(vti_space_init(&spaces[i], &segments, i + 1), 0);
    for (int step = 0; step < 100000; step++) {
        unsigned who = (seed = seed * 1103515245 + 12345) >> 16 & 1;
        struct block *block = &blocks[who][(seed >> 17) % 60];

        if (block->offset) {
            assert_true(is_marked(block));
            vti_space_give(&spaces[who], block->offset);
            block->offset = 0;
            continue;
        }
        seed = seed * 1103515245 + 12345;
        block->size = (seed >> 16) % (seed & 0x1000000 ? 20000 : 300);
        block->mark = (uint8_t)step;
        block->offset = vti_space_take(&spaces[who], block->size);
        if (block->offset) {
            taken++;
            assert_int_equal(block->offset % 32, 0);
            assert_true(block->offset >= FIRST && block->offset + block->size <= sizeof memory);
            memset(memory + block->offset, block->mark, block->size);
        }
    }
    assert_true(taken > 10000);
    for (unsigned who = 0; who < 2; who++) {
        for (unsigned i = 0; i < 60; i++)
            if (blocks[who][i].offset)
                vti_space_give(&spaces[who], blocks[who][i].offset);
        vti_space_fini(&spaces[who]);
    }
    /* One segment of each class may stay for the next. */
    assert_true(vti_segments_left(&segments) >= (uint64_t)(COUNT - 2 * 8) * SEGMENT);
}

static void test_full(void **state)
{
    struct vti_space space;
    uint64_t whole;

    (void)state;
    assert_int_equal(vti_space_init(&space, &segments, 1), 0);
    assert_int_equal(vti_space_take(&space, (size_t)SEGMENT * COUNT + 1), 0);
    assert_int_equal(vti_space_take(&space, SIZE_MAX), 0);
    whole = vti_space_take(&space, (size_t)SEGMENT * COUNT);
    assert_int_equal(whole, FIRST);
    assert_int_equal(vti_space_take(&space, 0), 0);
    assert_int_equal(vti_segments_left(&segments), 0);
    vti_space_give(&space, whole);
    assert_int_equal(vti_segments_left(&segments), SEGMENT * COUNT);
    assert_int_not_equal(vti_space_take(&space, 0), 0);
    vti_space_fini(&space);
}

static void test_given(void **state)
{
    struct vti_space space;
    _Atomic uint64_t head = 0;
    uint64_t offsets[300];

    (void)state;
    assert_int_equal(vti_space_init(&space, &segments, 1), 0);
    for (int i = 0; i < 300; i++) {
        offsets[i] = vti_space_take(&space, 500);
        assert_int_not_equal(offsets[i], 0);
    }
    for (int i = 0; i < 300; i++)
        vti_given_push(&head, memory, offsets[i]);
    assert_true(vti_segments_left(&segments) < SEGMENT * COUNT / 2);
    vti_given_take(&head, &space);
    assert_int_equal(head, 0);
    assert_int_equal(vti_segments_left(&segments), SEGMENT * (COUNT - 1));
    vti_space_fini(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_random, start),
        cmocka_unit_test_setup(test_full, start),
        cmocka_unit_test_setup(test_given, start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
