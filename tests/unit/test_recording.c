/*
 * test_recording.c - what is written is what is read: facts and events; and what is no recording at
 * all. Spans are in test_spans.c, damaged files in test_damage.c.
 */
#include "base/error.h"
#include "recording_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- facts ----------------------------------------------------------------------------------- */

static void write_facts(void)
{
    static const char words[] = "./prog\0--name\0it's\0";
    struct vti_meta_fact metas[] = {
        {vti_bytes_of("venturi"), vti_bytes_of("0.1.0")},
        {vti_bytes_of("policy"), vti_bytes_of("drop")},
        {vti_bytes_of("directory"), vti_bytes_of("/srv/me")},
        {vti_bytes_of("command"), {words, sizeof words - 2}},
        {vti_bytes_of("unheard of"), vti_bytes_of("x")},
    };
    struct vti_host_fact host = {.host = 3,
                                 .name = vti_bytes_of("box"),
                                 .os = vti_bytes_of("Linux"),
                                 .cpu = vti_bytes_of("fast"),
                                 .cpu_count = 8};
    struct vti_loss_fact loss = {.reason = VTI_LOSS_BUFFERS,
                                 .process_plus_one = 1,
                                 .track_plus_one = 2,
                                 .events = 42,
                                 .first = 1200,
                                 .last = 1400,
                                 .flags = 1};
    struct vti_buf payload = {0};

    for (size_t i = 0; i < sizeof metas / sizeof *metas; i++)
        vti_meta_write(&payload, &metas[i]);
    kit_fact(&kit, VTI_META, &payload, sizeof metas / sizeof *metas);
    vti_buf_clear(&payload);
    vti_host_write(&payload, &host);
    kit_fact(&kit, VTI_HOST, &payload, 1);
    vti_buf_fini(&payload);
    kit_clock(&kit, 2);
    kit_process(&kit, &(struct vti_process_fact){
                          .host = 3, .pid = 10, .start = 1000, .name = vti_bytes_of("old name")});
    kit_process(&kit, &(struct vti_process_fact){.host = 3,
                                                 .pid = 10,
                                                 .parent_pid = 9,
                                                 .start = 1000,
                                                 .end = 5000,
                                                 .how = VTI_ENDED_SIGNAL,
                                                 .status = 9,
                                                 .name = vti_bytes_of("prog"),
                                                 .command = {words, sizeof words - 2},
                                                 .pair_millis = 40000,
                                                 .inner_millis = 10000});
    kit_process(&kit, &(struct vti_process_fact){.process = 7, .parent_plus_one = 1, .pid = 11});
    kit_track(&kit, 1, 0, "main");
    kit_site(&kit, 5, "work");
    assert_int_equal(vti_writer_loss(kit.writer, &loss), 0);
}

static void check_facts(const vt_recording *recording)
{
    struct vt_process_info process;
    struct vt_recording_info info;
    struct vt_track_info track;
    struct vt_host_info host;
    struct vt_site_info site;
    struct vt_loss_info loss;

    vt_recording_info(recording, &info);
    assert_string_equal(info.writer_version, "0.1.0");
    assert_string_equal(info.policy, "drop");
    assert_string_equal(info.directory, "/srv/me");
    assert_string_equal(info.command, "./prog --name 'it'\\''s'");
    assert_string_equal(info.clock, "tsc");
    assert_true(info.ticks_per_ns > 1.999 && info.ticks_per_ns < 2.001);
    assert_int_equal(info.start_realtime_ns, 1700000000000000000);
    assert_int_equal(info.duration_ns, 2000);
    assert_int_equal(info.lost_events, 42);
    assert_int_equal(info.process_count, 2);
    assert_int_equal(info.damage_count, 0);
    assert_true(vt_recording_host(recording, 0, &host));
    assert_int_equal(host.id, 3);
    assert_string_equal(host.name, "box");
    assert_int_equal(host.cpu_count, 8);
    assert_false(vt_recording_host(recording, 1, &host));
    assert_true(vt_recording_process(recording, 0, &process));
    assert_string_equal(process.name, "prog");
    assert_string_equal(process.command, "./prog --name 'it'\\''s'");
    assert_int_equal(process.how, VT_END_SIGNAL);
    assert_int_equal(process.status, 9);
    assert_int_equal(process.parent, VT_NONE);
    assert_int_equal(process.end_ns, 2000);
    assert_true(process.pair_ns > 19.99 && process.pair_ns < 20.01);
    assert_true(process.inner_ns > 4.99 && process.inner_ns < 5.01);
    assert_true(vt_recording_process(recording, 1, &process));
    assert_int_equal(process.id, 7);
    assert_int_equal(process.parent, 0);
    assert_true(vt_recording_track_by_id(recording, 1, &track));
    assert_string_equal(track.name, "main");
    assert_int_equal(track.tid, 101);
    assert_int_equal(track.lost_events, 42);
    assert_true(vt_recording_site(recording, 0, &site));
    assert_string_equal(site.name, "work");
    assert_string_equal(site.file, "test.c");
    assert_int_equal(site.line, 5);
    assert_false(vt_recording_site(recording, 1, &site));
    assert_true(vt_recording_loss(recording, 0, &loss));
    assert_string_equal(loss.reason, "buffers full");
    assert_int_equal(loss.process, 0);
    assert_int_equal(loss.track, 1);
    assert_int_equal(loss.begin_ns, 100);
    assert_int_equal(loss.end_ns, 200);
    assert_true(loss.is_lower_bound);
}

