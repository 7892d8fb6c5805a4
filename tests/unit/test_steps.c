/* test_steps.c - STEPS blocks: entries round-trip, hostile ones are refused, the model reads and follows them, and sums are right. */
#include "analyze/steps.h"
#include "base/json_check.h"
#include "recording_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct vti_steps_head head = {1000, 1700000000000000000, 0.5};

static struct vti_step_fact fact_of(uint64_t number, const char *extra)
{
    return (struct vti_step_fact){.type = VTI_STEP_DONE,
                                  .site = 1,
                                  .number = number,
                                  .received = 1000 + 10 * number,
                                  .sent = 1004 + 10 * number,
                                  .messages = 1,
                                  .execute_ns = number,
                                  .pre_ns = VTI_STEP_UNKNOWN,
                                  .post_ns = VTI_STEP_UNKNOWN,
                                  .produce_ns = VTI_STEP_UNKNOWN,
                                  .lag_ns = VTI_STEP_LAG_UNKNOWN,
                                  .extra = vti_bytes_of(extra)};
}

/* ---- entries ------------------------------------------------------------------------------------- */

static void assert_same(const struct vti_step_fact *a, const struct vti_step_fact *b)
{
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->site, b->site);
    assert_int_equal(a->number, b->number);
    assert_int_equal(a->is_failed, b->is_failed);
    assert_int_equal(a->is_metrics, b->is_metrics);
    assert_int_equal(a->is_cut, b->is_cut);
    assert_int_equal(a->received, b->received);
    assert_int_equal(a->sent, b->sent);
    assert_int_equal(a->messages, b->messages);
    assert_int_equal(a->execute_ns, b->execute_ns);
    assert_int_equal(a->pre_ns, b->pre_ns);
    assert_int_equal(a->post_ns, b->post_ns);
    assert_int_equal(a->produce_ns, b->produce_ns);
    assert_int_equal(a->lag_ns, b->lag_ns);
    assert_int_equal(a->extra.len, b->extra.len);
    assert_memory_equal(a->extra.data, b->extra.data, a->extra.len);
}

static void entries(void **state)
{
    struct vti_step_fact all[] = {fact_of(1, ""), fact_of(2, "\"candid\":\"1\""),
                                  fact_of(7, "\"candid\":\"12\""), fact_of(3, ""),
                                  fact_of(UINT64_MAX, "\"candid\":\"12\"")};
    struct vti_step_codec to = {0}, from = {0};
    struct vti_step_fact got;
    struct vti_buf out = {0};
    struct vti_reader in;

    (void)state;
    all[1].is_failed = true;
    all[1].messages = 0;
    all[1].pre_ns = 0;
    all[1].post_ns = UINT64_MAX - 1;
    all[2].produce_ns = 5;
    all[2].lag_ns = -1;
    all[2].messages = UINT64_MAX;
    all[3].is_metrics = true;
    all[3].execute_ns = VTI_STEP_UNKNOWN;
    all[3].lag_ns = INT64_MAX;
    all[4].sent = UINT64_MAX;
    all[4].received = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        vti_step_write(&out, &to, &all[i]);
    assert_false(out.failed);
    vti_reader_init(&in, out.data, out.len);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_true(vti_step_read(&in, &from, &got));
        assert_same(&all[i], &got);
    }
    assert_int_equal(vti_reader_left(&in), 0);
    vti_step_codec_fini(&to);
    vti_step_codec_fini(&from);
    vti_buf_fini(&out);
}

/* Each beginning of an entry is none, read where there is no byte to spare. */
static void cut_off(void **state)
{
    struct vti_step_fact fact = fact_of(300, "\"candid\":\"1\"");
    struct vti_step_codec codec = {0};
    struct vti_step_fact got;
    struct vti_buf out = {0};

    (void)state;
    fact.lag_ns = 77;
    fact.messages = 5;
    vti_step_write(&out, &codec, &fact);
    for (size_t len = 0; len <= out.len; len++) {
        uint8_t *copy = malloc(len + 1);
        struct vti_reader in;

        assert_non_null(copy);
        memcpy(copy + 1, out.data, len);
        vti_reader_init(&in, copy + 1, len);
        vti_step_codec_clear(&codec);
        assert_int_equal(vti_step_read(&in, &codec, &got), len == out.len);
        free(copy);
    }
    vti_step_codec_fini(&codec);
    vti_buf_fini(&out);
}

