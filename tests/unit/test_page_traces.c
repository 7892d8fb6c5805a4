/* test_page_traces.c - a page of traces that were made by hand: its directory, what it says of several, and of none. */
#include "base/buf.h"
#include "page/traces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)
#define BEGIN (1800000000 * SECOND)

static int take(void *arg, const void *bytes, size_t count)
{
    vti_buf_add(arg, bytes, count);
    return 0;
}

static bool has_text(const struct vti_buf *page, const char *text)
{
    return memmem(page->data, page->len, text, strlen(text));
}

static struct vti_buf page_of(const struct vti_traces *traces)
{
    static const char *const files[] = {"/tmp/api.vt", "/tmp/db.vt"};
    struct vti_buf page = {0};
    struct vti_sink sink = {take, &page};

    assert_int_equal(vti_page_traces(traces, files, 2, NULL, &sink), 0);
    assert_false(page.failed);
    return page;
}

static struct vti_trace_attr attrs[] = {
    {"statement", {.type = VTI_VALUE_TEXT, .text = {"</script>", 9}}, true},
    {"rows", {.type = VTI_VALUE_UINT, .u = UINT64_MAX}, false},
    {"nothing", {.type = VTI_VALUE_NONE}, false},
};

/* A root that calls what fails, in another service whose clock was a second ahead. */
static struct vti_trace_span spans[] = {
    {.id = {1},
     .name = "GET </script>",
     .thread = "main",
     .begin_ns = BEGIN,
     .end_ns = BEGIN + 10 * SECOND,
     .self_ns = 4 * SECOND,
     .error_type = "",
     .error_message = "",
     .parent = VTI_NO_SPAN,
     .first_child = 1,
     .next = VTI_NO_SPAN,
     .is_finished = true,
     .is_critical = true},
    {.id = {2},
     .parent_id = {1},
     .name = "query",
     .process = 1,
     .thread = "worker",
     .begin_ns = BEGIN + 2 * SECOND,
     .end_ns = BEGIN + 8 * SECOND,
     .self_ns = 6 * SECOND,
     .error_type = "Timeout</script>",
     .error_message = "after 6 s </script>",
     .attrs = attrs,
     .attr_count = 3,
     .first_child = VTI_NO_SPAN,
     .next = VTI_NO_SPAN,
     .depth = 1,
     .is_finished = true,
     .has_error = true,
     .is_critical = true},
};

static struct vti_trace_process processes[] = {
    {.service = "api", .project = "shop", .host = "ctl", .pid = 1},
    {.service = "db", .project = "", .host = "db-1", .pid = 2, .recording = 1, .skew_ns = -SECOND},
};

static struct vti_trace trace = {.base = {0xf1, 0x2e},
                                 .begin_ns = BEGIN,
                                 .end_ns = BEGIN + 10 * SECOND,
                                 .spans = spans,
                                 .span_count = 2,
                                 .error_count = 1,
                                 .service_count = 2,
                                 .host_count = 2};

static void test_one(void **state)
{
    struct vti_traces traces = {.traces = &trace,
                                .trace_count = 1,
                                .processes = processes,
                                .process_count = 2,
                                .duplicate_spans = 1};
    struct vti_buf page = page_of(&traces);

    (void)state;
    assert_true(has_text(&page, "\"kind\":\"traces\",\"title\":\"GET \\u003c/script\\u003e\""));
    assert_true(has_text(&page, "\"files\":[\"/tmp/api.vt\",\"/tmp/db.vt\"]"));
    assert_true(has_text(&page, "{\"name\":\"traces\",\"rows\":1,"));
    assert_true(has_text(&page, "{\"name\":\"trace_processes\",\"rows\":2,"));
    assert_true(has_text(&page, "{\"name\":\"trace_spans\",\"rows\":2,"));
    assert_true(has_text(&page, "{\"name\":\"trace_attrs\",\"rows\":3,"));
    assert_true(has_text(&page, "\"start_unix_ms\":1800000000000,\"duration_ns\":10000000000"));
    assert_true(has_text(&page, "1 span failed in the trace; it began with query in db: "
                                "Timeout\\u003c/script\\u003e."));
    assert_true(has_text(&page, "\"refs\":[{\"trace\":0,\"span\":1}]"));
    assert_true(has_text(&page, "The trace took 10.0 s, 60 % of it within query (db) itself"));
    assert_true(has_text(&page, "Clocks of services differed"));
    assert_true(has_text(&page, "1 span of traces stood in two files"));
    vti_buf_fini(&page);
}

static void test_several_and_none(void **state)
{
    struct vti_trace two[] = {trace, trace};
    struct vti_traces traces = {
        .traces = two, .trace_count = 2, .processes = processes, .process_count = 2};
    struct vti_buf page;

    (void)state;
    two[1].base[0] = 7;
    two[1].error_count = 0;
    page = page_of(&traces);
    assert_true(has_text(&page, "\"title\":\"2 traces\""));
    assert_true(has_text(&page, "{\"name\":\"trace_spans\",\"rows\":4,"));
    assert_true(has_text(&page, "1 span failed in 1 of 2 traces; it began with query"));
    assert_true(has_text(&page, "took 10.0 s (the middle one 10.0 s), 60 % of it within query"));
    vti_buf_fini(&page);
    page = page_of(&(struct vti_traces){0});
    assert_true(has_text(&page, "\"tables\":[]"));
    assert_true(has_text(&page, "\"findings\":[]"));
    vti_buf_fini(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one),
                                       cmocka_unit_test(test_several_and_none)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
