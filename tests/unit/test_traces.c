/* test_traces.c - traces out of spans that are entered by hand: trees, own time, critical path, clocks, and links that lie. */
#include "analyze/traces_impl.h"

#include "recording_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BASE 1

static void make_id(uint8_t id[16], uint64_t number)
{
    memset(id, 0, 16);
    for (int i = 0; i < 8; i++)
        id[15 - i] = (uint8_t)(number >> (8 * i));
    id[0] = number ? 0xab : 0;
}

static uint32_t add_process(struct vti_traces *traces, uint32_t number, const char *host)
{
    bool is_new;
    int64_t at = vti_traces_process(traces, 0, number, &is_new);

    assert_true(at >= 0);
    traces->processes[at].host = traces->processes[at].service = host;
    assert_int_equal(vti_traces_clock(traces, (uint32_t)at, host, 0), 0);
    return (uint32_t)at;
}

/* A span of the trace `base`; parent 0 is the base. */
static void add(struct vti_traces *traces, uint64_t base, uint64_t id, uint64_t parent,
                uint32_t process, int64_t begin, int64_t end)
{
    struct vti_trace_span span = {.name = "a",
                                  .thread = "",
                                  .error_type = "",
                                  .error_message = "",
                                  .process = process,
                                  .begin_ns = begin,
                                  .end_ns = end,
                                  .is_finished = end >= 0};
    uint8_t bytes[16];

    make_id(bytes, base);
    make_id(span.id, id);
    make_id(span.parent_id, parent ? parent : base);
    if (end < 0)
        span.end_ns = begin;
    assert_int_equal(vti_traces_span(traces, bytes, &span), 0);
}

static const struct vti_trace_span *find(const struct vti_trace *trace, uint64_t id)
{
    uint8_t bytes[16];

    make_id(bytes, id);
    for (uint32_t i = 0; i < trace->span_count; i++)
        if (!memcmp(trace->spans[i].id, bytes, sizeof bytes))
            return &trace->spans[i];
    return NULL;
}

static void start(struct vti_traces *traces)
{
    assert_int_equal(vti_traces_start(traces), 0);
    add_process(traces, 0, "one");
}

/* Depth first, children by time, own time without the union of what is inside. */
static void test_tree(void **state)
{
    struct vti_traces traces;
    const struct vti_trace *trace;

    (void)state;
    start(&traces);
    add(&traces, BASE, 13, 11, 0, 40, 60); /* overlaps 12, ends beyond its parent's … */
    add(&traces, BASE, 12, 11, 0, 20, 50);
    add(&traces, BASE, 14, 12, 0, 30, 35);
    add(&traces, BASE, 10, 0, 0, 0, 100);
    add(&traces, BASE, 11, 10, 0, 10, 55); /* … end */
    assert_int_equal(vti_traces_build(&traces), 0);
    assert_int_equal(traces.trace_count, 1);
    trace = traces.traces;
    assert_int_equal(trace->span_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        static const uint64_t ids[] = {10, 11, 12, 14, 13};
        static const uint32_t depths[] = {0, 1, 2, 3, 2};
        static const int64_t selfs[] = {55, 10, 25, 5, 20};
        const struct vti_trace_span *span = &trace->spans[i];

        assert_ptr_equal(find(trace, ids[i]), span);
        assert_int_equal(span->depth, depths[i]);
        assert_int_equal(span->self_ns, selfs[i]);
        assert_int_equal(span->is_orphan, 0);
    }
    assert_int_equal(trace->spans[1].first_child, 2);
    assert_int_equal(trace->spans[2].next, 4);
    assert_int_equal(trace->spans[4].parent, 1);
    assert_int_equal(trace->spans[4].next, VTI_NO_SPAN);
    assert_int_equal(trace->begin_ns, 0);
    assert_int_equal(trace->end_ns, 100);
    vti_traces_fini(&traces);
}