/* A text of the most bytes is kept, a longer one is left out whole; a file that has one all the same does not parse. */
static void long_texts(void **state)
{
    char *text = calloc(1, VTI_STEP_EXTRA_MAX + 2);
    struct vti_step_fact fact = fact_of(1, "");
    struct vti_step_codec codec = {0};
    struct vti_step_fact got;
    struct vti_buf out = {0};
    struct vti_reader in;

    (void)state;
    assert_non_null(text);
    memset(text, 'x', VTI_STEP_EXTRA_MAX + 1);
    for (size_t more = 0; more < 2; more++) {
        fact.extra = (struct vti_bytes){text, VTI_STEP_EXTRA_MAX + more};
        vti_buf_clear(&out);
        vti_step_codec_clear(&codec);
        vti_step_write(&out, &codec, &fact);
        vti_step_codec_clear(&codec);
        vti_reader_init(&in, out.data, out.len);
        assert_true(vti_step_read(&in, &codec, &got));
        assert_int_equal(got.extra.len, more ? 0 : VTI_STEP_EXTRA_MAX);
        assert_int_equal(got.is_cut, more);
    }
    fact.extra = (struct vti_bytes){text, VTI_STEP_EXTRA_MAX};
    vti_buf_clear(&out);
    vti_step_codec_clear(&codec);
    vti_step_write(&out, &codec, &fact);
    vti_step_codec_clear(&codec);
    vti_buf_add(&codec.extra, "y", 1);
    out.data[out.len - VTI_STEP_EXTRA_MAX - 4] = 1; /* … behind one byte of the text before */
    vti_reader_init(&in, out.data, out.len);
    assert_false(vti_step_read(&in, &codec, &got));
    vti_step_codec_fini(&codec);
    vti_buf_fini(&out);
    free(text);
}

static void heads(void **state)
{
    static const double bad[] = {0, -1, 1e10, 1.0 / 0.0, 0.0 / 0.0};
    struct vti_steps_head got = head;
    struct vti_buf out = {0};
    struct vti_reader in;

    (void)state;
    assert_int_equal(vti_steps_realtime(&head, 1000), head.realtime_ns);
    assert_int_equal(vti_steps_realtime(&head, 1003), head.realtime_ns + 1);
    assert_int_equal(vti_steps_realtime(&head, 997), head.realtime_ns - 1);
    got.ns_per_tick = 1e9;
    assert_int_equal(vti_steps_realtime(&got, INT64_MAX), INT64_MAX);
    assert_int_equal(vti_steps_realtime(&got, UINT64_MAX), INT64_MAX);
    got.ticks = UINT64_MAX;
    assert_int_equal(vti_steps_realtime(&got, 0), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        vti_buf_clear(&out);
        vti_steps_head_write(&out, &(struct vti_steps_head){1, 1, bad[i]});
        vti_reader_init(&in, out.data, out.len);
        assert_false(vti_steps_head_read(&in, &got));
    }
    vti_buf_clear(&out);
    vti_steps_head_write(&out, &head);
    assert_int_equal(out.len, VTI_STEPS_HEAD_BYTES);
    vti_reader_init(&in, out.data, out.len);
    assert_true(vti_steps_head_read(&in, &got));
    assert_memory_equal(&got, &head, sizeof got);
    vti_reader_init(&in, out.data, out.len - 1);
    assert_false(vti_steps_head_read(&in, &got));
    vti_buf_fini(&out);
}

/* ---- recordings ---------------------------------------------------------------------------------- */

