/* test_lines.c - lines and sources as they stand in a recording: what survives, what replaces what, and nonsense. */
#include "calls_kit.h"
#include "format/lines.h"
#include "model/line_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST UINT64_MAX

static void add_block(struct kit *kit, enum vti_kind kind, uint32_t track, struct vti_buf *payload,
                      uint32_t count)
{
    assert_int_equal(vti_writer_owned(kit->writer, kind, track, payload, count, 90000), 0);
    vti_buf_fini(payload);
}

static void add_lines(struct kit *kit, uint32_t track, const struct vti_line_fact *facts,
                      uint32_t count)
{
    struct vti_buf payload = {0};

    for (uint32_t i = 0; i < count; i++)
        vti_line_write(&payload, &facts[i]);
    add_block(kit, VTI_LINES, track, &payload, count);
}

static void add_source(struct kit *kit, uint32_t process_plus_one, const char *file,
                       const char *text)
{
    const struct vti_source_fact fact = {process_plus_one, file, strlen(file), text, strlen(text)};
    struct vti_buf payload = {0};

    vti_source_write(&payload, &fact);
    kit_fact(kit, VTI_SOURCES, &payload, 1);
    vti_buf_fini(&payload);
}

static void test_entries_survive(void **state)
{
    const struct vti_line_fact line = {
        UINT32_MAX, 2, 3, 4, VTI_LINE_SAMPLED, MOST, 6, MOST, 8, MOST, MOST, MOST, MOST, MOST};
    struct vti_line_durations_fact durations = {.node = 9};
    const struct vti_line_callee_fact callee = {1, UINT32_MAX, MOST, 4};
    const struct vti_source_fact source = {7, "a\0b", 3, "", 0};
    struct vti_line_durations_fact got_durations;
    struct vti_line_callee_fact got_callee;
    struct vti_source_fact got_source;
    struct vti_line_fact got;
    struct vti_buf bytes = {0};
    struct vti_reader in;

    (void)state;
    durations.durations.counts[0] = MOST;
    durations.durations.counts[VTI_DURATIONS_MAX - 1] = 1;
    memset(&got, 0, sizeof got);
    vti_line_write(&bytes, &line);
    vti_line_durations_write(&bytes, &durations);
    vti_line_callee_write(&bytes, &callee);
    vti_source_write(&bytes, &source);
    vti_reader_init(&in, bytes.data, bytes.len);
    assert_true(vti_line_read(&in, &got));
    assert_memory_equal(&got, &line, sizeof got);
    assert_true(vti_line_durations_read(&in, &got_durations));
    assert_int_equal(got_durations.node, 9);
    assert_memory_equal(got_durations.durations.counts, durations.durations.counts,
                        sizeof durations.durations.counts);
    assert_true(vti_line_callee_read(&in, &got_callee));
    assert_int_equal(got_callee.site, UINT32_MAX);
    assert_true(got_callee.calls == MOST && got_callee.total == 4);
    assert_true(vti_source_read(&in, &got_source));
    assert_int_equal(got_source.file_len, 3);
    assert_int_equal(got_source.text_len, 0);
    assert_int_equal(vti_reader_left(&in), 0);
    for (size_t len = 0; len < bytes.len; len++) { /* cut off anywhere: never taken for whole */
        vti_reader_init(&in, bytes.data, len);
        assert_false(vti_line_read(&in, &got) && vti_line_durations_read(&in, &got_durations) &&
                     vti_line_callee_read(&in, &got_callee) && vti_source_read(&in, &got_source));
    }
    vti_buf_fini(&bytes);
}

static void load(struct kit *kit, vt_recording **recording, struct vti_line_tables *tables)
{
    kit_close(kit);
    *recording = kit_open(kit);
    assert_int_equal(vti_line_tables_load(tables, *recording), 0);
}

static void test_the_last_snapshot_counts(void **state)
{
    struct vti_line_fact lines[] = {{.node = 5, .site = 1, .line = 10, .statement = 10, .time = 1},
                                    {.node = 3, .site = 1, .line = 11, .statement = 11, .time = 1}};
    struct vti_line_durations_fact durations = {.node = 3};
    const struct vti_line_callee_fact callees[] = {{3, 1, 1, 10}, {3, 2, 1, 20}, {3, 1, 7, 70}};
    struct vti_buf payload = {0};
    struct vti_line_tables tables;
    vt_recording *recording;

    (void)state;
    kit_calls_start(&kit, 1);
    lines[0].hits = 1;
    add_lines(&kit, 0, lines, 2);
    lines[0].hits = 9;
    add_lines(&kit, 0, lines, 1);
    add_lines(&kit, 1, lines + 1, 1);
    for (uint64_t i = 1; i <= 2; i++) {
        durations.durations.counts[4] = i;
        vti_line_durations_write(&payload, &durations);
    }
    add_block(&kit, VTI_LINE_DURATIONS, 0, &payload, 2);
    for (int i = 0; i < 3; i++)
        vti_line_callee_write(&payload, &callees[i]);
    add_block(&kit, VTI_LINE_CALLEES, 0, &payload, 3);
    load(&kit, &recording, &tables);
    assert_int_equal(tables.track_ids.count, 2);
    assert_int_equal(tables.tracks[0].node_ids.count, 2);
    assert_int_equal(tables.tracks[0].lines[0].hits, 9);
    assert_int_equal(tables.tracks[1].lines[0].line, 11);
    assert_int_equal(vti_line_durations(&tables.tracks[0], 3)->durations.counts[4], 2);
    assert_null(vti_line_durations(&tables.tracks[0], 5));
    assert_null(vti_line_durations(&tables.tracks[0], MOST));
    assert_int_equal(tables.tracks[0].callee_count, 2);
    assert_int_equal(tables.tracks[0].callees[0].total, 70);
    assert_int_equal(tables.tracks[0].callees[1].total, 20);
    vti_line_tables_fini(&tables);
    vt_recording_close(recording);
}