/* Two children at the same time: the one that ended last counts, and what ended before that one began. */
static void test_critical_path(void **state)
{
    struct vti_traces traces;
    const struct vti_trace *trace;
    static const struct {
        uint64_t id;
        bool is_critical;
    } expected[] = {{10, true}, {11, true}, {12, false}, {13, true}, {14, true}, {15, false}};

    (void)state;
    start(&traces);
    add(&traces, BASE, 10, 0, 0, 0, 100);
    add(&traces, BASE, 11, 10, 0, 0, 30);
    add(&traces, BASE, 12, 10, 0, 20, 45);
    add(&traces, BASE, 13, 10, 0, 40, 95);
    add(&traces, BASE, 14, 13, 0, 50, 96); /* a little beyond its parent: cut, and still on it */
    add(&traces, BASE, 15, 12, 0, 22, 40);
    assert_int_equal(vti_traces_build(&traces), 0);
    trace = traces.traces;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(find(trace, expected[i].id)->is_critical, expected[i].is_critical);
    vti_traces_fini(&traces);
}

/* Missing parents, the same span twice, spans that are their own ancestors. */
static void test_links_that_lie(void **state)
{
    struct vti_traces traces;
    const struct vti_trace *trace;

    (void)state;
    start(&traces);
    add(&traces, BASE, 10, 99, 0, 0, 100);
    add(&traces, BASE, 11, 10, 0, 10, -1);
    add(&traces, BASE, 11, 10, 0, 10, 20); /* the one that knows its end */
    add(&traces, BASE, 11, 10, 0, 10, 20);
    add(&traces, BASE, 20, 22, 0, 30, 40);
    add(&traces, BASE, 21, 20, 0, 30, 40);
    add(&traces, BASE, 22, 21, 0, 30, 40);
    add(&traces, BASE, 30, 30, 0, 50, 60);
    add(&traces, 2, 10, 0, 0, 5, 6); /* the same id in another trace */
    assert_int_equal(vti_traces_build(&traces), 0);
    assert_int_equal(traces.trace_count, 2);
    assert_int_equal(traces.duplicate_spans, 2);
    trace = &traces.traces[0];
    assert_int_equal(trace->span_count, 6);
    assert_int_equal(trace->unfinished_count, 0);
    assert_int_equal(trace->orphan_count, 3);
    assert_true(find(trace, 10)->is_orphan);
    assert_int_equal(find(trace, 11)->end_ns, 20);
    assert_true(find(trace, 30)->is_orphan);
    assert_int_equal(traces.traces[1].span_count, 1);
    assert_int_equal(traces.traces[1].orphan_count, 0);
    vti_traces_fini(&traces);
}

/* A parent that came in a traceparent has only its last half. */
static void test_short_parents(void **state)
{
    struct vti_traces traces;
    struct vti_trace_span span = {.name = "a",
                                  .thread = "",
                                  .error_type = "",
                                  .error_message = "",
                                  .begin_ns = 1,
                                  .end_ns = 2,
                                  .is_finished = true};
    uint8_t base[16];

    (void)state;
    start(&traces);
    add(&traces, BASE, 10, 0, 0, 0, 100);
    make_id(base, BASE);
    make_id(span.id, 11);
    make_id(span.parent_id, 10);
    memset(span.parent_id, 0, 8);
    assert_int_equal(vti_traces_span(&traces, base, &span), 0);
    assert_int_equal(vti_traces_build(&traces), 0);
    assert_int_equal(traces.traces[0].spans[1].depth, 1);
    assert_int_equal(traces.traces[0].orphan_count, 0);
    vti_traces_fini(&traces);
}

/* Two ids that end alike are two spans; which of them a short one means nobody knows. */
static void test_ids_that_end_alike(void **state)
{
    struct vti_traces traces;
    const struct vti_trace *trace;
    struct vti_trace_owned *owned;

    (void)state;
    start(&traces);
    owned = traces.owned;
    add(&traces, BASE, 10, 0, 0, 0, 100);
    add(&traces, BASE, 10, 10, 0, 10, 20);
    owned->spans[1].id[0] = 0xcd; /* the same end */
    add(&traces, BASE, 11, 10, 0, 12, 13);
    owned->spans[2].parent_id[0] = 0xcd;
    add(&traces, BASE, 12, 10, 0, 14, 15);
    memset(owned->spans[3].parent_id, 0, 8);
    add(&traces, BASE, 13, 0, 0, 16, 17);
    add(&traces, BASE, 13, 0, 0, 16, -1); /* 13 once more, by its end */
    memset(owned->spans[5].id, 0, 8);
    assert_int_equal(vti_traces_build(&traces), 0);
    trace = traces.traces;
    assert_int_equal(trace->span_count, 5);
    assert_int_equal(traces.duplicate_spans, 1);
    assert_int_equal(trace->spans[1].depth, 1);
    assert_int_equal(find(trace, 11)->depth, 2);
    assert_true(find(trace, 12)->is_orphan);
    assert_false(find(trace, 12)->is_own_parent);
    assert_true(find(trace, 13)->is_finished);
    assert_int_equal(trace->orphan_count, 1);
    vti_traces_fini(&traces);
}