/* A block of messages `first` to before `end`; `tail` bytes follow that do not belong there. */
static void add_block(uint32_t process, uint64_t first, uint64_t end, size_t tail)
{
    struct vti_step_codec codec = {0};
    struct vti_buf out = {0};
    char extra[32];

    vti_steps_head_write(&out, &head);
    for (uint64_t i = first; i < end; i++) {
        struct vti_step_fact fact;

        snprintf(extra, sizeof extra, "\"n\":%llu", (unsigned long long)i);
        fact = fact_of(i, extra);
        fact.is_failed = i % 10 == 3;
        fact.messages = fact.is_failed ? 4 : 1;
        fact.lag_ns = i % 2 ? (int64_t)i : VTI_STEP_LAG_UNKNOWN;
        vti_step_write(&out, &codec, &fact);
    }
    vti_buf_add_zeros(&out, tail);
    assert_int_equal(vti_writer_owned(kit.writer, VTI_STEPS, process, &out, (uint32_t)(end - first),
                                      1004 + 10 * end),
                     0);
    vti_step_codec_fini(&codec);
    vti_buf_fini(&out);
}

static void start_recording(void)
{
    struct vti_buf out = {0};

    kit_clock(&kit, 2);
    vti_host_write(&out, &(struct vti_host_fact){.name = vti_bytes_of("here")});
    kit_fact(&kit, VTI_HOST, &out, 1);
    kit_process(&kit, &(struct vti_process_fact){
                          .process = 4, .pid = 77, .start = 1000, .name = vti_bytes_of("program")});
    vti_buf_clear(&out);
    vti_site_write(&out, &(struct vti_site_fact){.site = 1,
                                                 .type = VTI_SITE_STEP,
                                                 .name = vti_bytes_of("Classifier"),
                                                 .function = vti_bytes_of("pipeline"),
                                                 .unit = vti_bytes_of("ztf")});
    kit_fact(&kit, VTI_SITES, &out, 1);
    vti_buf_fini(&out);
}

/* Reads on; the numbers must be `first` to before `end`, and then nothing. */
static void assert_numbers(struct vti_step_log *log, uint64_t first, uint64_t end)
{
    struct vti_step step;

    for (uint64_t i = first; i < end; i++) {
        assert_int_equal(vti_step_log_next(log, &step), 1);
        assert_int_equal(step.number, i);
        assert_int_equal(step.sent_ns, head.realtime_ns + (int64_t)(5 * i + 2));
        assert_int_equal(step.received_ns, head.realtime_ns + (int64_t)(5 * i));
    }
    assert_int_equal(vti_step_log_next(log, &step), 0);
}

static void told(void **state)
{
    struct vti_step_log log;
    vt_recording *recording;
    struct vti_step step;

    (void)state;
    start_recording();
    add_block(4, 1, 3, 0);
    kit_close(&kit);
    recording = kit_open(&kit);
    assert_true(vti_steps_are_there(recording));
    assert_int_equal(vti_steps_lost(recording), 0);
    vti_step_log_init(&log, recording, NULL);
    assert_int_equal(vti_step_log_next(&log, &step), 1);
    assert_string_equal(step.source, "Classifier");
    assert_string_equal(step.prefix, "pipeline");
    assert_string_equal(step.survey, "ztf");
    assert_string_equal(step.host, "here");
    assert_string_equal(step.process_name, "program");
    assert_int_equal(step.pid, 77);
    assert_int_equal(step.process, 4);
    assert_int_equal(step.process_start_ns, recording->facts.clocks.start_realtime_ns);
    assert_int_equal(step.time_ns, 7);
    assert_int_equal(step.begin_ns, 5);
    assert_true(step.is_json);
    assert_int_equal(step.extra.len, 5);
    assert_memory_equal(step.extra.data, "\"n\":1", 5);
    vti_step_log_fini(&log);
    vt_recording_close(recording);
}

