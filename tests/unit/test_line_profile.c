/*
 * test_line_profile.c - line profiles of recordings written by hand: statements and lines, our own cost, threads, callees,
 * sources; what they sum up to; and where functions end in a text.
 */
#include "analyze/lines.h"
#include "analyze/source.h"
#include "format/lines.h"
#include "recording_kit.h"
#include "venturi/hook.h"

#include <iconv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAIN 1
#define HELPER 2

static void add_site(uint32_t id, const char *name, uint32_t line)
{
    struct vti_buf payload = {0};

    vti_site_write(&payload, &(struct vti_site_fact){.site = id,
                                                     .type = VTI_SITE_FUNCTION,
                                                     .name = vti_bytes_of(name),
                                                     .function = vti_bytes_of(name),
                                                     .file = vti_bytes_of("/a.py"),
                                                     .unit = vti_bytes_of("python"),
                                                     .line = line});
    kit_fact(&kit, VTI_SITES, &payload, 1);
    vti_buf_fini(&payload);
}

static void add_lines(uint32_t track, const struct vti_line_fact *facts, uint32_t count)
{
    struct vti_buf payload = {0};

    for (uint32_t i = 0; i < count; i++)
        vti_line_write(&payload, &facts[i]);
    assert_int_equal(vti_writer_owned(kit.writer, VTI_LINES, track, &payload, count, 0), 0);
    vti_buf_fini(&payload);
}

static void add_cost(void)
{
    struct vti_buf payload = {0};

    vti_cost_write(&payload, &(struct vti_cost_fact){.process = 0,
                                                     .language = VT_LANGUAGE_PYTHON_LINE,
                                                     .pair_millis = 10000});
    kit_fact(&kit, VTI_COSTS, &payload, 1);
    vti_buf_fini(&payload);
}

static void add_source(uint32_t process_plus_one, const char *text)
{
    struct vti_buf payload = {0};

    vti_source_write(&payload, &(struct vti_source_fact){.process_plus_one = process_plus_one,
                                                         .file = "/a.py",
                                                         .file_len = 5,
                                                         .text = text,
                                                         .text_len = strlen(text)});
    kit_fact(&kit, VTI_SOURCES, &payload, 1);
    vti_buf_fini(&payload);
}

/* Two threads; on each a statement over lines 4 and 5, which has an entry of its own. A tick is a nanosecond. */
static void make_recording(void)
{
    const struct vti_line_fact facts[] = {
        {.node = 1,
         .site = MAIN,
         .statement = 6,
         .time = VTI_LINE_TIMED,
         .hits = 10,
         .total = 4000,
         .inner = 40},
        {.node = 2,
         .site = MAIN,
         .line = 3,
         .statement = 3,
         .time = VTI_LINE_TIMED,
         .events = 10,
         .hits = 10,
         .total = 500,
         .inner = 10,
         .shortest_plus_one = 31,
         .longest = 120},
        {.node = 3,
         .site = MAIN,
         .line = 4,
         .statement = 4,
         .time = VTI_LINE_TIMED,
         .events = 20,
         .hits = 10,
         .total = 2500,
         .inner = 20},
        {.node = 4,
         .site = MAIN,
         .line = 5,
         .statement = 4,
         .time = VTI_LINE_TIMED,
         .events = 10,
         .total = 900,
         .inner = 10},
        {.node = 5,
         .site = MAIN,
         .line = 4,
         .time = VTI_LINE_TIMED,
         .hits = 10,
         .total = 3000,
         .inner = 30,
         .suspended = 700,
         .resumes = 2,
         .shortest_plus_one = 101,
         .longest = 900},
        /* What a hook has counted for itself and taken back: of no function that there is. */
        {.node = 6, .site = HELPER, .statement = 10, .time = VTI_LINE_TIMED},
        {.node = 7, .site = HELPER, .line = 10, .statement = 10, .time = VTI_LINE_TIMED},
    };
    struct vti_buf payload = {0};

    kit_clock(&kit, 1);
    kit_process(&kit, &(struct vti_process_fact){.pid = 77});
    kit_track(&kit, 0, 0, "first");
    kit_track(&kit, 1, 0, "second");
    add_site(MAIN, "main", 2);
    add_site(HELPER, "helper", 9);
    add_cost();
    for (uint32_t track = 0; track < 2; track++) {
        add_lines(track, facts, sizeof facts / sizeof *facts);
        vti_buf_clear(&payload);
        vti_line_callee_write(&payload, &(struct vti_line_callee_fact){4, HELPER, 3, 600});
        assert_int_equal(vti_writer_owned(kit.writer, VTI_LINE_CALLEES, track, &payload, 1, 0), 0);
    }
    vti_buf_fini(&payload);
    add_source(1, "of one process\n");
    add_source(0, "of all\n");
    kit_close(&kit);
}

static void load(struct vti_lines *lines, struct vti_lines_options options)
{
    vt_recording *recording;

    make_recording();
    recording = kit_open(&kit);
    assert_int_equal(vti_lines_load(lines, recording, &options), 0);
    vt_recording_close(recording);
}