/* A clock that is 5 ms late, one beyond that is right beside it, and one that fits. */
static void test_clocks(void **state)
{
    const int64_t ms = 1000000;
    struct vti_traces traces;
    const struct vti_trace *trace;

    (void)state;
    start(&traces);
    add_process(&traces, 1, "late");
    add_process(&traces, 2, "late");
    add_process(&traces, 3, "beyond");
    add_process(&traces, 4, "right");
    add(&traces, BASE, 10, 0, 0, 100 * ms, 200 * ms);
    add(&traces, BASE, 11, 10, 1, 95 * ms, 115 * ms);
    add(&traces, BASE, 12, 10, 2, 130 * ms, 140 * ms);
    add(&traces, BASE, 13, 11, 3, 98 * ms, 99 * ms);
    add(&traces, BASE, 14, 10, 4, 150 * ms, 200 * ms + 1000);
    assert_int_equal(vti_traces_build(&traces), 0);
    trace = traces.traces;
    assert_int_equal(traces.processes[0].skew_ns, 0);
    assert_int_equal(traces.processes[1].skew_ns, 5 * ms);
    assert_int_equal(traces.processes[2].skew_ns, 5 * ms);
    assert_int_equal(traces.processes[3].skew_ns, 5 * ms);
    assert_int_equal(traces.processes[4].skew_ns, 0);
    assert_int_equal(find(trace, 11)->begin_ns, 100 * ms);
    assert_int_equal(find(trace, 12)->begin_ns, 135 * ms);
    assert_int_equal(trace->host_count, 4);
    vti_traces_fini(&traces);
}

/* A child that goes on after its parent is no matter of clocks; one that begins before it is. */
static void test_clocks_of_work_that_goes_on(void **state)
{
    const int64_t ms = 1000000;
    struct vti_traces traces;

    (void)state;
    start(&traces);
    add_process(&traces, 1, "other");
    add_process(&traces, 2, "third");
    add(&traces, BASE, 10, 0, 0, 100 * ms, 110 * ms);
    add(&traces, BASE, 11, 10, 1, 105 * ms, 500 * ms);
    add(&traces, BASE, 12, 10, 2, 93 * ms, 500 * ms);
    add_process(&traces, 3, "fourth");
    add(&traces, BASE, 13, 10, 3, 900 * ms, 905 * ms); /* long after it */
    assert_int_equal(add_process(&traces, 4, "unsure"), 4);
    assert_int_equal(vti_traces_clock(&traces, 4, "unsure", 10 * ms), 0);
    add(&traces, BASE, 14, 10, 4, 93 * ms, 95 * ms); /* less than its clock may be wrong */
    assert_int_equal(vti_traces_build(&traces), 0);
    assert_int_equal(traces.processes[1].skew_ns, 0);
    assert_int_equal(traces.processes[2].skew_ns, 7 * ms);
    assert_int_equal(traces.processes[3].skew_ns, 0);
    assert_int_equal(traces.processes[4].skew_ns, 0);
    vti_traces_fini(&traces);
}

