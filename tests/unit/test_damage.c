/*
 * test_damage.c - recordings that are not whole: crashed, growing, cut off at every byte, with
 * every byte flipped, with a hole, with junk at the end. Nothing is lost but what is damaged, and
 * that is said.
 */
#include "base/error.h"
#include "recording_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void test_crashed(void **state)
{
    struct vt_recording_info info;
    vt_recording *recording;

    (void)state;
    kit_make_random(&kit, false);
    recording = kit_open(&kit);
    vt_recording_info(recording, &info);
    assert_false(info.is_closed);
    assert_int_equal(info.damage_count, 0);
    assert_int_equal(info.span_count, kit.span_count);
    kit_check(&kit, recording, NULL);
    vt_recording_close(recording);
}

static void test_growing(void **state)
{
    struct vt_recording_info info;
    struct vt_event event;
    vt_recording *recording;
    vt_cursor *cursor;
    uint64_t spans = 0;

    (void)state;
    kit_flush(&kit);
    recording = kit_open(&kit);
    assert_int_equal(vt_recording_refresh(recording), 0);
    for (int round = 0; round < 5; round++) {
        uint64_t at = 10000 + 1000 * (uint64_t)round;

        if (round == 0)
            kit_clock(&kit, 1);
        kit_begin(&kit, 0, at, 1);
        kit_end(&kit, 0, at + 10);
        if (round == 3)
            kit_site(&kit, 1, "late");
        assert_int_equal(vt_cursor_open(&cursor, recording, NULL), 0);
        kit_cut_all(&kit);
        kit_flush(&kit);
        assert_int_equal(vt_recording_refresh(recording), round == 0 || round == 3 ? 2 : 1);
        assert_int_equal(vt_cursor_next(cursor, &event), VTI_E_USAGE);
        vt_cursor_close(cursor);
        vt_recording_info(recording, &info);
        spans++;
        assert_int_equal(info.span_count, spans);
        assert_false(info.is_closed);
        assert_int_equal(info.duration_ns, 10 + 1000 * round);
    }
    assert_string_equal(kit_site_name(recording, 1), "late");
    kit_close(&kit);
    assert_true(vt_recording_refresh(recording) > 0);
    vt_recording_info(recording, &info);
    assert_true(info.is_closed);
    assert_int_equal(info.span_count, spans);
    assert_int_equal(info.damage_count, 0);
    vt_recording_close(recording);
}

/* A block that is not whole yet is damage until the rest of it comes. */
static void test_growing_in_the_middle_of_a_block(void **state)
{
    struct vt_recording_info info;
    struct vt_damage_info damage;
    vt_recording *recording;
    uint8_t *bytes;
    size_t size;
    size_t cut;

    (void)state;
    kit_make_random(&kit, false);
    bytes = kit_read(&kit, &size);
    for (cut = 5; cut < 200; cut += 13) {
        kit_write(&kit, bytes, size - cut);
        recording = kit_open(&kit);
        vt_recording_info(recording, &info);
        assert_int_equal(info.damage_count, 1);
        assert_true(vt_recording_damage(recording, 0, &damage));
        assert_int_equal(damage.end_offset, size - cut);
        assert_string_equal(damage.what, "cut off in the middle of a block");
        kit_write(&kit, bytes, size);
        assert_true(vt_recording_refresh(recording) >= 1);
        vt_recording_info(recording, &info);
        assert_int_equal(info.damage_count, 0);
        assert_int_equal(info.span_count, kit.span_count);
        vt_recording_close(recording);
    }
    free(bytes);
}

static void test_replaced_or_shortened(void **state)
{
    vt_recording *recording;
    uint8_t *bytes;
    size_t size;

    (void)state;
    kit_make_random(&kit, false);
    bytes = kit_read(&kit, &size);
    recording = kit_open(&kit);
    assert_int_equal(unlink(kit.path), 0);
    kit_write(&kit, bytes, size / 2); /* a new file: the old one stays mapped */
    assert_int_equal(vt_recording_refresh(recording), VTI_E_READ);
    assert_non_null(strstr(vt_read_error(), "shorter"));
    bytes[45] ^= 1; /* in the id */
    assert_int_equal(unlink(kit.path), 0);
    kit_write(&kit, bytes, size);
    assert_int_equal(vt_recording_refresh(recording), VTI_E_READ);
    assert_non_null(strstr(vt_read_error(), "replaced"));
    assert_int_equal(unlink(kit.path), 0);
    assert_int_equal(vt_recording_refresh(recording), VTI_E_OPEN);
    kit_write(&kit, bytes, size);
    free(bytes);
    vt_recording_close(recording);
}

