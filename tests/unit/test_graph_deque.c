/* test_graph_deque.c - the deque of work stealing: every task comes out once, whoever takes it. */
#include "graph/deque.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <venturi/graph.h>

#include <cmocka.h>

#define COUNT 200000u
#define THIEVES 3

static struct vti_deque deque;
static uint8_t taken[COUNT];
static uint32_t is_over;

static void take(uint32_t task)
{
    __atomic_add_fetch(&taken[task], 1, __ATOMIC_RELAXED);
}

static void *steal_all(void *argument)
{
    (void)argument;
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        uint32_t task = vti_deque_steal(&deque);

        if (task != VT_NO_TASK)
            take(task);
    }
    return NULL;
}

static void last_in_first_out(void **state)
{
    uint32_t tasks[1000], i;

    (void)state;
    assert_int_equal(vti_deque_open(&deque), 0);
    for (i = 0; i < 1000; i++)
        tasks[i] = i;
    assert_int_equal(vti_deque_put(&deque, tasks, 1000), 0); /* grows */
    assert_int_equal(vti_deque_take(&deque), 999);
    assert_int_equal(vti_deque_steal(&deque), 0);
    assert_int_equal(vti_deque_take(&deque), 998);
    for (i = 1; i < 998; i++)
        assert_int_equal(vti_deque_steal(&deque), i);
    assert_int_equal(vti_deque_take(&deque), VT_NO_TASK);
    assert_int_equal(vti_deque_steal(&deque), VT_NO_TASK);
    vti_deque_close(&deque);
}

static void each_comes_out_once(void **state)
{
    pthread_t thieves[THIEVES];
    uint32_t next = 0, i;
    unsigned seed = 7;

    (void)state;
    assert_int_equal(vti_deque_open(&deque), 0);
    for (i = 0; i < THIEVES; i++)
        pthread_create(&thieves[i], NULL, steal_all, NULL);
    while (next < COUNT) {
        uint32_t some[600], count = (uint32_t)rand_r(&seed) % 3 == 0 ? 600 : 3, task;

        for (i = 0; i < count && next < COUNT; i++)
            some[i] = next++;
        assert_int_equal(vti_deque_put(&deque, some, i), 0);
        for (i = (uint32_t)rand_r(&seed) % 8; i > 0; i--)
            if ((task = vti_deque_take(&deque)) != VT_NO_TASK)
                take(task);
    }
    for (;;) {
        uint32_t task = vti_deque_take(&deque);

        if (task == VT_NO_TASK)
            break;
        take(task);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    for (i = 0; i < THIEVES; i++)
        pthread_join(thieves[i], NULL);
    for (i = 0; i < COUNT; i++)
        assert_int_equal(taken[i], 1);
    vti_deque_close(&deque);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_in_first_out),
        cmocka_unit_test(each_comes_out_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
