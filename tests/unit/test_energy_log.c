/* test_energy_log.c - ENERGY and THREAD_CPU blocks: entries round-trip, hostile ones are refused, and the model reads them. */
#include "model/energy_log.h"

#include "recording_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Read from a copy that has no byte to spare, so that a sanitizer sees a read beyond it. */
static bool read_energy(const struct vti_buf *out, size_t len, struct vti_energy_fact *fact)
{
    static uint8_t *copy;
    struct vti_reader in;

    free(copy);
    copy = malloc(len + 1);
    assert_non_null(copy);
    if (len)
        memcpy(copy + 1, out->data, len);
    vti_reader_init(&in, copy + 1, len);
    return vti_energy_fact_read(&in, fact) && !vti_reader_left(&in);
}

static void round_trip(const struct vti_energy_fact *fact, struct vti_energy_fact *got)
{
    struct vti_buf out = {0};

    vti_energy_fact_write(&out, fact);
    assert_false(out.failed);
    for (size_t len = 0; len < out.len; len++)
        assert_false(read_energy(&out, len, got));
    assert_true(read_energy(&out, out.len, got));
    assert_int_equal(got->type, fact->type);
    assert_int_equal(got->tree, fact->tree);
    vti_buf_fini(&out);
}

static void sources(void **state)
{
    const struct vti_energy_fact fact = {.type = VTI_ENERGY_FACT_SOURCE,
                                         .tree = 3,
                                         .number = 63,
                                         .part = 1,
                                         .how = 2,
                                         .inside_plus_one = 64,
                                         .milliwatts = UINT64_MAX,
                                         .idle_milliwatts = 7,
                                         .name = {"dram", 4},
                                         .from = {"powercap", 8},
                                         .note = {"", 0}};
    struct vti_energy_fact got;

    (void)state;
    round_trip(&fact, &got);
    assert_int_equal(got.number, 63);
    assert_int_equal(got.inside_plus_one, 64);
    assert_int_equal(got.milliwatts, UINT64_MAX);
    assert_int_equal(got.idle_milliwatts, 7);
    assert_memory_equal(got.from.data, "powercap", 8);
    assert_int_equal(got.note.len, 0);
}

static void readings(void **state)
{
    struct vti_energy_fact fact = {.type = VTI_ENERGY_FACT_READING,
                                   .ticks = UINT64_MAX,
                                   .known = 1 | (uint64_t)1 << 63,
                                   .lost = (uint64_t)1 << 63};
    struct vti_energy_fact got;

    (void)state;
    fact.microjoules[0] = 5;
    fact.microjoules[63] = UINT64_MAX;
    round_trip(&fact, &got);
    assert_int_equal(got.ticks, UINT64_MAX);
    assert_int_equal(got.known, fact.known);
    assert_int_equal(got.lost, fact.lost);
    assert_memory_equal(got.microjoules, fact.microjoules, sizeof got.microjoules);
}

static void others(void **state)
{
    const struct vti_energy_fact rest = {
        .type = VTI_ENERGY_FACT_BASELINE, .microwatts = 31500000, .how = 1, .for_ns = 10000000000};
    const struct vti_energy_fact note = {.type = VTI_ENERGY_FACT_NOTE,
                                         .about = VTI_ENERGY_NOTE_ADVICE,
                                         .text = {"chmod a+r it", 12}};
    const struct vti_energy_fact machine = {.type = VTI_ENERGY_FACT_MACHINE,
                                            .host = 1,
                                            .domain = 2,
                                            .cpus = 64,
                                            .memory_bytes = (uint64_t)1 << 40};
    struct vti_energy_fact got;

    (void)state;
    round_trip(&rest, &got);
    assert_int_equal(got.microwatts, 31500000);
    assert_int_equal(got.for_ns, 10000000000);
    round_trip(&note, &got);
    assert_int_equal(got.about, VTI_ENERGY_NOTE_ADVICE);
    assert_memory_equal(got.text.data, "chmod a+r it", 12);
    round_trip(&machine, &got);
    assert_int_equal(got.domain, 2);
    assert_int_equal(got.memory_bytes, (uint64_t)1 << 40);
}

