/*
 * test_clock.c - ticks become nanoseconds: between anchors, beyond them, on several hosts with
 * clock links.
 */
#include "base/error.h"
#include "recording_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define REAL 1700000000000000000u

static void write_clock(uint32_t domain, uint32_t host, uint32_t type,
                        const struct vti_anchor *anchors, uint32_t count)
{
    struct vti_clock_fact fact = {
        .domain = domain, .host = host, .type = type, .anchor_count = count, .anchors = anchors};
    struct vti_buf payload = {0};

    vti_clock_write(&payload, &fact);
    kit_fact(&kit, VTI_CLOCK, &payload, 1);
    vti_buf_fini(&payload);
}

static void write_link(uint32_t a, uint32_t b, int64_t offset, uint64_t error)
{
    struct vti_clock_link_fact fact = {a, b, offset, error};
    struct vti_buf payload = {0};

    vti_clock_link_write(&payload, &fact);
    kit_fact(&kit, VTI_CLOCK_LINK, &payload, 1);
    vti_buf_fini(&payload);
}

static void write_host(uint32_t host)
{
    struct vti_host_fact fact = {.host = host, .name = vti_bytes_of("host")};
    struct vti_buf payload = {0};

    vti_host_write(&payload, &fact);
    kit_fact(&kit, VTI_HOST, &payload, 1);
    vti_buf_fini(&payload);
}

/* A mark on the track, and when the reader says it was. */
static void mark(uint32_t track, uint64_t ticks)
{
    kit_add(&kit, track, &(struct vti_event){.ticks = ticks, .kind = VTI_EVENT_MARK, .site = 1});
}

static void assert_times(uint32_t track, const int64_t *expected, size_t count)
{
    struct vt_filter filter = {INT64_MIN, INT64_MAX, track};
    vt_recording *recording = kit_open(&kit);
    struct vt_event event;
    vt_cursor *cursor;

    assert_int_equal(vt_cursor_open(&cursor, recording, &filter), 0);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(vt_cursor_next(cursor, &event), 1);
        assert_int_equal(event.time_ns, expected[i]);
    }
    assert_int_equal(vt_cursor_next(cursor, &event), 0);
    vt_cursor_close(cursor);
    vt_recording_close(recording);
}

static void test_pieces(void **state)
{
    static const int64_t expected[] = {-500, 0, 500, 1000, 1200, 1400, 1500, 3000};
    struct vti_anchor anchors[] = {{1000, 5000, REAL, 1},
                                   {2000, 6000, REAL + 1000, 1},  /* a tick is 1 ns … */
                                   {4000, 6400, REAL + 1400, 1}}; /* … then a fifth of one */
    struct vt_recording_info info;
    vt_recording *recording;

    (void)state;
    write_clock(0, 0, VTI_CLOCK_ARM, anchors, 2);
    write_clock(0, 0, VTI_CLOCK_ARM, anchors + 2, 1); /* anchors add up over blocks */
    mark(0, 500);
    mark(0, 1000);
    mark(0, 1500);
    mark(0, 2000);
    mark(0, 3000);
    mark(0, 4000);
    mark(0, 4500);
    mark(0, 12000);
    kit_close(&kit);
    assert_times(0, expected, sizeof expected / sizeof *expected);
    recording = kit_open(&kit);
    vt_recording_info(recording, &info);
    assert_string_equal(info.clock, "arm");
    assert_int_equal(info.start_realtime_ns, REAL);
    assert_true(info.ticks_per_ns > 2.142 && info.ticks_per_ns < 2.143); /* 3000 in 1400 */
    vt_recording_close(recording);
}

static void test_one_anchor(void **state)
{
    static const int64_t expected[] = {-100, 0, 900};
    struct vti_anchor anchor = {1000, 5000, REAL, 1};

    (void)state;
    write_clock(0, 0, VTI_CLOCK_MONOTONIC_NS, &anchor, 1);
    mark(0, 900);
    mark(0, 1000);
    mark(0, 1900);
    kit_close(&kit);
    assert_times(0, expected, 3);
}

/* Anchors in a wrong order, twice, or that go back do not make time go back. */
static void test_bad_anchors(void **state)
{
    struct vti_anchor anchors[] = {{5000, 9000, REAL + 4000, 1},
                                   {1000, 5000, REAL, 1},
                                   {5000, 1, REAL, 1},
                                   {6000, 8000, REAL, 1},
                                   {7000, 11000, REAL + 6000, 1}};
    struct vt_event event;
    vt_recording *recording;
    vt_cursor *cursor;
    int64_t last = INT64_MIN;
    int count = 0;

    (void)state;
    write_clock(0, 0, VTI_CLOCK_TSC, anchors, 5);
    for (uint64_t ticks = 0; ticks < 20000; ticks += 250)
        mark(0, ticks);
    mark(0, UINT64_MAX / 2);
    mark(0, UINT64_MAX - 1);
    kit_close(&kit);
    recording = kit_open(&kit);
    assert_int_equal(vt_cursor_open(&cursor, recording, NULL), 0);
    while (vt_cursor_next(cursor, &event) > 0) {
        assert_true(event.time_ns >= last);
        last = event.time_ns;
        count++;
    }
    assert_int_equal(count, 82);
    vt_cursor_close(cursor);
    vt_recording_close(recording);
}