/* From each place on, in a closed recording and in one that has no end. */
static void places(void **state)
{
    bool closes = *state != NULL;
    struct vti_step_place kept[21] = {{0, 0}};
    struct vti_step_log log;
    vt_recording *recording;
    struct vti_step step;

    start_recording();
    kit_track(&kit, 0, 4, "main");
    add_block(4, 1, 8, 0);
    kit_site(&kit, 5, "between");
    kit_begin(&kit, 0, 1100, 5);
    kit_end(&kit, 0, 1200);
    kit_cut(&kit, 0);
    add_block(4, 8, 9, 0);
    add_block(4, 9, 21, 0);
    if (closes)
        kit_close(&kit);
    else
        kit_abandon(&kit);
    recording = kit_open(&kit);
    vti_step_log_init(&log, recording, NULL);
    for (unsigned i = 1; i <= 20; i++) {
        assert_int_equal(vti_step_log_next(&log, &step), 1);
        kept[i] = vti_step_log_place(&log);
    }
    vti_step_log_fini(&log);
    for (unsigned i = 0; i <= 20; i++) {
        vti_step_log_init(&log, recording, &kept[i]);
        assert_numbers(&log, i + 1, 21);
        vti_step_log_fini(&log);
    }
    for (unsigned i = 0; i < 4000; i++) { /* anything that a file may say was a place */
        const struct vti_step_place any = {i < 3990 ? i : UINT64_MAX - i % 10, i * 7};

        vti_step_log_init(&log, recording, &any);
        for (unsigned k = 0; vti_step_log_next(&log, &step) > 0; k++)
            assert_true(k < 20);
        vti_step_log_fini(&log);
    }
    assert_int_equal(recording->damage.count, 0);
    vt_recording_close(recording);
}

/* What comes while it is being read is seen after refreshing, also in the middle of a block. */
static void followed(void **state)
{
    struct vti_step_log log;
    vt_recording *recording;
    struct vti_step step;

    (void)state;
    start_recording();
    add_block(4, 1, 4, 0);
    kit_flush(&kit);
    recording = kit_open(&kit);
    vti_step_log_init(&log, recording, NULL);
    assert_int_equal(vti_step_log_next(&log, &step), 1);
    add_block(4, 4, 9, 0);
    kit_flush(&kit);
    assert_true(vt_recording_refresh(recording) > 0);
    assert_numbers(&log, 2, 9);
    assert_int_equal(vt_recording_refresh(recording), 0);
    assert_numbers(&log, 9, 9);
    for (uint64_t i = 9; i < 30; i++) {
        add_block(4, i, i + 1, 0);
        kit_flush(&kit);
        assert_true(vt_recording_refresh(recording) > 0);
        assert_numbers(&log, i, i + 1);
    }
    add_block(4, 30, 40, 0);
    kit_close(&kit);
    assert_true(vt_recording_refresh(recording) > 0);
    assert_numbers(&log, 30, 40);
    vti_step_log_fini(&log);
    vt_recording_close(recording);
}

static void damaged(void **state)
{
    struct vti_step_log log;
    vt_recording *recording;
    struct vti_step step;
    uint8_t *bytes;
    size_t size;
    unsigned count = 0;

    (void)state;
    start_recording();
    add_block(4, 1, 5, 0);
    add_block(4, 5, 9, 3); /* its entries count, what follows them does not */
    add_block(4, 9, 12, 0);
    kit_close(&kit);
    bytes = kit_read(&kit, &size);
    for (size_t i = 0; i + 5 < size; i++)
        if (!memcmp(bytes + i, "\"n\":1", 5)) {
            bytes[i + 4] = '2'; /* the first block's checksum is wrong now */
            break;
        }
    kit_write(&kit, bytes, size);
    free(bytes);
    recording = kit_open(&kit);
    vti_step_log_init(&log, recording, NULL);
    while (vti_step_log_next(&log, &step) > 0)
        assert_int_equal(step.number, 5 + count++);
    assert_int_equal(count, 7);
    assert_int_equal(recording->damage.count, 2);
    vti_step_log_fini(&log);
    vt_recording_close(recording);
}

/* ---- sums ---------------------------------------------------------------------------------------- */

