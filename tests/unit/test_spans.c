/*
 * test_spans.c - the spans of a recording are those that were written: with all that belongs to
 * them, those that reach into a filter, async ones, and those that a slice begins with.
 */
#include "recording_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_span_details(void **state)
{
    struct vti_value number = {.type = VTI_VALUE_UINT, .u = 3};
    struct vti_value text = {.type = VTI_VALUE_TEXT, .text = vti_bytes_of("abc")};
    vt_recording *recording;
    struct kit_list list;

    (void)state;
    kit_clock(&kit, 1);
    kit_process(&kit, &(struct vti_process_fact){.pair_millis = 10000, .inner_millis = 4000});
    kit_track(&kit, 0, 0, "main");
    kit_begin(&kit, 0, 1000, 1);
    kit_add(&kit, 0,
            &(struct vti_event){.ticks = 1001, .kind = VTI_EVENT_ATTR, .site = 8, .value = number});
    kit_add(&kit, 0,
            &(struct vti_event){
                .ticks = 1002, .kind = VTI_EVENT_BEGIN, .site = 2, .flags = VTI_FLAG_IN_GAP});
    kit_add(&kit, 0,
            &(struct vti_event){.ticks = 1003, .kind = VTI_EVENT_ATTR, .site = 9, .value = text});
    kit_add(&kit, 0,
            &(struct vti_event){
                .ticks = 1004, .kind = VTI_EVENT_ERROR, .error_type = vti_bytes_of("Bad")});
    kit_begin(&kit, 0, 1005, 3);
    kit_end(&kit, 0, 1006);
    kit_end(&kit, 0, 1102);
    kit_cut(&kit, 0);
    kit_add(&kit, 0,
            &(struct vti_event){.ticks = 1103, .kind = VTI_EVENT_ATTR, .site = 9, .value = number});
    kit_end(&kit, 0, 1200);
    kit_begin(&kit, 0, 1300, 4);
    kit_begin(&kit, 0, 1310, 5);
    kit_add(&kit, 0, &(struct vti_event){.ticks = 1400, .kind = VTI_EVENT_MARK, .site = 6});
    kit_close(&kit);
    recording = kit_open(&kit);
    list = kit_list_spans(recording, NULL);
    assert_int_equal(list.count, 5);
    /* In the order of their ends: 3, 2, 1, and the open ones 5, 4. */
    assert_int_equal(list.spans[0].site, 3);
    assert_int_equal(list.spans[0].depth, 2);
    assert_int_equal(list.spans[0].parent_site, 2);
    assert_int_equal(list.spans[0].corrected_ns, 0); /* 1 ns, of which an empty one shows 4 */
    assert_false(list.spans[0].has_error);
    assert_int_equal(list.spans[1].site, 2);
    assert_int_equal(list.spans[1].flags, VT_FLAG_IN_GAP);
    assert_true(list.spans[1].has_error);
    assert_memory_equal(list.spans[1].error_type.data, "Bad", 3);
    assert_int_equal(list.spans[1].self_ns, 99);
    assert_int_equal(list.spans[1].corrected_ns, 100 - 4 - 10);
    assert_int_equal(list.spans[1].corrected_self_ns, 99 - 4 - 6);
    assert_int_equal(list.spans[1].attr_count, 1);
    assert_int_equal(list.spans[2].site, 1);
    assert_int_equal(list.spans[2].inside, 2);
    assert_int_equal(list.spans[2].self_ns, 100);
    assert_int_equal(list.spans[2].corrected_ns, 200 - 4 - 2 * 10);
    assert_int_equal(list.spans[2].attr_count, 2);
    assert_int_equal(list.spans[2].attrs[0].key, 8);
    assert_int_equal(list.spans[2].attrs[0].value.u, 3);
    assert_int_equal(list.spans[2].attrs[1].key, 9);
    assert_int_equal(list.spans[2].parent_site, VT_NONE);
    assert_true(list.spans[2].is_finished);
    assert_int_equal(list.spans[3].site, 5);
    assert_false(list.spans[3].is_finished);
    assert_int_equal(list.spans[3].end_ns, 400);
    assert_int_equal(list.spans[4].site, 4);
    assert_int_equal(list.spans[4].begin_ns, 300);
    kit_list_free(&list);
    vt_recording_close(recording);
}

static void test_random_spans(void **state)
{
    struct vt_filter filter = {0, 0, VT_NONE};
    vt_recording *recording;

    (void)state;
    kit_make_random(&kit, true);
    recording = kit_open(&kit);
    kit_check(&kit, recording, NULL);
    for (int i = 0; i < 40; i++) {
        filter.from_ns = (int64_t)kit_number(&kit, kit.ticks);
        filter.to_ns = filter.from_ns + (int64_t)kit_number(&kit, i % 2 ? 200 : kit.ticks);
        filter.track = i % 3 ? VT_NONE : (uint32_t)i % 2;
        kit_check(&kit, recording, &filter);
    }
    vt_recording_close(recording);
}

