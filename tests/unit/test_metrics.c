/* test_metrics.c - spans with the same label are one series, their number is bounded and none ever goes back; exemplars of traces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/metrics_impl.h"
#include "live/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 1300

static struct vti_live_group groups[MOST];
static char names[MOST][16];
static struct vti_live live = {.groups = groups};
static struct vti_buf written;

static void clear(void)
{
    for (size_t i = 0; i < MOST; i++)
        free(groups[i].exemplars);
    memset(groups, 0, sizeof groups);
    live.group_count = 0;
}

/* A span of that name, `count` of them with 3 us each. */
static struct vti_live_group *add(const char *name, uint64_t count)
{
    struct vti_live_group *group = &groups[live.group_count++];

    group->name = name;
    group->errors = 1;
    group->times.shown.count = count;
    group->times.shown.sum_ns = (int64_t)count * 3000;
    group->times.shown.buckets[vti_times_bucket(3000)] = count;
    return group;
}

static const char *write_spans(enum vti_exposition format)
{
    struct vti_metrics_out metrics;

    vti_buf_clear(&written);
    vti_exposition_begin(&metrics, format, &written);
    assert_int_equal(vti_metrics_spans(&metrics, &live), 0);
    assert_int_equal(vti_exposition_end(&metrics), 0);
    vti_buf_add_u8(&written, 0);
    return (const char *)written.data;
}

static void expect_line(const char *text, const char *line)
{
    const char *found = strstr(text, line);

    if (!found || (found != text && found[-1] != '\n'))
        fail_msg("no line %s", line);
}

static unsigned count_of(const char *text, const char *part)
{
    unsigned count = 0;

    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

static int forget(void **state)
{
    (void)state;
    clear();
    vti_buf_fini(&written);
    return 0;
}

static void test_no_spans(void **state)
{
    (void)state;
    clear();
    assert_string_equal(write_spans(VTI_EXPOSITION_TEXT), "");
}

static void test_one_name_at_two_places(void **state)
{
    const char *text;

    (void)state;
    clear();
    add("classify", 4);
    add("other", 1);
    add("classify", 6);
    add("bad \xff", 1); /* two that no label can tell apart */
    add("bad \xfe", 2);
    add("", 5);
    text = write_spans(VTI_EXPOSITION_TEXT);
    expect_line(text, "venturi_span_duration_seconds_count{span=\"classify\"} 10\n");
    expect_line(text, "venturi_span_duration_seconds_sum{span=\"classify\"} 3e-05\n");
    expect_line(text, "venturi_span_duration_seconds_bucket{span=\"classify\",le=\"2.5e-06\"} 0\n");
    expect_line(text, "venturi_span_duration_seconds_bucket{span=\"classify\",le=\"5e-06\"} 10\n");
    expect_line(text, "venturi_span_duration_seconds_bucket{span=\"classify\",le=\"+Inf\"} 10\n");
    expect_line(text, "venturi_span_errors_total{span=\"classify\"} 2\n");
    expect_line(text, "venturi_span_duration_seconds_count{span=\"bad \xef\xbf\xbd\"} 3\n");
    expect_line(text, "venturi_span_duration_seconds_count{span=\"(no name)\"} 5\n");
    assert_int_equal(count_of(text, "venturi_span_errors_total{"), 4);
}

static void test_names_are_bounded_and_keep_their_series(void **state)
{
    const char *text;

    (void)state;
    clear();
    for (size_t i = 0; i < 1000; i++) {
        snprintf(names[i], sizeof names[i], "span %zu", i);
        add(names[i], 1);
    }
    text = write_spans(VTI_EXPOSITION_TEXT);
    assert_int_equal(count_of(text, "venturi_span_duration_seconds_count{"), 1000);
    assert_int_equal(count_of(text, "(others)"), 0);
    for (size_t i = 1000; i < 1200; i++) {
        snprintf(names[i], sizeof names[i], "span %zu", i);
        add(names[i], 1000000); /* larger than all before: the order does not matter */
    }
    add("span 7", 2);    /* one that is known, at another place */
    add("(others)", 10); /* the state's own */
    text = write_spans(VTI_EXPOSITION_TEXT);
    assert_int_equal(count_of(text, "venturi_span_duration_seconds_count{"), 1001);
    expect_line(text, "venturi_span_duration_seconds_count{span=\"span 7\"} 3\n");
    expect_line(text, "venturi_span_duration_seconds_count{span=\"span 999\"} 1\n");
    expect_line(text, "venturi_span_duration_seconds_count{span=\"(others)\"} 200000010\n");
}

static void test_exemplars(void **state)
{
    static const uint8_t first[16] = {1}, second[16] = {2}, none[16];
    struct vti_live_group *one, *two;
    const char *text;

    (void)state;
    clear();
    one = add("request", 2);
    two = add("request", 1);
    vti_exemplars_note(&one->exemplars, none, 3000, 5000000000);
    assert_null(one->exemplars); /* not of a trace */
    vti_exemplars_note(&one->exemplars, first, 3000, 6000000000);
    vti_exemplars_note(&one->exemplars, second, 3100, 5000000000); /* older: told late */
    text = write_spans(VTI_EXPOSITION_OPENMETRICS);
    expect_line(text, "venturi_span_duration_seconds_bucket{span=\"request\",le=\"5e-06\"} 3 # "
                      "{trace_id=\"01000000000000000000000000000000\"} 3e-06 6\n");
    vti_exemplars_note(&two->exemplars, second, 4000, 7500000000); /* newer, of the other place */
    text = write_spans(VTI_EXPOSITION_OPENMETRICS);
    expect_line(text, "venturi_span_duration_seconds_bucket{span=\"request\",le=\"5e-06\"} 3 # "
                      "{trace_id=\"02000000000000000000000000000000\"} 4e-06 7.5\n");
    assert_int_equal(count_of(text, "trace_id"), 1);
    assert_int_equal(count_of(write_spans(VTI_EXPOSITION_TEXT), "trace_id"), 0);
}

static void test_labels_are_not_taken_for_each_other(void **state)
{
    struct vti_sums sums = {.most = 10};
    struct vti_label left[] = {{"a", "xy"}, {"b", ""}}, right[] = {{"a", "x"}, {"b", "y"}};

    (void)state;
    assert_ptr_not_equal(vti_sums_at(&sums, left, 2), vti_sums_at(&sums, right, 2));
    assert_ptr_equal(vti_sums_at(&sums, left, 2), vti_sums_at(&sums, left, 2));
    assert_int_equal(sums.count, 2);
    vti_sums_fini(&sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_spans),
        cmocka_unit_test(test_one_name_at_two_places),
        cmocka_unit_test(test_names_are_bounded_and_keep_their_series),
        cmocka_unit_test(test_exemplars),
        cmocka_unit_test(test_labels_are_not_taken_for_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, forget);
}
