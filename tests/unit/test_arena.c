/* test_arena.c - shared memory: free lists under contention, payload records, tallies. */
#include "share/arena.h"
#include "share/record.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BLOCKS 16
#define THREADS 4
#define ROUNDS 20000

static struct vti_arena_control *new_arena(void)
{
    struct vti_arena_control *arena = aligned_alloc(VTI_PAGE, vti_arena_bytes(BLOCKS));

    assert_non_null(arena);
    memset(arena, 0, vti_arena_bytes(BLOCKS));
    vti_arena_layout(arena, BLOCKS);
    return arena;
}

static void test_every_block_once(void **state)
{
    struct vti_arena_control *arena = new_arena();
    bool seen[BLOCKS] = {false};

    (void)state;
    for (int i = 0; i < BLOCKS; i++) {
        uint32_t at = vti_blocks_pop(arena);

        assert_true(at < BLOCKS);
        assert_false(seen[at]);
        seen[at] = true;
    }
    assert_int_equal(vti_blocks_pop(arena), UINT32_MAX);
    vti_blocks_push(arena, 3);
    vti_blocks_push(arena, 9);
    assert_int_equal(vti_blocks_pop(arena), 9); /* the one used last is still in the cache */
    assert_int_equal(vti_blocks_pop(arena), 3);
    assert_int_equal(vti_blocks_pop(arena), UINT32_MAX);
    free(arena);
}

static void test_indices_are_checked(void **state)
{
    struct vti_arena_control *arena = new_arena();

    (void)state;
    assert_null(vti_arena_block(arena, BLOCKS));
    assert_null(vti_arena_slot(arena, VTI_SLOT_COUNT));
    vti_blocks_push(arena, BLOCKS + 5); /* ignored */
    assert_int_equal(vti_blocks_pop(arena), 0);
    vti_arena_producer(arena)->blocks.head = 1000; /* a program that scribbled over its arena */
    assert_int_equal(vti_blocks_pop(arena), 1);
    free(arena);
}

struct worker {
    struct vti_arena_control *arena;
    uint32_t *owner;
    bool clash;
};

static void *pop_and_push(void *arg)
{
    struct worker *worker = arg;

    for (int i = 0; i < ROUNDS; i++) {
        uint32_t at = vti_blocks_pop(worker->arena);

        if (at == UINT32_MAX)
            continue;
        if (__atomic_exchange_n(&worker->owner[at], 1, __ATOMIC_ACQ_REL))
            worker->clash = true;
        if (!__atomic_exchange_n(&worker->owner[at], 0, __ATOMIC_ACQ_REL))
            worker->clash = true;
        vti_blocks_push(worker->arena, at);
    }
    return NULL;
}

static void test_threads_share_the_list(void **state)
{
    struct vti_arena_control *arena = new_arena();
    uint32_t owner[BLOCKS] = {0};
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    uint32_t left = 0;

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){arena, owner, false};
        assert_int_equal(pthread_create(&threads[i], NULL, pop_and_push, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(workers[i].clash);
    }
    while (vti_blocks_pop(arena) != UINT32_MAX)
        left++;
    assert_int_equal(left, BLOCKS);
    free(arena);
}

static void test_payload(void **state)
{
    uint8_t data[VTI_TEXT_MAX];
    uint8_t back[VTI_PAYLOADS_MAX * VTI_PAYLOAD_DATA];
    struct vti_record records[VTI_PAYLOADS_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 37);
    for (size_t len = 0; len <= sizeof data; len += len < 40 ? 1 : 97) {
        unsigned count = vti_payload_count(len);

        memset(records, 0xee, sizeof records);
        vti_payload_put(records, data, len);
        for (unsigned i = 0; i < count; i++)
            assert_true(records[i].ticks & VTI_PAYLOAD_BIT);
        assert_int_equal(vti_payload_get(records, count, back), len);
        assert_memory_equal(back, data, len);
    }
    memset(records, 0, sizeof records);
    assert_int_equal(vti_payload_get(records, 1, back), -1);
}

static void add(struct vti_tally *tally, uint64_t ticks, uint32_t kind)
{
    vti_tally_add(tally, &(struct vti_record){ticks, 1, VTI_TAG(kind, 0, 0, 0)});
}

static void test_tally(void **state)
{
    struct vti_tally tally = {0, 0, 0, 2, 2};

    (void)state;
    add(&tally, 0, VTI_RECORD_BEGIN);                   /* not there yet */
    add(&tally, VTI_PAYLOAD_BIT | 5, VTI_RECORD_BEGIN); /* data of another */
    add(&tally, 10, VTI_RECORD_BEGIN);
    add(&tally, 20, VTI_RECORD_LAP);
    add(&tally, 30, VTI_RECORD_END);
    assert_int_equal(tally.min_depth, 2);
    add(&tally, 40, VTI_RECORD_END);
    add(&tally, 50, VTI_RECORD_BEGIN);
    add(&tally, 60, VTI_RECORD_MARK);
    assert_int_equal(tally.events, 7);
    assert_int_equal(tally.first, 10);
    assert_int_equal(tally.last, 60);
    assert_int_equal(tally.min_depth, 1);
    assert_int_equal(tally.depth, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_block_once),
        cmocka_unit_test(test_indices_are_checked),
        cmocka_unit_test(test_threads_share_the_list),
        cmocka_unit_test(test_payload),
        cmocka_unit_test(test_tally),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