static void test_facts(void **state)
{
    vt_recording *recording;
    size_t size;
    uint8_t *bytes;

    (void)state;
    write_facts();
    kit_begin(&kit, 1, 1100, 5);
    kit_end(&kit, 1, 1300);
    kit_close(&kit);
    recording = kit_open(&kit);
    check_facts(recording);
    vt_recording_close(recording);
    /* The same by scanning. */
    bytes = kit_read(&kit, &size);
    kit_write(&kit, bytes, size - VTI_TRAILER_BYTES);
    recording = kit_open(&kit);
    check_facts(recording);
    vt_recording_close(recording);
    free(bytes);
}

static void test_made_up_names(void **state)
{
    struct vt_process_info process;
    struct vt_track_info track;
    struct vt_site_info site;
    vt_recording *recording;

    (void)state;
    kit_begin(&kit, 2, 5000, 12);
    kit_end(&kit, 2, 5100);
    kit_close(&kit);
    recording = kit_open(&kit);
    assert_true(vt_recording_site_by_id(recording, 12, &site));
    assert_string_equal(site.name, "site 12");
    assert_true(vt_recording_track(recording, 0, &track));
    assert_int_equal(track.id, 2);
    assert_int_equal(track.process, VT_NONE);
    assert_string_equal(track.name, "track 2");
    assert_int_equal(track.event_count, 2);
    assert_int_equal(track.span_count, 1);
    assert_int_equal(track.deepest, 1);
    /* Without a clock, time starts with the first event and a tick is a nanosecond. */
    assert_int_equal(track.start_ns, 0);
    assert_int_equal(track.end_ns, 100);
    assert_true(vt_recording_track_by_id(recording, 99, &track));
    assert_string_equal(track.name, "track 99");
    assert_true(vt_recording_process_by_id(recording, 99, &process));
    assert_string_equal(process.name, "process 99");
    vt_recording_close(recording);
}