static void test_callback_stops(void **state)
{
    struct kit_list list = {.stop_after = 3};
    vt_recording *recording;

    (void)state;
    kit_make_random(&kit, true);
    recording = kit_open(&kit);
    assert_int_equal(vt_recording_spans(recording, NULL, kit_collect, &list), 77);
    assert_int_equal(list.count, 3);
    kit_list_free(&list);
    vt_recording_close(recording);
}

/* ---- async spans ----------------------------------------------------------------------------- */

static void add_async(uint32_t track, uint64_t ticks, enum vti_event_kind kind, uint32_t site,
                      uint64_t id, unsigned flags)
{
    kit_add(&kit, track,
            &(struct vti_event){.ticks = ticks,
                                .kind = kind,
                                .site = site,
                                .async_id = id,
                                .flags = (uint8_t)flags,
                                .value = {.type = VTI_VALUE_INT, .i = 1}});
}

static void test_async_spans(void **state)
{
    vt_recording *recording;
    struct kit_list list;

    (void)state;
    kit_clock(&kit, 1);
    for (uint32_t i = 0; i < 2; i++)
        kit_process(&kit, &(struct vti_process_fact){.process = i});
    kit_track(&kit, 0, 0, "a");
    kit_track(&kit, 1, 0, "b");
    kit_track(&kit, 2, 1, "other process");
    kit_begin(&kit, 0, 1000, 1);
    add_async(0, 1010, VTI_EVENT_ASYNC_BEGIN, 5, 77, 0);
    add_async(1, 1020, VTI_EVENT_ASYNC_ATTR, 6, 77, 0);
    add_async(2, 1030, VTI_EVENT_ASYNC_END, 0, 77, 0); /* of another process: not the same */
    add_async(1, 1040, VTI_EVENT_ASYNC_BEGIN, 5, 78, 0);
    add_async(0, 1050, VTI_EVENT_ASYNC_END, 0, 78, VTI_FLAG_FAILED); /* on a track read earlier */
    add_async(1, 1060, VTI_EVENT_ASYNC_BEGIN, 5, 79, 0);             /* never ends */
    add_async(1, 1070, VTI_EVENT_ASYNC_END, 0, 77, 0);
    kit_track_end(&kit, 1, 1070);
    kit_end(&kit, 0, 1080);
    kit_close(&kit);
    recording = kit_open(&kit);
    list = kit_list_spans(recording, NULL);
    assert_int_equal(list.count, 4);
    assert_int_equal(list.spans[0].async_id, 0);
    assert_int_equal(list.spans[1].async_id, 78);
    assert_int_equal(list.spans[1].track, 1);
    assert_int_equal(list.spans[1].end_ns, 50);
    assert_true(list.spans[1].has_error);
    assert_int_equal(list.spans[2].async_id, 77);
    assert_int_equal(list.spans[2].begin_ns, 10);
    assert_int_equal(list.spans[2].end_ns, 70);
    assert_int_equal(list.spans[2].depth, 1);
    assert_int_equal(list.spans[2].parent_site, 1);
    assert_int_equal(list.spans[2].attr_count, 1);
    assert_true(list.spans[2].is_finished);
    assert_int_equal(list.spans[3].async_id, 79);
    assert_false(list.spans[3].is_finished);
    assert_int_equal(list.spans[3].end_ns, 70);
    kit_list_free(&list);
    vt_recording_close(recording);
}

/* Ids, and what was said when the span began: on its track, at its tick. */
static void test_spans_of_a_trace(void **state)
{
    struct vti_event begin = {.ticks = 1010,
                              .kind = VTI_EVENT_ASYNC_BEGIN,
                              .site = 5,
                              .async_id = 77,
                              .has_trace = true,
                              .trace = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}};
    const struct vt_span *span;
    vt_recording *recording;
    struct kit_list list;

    (void)state;
    kit_clock(&kit, 1);
    kit_process(&kit, &(struct vti_process_fact){.process = 0});
    kit_track(&kit, 0, 0, "a");
    kit_track(&kit, 1, 0, "b");
    kit_add(&kit, 0, &begin);
    add_async(0, 1010, VTI_EVENT_ASYNC_ATTR, 6, 77, 0);
    add_async(0, 1011, VTI_EVENT_ASYNC_ATTR, 7, 77, 0);
    add_async(1, 1010, VTI_EVENT_ASYNC_ATTR, 8, 77, 0);
    add_async(1, 1020, VTI_EVENT_ASYNC_ATTR, 9, 77, 0);
    add_async(1, 1020, VTI_EVENT_ASYNC_END, 0, 77, 0);
    add_async(1, 1030, VTI_EVENT_ASYNC_BEGIN, 5, 78, 0);
    add_async(1, 1040, VTI_EVENT_ASYNC_END, 0, 78, 0);
    kit_close(&kit);
    recording = kit_open(&kit);
    list = kit_list_spans(recording, NULL);
    assert_int_equal(list.count, 2);
    span = &list.spans[0];
    assert_true(span->has_trace);
    assert_memory_equal(span->trace_base, begin.trace.base, 16);
    assert_memory_equal(span->trace_span, begin.trace.span, 16);
    assert_memory_equal(span->trace_parent, begin.trace.parent, 16);
    assert_int_equal(span->attr_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(span->attrs[i].is_of_begin, span->attrs[i].key == 6);
    assert_false(list.spans[1].has_trace);
    kit_list_free(&list);
    vt_recording_close(recording);
}