static void refused(const char *bytes, size_t len)
{
    struct vti_energy_fact fact;
    struct vti_buf out = {0};

    vti_buf_add(&out, bytes, len);
    assert_false(read_energy(&out, len, &fact));
    vti_buf_fini(&out);
}

#define REFUSED(bytes) refused(bytes, sizeof bytes - 1)

static void hostile(void **state)
{
    struct vti_energy_fact fact;
    struct vti_buf out = {0};

    (void)state;
    REFUSED("\x01\x0a\x00\x40\x00\x00\x00\x00\x00\x00\x00\x00"); /* source 64 */
    REFUSED("\x01\x0a\x00\x00\x00\x00\x41\x00\x00\x00\x00\x00"); /* inside of source 64 */
    REFUSED("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");     /* longer than all there is */
    REFUSED("\x02\x04\x00\x01\x03\x05");                         /* a value and no second one */
    REFUSED("\x01\x0a\x00\x00\x00\x00\x00\x00\x00\x7f\x00\x00"); /* a name past its end */
    vti_buf_add(&out, "\x63\x02zz", 4); /* of a later version: stepped over */
    assert_true(read_energy(&out, out.len, &fact));
    assert_int_equal(fact.type, 0x63);
    vti_buf_clear(&out);
    vti_buf_add(&out, "\x02\x07\x00\x01\x01\x05\x03zz", 9); /* more than this version knows */
    assert_true(read_energy(&out, out.len, &fact));
    assert_int_equal(fact.lost, 1); /* of what is not known nothing is lost */
    vti_buf_fini(&out);
}

static void cpu(void **state)
{
    const struct vti_cpu_fact fact = {UINT64_MAX, 2, UINT64_MAX, 3, UINT32_MAX, 4};
    struct vti_cpu_fact got;
    struct vti_buf out = {0};
    struct vti_reader in;

    (void)state;
    vti_cpu_fact_write(&out, &fact);
    for (size_t len = 0; len < out.len; len++) {
        vti_reader_init(&in, out.data, len);
        assert_false(vti_cpu_fact_read(&in, &got));
    }
    vti_reader_init(&in, out.data, out.len);
    assert_true(vti_cpu_fact_read(&in, &got));
    assert_int_equal(got.ticks, fact.ticks);
    assert_int_equal(got.cpu_ns, fact.cpu_ns);
    assert_int_equal(got.node, fact.node);
    assert_int_equal(got.line, fact.line);
    vti_buf_clear(&out);
    vti_buf_add(&out, "\0\0\0\0\xff\xff\xff\xff\x1f\0", 10); /* a node of more than 32 bits */
    vti_reader_init(&in, out.data, out.len);
    assert_false(vti_cpu_fact_read(&in, &got));
    vti_buf_fini(&out);
}

/* ---- the model ------------------------------------------------------------------------------- */

static void write_reading(struct vti_buf *out, uint64_t ticks, uint64_t known, uint64_t lost,
                          uint64_t first)
{
    struct vti_energy_fact fact = {
        .type = VTI_ENERGY_FACT_READING, .ticks = ticks, .known = known, .lost = lost};

    for (unsigned i = 0; i < 4; i++)
        fact.microjoules[i] = known >> i & 1 ? first + i : 0;
    vti_energy_fact_write(out, &fact);
}

/* Two ticks a nanosecond, the recording begins at tick 1,000. */
static void make(void)
{
    struct vti_buf out = {0};

    kit_clock(&kit, 2);
    kit_process(&kit, &(struct vti_process_fact){.process = 0, .pid = 7});
    kit_track(&kit, 5, 0, "main");
    vti_energy_fact_write(&out, &(struct vti_energy_fact){.type = VTI_ENERGY_FACT_SOURCE,
                                                          .number = 2,
                                                          .how = 1,
                                                          .inside_plus_one = 3, /* itself */
                                                          .milliwatts = 1500,
                                                          .name = {"a\0b", 3},
                                                          .from = {"perf", 4},
                                                          .note = {"", 0}});
    write_reading(&out, 3000, 5, 0, 100);
    write_reading(&out, 200, 0, 0, 0);
    write_reading(&out, 200, 4, 4, 200);
    kit_fact(&kit, VTI_ENERGY, &out, 4);
    vti_buf_clear(&out);
    write_reading(&out, 2000, 4, 0, 50); /* earlier, in a later block */
    kit_fact(&kit, VTI_ENERGY, &out, 1);
    vti_buf_clear(&out);
    vti_cpu_fact_write(&out, &(struct vti_cpu_fact){3000, 20, 7, VTI_CPU_RUNNING, 11, 12});
    vti_cpu_fact_write(&out, &(struct vti_cpu_fact){20, 6000, 9, 0, 0, 0});
    assert_int_equal(vti_writer_owned(kit.writer, VTI_THREAD_CPU, 5, &out, 2, 3020), 0);
    vti_buf_fini(&out);
}