/* Ids may be anything: they cost memory by their number, not by their size. */
static void test_huge_ids(void **state)
{
    struct vti_encoder *encoder;
    struct vt_recording_info info;
    vt_recording *recording;
    struct kit_list list;

    (void)state;
    kit_site(&kit, 4000000000u, "far");
    kit_process(&kit, &(struct vti_process_fact){.process = 4294967294u, .domain = 4294967295u});
    kit_track(&kit, 4294967295u, 4294967294u, "edge");
    assert_int_equal(vti_encoder_create(&encoder, 4294967295u), 0);
    vti_encoder_begin(encoder, 10, 4000000000u);
    vti_encoder_end(encoder, 20);
    assert_true(vti_writer_events(kit.writer, encoder) >= 0);
    vti_encoder_free(encoder);
    kit_close(&kit);
    recording = kit_open(&kit);
    list = kit_list_spans(recording, NULL);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.spans[0].track, 4294967295u);
    assert_string_equal(kit_site_name(recording, list.spans[0].site), "far");
    vt_recording_info(recording, &info);
    assert_int_equal(info.damage_count, 0);
    kit_list_free(&list);
    vt_recording_close(recording);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void test_events(void **state)
{
    struct vti_value number = {.type = VTI_VALUE_INT, .i = -5};
    struct vti_value text = {.type = VTI_VALUE_TEXT, .text = vti_bytes_of("abc")};
    struct vti_value real = {.type = VTI_VALUE_DOUBLE, .d = 0.5};
    vt_recording *recording;
    struct vt_event event;
    vt_cursor *cursor;
    struct {
        enum vt_event_kind kind;
        uint32_t site, depth;
    } expected[] = {{VT_EVENT_BEGIN, 1, 0}, {VT_EVENT_ATTR, 9, 1},    {VT_EVENT_BEGIN, 2, 1},
                    {VT_EVENT_MARK, 3, 2},  {VT_EVENT_ERROR, 0, 2},   {VT_EVENT_END, 2, 1},
                    {VT_EVENT_LOSS, 0, 1},  {VT_EVENT_COUNTER, 4, 1}, {VT_EVENT_END, 1, 0}};

    (void)state;
    kit_clock(&kit, 1);
    kit_begin(&kit, 0, 1000, 1);
    kit_add(&kit, 0,
            &(struct vti_event){.ticks = 1010, .kind = VTI_EVENT_ATTR, .site = 9, .value = text});
    kit_begin(&kit, 0, 1020, 2);
    kit_cut(&kit, 0); /* the ends below are in another block than their begins */
    kit_add(&kit, 0, &(struct vti_event){.ticks = 1030, .kind = VTI_EVENT_MARK, .site = 3});
    kit_add(&kit, 0,
            &(struct vti_event){.ticks = 1040,
                                .kind = VTI_EVENT_ERROR,
                                .error_type = vti_bytes_of("Bad"),
                                .error_message = vti_bytes_of("luck")});
    kit_add(&kit, 0,
            &(struct vti_event){.ticks = 1050, .kind = VTI_EVENT_END, .flags = VTI_FLAG_ABANDONED});
    kit_add(&kit, 0,
            &(struct vti_event){.ticks = 1060,
                                .kind = VTI_EVENT_LOSS,
                                .loss_reason = VTI_LOSS_BUFFERS,
                                .loss_events = 6,
                                .loss_ticks = 7});
    kit_add(
        &kit, 0,
        &(struct vti_event){.ticks = 1070, .kind = VTI_EVENT_COUNTER, .site = 4, .value = number});
    kit_end(&kit, 0, 1080);
    kit_add(
        &kit, 0,
        &(struct vti_event){.ticks = 1090, .kind = VTI_EVENT_COUNTER, .site = 4, .value = real});
    kit_close(&kit);
    recording = kit_open(&kit);
    assert_int_equal(
        vt_cursor_open(&cursor, recording, &(struct vt_filter){INT64_MIN, 90, VT_NONE}), 0);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(vt_cursor_next(cursor, &event), 1);
        assert_int_equal(event.kind, expected[i].kind);
        assert_int_equal(event.site, expected[i].site);
        assert_int_equal(event.depth, expected[i].depth);
        assert_int_equal(event.time_ns, 10 * i);
        assert_int_equal(event.ticks, 1000 + 10 * i);
        if (i == 1)
            assert_memory_equal(event.value.text.data, "abc", event.value.text.len);
        if (i == 4)
            assert_memory_equal(event.error_message.data, "luck", event.error_message.len);
        if (i == 5)
            assert_int_equal(event.flags, VT_FLAG_ABANDONED);
        if (i == 6) {
            assert_string_equal(event.loss_reason, "buffers full");
            assert_int_equal(event.loss_events, 6);
            assert_int_equal(event.loss_ns, 7);
        }
        if (i == 7)
            assert_int_equal(event.value.i, -5);
    }
    assert_int_equal(vt_cursor_next(cursor, &event), 0); /* the last counter is at 90 */
    vt_cursor_close(cursor);
    vt_recording_close(recording);
}

