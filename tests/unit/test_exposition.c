/* test_exposition.c - both formats of Prometheus byte for byte, and which of them a header asks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/accept.h"
#include "live/exposition.h"

#include <math.h>
#include <string.h>

static struct vti_buf written;

static struct vti_metrics_out begin(enum vti_exposition format)
{
    struct vti_metrics_out metrics;

    vti_buf_clear(&written);
    vti_exposition_begin(&metrics, format, &written);
    return metrics;
}

static void expect(struct vti_metrics_out *metrics, const char *wanted)
{
    assert_int_equal(vti_exposition_end(metrics), 0);
    vti_buf_add_u8(&written, 0);
    assert_string_equal((const char *)written.data, wanted);
}

static int forget(void **state)
{
    (void)state;
    vti_buf_fini(&written);
    return 0;
}

static void test_counter_in_text(void **state)
{
    struct vti_metrics_out metrics = begin(VTI_EXPOSITION_TEXT);

    (void)state;
    vti_exposition_family(&metrics, VTI_METRIC_COUNTER, "venturi_read_bytes", "bytes", "Read.");
    vti_exposition_count(&metrics, NULL, 0, UINT64_C(12345678901234567));
    expect(&metrics, "# HELP venturi_read_bytes_total Read.\n"
                     "# TYPE venturi_read_bytes_total counter\n"
                     "venturi_read_bytes_total 12345678901234567\n");
}

static void test_counter_in_openmetrics(void **state)
{
    struct vti_metrics_out metrics = begin(VTI_EXPOSITION_OPENMETRICS);

    (void)state;
    vti_exposition_family(&metrics, VTI_METRIC_COUNTER, "venturi_read_bytes", "bytes", "Read.");
    vti_exposition_sample(&metrics, &(struct vti_label){"mode", "user"}, 1, 0.25);
    expect(&metrics, "# HELP venturi_read_bytes Read.\n"
                     "# TYPE venturi_read_bytes counter\n"
                     "# UNIT venturi_read_bytes bytes\n"
                     "venturi_read_bytes_total{mode=\"user\"} 0.25\n"
                     "# EOF\n");
}

static void test_created(void **state)
{
    struct vti_metrics_out metrics = begin(VTI_EXPOSITION_OPENMETRICS);

    (void)state;
    metrics.created_s = 1520430000.123;
    vti_exposition_family(&metrics, VTI_METRIC_COUNTER, "a", NULL, "A.");
    vti_exposition_count(&metrics, &(struct vti_label){"mode", "user"}, 1, 3);
    vti_exposition_family(&metrics, VTI_METRIC_GAUGE, "b", NULL, "B.");
    vti_exposition_count(&metrics, NULL, 0, 4);
    vti_exposition_family(&metrics, VTI_METRIC_SUMMARY, "c", NULL, "C.");
    vti_exposition_summary(&metrics, NULL, 0, 1.5, 2);
    expect(&metrics,
           "# HELP a A.\n# TYPE a counter\na_total{mode=\"user\"} 3\n"
           "a_created{mode=\"user\"} 1520430000.123\n"
           "# HELP b B.\n# TYPE b gauge\nb 4\n"
           "# HELP c C.\n# TYPE c summary\nc_sum 1.5\nc_count 2\nc_created 1520430000.123\n"
           "# EOF\n");
}

static void test_info(void **state)
{
    struct vti_metrics_out metrics = begin(VTI_EXPOSITION_TEXT);

    (void)state;
    vti_exposition_family(&metrics, VTI_METRIC_INFO, "venturi_build", NULL, "Version.");
    vti_exposition_count(&metrics, &(struct vti_label){"version", "1"}, 1, 1);
    expect(&metrics, "# HELP venturi_build_info Version.\n"
                     "# TYPE venturi_build_info gauge\n"
                     "venturi_build_info{version=\"1\"} 1\n");
    metrics = begin(VTI_EXPOSITION_OPENMETRICS);
    vti_exposition_family(&metrics, VTI_METRIC_INFO, "venturi_build", NULL, "Version.");
    vti_exposition_count(&metrics, &(struct vti_label){"version", "1"}, 1, 1);
    expect(&metrics, "# HELP venturi_build Version.\n"
                     "# TYPE venturi_build info\n"
                     "venturi_build_info{version=\"1\"} 1\n"
                     "# EOF\n");
}

static void test_nothing_is_valid(void **state)
{
    struct vti_metrics_out metrics = begin(VTI_EXPOSITION_OPENMETRICS);

    (void)state;
    expect(&metrics, "# EOF\n");
}

static void test_labels_are_quoted_and_repaired(void **state)
{
    struct vti_metrics_out metrics = begin(VTI_EXPOSITION_TEXT);
    struct vti_label labels[] = {
        {"a", "x\"y\\z\nw"}, {"b", "caf\xc3\xa9 \xff\r\t"}, {"c", ""}, {"d", NULL}};

    (void)state;
    vti_exposition_family(&metrics, VTI_METRIC_GAUGE, "g", NULL, "G.");
    vti_exposition_sample(&metrics, labels, 4, 1);
    vti_exposition_sample(&metrics, labels + 2, 2, -1.5);
    expect(&metrics,
           "# HELP g G.\n# TYPE g gauge\n"
           "g{a=\"x\\\"y\\\\z\\nw\",b=\"caf\xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"} 1\n"
           "g -1.5\n");
}

static void test_long_labels_are_cut_at_a_character(void **state)
{
    char text[VTI_LABEL_MOST + 20], label[VTI_LABEL_MOST + 1];

    (void)state;
    memset(text, 'x', sizeof text);
    memcpy(text + VTI_LABEL_MOST - 1, "\xc3\xa9 and more", 12);
    vti_label_text(label, text);
    assert_int_equal(strlen(label), VTI_LABEL_MOST - 1);
    text[VTI_LABEL_MOST - 2] = '\xff'; /* three bytes when it is repaired */
    vti_label_text(label, text);
    assert_int_equal(strlen(label), VTI_LABEL_MOST - 2);
    vti_label_text(label, NULL);
    assert_string_equal(label, "");
}