static const struct vti_lines_line *line(const struct vti_lines_function *function, uint32_t number)
{
    for (size_t i = 0; i < function->line_count; i++)
        if (function->lines[i].line == number)
            return &function->lines[i];
    fail_msg("no line %u", number);
    return NULL;
}

static void test_statements(void **state)
{
    struct vti_lines lines;
    const struct vti_lines_function *function;

    (void)state;
    load(&lines, (struct vti_lines_options){0});
    assert_int_equal(lines.function_count, 1);
    function = &lines.functions[0];
    assert_string_equal(function->name, "main");
    assert_int_equal(function->calls, 20);
    assert_int_equal(function->last_line, 6);
    assert_true(function->total == 2 * (4000 - 400));
    assert_int_equal(function->line_count, 2); /* line 5 goes on, it has nothing of its own */
    assert_int_equal(line(function, 3)->hits, 20);
    assert_true(line(function, 3)->time == 2 * (500 - 100));
    assert_true(line(function, 3)->shortest == 20 && line(function, 3)->longest == 110);
    assert_int_equal(line(function, 4)->hits, 20);
    assert_int_equal(line(function, 4)->events, 60);
    assert_true(line(function, 4)->time == 2 * (3000 - 300));
    assert_true(line(function, 4)->suspended == 1400);
    assert_int_equal(line(function, 4)->resumes, 4);
    assert_int_equal(line(function, 4)->callee_count, 1);
    assert_int_equal(line(function, 4)->callees[0].calls, 6);
    assert_true(line(function, 4)->callees[0].time == 1200);
    assert_string_equal(line(function, 4)->callees[0].name, "helper");
    assert_true(vti_lines_total(function) == 6200);
    assert_true(lines.cost_event_ns == 10 && lines.cost_ns == 800 && lines.has_lines_on);
    vti_lines_fini(&lines);
}

static void test_events(void **state)
{
    struct vti_lines lines;
    const struct vti_lines_function *function;

    (void)state;
    load(&lines, (struct vti_lines_options){.is_compat = true, .is_raw = true});
    function = &lines.functions[0];
    assert_int_equal(function->line_count, 3);
    assert_int_equal(line(function, 4)->hits, 40);
    assert_true(line(function, 4)->time == 5000);
    assert_int_equal(line(function, 5)->hits, 20);
    assert_true(line(function, 5)->time == 1800);
    assert_int_equal(line(function, 5)->callee_count, 1);
    assert_true(vti_lines_total(function) == 7800); /* of all lines: less than the function took */
    assert_true(lines.cost_ns == 0);
    vti_lines_fini(&lines);
}

static void test_threads(void **state)
{
    struct vti_lines lines;

    (void)state;
    load(&lines, (struct vti_lines_options){.is_apart = true});
    assert_int_equal(lines.function_count, 2);
    assert_non_null(strstr(lines.functions[0].thread, "first"));
    assert_non_null(strstr(lines.functions[1].thread, "of process 77"));
    assert_int_equal(line(&lines.functions[1], 4)->hits, 10);
    vti_lines_fini(&lines);
}

static void test_sources(void **state)
{
    struct vti_lines lines;
    const struct vti_lines_source *source;

    (void)state;
    load(&lines, (struct vti_lines_options){0});
    source = vti_lines_source(&lines, "/a.py");
    assert_non_null(source);
    assert_string_equal(source->text, "of all\n");
    assert_null(vti_lines_source(&lines, "/b.py"));
    vti_lines_fini(&lines);
}

/* Where a function calls itself its lines take more than it does: shares are of its own time. */
static void test_total(void **state)
{
    struct vti_lines lines;
    struct vti_lines_function *function;

    (void)state;
    assert_int_equal(vti_lines_init(&lines, 1e-9), 0);
    assert_int_equal(
        vti_lines_function(&lines, &(struct vti_lines_function){.name = "f", .file = "a"}), 0);
    function = &lines.functions[0];
    vti_lines_line(function, 7)->time = 100;
    vti_lines_line(function, 6)->time = 60.4;
    function->lines[1].how = VTI_LINE_TIMED;
    vti_lines_line(function, 7)->time = 20;
    vti_lines_callee(&function->lines[1], &(struct vti_lines_callee){"g", "a", 1, 3, 90});
    vti_lines_callee(&function->lines[1], &(struct vti_lines_callee){"h", "a", 1, 3, 30});
    assert_int_equal(vti_lines_finish(&lines), 0);
    assert_int_equal(function->line_count, 2);
    assert_int_equal(function->lines[0].line, 6);
    assert_true(function->lines[1].time == 120);
    assert_true(function->lines[0].callees[0].time == 45 &&
                function->lines[0].callees[1].time == 15);
    assert_true(vti_lines_total(function) == 180);
    function->total = 125;
    assert_true(vti_lines_total(function) == 125);
    vti_lines_fini(&lines);
}

