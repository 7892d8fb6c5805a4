/*
 * test_context.c - ids, contexts and W3C's texts; nobody records here. What is recorded is tested by real programs
 * (tests/programs/test_traces.py).
 */
#include "venturi/context.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- ids ------------------------------------------------------------------------------------- */

#define THREADS 4
#define CHILDREN 4
#define EACH 20000

static int compare_ids(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct vt_id));
}

static void make_ids(struct vt_id *to)
{
    for (size_t i = 0; i < EACH; i++)
        vt_id_new(&to[i]);
}

static void *make_on_thread(void *to)
{
    make_ids(to);
    return NULL;
}

static void check_unique(struct vt_id *ids, size_t count)
{
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 1; i < count; i++)
        assert_int_not_equal(compare_ids(&ids[i - 1], &ids[i]), 0);
}

/* Emulators may say that they do, and do not; a fork cannot be noticed there. */
static bool wipes_on_fork(void)
{
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int status = -1;
    pid_t child;

    assert_true(page != MAP_FAILED);
    page[0] = 1;
    madvise(page, 4096, MADV_WIPEONFORK);
    child = fork();
    if (child == 0)
        _exit(page[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    munmap(page, 4096);
    return status == 0;
}

/* This thread, children that are forked in the middle of it and have threads, and threads beside it. */
static void test_ids_are_unique(void **state)
{
    size_t count = EACH * (size_t)(THREADS + 2 * CHILDREN + 1);
    struct vt_id *ids = mmap(NULL, count * sizeof *ids, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct vt_id *at = ids;
    pthread_t threads[THREADS];
    int status;

    (void)state;
    if (!wipes_on_fork())
        skip();
    assert_true(ids != MAP_FAILED);
    make_ids(at);
    at += EACH;
    for (unsigned i = 0; i < CHILDREN; i++, at += 2 * EACH) {
        pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0) {
            make_ids(at);
            _exit(pthread_create(&threads[0], NULL, make_on_thread, at + EACH) ||
                  pthread_join(threads[0], NULL));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    for (unsigned i = 0; i < THREADS; i++, at += EACH)
        assert_int_equal(pthread_create(&threads[i], NULL, make_on_thread, at), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    check_unique(ids, count);
    /* The short forms too: of 260,000 random ones of 62 bits two would be equal once in a hundred million runs. */
    for (size_t i = 0; i < count; i++)
        memset(ids[i].bytes, 0, 8);
    check_unique(ids, count);
    munmap(ids, count * sizeof *ids);
}

/* Each bit is set half of the time, and changes half of the time from one id to the next: within six standard deviations. */
static void test_ids_look_random(void **state)
{
    unsigned set[128] = {0};
    unsigned changed[128] = {0};
    struct vt_id before;
    struct vt_id id;

    (void)state;
    vt_id_new(&before);
    for (unsigned i = 0; i < 40000; i++, before = id) {
        vt_id_new(&id);
        assert_int_equal(id.bytes[6] >> 4, 4);
        assert_int_equal(id.bytes[8] >> 6, 2);
        for (unsigned bit = 0; bit < 128; bit++) {
            unsigned now = id.bytes[bit / 8] >> bit % 8 & 1;

            set[bit] += now;
            changed[bit] += now != (before.bytes[bit / 8] >> bit % 8 & 1);
        }
    }
    for (unsigned bit = 0; bit < 128; bit++) {
        if ((bit / 8 == 6 && bit % 8 >= 4) || (bit / 8 == 8 && bit % 8 >= 6))
            continue;
        assert_in_range(set[bit], 20000 - 600, 20000 + 600);
        assert_in_range(changed[bit], 20000 - 600, 20000 + 600);
    }
}

static void test_forms_of_ids(void **state)
{
    static const char plain[] = "f12e75d5-5d59-4cbc-b74d-357f19290dd7";
    char text[VT_ID_TEXT];
    struct vt_id other;
    struct vt_id id;

    (void)state;
    assert_int_equal(vt_id_parse(&id, plain, strlen(plain)), 1);
    vt_id_text(&id, text);
    assert_string_equal(text, plain);
    vt_id_hex(&id, text);
    assert_string_equal(text, "f12e75d55d594cbcb74d357f19290dd7");
    vt_id_short_hex(&id, text);
    assert_string_equal(text, "b74d357f19290dd7");
    assert_true(vt_id_short(&id) == 0xb74d357f19290dd7u);
    vt_id_from_short(&other, 0xb74d357f19290dd7u);
    vt_id_text(&other, text);
    assert_string_equal(text, "00000000-0000-0000-b74d-357f19290dd7");
    assert_false(vt_id_equal(&id, &other));
    assert_true(vt_id_equal(&id, &id));
    vt_id_from_short(&other, 0);
    assert_true(vt_id_is_zero(&other) && !vt_id_is_zero(&id));
    assert_int_equal(vt_id_parse(&id, "request-7", 9), 0);
    assert_int_equal(vt_id_parse(&other, "request-7", 9), 0);
    assert_true(vt_id_equal(&id, &other) && !vt_id_is_zero(&id));
}

/* ---- contexts -------------------------------------------------------------------------------- */

static struct vt_context current(void)
{
    struct vt_context context;

    assert_int_equal(vt_context_get(&context), 1);
    return context;
}

static bool is_innermost(const struct vt_id *span)
{
    struct vt_context context = current();

    return vt_id_equal(&context.span, span);
}

static void assert_no_context(void)
{
    struct vt_context context;

    assert_int_equal(vt_context_get(&context), 0);
}

static void *check_thread(void *arg)
{
    struct vt_context given = *(struct vt_context *)arg;
    struct vt_context found;

    assert_no_context(); /* a thread begins without */
    vt_context_begin(&given);
    found = current();
    assert_true(vt_id_equal(&found.base, &given.base) && vt_id_equal(&found.span, &given.span));
    vt_context_end();
    assert_no_context();
    return NULL;
}

static void test_contexts(void **state)
{
    struct vt_context first;
    struct vt_context second;
    struct vt_context long_state = {.flags = 1};
    pthread_t thread;

    (void)state;
    assert_no_context();
    vt_context_begin(NULL);
    first = current();
    assert_true(vt_id_equal(&first.base, &first.span) && !vt_id_is_zero(&first.base));
    assert_int_equal(first.flags, 1);
    assert_string_equal(first.tracestate, "");
    {
        VT_TRACE("outer");
        second = current();
        assert_true(vt_id_equal(&second.base, &first.base));
        assert_false(vt_id_equal(&second.span, &first.span));
        {
            VT_TRACE("inner");
            struct vt_context third = current();

            assert_false(vt_id_equal(&third.span, &second.span));
            pthread_create(&thread, NULL, check_thread, &third);
            pthread_join(thread, NULL);
        }
        assert_true(is_innermost(&second.span));
        vt_trace_start("by hand");
        assert_false(is_innermost(&second.span));
        vt_trace_stop();
        vt_trace_stop(); /* not that of the scope */
        assert_true(is_innermost(&second.span));
    }
    assert_true(is_innermost(&first.span));
    vt_context_begin(NULL);
    second = current();
    assert_false(vt_id_equal(&second.base, &first.base));
    memset(long_state.tracestate, 'x', sizeof long_state.tracestate); /* without an end */
    vt_context_begin(&long_state);                                    /* and without an id */
    second = current();
    assert_int_equal(strlen(second.tracestate), VT_TRACESTATE_MAX);
    assert_false(vt_id_is_zero(&second.base));
    assert_true(vt_id_equal(&second.base, &second.span));
    vt_context_end();
    vt_context_end();
    assert_no_context();
}

/* A point that closes after the context has changed leaves the new one alone. */
static void test_points_over_a_change(void **state)
{
    struct vt_context second;

    (void)state;
    vt_context_begin(NULL);
    {
        VT_TRACE("of the first");
        vt_context_begin(NULL);
        second = current();
    }
    assert_true(is_innermost(&second.span));
    vt_context_end();
    {
        VT_TRACE("of none");
        assert_no_context();
    }
    vt_trace_stop();
    vt_trace_error("type", NULL);
}

/* ---- who listens ----------------------------------------------------------------------------- */

static struct {
    unsigned count;
    struct vt_id base[8], parent[8], span[8];
    int64_t duration[8];
    char name[8][32], error[8][64], message[8][300];
} heard;

static void hear(const struct vt_trace_news *news, void *arg)
{
    unsigned at = heard.count++ % 8;

    assert_ptr_equal(arg, &heard);
    heard.base[at] = *news->base;
    heard.parent[at] = *news->parent;
    heard.span[at] = *news->span;
    heard.duration[at] = news->duration_ns;
    snprintf(heard.name[at], sizeof heard.name[at], "%s", news->name);
    snprintf(heard.error[at], sizeof heard.error[at], "%s",
             news->error_type ? news->error_type : "-");
    snprintf(heard.message[at], sizeof heard.message[at], "%s",
             news->error_message ? news->error_message : "-");
}

static void test_listener(void **state)
{
    struct vt_context context;
    char name[8] = "made";
    char long_message[600];

    (void)state;
    memset(long_message, 'x', sizeof long_message - 1);
    long_message[sizeof long_message - 1] = 0;
    memcpy(long_message + 253, "\xe2\x82\xac", 3); /* cut in the middle of it */
    vt_trace_listen(hear, &heard);
    {
        VT_TRACE("outside");
    }
    assert_int_equal(heard.count, 0);
    vt_context_begin(NULL);
    context = current();
    {
        VT_TRACE("outer");
        vt_trace_start(name);
        memset(name, 'x', sizeof name - 1);
        vt_trace_error("ValueError", long_message);
        vt_trace_stop();
    }
    vt_trace_listen(NULL, NULL);
    {
        VT_TRACE("unheard");
    }
    vt_context_end();
    assert_int_equal(heard.count, 4);
    assert_string_equal(heard.name[0], "outer");
    assert_string_equal(heard.name[1], "made");
    assert_string_equal(heard.name[2], "made");
    assert_string_equal(heard.name[3], "outer");
    assert_true(heard.duration[0] == -1 && heard.duration[1] == -1);
    assert_true(heard.duration[2] >= 0 && heard.duration[3] >= heard.duration[2]);
    assert_true(vt_id_equal(&heard.parent[0], &context.base));
    assert_true(vt_id_equal(&heard.parent[1], &heard.span[0]));
    assert_true(vt_id_equal(&heard.span[2], &heard.span[1]));
    assert_true(vt_id_equal(&heard.base[2], &context.base));
    assert_string_equal(heard.error[1], "-");
    assert_string_equal(heard.error[2], "ValueError");
    assert_int_equal(strlen(heard.message[2]), 253);
    assert_string_equal(heard.error[3], "-");
}

/* ---- W3C ------------------------------------------------------------------------------------- */

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"

static void test_w3c(void **state)
{
    struct vt_context context;
    struct vt_context again;
    char text[VT_TRACEPARENT];

    (void)state;
    assert_int_equal(vt_context_parse_w3c(&context, "00-" TRACE "-" PARENT "-01", "a=1,b=2"), 1);
    assert_true(vt_id_short(&context.span) == 0xb7ad6b7169203331u);
    assert_int_equal(context.flags, 1);
    assert_int_equal(context.key, VT_KEY_NONE);
    assert_string_equal(context.tracestate, "a=1,b=2");
    vt_context_traceparent(&context, text);
    assert_string_equal(text, "00-" TRACE "-" PARENT "-01");
    /* Of what is ours: the trace, and the end of the span's id. */
    vt_context_begin(NULL);
    context = current();
    vt_context_end();
    vt_context_traceparent(&context, text);
    assert_int_equal(vt_context_parse_w3c(&again, text, NULL), 1);
    assert_true(vt_id_equal(&again.base, &context.base));
    assert_true(
        vt_id_equal(&again.span, &context.base)); /* whoever has no span yet is at the base */
    assert_string_equal(again.tracestate, "");
}

static void test_w3c_that_is_accepted(void **state)
{
    static const char *const good[] = {
        "00-" TRACE "-" PARENT "-00",
        "00-" TRACE "-" PARENT "-ff",
        "01-" TRACE "-" PARENT "-01",
        "cc-" TRACE "-" PARENT "-01-what-the-future-brings",
        "00-" TRACE "-"
        "0000000000000001"
        "-01",
        "00-"
        "00000000000000000000000000000001"
        "-" PARENT "-01",
    };
    struct vt_context context;
    char text[VT_TRACEPARENT];

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(vt_context_parse_w3c(&context, good[i], NULL), 1);
        vt_context_traceparent(&context, text);
        assert_int_equal(strlen(text), 55);
        assert_memory_equal(text, "00-", 3);
        assert_memory_equal(text + 3, good[i] + 3, 50);
    }
}

static void test_w3c_that_is_not(void **state)
{
    static const char *const bad[] = {
        NULL,
        "",
        "00",
        "00-" TRACE,
        "00-" TRACE "-" PARENT,
        "00-" TRACE "-" PARENT "-0",
        "00-" TRACE "-" PARENT "-01-",
        "00-" TRACE "-" PARENT "-011",
        "01-" TRACE "-" PARENT "-01x",
        "ff-" TRACE "-" PARENT "-01",
        "0-" TRACE "-" PARENT "-01",
        " 00-" TRACE "-" PARENT "-01",
        "00_" TRACE "-" PARENT "-01",
        "00-" TRACE "_" PARENT "-01",
        "00-" TRACE "-" PARENT "_01",
        "00-00000000000000000000000000000000-" PARENT "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01",
        "00-" TRACE "-B7AD6B7169203331-01",
        "00-" TRACE "-" PARENT "-0A",
        "0A-" TRACE "-" PARENT "-01",
        "00-0af7651916cd43dd8448eb211c80319g-" PARENT "-01",
        "00-" TRACE "-b7ad6b716920333\xe2-01",
    };
    struct vt_context context;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(vt_context_parse_w3c(&context, bad[i], NULL), 0);
}

static void test_tracestate(void **state)
{
    static const char parent[] = "00-" TRACE "-" PARENT "-01";
    struct vt_context context;
    char state_text[1100];

    (void)state;
    memset(state_text, 'x', sizeof state_text);
    state_text[VT_TRACESTATE_MAX] = 0;
    vt_context_parse_w3c(&context, parent, state_text);
    assert_int_equal(strlen(context.tracestate), VT_TRACESTATE_MAX);
    state_text[VT_TRACESTATE_MAX] = 'x';
    state_text[sizeof state_text - 1] = 0;
    vt_context_parse_w3c(&context, parent, state_text); /* one entry that is too long */
    assert_string_equal(context.tracestate, "");
    state_text[100] = state_text[300] = state_text[600] = ',';
    vt_context_parse_w3c(&context, parent, state_text); /* whole entries only */
    assert_int_equal(strlen(context.tracestate), 300);
    vt_context_parse_w3c(&context, parent, "a=1\r\nEvil: header");
    assert_string_equal(context.tracestate, "");
    vt_context_parse_w3c(&context, parent, "a=\xe2\x82\xac");
    assert_string_equal(context.tracestate, "");
}

static void test_environment(void **state)
{
    struct vt_context context;

    (void)state;
    unsetenv("TRACEPARENT");
    assert_int_equal(vt_context_from_environment(), 0);
    assert_no_context();
    setenv("TRACEPARENT", "00-" TRACE "-" PARENT "-01", 1);
    setenv("TRACESTATE", "vendor=1", 1);
    assert_int_equal(vt_context_from_environment(), 1);
    context = current();
    assert_true(vt_id_short(&context.span) == 0xb7ad6b7169203331u);
    assert_string_equal(context.tracestate, "vendor=1");
    vt_context_end();
    setenv("TRACEPARENT", "nonsense", 1);
    assert_int_equal(vt_context_from_environment(), 0);
    assert_no_context();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_are_unique),
        cmocka_unit_test(test_ids_look_random),
        cmocka_unit_test(test_forms_of_ids),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_points_over_a_change),
        cmocka_unit_test(test_listener),
        cmocka_unit_test(test_w3c),
        cmocka_unit_test(test_w3c_that_is_accepted),
        cmocka_unit_test(test_w3c_that_is_not),
        cmocka_unit_test(test_tracestate),
        cmocka_unit_test(test_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