static void in_order_of_time(void **state)
{
    struct vti_energy_log log;
    const struct vti_energy_log_tree *tree;
    const struct vti_cpu_track *track;
    vt_recording *recording;
    uint64_t value = 0;

    (void)state;
    make();
    kit_close(&kit);
    assert_int_equal(vt_recording_open(&recording, kit.path), 0);
    assert_int_equal(vti_energy_log_load(&log, recording), 0);
    assert_int_equal(log.tree_count, 1);
    tree = &log.trees[0];
    assert_int_equal(tree->source_count, 3);
    assert_false(tree->sources[0].is_defined);
    assert_true(tree->sources[2].is_defined);
    assert_string_equal(tree->sources[2].name, "a?b");
    assert_int_equal(tree->sources[2].inside, VT_NONE);
    assert_true(tree->sources[2].watts == 1.5);
    assert_int_equal(tree->reading_count, 4);
    assert_int_equal(tree->readings[0].time_ns, 500);
    assert_int_equal(tree->readings[3].time_ns, 1200);
    assert_true(vti_energy_log_value(tree, &tree->readings[0], 2, &value));
    assert_int_equal(value, 52);
    assert_false(vti_energy_log_value(tree, &tree->readings[0], 0, &value));
    assert_true(vti_energy_log_value(tree, &tree->readings[1], 0, &value));
    assert_int_equal(value, 100);
    assert_true(vti_energy_log_value(tree, &tree->readings[1], 2, &value));
    assert_int_equal(value, 102);
    assert_int_equal(tree->readings[2].known, 0);
    assert_int_equal(tree->readings[3].lost, 4);
    assert_false(vti_energy_log_value(tree, &tree->readings[3], 64, &value));
    track = vti_cpu_track_of(&log, recording, 0);
    assert_non_null(track);
    assert_int_equal(track->count, 2);
    assert_int_equal(track->points[0].time_ns, 1000);
    assert_int_equal(track->points[0].begin_ns, 990);
    assert_int_equal(track->points[0].node, 11);
    assert_int_equal(track->points[1].flags, 0);
    assert_true(track->points[1].begin_ns <= 0); /* longer than all time: since the start */
    vti_energy_log_fini(&log);
    vt_recording_close(recording);
}

static void damage_is_noted(void **state)
{
    struct vti_energy_log log;
    struct vt_recording_info info;
    struct vti_buf out = {0};
    vt_recording *recording;

    (void)state;
    make();
    vti_buf_add(&out, "\x01\x05\x00\x40\x00\x00\x00", 7);
    kit_fact(&kit, VTI_ENERGY, &out, UINT32_MAX); /* as many entries as it likes to say */
    assert_int_equal(vti_writer_owned(kit.writer, VTI_THREAD_CPU, 5, &out, UINT32_MAX, 1), 0);
    kit_close(&kit);
    assert_int_equal(vt_recording_open(&recording, kit.path), 0);
    assert_int_equal(vti_energy_log_load(&log, recording), 0);
    assert_int_equal(log.trees[0].reading_count, 4);
    vt_recording_info(recording, &info);
    assert_int_equal(info.damage_count, 2);
    assert_int_equal(info.unknown_blocks, 0);
    vti_energy_log_fini(&log);
    vt_recording_close(recording);
    vti_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources),
        cmocka_unit_test(readings),
        cmocka_unit_test(others),
        cmocka_unit_test(hostile),
        cmocka_unit_test(cpu),
        cmocka_unit_test_setup_teardown(in_order_of_time, kit_set_up, kit_tear_down),
        cmocka_unit_test_setup_teardown(damage_is_noted, kit_set_up, kit_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