/* Reads everything there is to read, and gives the number of events. */
static uint64_t use_all(vt_recording *recording)
{
    struct vt_process_info process;
    struct vt_recording_info info;
    struct vt_damage_info damage;
    struct vt_window window;
    struct vt_track_info track;
    struct vt_stats stats;
    struct vt_event event;
    struct kit_list list;
    vt_cursor *cursor;
    uint64_t events = 0;

    vt_recording_info(recording, &info);
    for (uint32_t i = 0; vt_recording_process(recording, i, &process); i++)
        assert_non_null(process.name);
    for (uint32_t i = 0; vt_recording_track(recording, i, &track); i++)
        assert_non_null(track.name);
    assert_int_equal(vt_cursor_open(&cursor, recording, NULL), 0);
    while (vt_cursor_next(cursor, &event) > 0)
        events++;
    vt_cursor_close(cursor);
    list = kit_list_spans(recording, NULL);
    kit_list_free(&list);
    assert_int_equal(vt_stats_query(recording, NULL, &stats), 0);
    vt_stats_free(&stats);
    assert_int_equal(vt_window_query(recording, -100, info.duration_ns + 1000, 300, &window), 0);
    vt_window_free(&window);
    assert_int_equal(vt_window_query(recording, 0, 100, 40, &window), 0);
    vt_window_free(&window);
    vt_recording_info(recording, &info);
    for (uint32_t i = 0; i < info.damage_count; i++) {
        assert_true(vt_recording_damage(recording, i, &damage));
        assert_true(damage.begin_offset < damage.end_offset);
        assert_true(damage.end_offset <= info.file_bytes);
    }
    return events;
}

/* Events in the blocks that lie whole in the first `size` bytes. */
static uint64_t events_in(const uint8_t *bytes, size_t size)
{
    struct vti_block_header header;
    uint64_t events = 0;

    for (size_t at = VTI_FILE_HEADER_BYTES;
         at < size && vti_block_header_parse(bytes + at, size - at, &header) &&
         vti_block_bytes(&header) <= size - at;
         at += vti_block_bytes(&header))
        events += header.kind == VTI_EVENTS ? header.count : 0;
    return events;
}

static void make_small(void)
{
    kit_clock(&kit, 1);
    kit_process(&kit, &(struct vti_process_fact){.pid = 1, .name = vti_bytes_of("p")});
    kit_track(&kit, 0, 0, "a");
    kit_site(&kit, 1, "one");
    kit_random(&kit, 2, 30, 4, 3, 12, 50, true);
    kit_close(&kit);
}

static void test_cut_off_at_every_byte(void **state)
{
    vt_recording *recording;
    uint8_t *bytes;
    size_t size;

    (void)state;
    make_small();
    bytes = kit_read(&kit, &size);
    for (size_t cut = 0; cut < size; cut++) {
        int code;

        kit_write(&kit, bytes, cut);
        code = vt_recording_open(&recording, kit.path);
        if (cut < VTI_FILE_HEADER_BYTES) {
            assert_true(code == VTI_E_NOT_RECORDING || code == VTI_E_DAMAGED);
            assert_non_null(strstr(vt_read_error(), kit.path));
            continue;
        }
        assert_int_equal(code, 0);
        assert_int_equal(use_all(recording), events_in(bytes, cut));
        vt_recording_close(recording);
    }
    free(bytes);
}

static void test_every_byte_flipped(void **state)
{
    struct vt_recording_info info;
    vt_recording *recording;
    uint8_t *bytes;
    uint64_t all;
    size_t size;

    (void)state;
    make_small();
    bytes = kit_read(&kit, &size);
    all = events_in(bytes, size);
    for (size_t at = 0; at < size; at++) {
        uint8_t right = bytes[at];
        uint64_t events;

        bytes[at] ^= (uint8_t)(1 + kit_number(&kit, 255));
        kit_write(&kit, bytes, size);
        bytes[at] = right;
        assert_int_equal(vt_recording_open(&recording, kit.path), 0);
        events = use_all(recording);
        vt_recording_info(recording, &info);
        /* Nothing is lost silently, and not more than one block. */
        assert_true(events == all || info.damage_count > 0);
        assert_true(events + 24 >= all);
        assert_int_equal(info.event_count, events);
        vt_recording_close(recording);
    }
    free(bytes);
}