static struct vti_lines one_line(double unit_s, const char *name, double time)
{
    struct vti_lines lines;
    int64_t at;

    assert_int_equal(vti_lines_init(&lines, unit_s), 0);
    at = vti_lines_function(&lines, &(struct vti_lines_function){.name = name, .file = "a"});
    vti_lines_line(&lines.functions[at], 3)->time = time;
    return lines;
}

static void test_sum(void **state)
{
    struct vti_lines to = one_line(1e-9, "f", 3000), same = one_line(1e-6, "f", 5);
    struct vti_lines other = one_line(1e-9, "g", 2600);

    (void)state;
    assert_int_equal(vti_lines_add(&to, &same), 0);
    assert_int_equal(vti_lines_add(&to, &other), 0);
    assert_true(to.unit_s == 1e-6);
    assert_int_equal(to.function_count, 2);
    assert_true(to.functions[0].lines[0].time == 8);
    assert_true(to.functions[1].lines[0].time == 3); /* whole, as in line_profiler */
    vti_lines_fini(&to);
    vti_lines_fini(&same);
    vti_lines_fini(&other);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static uint32_t python_end(const char *text, uint32_t first)
{
    struct vti_source_text source;
    uint32_t end;

    assert_int_equal(vti_source_text_read(&source, "a.py", text, strlen(text)), 0);
    end = vti_source_python_end(&source, first);
    vti_source_text_fini(&source);
    return end;
}

static void test_python_blocks(void **state)
{
    (void)state;
    assert_int_equal(python_end("def f():\n    pass\n    # in\n# out\nx = 1\n", 1), 3);
    assert_int_equal(python_end("@a(\n  1)\ndef f(x=(1,\n  2)): return '''\n\n'''\ny\n", 1), 6);
    assert_int_equal(python_end("f = lambda: (1,\n 2)\nx\n", 1), 2);
    assert_int_equal(python_end("class A:\n  def f(self):\n    return f'{\"}\"}{{'\n  x = 1\n", 2),
                     3);
    assert_int_equal(python_end("def f():\n\tif x: \\\n\t\ty\n\tz\ndef g(): pass\n", 1), 4);
    assert_int_equal(python_end("def f():\r\n  pass\r\nx\r\n", 1), 2);
    assert_int_equal(python_end("x = 1\n", 1), 1);
    assert_int_equal(python_end("x = 1\n", 9), 0);
    assert_int_equal(python_end("def f():\n  x = '''never closed\n\n\n", 1), 1);
}

static void test_c_blocks(void **state)
{
    static const char text[] =
        "int f(void)\n{\n    if (x) { /* } */\n        puts(\"}\");\n#define A {\n    }\n}\n"
        "int g(void);\nint h;\n";
    struct vti_source_text source;

    (void)state;
    assert_int_equal(vti_source_text_read(&source, "a.c", text, strlen(text)), 0);
    assert_int_equal(vti_source_c_end(&source, 1), 7);
    assert_int_equal(vti_source_c_end(&source, 8), 8);
    assert_int_equal(vti_source_c_end(&source, 99), 0);
    vti_source_text_fini(&source);
    assert_true(vti_source_is_c("/a/b.cpp") && !vti_source_is_c("/a.c/b.py"));
}

/* The C library's tables may not be there, as under an emulator. */
static bool knows_latin_1(void)
{
    iconv_t tables = iconv_open("UTF-8", "LATIN1");

    if (tables == (iconv_t)-1)
        return false;
    iconv_close(tables);
    return true;
}

static void test_utf_8(void **state)
{
    struct vti_source_text source;

    (void)state;
    assert_int_equal(vti_source_text_read(&source, "a", "\xef\xbb\xbfx\ry\n\nz", 9), 0);
    assert_int_equal(source.count, 4);
    assert_memory_equal(source.lines[0].text, "x", 1);
    vti_source_text_fini(&source);
}

static void test_encodings(void **state)
{
    struct vti_source_text source;

    (void)state;
    if (!knows_latin_1())
        skip();
    assert_int_equal(vti_source_text_read(&source, "a", "#!x\n# -*- coding: latin-1 -*-\n\xe9", 31),
                     0);
    assert_memory_equal(source.lines[2].text, "\xc3\xa9", 2);
    vti_source_text_fini(&source);
    assert_true(vti_source_text_read(&source, "a", "# no name\n\xe9", 11) < 0);
    assert_true(vti_source_text_read(&source, "a", "# coding: klingon\n\xe9", 19) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_statements, kit_set_up, kit_tear_down),
        cmocka_unit_test_setup_teardown(test_events, kit_set_up, kit_tear_down),
        cmocka_unit_test_setup_teardown(test_threads, kit_set_up, kit_tear_down),
        cmocka_unit_test_setup_teardown(test_sources, kit_set_up, kit_tear_down),
        cmocka_unit_test(test_total),
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_python_blocks),
        cmocka_unit_test(test_c_blocks),
        cmocka_unit_test(test_utf_8),
        cmocka_unit_test(test_encodings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