static void test_numbers(void **state)
{
    struct vti_metrics_out metrics = begin(VTI_EXPOSITION_TEXT);

    (void)state;
    vti_exposition_family(&metrics, VTI_METRIC_GAUGE, "g", NULL, "G.");
    vti_exposition_sample(&metrics, NULL, 0, NAN);
    vti_exposition_sample(&metrics, NULL, 0, INFINITY);
    vti_exposition_sample(&metrics, NULL, 0, -INFINITY);
    vti_exposition_sample(&metrics, NULL, 0, 0.1);
    vti_exposition_sample(&metrics, NULL, 0, 1e300);
    expect(&metrics, "# HELP g G.\n# TYPE g gauge\ng NaN\ng +Inf\ng -Inf\ng 0.1\ng 1e+300\n");
}

static void write_histogram(struct vti_metrics_out *metrics)
{
    static const int64_t bounds[] = {1000, 2500000, 1000000000};
    static const uint64_t buckets[] = {2, 0, 3, 1};
    static const struct vti_exemplar exemplars[] = {
        {.trace_id = NULL},
        {.trace_id = "0af7651916cd43dd8448eb211c80319c", .value = 0.5}, /* not in this bucket */
        {.trace_id = "0af7651916cd43dd8448eb211c80319c", .value = 0.5, .unix_s = 1700000000.5},
        {.trace_id = "b7ad6b7169203331", .value = 7},
    };

    vti_exposition_family(metrics, VTI_METRIC_HISTOGRAM, "h_seconds", "seconds", "H.");
    vti_exposition_histogram(metrics, &(struct vti_label){"span", "x"}, 1,
                             &(struct vti_distribution){.bounds_ns = bounds,
                                                        .buckets = buckets,
                                                        .exemplars = exemplars,
                                                        .bucket_count = 4,
                                                        .sum = 9.25});
}

static void test_histogram(void **state)
{
    struct vti_metrics_out metrics = begin(VTI_EXPOSITION_TEXT);

    (void)state;
    write_histogram(&metrics);
    expect(&metrics, "# HELP h_seconds H.\n# TYPE h_seconds histogram\n"
                     "h_seconds_bucket{span=\"x\",le=\"1e-06\"} 2\n"
                     "h_seconds_bucket{span=\"x\",le=\"0.0025\"} 2\n"
                     "h_seconds_bucket{span=\"x\",le=\"1.0\"} 5\n"
                     "h_seconds_bucket{span=\"x\",le=\"+Inf\"} 6\n"
                     "h_seconds_sum{span=\"x\"} 9.25\n"
                     "h_seconds_count{span=\"x\"} 6\n");
}