/* Two hosts: by their wall clocks alone, and with a link that says how wrong one of them is. */
static void two_hosts(bool has_link)
{
    struct vti_anchor first = {1000, 50, REAL, 1};
    struct vti_anchor second[] = {{900000, 77777, REAL + 5000, 1}, {902000, 78777, REAL + 6000, 1}};

    write_host(4);
    write_host(5);
    write_clock(1, 4, VTI_CLOCK_MONOTONIC_NS, &first, 1);
    write_clock(2, 5, VTI_CLOCK_TSC, second, 2);
    if (has_link)
        write_link(1, 2, -3000, 70);
    kit_process(&kit, &(struct vti_process_fact){.process = 1, .host = 4, .domain = 1});
    kit_process(&kit, &(struct vti_process_fact){.process = 2, .host = 5, .domain = 2});
    kit_track(&kit, 0, 1, "here");
    kit_track(&kit, 1, 2, "there");
    mark(0, 1010);
    mark(1, 900000);
    mark(1, 900200);
    kit_close(&kit);
}

static void test_two_domains_by_wall_clock(void **state)
{
    static const int64_t here[] = {10};
    static const int64_t there[] = {5000, 5100};

    (void)state;
    two_hosts(false);
    assert_times(0, here, 1);
    assert_times(1, there, 2);
}

static void test_two_domains_with_link(void **state)
{
    static const int64_t here[] = {10};
    static const int64_t there[] = {2000, 2100};
    struct vt_host_info host;
    vt_recording *recording;

    (void)state;
    two_hosts(true);
    assert_times(0, here, 1);
    assert_times(1, there, 2);
    recording = kit_open(&kit);
    assert_true(vt_recording_host(recording, 0, &host));
    assert_int_equal(host.offset_ns, 0);
    assert_int_equal(host.error_ns, 0);
    assert_true(vt_recording_host(recording, 1, &host));
    assert_int_equal(host.offset_ns, -3000);
    assert_int_equal(host.error_ns, 70);
    vt_recording_close(recording);
}

/* Of several ways the one with the smallest error counts, over as many links as it takes, in
 * either direction. */
static void test_ways_over_links(void **state)
{
    static const int64_t expected[4][1] = {{0}, {100}, {110}, {7}};
    struct vti_anchor anchor = {1000, 50, REAL, 1};
    struct vt_host_info host;
    vt_recording *recording;

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        write_host(i);
        write_clock(i, i, VTI_CLOCK_MONOTONIC_NS, &anchor, 1);
        kit_process(&kit, &(struct vti_process_fact){.process = i, .host = i, .domain = i});
        kit_track(&kit, i, i, "track");
        mark(i, 1000);
    }
    write_link(0, 2, 999, 500); /* direct, but vague */
    write_link(0, 1, 100, 20);
    write_link(2, 1, -10, 30); /* from 1 to 2 */
    write_link(3, 0, -7, 1);   /* the other way round */
    write_link(1, 99, 5, 1);   /* leads nowhere */
    kit_close(&kit);
    for (uint32_t i = 0; i < 4; i++)
        assert_times(i, expected[i], 1);
    recording = kit_open(&kit);
    assert_true(vt_recording_host(recording, 2, &host));
    assert_int_equal(host.offset_ns, 110);
    assert_int_equal(host.error_ns, 50);
    vt_recording_close(recording);
}

/* A second domain of a host that only links through the first one. */
static void test_domains_of_one_host(void **state)
{
    static const int64_t expected[] = {-500};
    struct vti_anchor anchor = {1000, 50, REAL, 1};

    (void)state;
    write_clock(0, 0, VTI_CLOCK_MONOTONIC_NS, &anchor, 1);
    write_clock(1, 1, VTI_CLOCK_MONOTONIC_NS, &anchor, 1);
    write_clock(2, 1, VTI_CLOCK_MONOTONIC_NS, &anchor, 1);
    write_link(0, 1, -500, 3);
    kit_process(&kit, &(struct vti_process_fact){.process = 0, .host = 1, .domain = 2});
    kit_track(&kit, 0, 0, "track");
    mark(0, 1000);
    kit_close(&kit);
    assert_times(0, expected, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, kit_set_up, kit_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_pieces),
        TEST(test_one_anchor),
        TEST(test_bad_anchors),
        TEST(test_two_domains_by_wall_clock),
        TEST(test_two_domains_with_link),
        TEST(test_ways_over_links),
        TEST(test_domains_of_one_host),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
