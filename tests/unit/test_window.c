/*
 * test_window.c - pictures against all spans one by one, at zooms from everything to nothing: every
 * span of two pixels or more is there and exact, whatever is drawn as one span is one, the busy
 * time adds up.
 */
#include "base/error.h"
#include "model/model.h"
#include "recording_kit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FIRST_TICK 1000

static int64_t ns_of(uint64_t ticks)
{
    return (int64_t)ticks - FIRST_TICK;
}

static const struct vt_rect *find_rect(const struct vt_window *window, const struct kit_span *span)
{
    for (size_t i = 0; i < window->rect_count; i++) {
        const struct vt_rect *rect = &window->rects[i];

        /* An empty span may begin at the same time. */
        if (rect->track == span->track && rect->depth == span->depth && rect->count == 1 &&
            rect->begin_ns == ns_of(span->begin) && rect->end_ns > rect->begin_ns)
            return rect;
    }
    return NULL;
}

/* Every span of two pixels is there. Its end may be the window's if it lies beyond. */
static void check_spans(const struct vt_window *window, uint32_t most_depth)
{
    double pixel = (double)(window->to_ns - window->from_ns) / window->pixels;

    for (size_t i = 0; i < kit.span_count; i++) {
        const struct kit_span *span = &kit.spans[i];
        int64_t begin = ns_of(span->begin);
        int64_t end = ns_of(span->end);
        const struct vt_rect *rect;

        if (end <= window->from_ns || begin >= window->to_ns || (double)(end - begin) < 2 * pixel ||
            span->depth >= most_depth)
            continue;
        rect = find_rect(window, span);
        if (!rect && (double)(window->to_ns - begin) < 2 * pixel)
            continue; /* too little of it is in the window to be seen */
        if (!rect)
            fail_msg("span of track %u depth %u from %lld to %lld is missing in %lld to %lld",
                     span->track, span->depth, (long long)begin, (long long)end,
                     (long long)window->from_ns, (long long)window->to_ns);
        assert_int_equal(rect->site, span->site);
        if (rect->end_ns != end) {
            assert_true(end > window->to_ns);
            assert_int_equal(rect->end_ns, window->to_ns);
        }
    }
}

