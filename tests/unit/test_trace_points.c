/* test_trace_points.c - trace points at their limits: within a listener, deeper than there is room, several in a line. Nobody records here. */
#include "venturi/context.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PLACES 512 /* for trace points that are open at once */

static struct {
    unsigned opened, closed, failed;
    struct vt_id last_failed;
} heard;
static jmp_buf back;

static struct vt_id innermost(void)
{
    struct vt_context context;

    assert_int_equal(vt_context_get(&context), 1);
    return context.span;
}

static void count(const struct vt_trace_news *news)
{
    heard.opened += news->duration_ns < 0;
    heard.closed += news->duration_ns >= 0;
    heard.failed += news->error_type != NULL;
    if (news->error_type)
        heard.last_failed = *news->span;
}

static void listen_with(vt_trace_listener *listener)
{
    memset(&heard, 0, sizeof heard);
    vt_trace_listen(listener, NULL);
    vt_context_begin(NULL);
}

static void stop_listening(void)
{
    vt_trace_listen(NULL, NULL);
    vt_context_end();
}

/* ---- in a listener --------------------------------------------------------------------------- */

static void hear(const struct vt_trace_news *news, void *arg)
{
    (void)arg;
    count(news);
}

static void hear_and_trace(const struct vt_trace_news *news, void *arg)
{
    struct vt_id before = innermost();
    struct vt_id inside;

    (void)arg;
    count(news);
    VT_TRACE("in the listener");
    for (int i = 0; i < 2 * PLACES; i++)
        vt_trace_start("begun and never ended");
    vt_trace_error("NotYours", "said in the listener");
    inside = innermost();
    assert_true(vt_id_equal(&inside, &before));
}

static void hear_and_stop(const struct vt_trace_news *news, void *arg)
{
    (void)arg;
    count(news);
    vt_trace_stop();
}

static void hear_and_leave(const struct vt_trace_news *news, void *arg)
{
    (void)arg;
    count(news);
    if (news->duration_ns >= 0 && heard.closed == 1)
        longjmp(back, 1);
}

static void test_points_in_a_listener_are_none(void **state)
{
    struct vt_id before;
    struct vt_id after;

    (void)state;
    listen_with(hear_and_trace);
    before = innermost();
    {
        VT_TRACE("outer");
        VT_TRACE("inner");
    }
    after = innermost();
    assert_true(vt_id_equal(&before, &after));
    stop_listening();
    assert_int_equal(heard.opened, 2);
    assert_int_equal(heard.closed, 2);
    assert_int_equal(heard.failed, 0);
}

static void test_a_listener_ends_nothing(void **state)
{
    struct vt_id outer;
    struct vt_id now;

    (void)state;
    listen_with(hear_and_stop);
    vt_trace_start("outer");
    outer = innermost();
    vt_trace_start("inner");
    vt_trace_stop();
    now = innermost();
    assert_true(vt_id_equal(&now, &outer));
    assert_int_equal(heard.opened, 2);
    assert_int_equal(heard.closed, 1);
    vt_trace_stop();
    assert_int_equal(heard.closed, 2);
    stop_listening();
}

static __attribute__((noinline)) void trace_once(void)
{
    VT_TRACE("closes into a jump");
}

static void test_a_listener_that_is_left_is_told_again(void **state)
{
    (void)state;
    listen_with(hear_and_leave);
    if (!setjmp(back))
        trace_once();
    assert_int_equal(heard.closed, 1);
    trace_once();
    stop_listening();
    assert_int_equal(heard.opened, 2);
    assert_int_equal(heard.closed, 2);
}

/* ---- too deep --------------------------------------------------------------------------------- */

static void nest(unsigned depth)
{
    VT_TRACE("nested");
    if (depth > 1)
        nest(depth - 1);
    else
        vt_trace_error("Deep", "of a point that has no place");
}

/* What is said about those without a place is not said about the last one that has one. */
static void test_deep_failures(void **state)
{
    struct vt_id last = {{0}};

    (void)state;
    listen_with(hear);
    nest(PLACES);
    assert_int_equal(heard.failed, 1);
    nest(PLACES + 1);
    nest(PLACES + 5);
    assert_int_equal(heard.failed, 1);
    assert_int_equal(heard.closed, 3 * PLACES);
    for (unsigned i = 0; i < PLACES; i++)
        vt_trace_start("by hand");
    last = innermost();
    nest(3);
    vt_trace_start("deep");
    vt_trace_error("Deep", NULL);
    vt_trace_stop();
    assert_int_equal(heard.failed, 1);
    vt_trace_error("Last", NULL);
    vt_trace_stop();
    assert_int_equal(heard.failed, 2);
    assert_true(vt_id_equal(&heard.last_failed, &last));
    for (unsigned i = 1; i < PLACES; i++)
        vt_trace_stop();
    assert_int_equal(heard.opened, heard.closed);
    stop_listening();
}

/* ---- in the source ---------------------------------------------------------------------------- */

/* clang-format off */
static void test_two_in_a_line(void **state)
{
    (void)state;
    listen_with(hear);
    {
        VT_TRACE("one"); VT_TRACE("two"); VT_SPAN("three"); VT_SPAN("four");
        assert_int_equal(heard.opened, 2);
    }
    stop_listening();
    assert_int_equal(heard.closed, 2);
}
/* clang-format on */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points_in_a_listener_are_none),
        cmocka_unit_test(test_a_listener_ends_nothing),
        cmocka_unit_test(test_a_listener_that_is_left_is_told_again),
        cmocka_unit_test(test_deep_failures),
        cmocka_unit_test(test_two_in_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