static void test_exemplars(void **state)
{
    struct vti_metrics_out metrics = begin(VTI_EXPOSITION_OPENMETRICS);

    (void)state;
    write_histogram(&metrics);
    expect(&metrics,
           "# HELP h_seconds H.\n# TYPE h_seconds histogram\n# UNIT h_seconds seconds\n"
           "h_seconds_bucket{span=\"x\",le=\"1e-06\"} 2\n"
           "h_seconds_bucket{span=\"x\",le=\"0.0025\"} 2\n"
           "h_seconds_bucket{span=\"x\",le=\"1.0\"} 5 # "
           "{trace_id=\"0af7651916cd43dd8448eb211c80319c\"} 0.5 1700000000.5\n"
           "h_seconds_bucket{span=\"x\",le=\"+Inf\"} 6 # {trace_id=\"b7ad6b7169203331\"} 7\n"
           "h_seconds_sum{span=\"x\"} 9.25\n"
           "h_seconds_count{span=\"x\"} 6\n# EOF\n");
}

static void test_accept(void **state)
{
    static const struct {
        const char *header;
        enum vti_exposition wanted;
    } cases[] = {
        /* Prometheus 2.42; the same with native histograms; Prometheus 3; curl; a browser */
        {"application/openmetrics-text;version=1.0.0,application/"
         "openmetrics-text;version=0.0.1;q=0.75,"
         "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
         VTI_EXPOSITION_OPENMETRICS},
        {"application/"
         "vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,"
         "application/openmetrics-text;version=1.0.0;q=0.8,application/"
         "openmetrics-text;version=0.0.1;q=0.75,"
         "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
         VTI_EXPOSITION_OPENMETRICS},
        {"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
         "application/openmetrics-text;version=0.0.1;q=0.5,text/"
         "plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
         "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
         VTI_EXPOSITION_OPENMETRICS},
        {"*/*", VTI_EXPOSITION_TEXT},
        {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8",
         VTI_EXPOSITION_TEXT},
        /* Weights decide, names are read in any case, blanks are allowed */
        {"text/plain;q=0.9, application/openmetrics-text;q=0.8", VTI_EXPOSITION_TEXT},
        {"text/plain ; q=0.8 ,\tAPPLICATION/OpenMetrics-Text ; Q=0.9", VTI_EXPOSITION_OPENMETRICS},
        {"text/plain, application/openmetrics-text", VTI_EXPOSITION_OPENMETRICS},
        {"application/openmetrics-text; version=\"1.0.0\"", VTI_EXPOSITION_OPENMETRICS},
        {"application/openmetrics-text;q=0, */*", VTI_EXPOSITION_TEXT},
        {"application/openmetrics-text;q=0", VTI_EXPOSITION_TEXT},
        {"application/openmetrics-text;version=0.0.1", VTI_EXPOSITION_TEXT},
        {"application/openmetrics-text;version=2.0.0", VTI_EXPOSITION_TEXT},
        {"text/plain;version=0.0.4;q=0.2, */*;q=0.9, application/openmetrics-text;q=0.5",
         VTI_EXPOSITION_OPENMETRICS}, /* the closest range counts, not the first */
        {"application/*", VTI_EXPOSITION_TEXT},
        /* What makes no sense */
        {NULL, VTI_EXPOSITION_TEXT},
        {"", VTI_EXPOSITION_TEXT},
        {",,;;,=;q=,", VTI_EXPOSITION_TEXT},
        {"application/openmetrics-text;q=2", VTI_EXPOSITION_TEXT},
        {"application/openmetrics-text;q=1.5", VTI_EXPOSITION_TEXT},
        {"application/openmetrics-text;q=0.12345", VTI_EXPOSITION_TEXT},
        {"application/openmetrics-text;q=x", VTI_EXPOSITION_TEXT},
        {"application/openmetrics-text;q", VTI_EXPOSITION_OPENMETRICS},
        {"a;b=\"application/openmetrics-text, \\\"x", VTI_EXPOSITION_TEXT},
        {"a;b=\"x, y\", application/openmetrics-text", VTI_EXPOSITION_OPENMETRICS},
        {"a;b=\"\\", VTI_EXPOSITION_TEXT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (vti_accept_choose(cases[i].header) != cases[i].wanted)
            fail_msg("%s", cases[i].header);
    }
}

static void test_content_types(void **state)
{
    (void)state;
    assert_string_equal(vti_exposition_type(VTI_EXPOSITION_TEXT),
                        "text/plain; version=0.0.4; charset=utf-8");
    assert_string_equal(vti_exposition_type(VTI_EXPOSITION_OPENMETRICS),
                        "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counter_in_text),
        cmocka_unit_test(test_counter_in_openmetrics),
        cmocka_unit_test(test_created),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_nothing_is_valid),
        cmocka_unit_test(test_labels_are_quoted_and_repaired),
        cmocka_unit_test(test_long_labels_are_cut_at_a_character),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_exemplars),
        cmocka_unit_test(test_accept),
        cmocka_unit_test(test_content_types),
    };

    return cmocka_run_group_tests(tests, NULL, forget);
}
