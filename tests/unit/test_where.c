/* test_where.c - the call and the line that are open in a thread, found in its chunks from outside. */
#include "drain/where.h"
#include "share/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define BLOCKS 1
#define UNITS VTI_CHUNK_UNITS

static struct vti_arena_control *arena;
static struct vti_where where;
static uint32_t node, line;

static int set_up(void **state)
{
    (void)state;
    arena = mmap(NULL, vti_arena_bytes(BLOCKS), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                 -1, 0);
    assert_true(arena != MAP_FAILED);
    vti_arena_layout(arena, BLOCKS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    vti_where_fini(&where);
    munmap(arena, vti_arena_bytes(BLOCKS));
    return 0;
}

static void chunk(uint32_t at, uint32_t type, uint32_t used, uint32_t next)
{
    struct vti_chunk *chunk = vti_arena_chunk(arena, at);

    chunk->type = type;
    chunk->used = used;
    chunk->next = next ? next + 1 : 0;
}

static struct vti_node *node_at(uint32_t unit)
{
    return (struct vti_node *)(void *)(vti_arena_units(arena) + (size_t)unit * VTI_UNIT_BYTES);
}

static void open_call(uint32_t unit, uint32_t parent, uint64_t begin)
{
    *node_at(unit) = (struct vti_node){.parent = parent, .site = unit + 100, .begin = begin};
    node_at(parent)->recent = unit;
}

static void open_line(uint32_t unit, uint32_t number, uint32_t statement, uint64_t begin)
{
    *(struct vti_line *)(void *)node_at(unit) = (struct vti_line){
        .site = 1, .line = number, .statement = statement, .begin = begin, .open = begin != 0};
}

static void find(uint32_t first)
{
    vti_where_find(&where, arena, first, &node, &line);
}

static void nothing(void **state)
{
    (void)state;
    find(0);
    assert_int_equal(node | line, 0);
    chunk(5, VTI_CHUNK_NODES, 2, 0); /* a root, and no call */
    find(6);
    assert_int_equal(node | line, 0);
}

static void calls(void **state)
{
    (void)state;
    chunk(0, VTI_CHUNK_NODES, 2, 3);
    chunk(3, VTI_CHUNK_DURATIONS, 10, 0);
    find(1);
    assert_int_equal(node, 0);
    open_call(2, 1, 10);
    open_call(3, 2, 11);
    chunk(0, VTI_CHUNK_NODES, 4, 3);
    find(1);
    assert_int_equal(node, 3);
    node_at(3)->begin = 0; /* it returned: still its caller's most recent one */
    find(1);
    assert_int_equal(node, 2);
    chunk(3, VTI_CHUNK_DURATIONS, 10, 7); /* a chunk that came later */
    chunk(7, VTI_CHUNK_NODES, 2, 0);
    open_call(7 * UNITS + 1, 2, 12);
    find(1);
    assert_int_equal(node, 7 * UNITS + 1);
}

/* Greenlets: the calls of a stack that does not run have no begin. */
static void other_stacks(void **state)
{
    (void)state;
    chunk(0, VTI_CHUNK_NODES, 5, 0);
    open_call(2, 1, 0);
    open_call(4, 3, 20); /* 3 is the root of another one */
    find(1);
    assert_int_equal(node, 4);
    node_at(2)->begin = 30;
    node_at(4)->begin = 0;
    find(1);
    assert_int_equal(node, 2);
}

static void lines(void **state)
{
    (void)state;
    chunk(0, VTI_CHUNK_LINES, 5, 1);
    chunk(1, VTI_CHUNK_LINES, 2, 0);
    open_line(1, 0, 9, 50); /* the function as a whole */
    open_line(2, 4, 4, 10); /* a caller's */
    open_line(3, 6, 0, 40); /* a statement over several lines */
    open_line(4, 7, 6, 30);
    open_line(UNITS + 1, 8, 8, 0); /* reached once, and left */
    find(1);
    assert_int_equal(node, 0);
    assert_int_equal(line, 4);
    open_line(UNITS + 1, 8, 8, 35);
    find(1);
    assert_int_equal(line, UNITS + 1);
}

/* A program may scribble over its arena: no read outside, no way without an end. */
static void scribbled(void **state)
{
    (void)state;
    chunk(0, VTI_CHUNK_NODES, UINT32_MAX, 0); /* more than fit; and it follows itself */
    open_call(2, 1, 10);
    open_call(3, 2, 11);
    node_at(3)->recent = 2; /* in a circle */
    find(1);
    assert_true(node == 2 || node == 3);
    node_at(3)->recent = UINT32_MAX;
    find(1);
    assert_int_equal(node, 3);
    vti_arena_chunk(arena, 0)->next = UINT32_MAX;
    find(1);
    vti_where_fini(&where);
    find(UINT32_MAX);
    assert_int_equal(node | line, 0);
    vti_arena_chunk(arena, 0)->next = 1; /* to itself, for ever */
    find(1);
    assert_int_equal(node, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_stacks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scribbled, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