static void sums(void **state)
{
    struct vti_step_sums sums;
    struct vti_step_sum *sum;
    vt_recording *recording;
    struct vti_loss_fact loss = {
        .reason = VTI_LOSS_STEPS, .process_plus_one = 5, .events = 3, .first = 1, .last = 2};

    (void)state;
    start_recording();
    add_block(4, 1, 501, 0);
    add_block(9, 501, 1001, 0);
    assert_int_equal(vti_writer_loss(kit.writer, &loss), 0);
    loss.reason = VTI_LOSS_STEPS_DISK;
    assert_int_equal(vti_writer_loss(kit.writer, &loss), 0);
    loss.reason = VTI_LOSS_BUFFERS;
    assert_int_equal(vti_writer_loss(kit.writer, &loss), 0);
    kit_close(&kit);
    recording = kit_open(&kit);
    assert_int_equal(vti_step_sums_load(&sums, recording), 0);
    assert_int_equal(sums.ids.count, 1);
    assert_int_equal(sums.lost, 6);
    sum = &sums.sums[0];
    assert_int_equal(sum->entries, 1000);
    assert_int_equal(sum->failed_entries, 100);
    assert_int_equal(sum->failed, 400);
    assert_int_equal(sum->messages, 1300);
    assert_int_equal(sum->measured[VTI_STEP_EXECUTE].least, 1);
    assert_int_equal(sum->measured[VTI_STEP_EXECUTE].most, 1000);
    assert_true(sum->measured[VTI_STEP_EXECUTE].sum == 500500);
    assert_in_range(vti_step_quantile(&sum->measured[VTI_STEP_EXECUTE], 0.5), 495, 505);
    assert_in_range(vti_step_quantile(&sum->measured[VTI_STEP_EXECUTE], 0.99), 980, 1000);
    assert_int_equal(sum->measured[VTI_STEP_LAG].count, 500);
    assert_int_equal(sum->measured[VTI_STEP_PRE].count, 0);
    assert_int_equal(vti_step_quantile(&sum->measured[VTI_STEP_PRE], 0.5), 0);
    assert_int_equal(sum->measured[VTI_STEP_BATCH].most, 4);
    vti_step_sums_fini(&sums);
    vt_recording_close(recording);
}

/* ---- members of a JSON object -------------------------------------------------------------------- */

static void members(void **state)
{
    static const char *const good[] = {
        "",
        " \t",
        "\"a\":1",
        "\"a\":-0.5e+10 , \"b\" : [ ] ,\"c\":{}",
        "\"a\":[1,[2,{\"x\":[{}]}],true,false,null]",
        "\"\\u00e9\\n\\\"\":\"\303\251\"",
    };
    static const char *const bad[] = {
        "a",
        "\"a\"",
        "\"a\":",
        "\"a\":1,",
        ",\"a\":1",
        "\"a\":1 \"b\":2",
        "\"a\":01",
        "\"a\":1.",
        "\"a\":+1",
        "\"a\":NaN",
        "\"a\":.5",
        "\"a\":1e",
        "\"a\":}",
        "\"a\":1}",
        "\"a\":1},{",
        "\"a\":[1}",
        "\"a\":[1,]",
        "\"a\":{\"b\"}",
        "\"a\":{",
        "\"a\":\"\n\"",
        "\"a\":1\n",
        "\"a\":\"\\x\"",
        "\"a\":\"\\u12g4\"",
        "\"a\":\"\377\"",
        "\"a\":tru",
        "\"a\":truefalse",
        "\"a",
        "\"a\":\"b",
        "\"a\":\"b\\",
        "{\"a\":1}",
        "1",
        "[]",
    };
    char deep[600];

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!vti_json_are_members(good[i], strlen(good[i])))
            fail_msg("refused: %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (vti_json_are_members(bad[i], strlen(bad[i])))
            fail_msg("taken: %s", bad[i]);
    assert_false(vti_json_are_members("\"a\":\0001", 6));
    memcpy(deep, "\"a\":", 4);
    for (size_t depth = 250; depth < 290; depth++) {
        memset(deep + 4, '[', depth);
        memset(deep + 4 + depth, ']', depth);
        assert_int_equal(vti_json_are_members(deep, 4 + 2 * depth), depth < 256);
    }
}

#define WITH_KIT(test) cmocka_unit_test_setup_teardown(test, kit_set_up, kit_tear_down)

static int set_up_closed(void **state)
{
    int code = kit_set_up(state);

    *state = &kit;
    return code;
}

static int set_up_open(void **state)
{
    int code = kit_set_up(state);

    *state = NULL;
    return code;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries),
        cmocka_unit_test(cut_off),
        cmocka_unit_test(long_texts),
        cmocka_unit_test(heads),
        WITH_KIT(told),
        cmocka_unit_test_setup_teardown(places, set_up_closed, kit_tear_down),
        cmocka_unit_test_setup_teardown(places, set_up_open, kit_tear_down),
        WITH_KIT(followed),
        WITH_KIT(damaged),
        WITH_KIT(sums),
        cmocka_unit_test(members),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