static int compare_spans(const void *left, const void *right)
{
    const struct kit_span *a = left;
    const struct kit_span *b = right;

    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* A rectangle of one span is a span; the order is as promised; folded ones lie in the window. */
static void check_rects(const struct vt_window *window)
{
    uint64_t folded = 0;

    qsort(kit.spans, kit.span_count, sizeof *kit.spans, compare_spans);
    for (size_t i = 0; i < window->rect_count; i++) {
        const struct vt_rect *rect = &window->rects[i];
        const struct vt_rect *before = i ? rect - 1 : NULL;

        assert_true(rect->count > 0);
        assert_true(rect->begin_ns <= rect->end_ns);
        if (before && before->track == rect->track && before->depth == rect->depth)
            assert_true(before->begin_ns <= rect->begin_ns);
        else if (before)
            assert_true(before->track != rect->track || before->depth < rect->depth);
        if (rect->count > 1) {
            folded += rect->count;
            assert_true(rect->begin_ns >= window->from_ns && rect->end_ns <= window->to_ns);
        } else {
            struct kit_span key = {.track = rect->track,
                                   .depth = rect->depth,
                                   .begin = (uint64_t)(rect->begin_ns + FIRST_TICK)};
            const struct kit_span *span = bsearch(&key, kit.spans, kit.span_count,
                                                  sizeof *kit.spans, compare_spans);

            assert_non_null(span);
        }
    }
    assert_int_equal(window->folded, folded);
}

/* The time that spans without one around them cover in the window. */
static double busy_of(uint32_t track, int64_t from, int64_t to)
{
    double busy = 0;

    for (size_t i = 0; i < kit.span_count; i++) {
        int64_t begin = ns_of(kit.spans[i].begin) > from ? ns_of(kit.spans[i].begin) : from;
        int64_t end = ns_of(kit.spans[i].end) < to ? ns_of(kit.spans[i].end) : to;

        if (kit.spans[i].track == track && kit.spans[i].depth == 0 && end > begin)
            busy += (double)(end - begin);
    }
    return busy;
}

static void check_busy(const struct vt_window *window)
{
    double pixel = (double)(window->to_ns - window->from_ns) / window->pixels;

    for (uint32_t row = 0; row < window->track_count; row++) {
        const float *busy = window->busy + (size_t)row * window->pixels;
        double sum = 0;

        for (uint32_t i = 0; i < window->pixels; i++) {
            assert_true(busy[i] >= 0 && busy[i] <= 1);
            /* Pixels begin on whole nanoseconds. */
            sum += busy[i] * (pixel < 1 ? pixel : floor(pixel * (i + 1)) - floor(pixel * i));
        }
        if (fabs(sum - busy_of(window->tracks[row], window->from_ns, window->to_ns)) >
            (pixel < 1 ? 3 : 1.01 * pixel))
            fail_msg("track %u is busy for %f instead of %f ns, a pixel is %f", window->tracks[row],
                     sum, busy_of(window->tracks[row], window->from_ns, window->to_ns), pixel);
    }
}

static void check_window(vt_recording *recording, int64_t from, int64_t to, uint32_t pixels,
                         uint32_t most_depth)
{
    struct vt_window window;

    if (vt_window_query(recording, from, to, pixels, &window))
        fail_msg("%s", vt_read_error());
    check_rects(&window);
    check_spans(&window, most_depth);
    check_busy(&window);
    vt_window_free(&window);
}

/* From all of it down to a few nanoseconds, at random places; every place twice, the second from
 * the cache. */
static void check_windows(vt_recording *recording, uint32_t most_depth)
{
    int64_t all = ns_of(kit.ticks) + 1;

    check_window(recording, 0, all, 500, most_depth);
    check_window(recording, -all, 2 * all, 200, most_depth);
    for (int64_t length = all; length > 2; length = length * 2 / 5) {
        for (int place = 0; place < 3; place++) {
            int64_t from = (int64_t)kit_number(&kit, (uint64_t)all) - length / 4;
            uint32_t pixels = 1 + (uint32_t)kit_number(&kit, 700);

            check_window(recording, from, from + length, pixels, most_depth);
            check_window(recording, from + length / 10, from + length / 10 + length, pixels,
                         most_depth);
        }
    }
}

static void make(uint32_t tracks, size_t spans, uint32_t depth, uint32_t block_events, uint32_t gap)
{
    kit_clock(&kit, 1);
    kit_random(&kit, tracks, spans, depth, 12, block_events, gap, true);
}

static void test_closed(void **state)
{
    vt_recording *recording;

    (void)state;
    make(3, 6000, 8, 40, 30);
    kit_close(&kit);
    recording = kit_open(&kit);
    check_windows(recording, VTI_LANES_MAX);
    vt_recording_close(recording);
}

static void test_crashed(void **state)
{
    vt_recording *recording;

    (void)state;
    make(2, 6000, 5, 25, 100);
    kit_abandon(&kit);
    recording = kit_open(&kit);
    check_windows(recording, VTI_LANES_MAX);
    vt_recording_close(recording);
}

/* Few blocks: no upper levels. */
static void test_large_blocks(void **state)
{
    vt_recording *recording;

    (void)state;
    make(1, 3000, 16, 1500, 200);
    kit_close(&kit);
    recording = kit_open(&kit);
    check_windows(recording, VTI_LANES_MAX);
    vt_recording_close(recording);
}

/* Deeper than summaries describe: then spans are only drawn where blocks are decoded. */
static void test_deep(void **state)
{
    vt_recording *recording;

    (void)state;
    make(1, 4000, 100, 30, 50);
    kit_close(&kit);
    recording = kit_open(&kit);
    check_windows(recording, VTI_LANES_MAX);
    vt_recording_close(recording);
}

static void check_equal(vt_recording *a, vt_recording *b, int64_t from, int64_t to, uint32_t pixels)
{
    struct vt_window left;
    struct vt_window right;

    assert_int_equal(vt_window_query(a, from, to, pixels, &left), 0);
    assert_int_equal(vt_window_query(b, from, to, pixels, &right), 0);
    assert_int_equal(left.rect_count, right.rect_count);
    if (left.rect_count)
        assert_memory_equal(left.rects, right.rects, left.rect_count * sizeof *left.rects);
    assert_memory_equal(left.busy, right.busy,
                        (size_t)left.track_count * pixels * sizeof *left.busy);
    vt_window_free(&left);
    vt_window_free(&right);
}

/* The index of a closed recording and the one that is built for a crashed one give the same
 * picture, before and after the file has grown. */
static void test_growing(void **state)
{
    vt_recording *follower;
    vt_recording *fresh;
    int64_t half;

    (void)state;
    make(2, 3000, 6, 20, 30);
    kit_cut_all(&kit);
    kit_flush(&kit);
    follower = kit_open(&kit);
    half = ns_of(kit.ticks);
    check_window(follower, 0, half, 300, VTI_LANES_MAX);
    for (uint32_t track = 0; track < 2; track++)
        for (uint64_t i = 0; i < 2000; i++) {
            kit_begin(&kit, track, kit.ticks + 100 * i, 3);
            kit_end(&kit, track, kit.ticks + 100 * i + 90);
            if (i % 15 == 0)
                kit_cut(&kit, track);
        }
    kit_close(&kit);
    assert_true(vt_recording_refresh(follower) > 0);
    fresh = kit_open(&kit);
    check_equal(follower, fresh, 0, half + 200000, 300);
    check_equal(follower, fresh, half / 2, half / 2 + half / 50, 300);
    check_equal(follower, fresh, half, half + 3000, 300);
    vt_recording_close(follower);
    vt_recording_close(fresh);
}

/* A track that waits for a long time: in a span or not, with block borders around it. */
static void test_long_waits(void **state)
{
    vt_recording *recording;
    struct vt_window window;
    double sum = 0;

    (void)state;
    kit_clock(&kit, 1);
    for (uint64_t i = 0; i < 200; i++) {
        uint64_t at = FIRST_TICK + i * 1000000;

        /* Half of the time nothing is open; each part is a block of its own. */
        kit_begin(&kit, 0, at, 1);
        kit_begin(&kit, 0, at + 10, 2);
        kit_cut(&kit, 0);
        kit_end(&kit, 0, at + 500000);
        kit_end(&kit, 0, at + 500010);
        kit_cut(&kit, 0);
    }
    kit_close(&kit);
    recording = kit_open(&kit);
    for (uint32_t pixels = 10; pixels <= 10000; pixels *= 10) {
        assert_int_equal(vt_window_query(recording, 0, 200000000, pixels, &window), 0);
        sum = 0;
        for (uint32_t i = 0; i < pixels; i++)
            sum += window.busy[i];
        if (fabs(sum / pixels - 0.5) > 0.01)
            fail_msg("busy for %f of the time on %u pixels", sum / pixels, pixels);
        vt_window_free(&window);
    }
    vt_recording_close(recording);
}

static void test_what_is_asked_for(void **state)
{
    struct vti_loss_fact loss = {
        .reason = VTI_LOSS_DISK, .events = 5, .first = FIRST_TICK + 100, .last = FIRST_TICK + 200};
    vt_recording *recording;
    struct vt_window window;

    (void)state;
    kit_clock(&kit, 1);
    kit_begin(&kit, 0, FIRST_TICK + 1000, 1);
    kit_end(&kit, 0, FIRST_TICK + 2000);
    kit_begin(&kit, 1, FIRST_TICK + 5000, 1);
    kit_end(&kit, 1, FIRST_TICK + 6000);
    assert_int_equal(vti_writer_loss(kit.writer, &loss), 0);
    kit_close(&kit);
    recording = kit_open(&kit);
    assert_int_equal(vt_window_query(recording, 10, 10, 100, &window), VTI_E_USAGE);
    assert_int_equal(vt_window_query(recording, 10, 0, 100, &window), VTI_E_USAGE);
    assert_int_equal(vt_window_query(recording, 0, 10, 0, &window), VTI_E_USAGE);
    assert_int_equal(vt_window_query(recording, 0, 10, 1u << 30, &window), VTI_E_USAGE);
    assert_int_equal(vt_window_query(recording, INT64_MIN, INT64_MAX, 7, &window), 0);
    assert_int_equal(window.track_count, 2);
    assert_int_equal(window.lost_events, 5);
    vt_window_free(&window);
    /* Tracks that have nothing there have no row. */
    assert_int_equal(vt_window_query(recording, 1500, 4000, 5, &window), 0);
    assert_int_equal(window.track_count, 1);
    assert_int_equal(window.tracks[0], 0);
    assert_int_equal(window.rect_count, 1);
    assert_int_equal(window.rects[0].begin_ns, 1000);
    assert_int_equal(window.rects[0].end_ns, 2000);
    /* It ends where a pixel does, but tiles have columns of their own. */
    assert_true(fabs(window.busy[0] + window.busy[1] - 1) < 0.001 && window.busy[2] == 0);
    assert_int_equal(window.lost_events, 0);
    vt_window_free(&window);
    /* Pixels that are shorter than a nanosecond. */
    assert_int_equal(vt_window_query(recording, 1998, 2002, 400, &window), 0);
    assert_int_equal(window.rect_count, 1);
    assert_true(window.busy[0] > 0.999 && window.busy[199] > 0.999 && window.busy[201] == 0);
    vt_window_free(&window);
    /* Before everything and after it. */
    assert_int_equal(vt_window_query(recording, -500, -400, 10, &window), 0);
    assert_int_equal(window.rect_count + window.track_count, 0);
    vt_window_free(&window);
    assert_int_equal(vt_window_query(recording, 6001, 6100, 10, &window), 0);
    assert_int_equal(window.rect_count + window.track_count, 0);
    vt_window_free(&window);
    vt_recording_close(recording);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, kit_set_up, kit_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_closed),  TEST(test_crashed),    TEST(test_large_blocks),      TEST(test_deep),
        TEST(test_growing), TEST(test_long_waits), TEST(test_what_is_asked_for),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