/* Depth and number are the file's to choose: a chain as long as there are spans, entered backwards. */
static void test_long_chain(void **state)
{
    enum { COUNT = 200000 };
    struct vti_traces traces;

    (void)state;
    start(&traces);
    for (uint32_t i = COUNT; i > 0; i--)
        add(&traces, BASE, 100 + i, i == 1 ? 0 : 99 + i, 0, i, 2 * COUNT + 1 - i);
    assert_int_equal(vti_traces_build(&traces), 0);
    assert_int_equal(traces.traces[0].spans[COUNT - 1].depth, COUNT - 1);
    assert_true(traces.traces[0].spans[COUNT - 1].is_critical);
    assert_int_equal(traces.traces[0].spans[0].self_ns, 2);
    vti_traces_fini(&traces);
}

/* From a recording: ids, attributes of begin and end, failures, the service that a process says it is. */
static void test_recording(void **state)
{
    static const struct vti_event events[] = {
        {.ticks = 2000,
         .kind = VTI_EVENT_ASYNC_BEGIN,
         .site = 1,
         .async_id = 7,
         .has_trace = true,
         .trace = {.base = {1}, .span = {2, [15] = 2}, .parent = {1}}},
        {.ticks = 2000,
         .kind = VTI_EVENT_ASYNC_ATTR,
         .site = 3,
         .async_id = 7,
         .value = {.type = VTI_VALUE_TEXT, .text = {"engine", 6}}},
        {.ticks = 2100,
         .kind = VTI_EVENT_ASYNC_BEGIN,
         .site = 2,
         .async_id = 8,
         .has_trace = true,
         .trace = {.base = {1}, .span = {3, [15] = 3}, .parent = {2, [15] = 2}}},
        {.ticks = 2400,
         .kind = VTI_EVENT_ASYNC_ATTR,
         .site = 4,
         .async_id = 8,
         .value = {.type = VTI_VALUE_TEXT, .text = {"KeyError", 8}}},
        {.ticks = 2400, .kind = VTI_EVENT_ASYNC_END, .async_id = 8, .flags = VTI_FLAG_FAILED},
        {.ticks = 2450, .kind = VTI_EVENT_ASYNC_BEGIN, .site = 2, .async_id = 9},
        {.ticks = 2500, .kind = VTI_EVENT_ASYNC_END, .async_id = 7},
    };
    static const uint8_t other[16] = {9};
    struct vti_traces traces;
    vt_recording *recording;

    (void)state;
    kit_clock(&kit, 1);
    kit_process(&kit, &(struct vti_process_fact){.pid = 12, .name = {"program", 7}});
    kit_track(&kit, 0, 0, "main");
    kit_site(&kit, 1, "outer");
    kit_site(&kit, 2, "inner");
    kit_site(&kit, 3, "service");
    kit_site(&kit, 4, "etype");
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        kit_add(&kit, 0, &events[i]);
    kit_close(&kit);
    recording = kit_open(&kit);
    assert_int_equal(vti_traces_load(&traces, &recording, 1, other), 0);
    assert_int_equal(traces.trace_count, 0);
    vti_traces_fini(&traces);
    assert_int_equal(vti_traces_load(&traces, &recording, 1, NULL), 0);
    vt_recording_close(recording); /* nothing points into it */
    assert_int_equal(traces.trace_count, 1);
    assert_int_equal(traces.untraced_spans, 1);
    assert_int_equal(traces.traces[0].span_count, 2);
    assert_string_equal(traces.processes[0].service, "engine");
    assert_int_equal(traces.processes[0].pid, 12);
    assert_string_equal(traces.traces[0].spans[0].name, "outer");
    assert_string_equal(traces.traces[0].spans[0].thread, "main");
    assert_true(traces.traces[0].spans[0].attrs[0].is_of_begin);
    assert_int_equal(traces.traces[0].spans[0].self_ns, 200);
    assert_string_equal(traces.traces[0].spans[1].error_type, "KeyError");
    assert_true(traces.traces[0].spans[1].has_error);
    assert_false(traces.traces[0].spans[1].attrs[0].is_of_begin);
    vti_traces_fini(&traces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_critical_path),
        cmocka_unit_test(test_links_that_lie),
        cmocka_unit_test(test_short_parents),
        cmocka_unit_test(test_ids_that_end_alike),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_clocks_of_work_that_goes_on),
        cmocka_unit_test(test_long_chain),
        cmocka_unit_test_setup_teardown(test_recording, kit_set_up, kit_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