/* A hole in the middle: both sides are read, and spans that reach over it have their ends. */
static void test_hole(void **state)
{
    struct vt_recording_info info;
    struct vt_damage_info damage;
    struct vti_block_header header;
    vt_recording *recording;
    struct kit_list list;
    uint8_t *bytes;
    size_t size;
    size_t at = VTI_FILE_HEADER_BYTES;

    (void)state;
    kit_clock(&kit, 1);
    kit_begin(&kit, 0, 1000, 1); /* lasts over the hole */
    kit_begin(&kit, 0, 1010, 2); /* ends in it */
    kit_cut(&kit, 0);
    kit_end(&kit, 0, 1020);
    kit_begin(&kit, 0, 1030, 3); /* begins in it */
    kit_cut(&kit, 0);
    kit_end(&kit, 0, 1040);
    kit_end(&kit, 0, 1050);
    kit_abandon(&kit);
    bytes = kit_read(&kit, &size);
    for (int events = 0;;) {
        assert_true(vti_block_header_parse(bytes + at, size - at, &header));
        events += header.kind == VTI_EVENTS;
        if (events == 2)
            break;
        at += vti_block_bytes(&header);
    }
    memset(bytes + at, 0, vti_block_bytes(&header));
    kit_write(&kit, bytes, size);
    recording = kit_open(&kit);
    vt_recording_info(recording, &info);
    assert_int_equal(info.damage_count, 1);
    assert_true(vt_recording_damage(recording, 0, &damage));
    assert_int_equal(damage.begin_offset, at);
    assert_int_equal(damage.end_offset, at + vti_block_bytes(&header));
    list = kit_list_spans(recording, NULL);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.spans[0].site, 2);
    assert_int_equal(list.spans[0].flags, VT_FLAG_IN_GAP);
    assert_int_equal(list.spans[0].end_ns, 40);
    assert_int_equal(list.spans[1].site, 3);
    assert_int_equal(list.spans[1].begin_ns, 30);
    assert_int_equal(list.spans[1].end_ns, 40);
    assert_int_equal(list.spans[2].site, 1);
    assert_int_equal(list.spans[2].begin_ns, 0);
    assert_int_equal(list.spans[2].end_ns, 50);
    kit_list_free(&list);
    free(bytes);
    vt_recording_close(recording);
}

/* Bytes that somebody appended to a closed recording are damage; the rest is found by scanning. */
static void test_junk_after_the_end(void **state)
{
    struct vt_recording_info info;
    struct vt_damage_info damage;
    vt_recording *recording;
    uint8_t *bytes;
    size_t size;

    (void)state;
    kit_make_random(&kit, true);
    bytes = kit_read(&kit, &size);
    bytes = realloc(bytes, size + 100);
    memset(bytes + size, 'x', 100);
    kit_write(&kit, bytes, size + 100);
    recording = kit_open(&kit);
    vt_recording_info(recording, &info);
    assert_int_equal(info.span_count, kit.span_count);
    assert_int_equal(info.damage_count, 1);
    assert_true(vt_recording_damage(recording, 0, &damage));
    assert_int_equal(damage.begin_offset, size);
    free(bytes);
    vt_recording_close(recording);
}

static void test_unknown_kinds_are_counted(void **state)
{
    struct vt_recording_info info;
    struct vti_buf payload = {0};
    vt_recording *recording;
    uint8_t *bytes;
    size_t size;

    (void)state;
    vti_buf_add_text(&payload, "whatever");
    kit_fact(&kit, (enum vti_kind)199, &payload, 3);
    kit_fact(&kit, (enum vti_kind)200, &payload, 3);
    vti_buf_fini(&payload);
    kit_close(&kit);
    recording = kit_open(&kit);
    vt_recording_info(recording, &info);
    assert_true(info.is_closed);
    assert_int_equal(info.unknown_blocks, 2);
    assert_int_equal(info.damage_count, 0);
    vt_recording_close(recording);
    bytes = kit_read(&kit, &size);
    kit_write(&kit, bytes, size - 1);
    recording = kit_open(&kit);
    vt_recording_info(recording, &info);
    assert_false(info.is_closed);
    assert_int_equal(info.unknown_blocks, 2);
    free(bytes);
    vt_recording_close(recording);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, kit_set_up, kit_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_crashed),
        TEST(test_growing),
        TEST(test_growing_in_the_middle_of_a_block),
        TEST(test_replaced_or_shortened),
        TEST(test_cut_off_at_every_byte),
        TEST(test_every_byte_flipped),
        TEST(test_hole),
        TEST(test_junk_after_the_end),
        TEST(test_unknown_kinds_are_counted),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