static void check_cursor(vt_recording *recording, const struct vt_filter *filter)
{
    struct vt_event event;
    vt_cursor *cursor;
    uint64_t expected = 0;
    uint64_t found = 0;
    int64_t last = INT64_MIN;
    int got;

    for (size_t i = 0; i < kit.span_count; i++) {
        int64_t begin = (int64_t)kit.spans[i].begin - 1000;
        int64_t end = (int64_t)kit.spans[i].end - 1000;

        if (filter->track != VT_NONE && filter->track != kit.spans[i].track)
            continue;
        expected += begin >= filter->from_ns && begin < filter->to_ns;
        expected += kit.spans[i].is_finished && end >= filter->from_ns && end < filter->to_ns;
    }
    assert_int_equal(vt_cursor_open(&cursor, recording, filter), 0);
    while ((got = vt_cursor_next(cursor, &event)) > 0) {
        assert_true(event.time_ns >= last);
        assert_true(event.time_ns >= filter->from_ns && event.time_ns < filter->to_ns);
        last = event.time_ns;
        found++;
    }
    assert_int_equal(got, 0);
    assert_int_equal(found, expected);
    vt_cursor_close(cursor);
}

static void test_cursor_filters(void **state)
{
    struct vt_filter filter = {INT64_MIN, INT64_MAX, VT_NONE};
    vt_recording *recording;

    (void)state;
    kit_clock(&kit, 1);
    kit_random(&kit, 4, 300, 5, 7, 15, 40, true);
    kit_close(&kit);
    recording = kit_open(&kit);
    check_cursor(recording, &filter);
    for (int i = 0; i < 40; i++) {
        filter.from_ns = (int64_t)kit_number(&kit, kit.ticks);
        filter.to_ns = filter.from_ns + (int64_t)kit_number(&kit, kit.ticks / 4);
        filter.track = i % 2 ? VT_NONE : (uint32_t)i % 4;
        check_cursor(recording, &filter);
    }
    vt_recording_close(recording);
}

/* ---- what is no recording -------------------------------------------------------------------- */

static void assert_refused(const char *path, int code, const char *words)
{
    vt_recording *recording = (vt_recording *)&kit;

    assert_int_equal(vt_recording_open(&recording, path), code);
    assert_null(recording);
    assert_non_null(strstr(vt_read_error(), path));
    if (!strstr(vt_read_error(), words))
        fail_msg("\"%s\" does not say \"%s\"", vt_read_error(), words);
    assert_null(strchr(vt_read_error(), '\n'));
}

static void write_header(uint16_t major, uint64_t incompatible)
{
    struct vti_file_header header = {.major = major, .incompatible = incompatible};
    uint8_t bytes[VTI_FILE_HEADER_BYTES];

    vti_file_header_write(bytes, &header);
    kit_write(&kit, bytes, sizeof bytes);
}

static void test_refusals(void **state)
{
    static const char text[] =
        "#!/bin/sh\necho this is no recording, although it is longer than a header\n";
    char missing[128];

    (void)state;
    snprintf(missing, sizeof missing, "%s/missing.vt", kit.folder);
    assert_refused(missing, VTI_E_OPEN, "No such file");
    assert_refused(kit.folder, VTI_E_OPEN, "not a regular file");
    kit_write(&kit, (const uint8_t *)"", 0);
    assert_refused(kit.path, VTI_E_NOT_RECORDING, "empty");
    kit_write(&kit, (const uint8_t *)text, sizeof text);
    assert_refused(kit.path, VTI_E_NOT_RECORDING, "not a Venturi recording");
    write_header(2, 0);
    assert_refused(kit.path, VTI_E_UNSUPPORTED, "version 2");
    write_header(1, 1u << 5);
    assert_refused(kit.path, VTI_E_UNSUPPORTED, "features");
    assert_string_equal(vt_read_hint(), "update this tool");
    write_header(1, 0);
    vt_recording_close(kit_open(&kit)); /* a header alone is an empty recording */
    vt_recording_close(NULL);
    vt_cursor_close(NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, kit_set_up, kit_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_facts),  TEST(test_made_up_names),  TEST(test_huge_ids),
        TEST(test_events), TEST(test_cursor_filters), TEST(test_refusals),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