/* Whether the spans that reach into a range are just these async ones. */
static void check_asyncs(vt_recording *recording, int64_t from_ns, int64_t to_ns, uint32_t track,
                         size_t count, const uint64_t *ids)
{
    struct vt_filter filter = {from_ns, to_ns, track};
    struct kit_list list = kit_list_spans(recording, &filter);

    assert_int_equal(list.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(list.spans[i].async_id, ids[i]);
    kit_list_free(&list);
}

/* One is found wherever it began and ended: in blocks far from the range, on another track, or
 * never. */
static void test_async_filters(void **state)
{
    vt_recording *recording;

    (void)state;
    kit_clock(&kit, 1);
    kit_process(&kit, &(struct vti_process_fact){.process = 0});
    for (uint32_t i = 0; i < 3; i++)
        kit_track(&kit, i, 0, "a");
    add_async(0, 1010, VTI_EVENT_ASYNC_BEGIN, 5, 1, 0);
    add_async(1, 1020, VTI_EVENT_ASYNC_BEGIN, 5, 2, 0); /* all that this track has */
    add_async(2, 1030, VTI_EVENT_ASYNC_BEGIN, 5, 3, 0); /* never ends */
    kit_cut_all(&kit);
    for (uint64_t ticks = 1100; ticks < 1900; ticks += 100) {
        kit_begin(&kit, 0, ticks, 1);
        kit_end(&kit, 0, ticks + 10);
        kit_cut(&kit, 0);
    }
    add_async(0, 1910, VTI_EVENT_ASYNC_END, 0, 2, 0);
    add_async(0, 1920, VTI_EVENT_ASYNC_END, 0, 1, 0);
    kit_track_end(&kit, 2, 1930);
    kit_close(&kit);
    recording = kit_open(&kit);
    check_asyncs(recording, 450, 470, VT_NONE, 3, (const uint64_t[]){2, 1, 3});
    check_asyncs(recording, 450, 470, 0, 1, (const uint64_t[]){1});
    check_asyncs(recording, 450, 470, 1, 1, (const uint64_t[]){2});
    check_asyncs(recording, 15, 25, VT_NONE, 2, (const uint64_t[]){2, 1});
    check_asyncs(recording, 910, 915, VT_NONE, 2, (const uint64_t[]){1, 3});
    check_asyncs(recording, 930, 940, VT_NONE, 0, NULL);
    vt_recording_close(recording);
}

/* ---- slices ---------------------------------------------------------------------------------- */

static void add_loss(struct vti_buf *losses, enum vti_loss_reason reason, uint64_t events)
{
    vti_loss_write(losses, &(struct vti_loss_fact){
                               .reason = reason, .events = events, .first = 1000, .last = 2000});
}

/* Spans that were open where a slice begins count everywhere alike; what was cut out is not lost. */
static void test_slice(void **state)
{
    struct vt_recording_info info;
    struct vt_track_info track;
    struct vt_window window;
    struct vti_buf losses = {0};
    vt_recording *recording;
    struct vt_stats stats;
    struct kit_list list;

    (void)state;
    kit_clock(&kit, 1);
    add_loss(&losses, VTI_LOSS_SLICED, 500);
    add_loss(&losses, VTI_LOSS_BUFFERS, 7);
    kit_fact(&kit, VTI_LOSSES, &losses, 2);
    vti_buf_fini(&losses);
    vti_encoder_open(kit_encoder(&kit, 0), 1100, 1);
    vti_encoder_open(kit_encoder(&kit, 0), 1200, 2);
    kit_begin(&kit, 0, 1300, 3);
    for (uint64_t ticks = 1400; ticks <= 1600; ticks += 100)
        kit_end(&kit, 0, ticks);
    kit_close(&kit);
    recording = kit_open(&kit);
    vt_recording_info(recording, &info);
    assert_int_equal(info.span_count, 3);
    assert_int_equal(info.event_count, 4);
    assert_int_equal(info.lost_events, 7);
    assert_true(vt_recording_track(recording, 0, &track));
    assert_int_equal(track.span_count, 3);
    list = kit_list_spans(recording, NULL);
    assert_int_equal(list.count, 3);
    kit_list_free(&list);
    assert_int_equal(vt_stats_query(recording, NULL, &stats), 0);
    assert_int_equal(stats.span_count, 3);
    vt_stats_free(&stats);
    assert_int_equal(vt_window_query(recording, 0, 1000, 100, &window), 0);
    assert_int_equal(window.lost_events, 7);
    vt_window_free(&window);
    vt_recording_close(recording);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, kit_set_up, kit_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_span_details), TEST(test_random_spans),     TEST(test_callback_stops),
        TEST(test_async_spans),  TEST(test_spans_of_a_trace), TEST(test_async_filters),
        TEST(test_slice),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
