/*
 * test_context_enter.c - bindings lend a thread a context, and everything is as it was afterwards.
 */
#include "venturi/context.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct vt_context current(void)
{
    struct vt_context context;

    assert_int_equal(vt_context_get(&context), 1);
    return context;
}

static int is_innermost(const struct vt_id *span)
{
    struct vt_context context = current();

    return vt_id_equal(&context.span, span);
}

static void assert_no_context(void)
{
    struct vt_context context;

    assert_int_equal(vt_context_get(&context), 0);
}

static void *leave_elsewhere(void *before)
{
    struct vt_context own;

    vt_context_leave(before); /* without a context of its own, … */
    assert_no_context();
    vt_context_begin(NULL);
    own = current();
    vt_context_leave(before); /* … and with one */
    assert_true(is_innermost(&own.span));
    vt_context_end();
    return NULL;
}

/* Between entering and leaving everything may happen; then points that were open before go on, and their parent is found again. */
static void test_entering(void **state)
{
    struct vt_context given = {.flags = 1, .process = VT_PROCESS_HERE, .tracestate = "a=b"};
    struct vt_context outer;
    struct vt_context_before before[2];
    pthread_t thread;

    (void)state;
    vt_id_new(&given.base);
    vt_id_new(&given.span);
    vt_context_enter(&given, &before[0]);
    assert_true(is_innermost(&given.span));
    assert_string_equal(current().tracestate, "a=b");
    assert_true(current().process != VT_PROCESS_HERE);
    pthread_create(&thread, NULL, leave_elsewhere, &before[0]);
    pthread_join(thread, NULL);
    vt_context_leave(&before[0]);
    assert_no_context();

    vt_context_begin(NULL);
    outer = current();
    {
        VT_TRACE("outer");
        struct vt_context inner = current();
        struct vt_context within;

        vt_context_enter(&given, &before[0]);
        vt_trace_start("left open");
        vt_context_enter(&outer, &before[1]);
        vt_context_end();
        vt_context_leave(&before[1]);
        within = current();
        assert_true(vt_id_equal(&within.base, &given.base));
        assert_false(is_innermost(&given.span));
        vt_context_leave(&before[0]);
        assert_true(is_innermost(&inner.span));
        vt_trace_stop(); /* that of the other one */
        assert_true(is_innermost(&inner.span));
    }
    assert_true(is_innermost(&outer.span));
    vt_context_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entering),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
