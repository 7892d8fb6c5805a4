/* test_selves.c - own time of spans of traces that come in piece by piece, in whatever order: the same as of all at once. */
#include "live/cover.h"
#include "live/selves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int64_t told[16];
static unsigned count;

static void tell(void *arg, uint32_t group, int64_t self_ns)
{
    (void)arg;
    told[group] += self_ns;
    count++;
}

static struct vti_trace_ids ids(uint32_t span, uint32_t parent)
{
    struct vti_trace_ids made = {.base = {1}};

    memcpy(made.span + 4, &span, sizeof span);
    if (parent)
        memcpy(made.parent + 4, &parent, sizeof parent);
    else
        memcpy(made.parent, made.base, sizeof made.base);
    return made;
}

static void begin(struct vti_selves *selves, uint32_t span, uint32_t parent, int64_t at)
{
    struct vti_trace_ids made = ids(span, parent);

    vti_selves_begin(selves, &made, at, 0);
}

static void end(struct vti_selves *selves, uint32_t span, uint32_t parent, int64_t from, int64_t at,
                int64_t now)
{
    struct vti_trace_ids made = ids(span, parent);

    vti_selves_end(selves, &made, from, at, span < 16 ? span : 0, now, tell, NULL);
}

static int clear(void **state)
{
    (void)state;
    memset(told, 0, sizeof told);
    count = 0;
    return 0;
}

/* 1 from 0 to 100 has 2 (10 to 30), 3 (20 to 40, beside it), 4 (50 to 150: outlives it); 2 has 5 (12 to 15). */
static void nested(void **state)
{
    struct vti_selves *selves = vti_selves_create();

    (void)state;
    begin(selves, 1, 0, 0);
    begin(selves, 2, 1, 10);
    begin(selves, 5, 2, 12);
    end(selves, 5, 2, 12, 15, 1);
    begin(selves, 3, 1, 20);
    end(selves, 2, 1, 10, 30, 2);
    end(selves, 3, 1, 20, 40, 3);
    begin(selves, 4, 1, 50);
    end(selves, 1, 0, 0, 100, 4);
    assert_int_equal(count, 0);
    vti_selves_settle(selves, 1, tell, NULL);
    assert_int_equal(count, 1);
    vti_selves_settle(selves, INT64_MAX, tell, NULL);
    assert_int_equal(told[1], 100 - 30 - 50);
    assert_int_equal(told[2], 17);
    assert_int_equal(told[3], 20);
    assert_int_equal(told[5], 3);
    assert_int_equal(told[4], 0); /* still open */
    end(selves, 4, 1, 50, 150, 5);
    vti_selves_settle(selves, INT64_MAX, tell, NULL);
    assert_int_equal(told[4], 100);
    vti_selves_free(selves);
}

/* Children are read before their parent, or after its end: threads have blocks of their own. */
static void other_order(void **state)
{
    struct vti_selves *selves = vti_selves_create();

    (void)state;
    begin(selves, 2, 1, 10);
    end(selves, 2, 1, 10, 30, 1);
    begin(selves, 1, 0, 0);
    end(selves, 1, 0, 0, 100, 2);
    begin(selves, 3, 1, 60);
    end(selves, 3, 1, 60, 70, 3);
    vti_selves_settle(selves, INT64_MAX, tell, NULL);
    assert_int_equal(told[1], 70);
    assert_int_equal(told[2] + told[3], 30);
    /* A parent that nobody records; two with one id; an end without a begin. */
    begin(selves, 2, 9, 10);
    begin(selves, 2, 9, 15);
    end(selves, 2, 9, 15, 20, 4);
    end(selves, 2, 9, 10, 30, 4);
    end(selves, 7, 8, 0, 5, 4);
    vti_selves_settle(selves, INT64_MAX, tell, NULL);
    assert_int_equal(told[2], 20 + 5 + 20);
    assert_int_equal(told[7], 5);
    vti_selves_free(selves);
}

/* A million spans that never end, then more that do: bounded, and nobody is told twice or not at all. */
static void too_many(void **state)
{
    struct vti_selves *selves = vti_selves_create();
    const uint32_t many = VTI_SELVES_MOST + 50000;

    (void)state;
    for (uint32_t i = 100; i < 100 + many; i++)
        begin(selves, i, 0, i);
    for (uint32_t i = 100; i < 100 + many; i++)
        end(selves, i, 0, i, (int64_t)i + 10, 1);
    vti_selves_settle(selves, INT64_MAX, tell, NULL);
    assert_int_equal(count, many);
    assert_int_equal(told[0], 10 * (int64_t)many);
    vti_selves_free(selves);
}

static void covers(void **state)
{
    struct vti_cover cover = {0};
    const int64_t many = 5000;
    char taken[2000] = {0};
    int64_t sum = 0;

    (void)state;
    srand(7);
    for (int i = 0; i < 800; i++) {
        int from = rand() % 1900;
        int to = from + rand() % 12;

        vti_cover_add(&cover, from, to);
        memset(taken + from, 1, (size_t)(to - from));
        if (i % 100 == 99) {
            sum = 0;
            for (int at = 500; at < 1500; at++)
                sum += taken[at];
            assert_int_equal(vti_cover_sum(&cover, 500, 1500), sum);
        }
    }
    vti_cover_fini(&cover);
    for (int64_t i = 0; i < many; i++)
        vti_cover_add(&cover, 10 * i, 10 * i + 4);
    vti_cover_add(&cover, 3, 5); /* too late: that stretch is a sum */
    assert_int_equal(vti_cover_sum(&cover, 0, 10 * many), 4 * many);
    assert_true(cover.room <= 1024);
    vti_cover_fini(&cover);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nested, clear),
        cmocka_unit_test_setup(other_order, clear),
        cmocka_unit_test_setup(too_many, clear),
        cmocka_unit_test(covers),
    };

    return cmocka_run_group_tests_name("selves", tests, NULL, NULL);
}