static void assert_source(const struct vti_line_tables *tables, uint32_t process, const char *text)
{
    const struct vti_source_fact *source = vti_line_source(tables, process, "a.py", 4);

    assert_non_null(source);
    assert_int_equal(source->text_len, strlen(text));
    assert_memory_equal(source->text, text, strlen(text));
}

static void test_sources_of_processes(void **state)
{
    struct vti_line_tables tables;
    vt_recording *recording;

    (void)state;
    kit_calls_start(&kit, 1);
    add_source(&kit, 0, "a.py", "of all");
    add_source(&kit, 4, "a.py", "of three, before");
    add_source(&kit, 4, "a.py", "of three");
    load(&kit, &recording, &tables);
    assert_int_equal(tables.source_count, 2);
    assert_source(&tables, 0, "of all");
    assert_source(&tables, 3, "of three");
    assert_null(vti_line_source(&tables, 0, "b.py", 4));
    assert_null(vti_line_source(&tables, 0, "a.p", 3));
    vti_line_tables_fini(&tables);
    vt_recording_close(recording);
}

static void test_costs(void **state)
{
    const struct vti_cost_fact costs[] = {{0, 4, 100, 0}, {0, 5, 200, 0}, {0, 4, 300, 0}};
    struct vti_buf payload = {0};
    struct vti_line_tables tables;
    vt_recording *recording;

    (void)state;
    kit_calls_start(&kit, 1);
    for (int i = 0; i < 3; i++)
        vti_cost_write(&payload, &costs[i]);
    kit_fact(&kit, VTI_COSTS, &payload, 3);
    vti_buf_fini(&payload);
    load(&kit, &recording, &tables);
    assert_int_equal(vti_line_cost(&tables, 0, 4).pair_millis, 300);
    assert_int_equal(vti_line_cost(&tables, 0, 5).pair_millis, 200);
    assert_int_equal(vti_line_cost(&tables, 1, 4).pair_millis, 0);
    vti_line_tables_fini(&tables);
    vt_recording_close(recording);
}

/* Whatever does not parse is damage; what stands before it counts. */
static void test_nonsense_is_damage(void **state)
{
    const struct vti_line_fact good = {.node = 1, .site = 1, .line = 1, .statement = 1, .time = 1};
    const struct vti_line_fact no_node = {.site = 1, .line = 1};
    const struct vti_line_fact no_time = {.node = 2, .time = VTI_LINE_MIXED + 1};
    struct vt_recording_info info;
    struct vti_buf payload = {0};
    struct vti_line_tables tables;
    vt_recording *recording;

    (void)state;
    kit_calls_start(&kit, 1);
    vti_line_write(&payload, &good);
    vti_line_write(&payload, &no_node);
    add_block(&kit, VTI_LINES, 0, &payload, 2);
    vti_line_write(&payload, &no_time);
    add_block(&kit, VTI_LINES, 0, &payload, 1);
    vti_buf_add_varint(&payload, 1);
    vti_buf_add_varint(&payload, 1);
    vti_buf_add_varint(&payload, VTI_DURATIONS_MAX); /* no such bucket */
    vti_buf_add_varint(&payload, 1);
    add_block(&kit, VTI_LINE_DURATIONS, 0, &payload, 1);
    add_block(&kit, VTI_LINE_CALLEES, 0, &payload, UINT32_MAX);
    vti_buf_add_varint(&payload, 0);
    vti_buf_add_varint(&payload, UINT32_MAX); /* a name that long is not there */
    kit_fact(&kit, VTI_SOURCES, &payload, 1);
    vti_buf_fini(&payload);
    load(&kit, &recording, &tables);
    assert_int_equal(tables.tracks[0].node_ids.count, 1);
    assert_int_equal(tables.tracks[0].duration_ids.count, 0);
    assert_int_equal(tables.source_count, 0);
    vti_line_tables_fini(&tables);
    vt_recording_info(recording, &info);
    assert_int_equal(info.damage_count, 5);
    vt_recording_close(recording);
}

static int tear_down(void **state)
{
    (void)state;
    kit_fini(&kit);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries_survive),
        cmocka_unit_test_teardown(test_the_last_snapshot_counts, tear_down),
        cmocka_unit_test_teardown(test_sources_of_processes, tear_down),
        cmocka_unit_test_teardown(test_costs, tear_down),
        cmocka_unit_test_teardown(test_nonsense_is_damage, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
