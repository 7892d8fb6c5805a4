/*
 * test_findings.c - rules that need more than spans: functions, lines, resources; names that do not fit in a sentence. The rest is
 * in tests/report.
 */
#include "analyze/findings_impl.h"
#include "base/utf8.h"
#include "calls_kit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND 1000000000ll
#define MB 1000000ull

static struct vti_findings found;
static vt_recording *recording;

static int set_up(void **state)
{
    (void)state;
    kit_calls_start(&kit, 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    vti_findings_fini(&found);
    vt_recording_close(recording);
    recording = NULL;
    kit_fini(&kit);
    return 0;
}

static const struct vti_finding *finding(const char *kind)
{
    for (size_t i = 0; i < found.count; i++)
        if (!strcmp(found.items[i].kind, kind))
            return &found.items[i];
    return NULL;
}

static void check(const char *kind, const char *text)
{
    const struct vti_finding *it = finding(kind);

    if (!text) {
        assert_null(it);
        return;
    }
    assert_non_null(it);
    assert_string_equal(it->text, text);
}

/* ---- functions ------------------------------------------------------------------------------- */

static void query(void)
{
    kit_close(&kit);
    recording = kit_open(&kit);
    assert_int_equal(vti_findings_query(recording, &found), 0);
}

static void test_many_calls_for_each(void **state)
{
    struct vti_call_fact facts[] = {
        {.node = 1, .site = 1, .calls = 20, .total = 60000},
        {.node = 2, .parent = 1, .site = 2, .calls = 400, .total = 40000},
    };

    (void)state;
    kit_function(&kit, 1, "handle", 3, "python");
    kit_function(&kit, 2, "load", 9, "python");
    kit_calls(&kit, 0, facts, 2);
    query();
    check("n-plus-one",
          "load (x:9) runs 20 times for each call of handle (x:3): 400 in all, 67 % of "
          "the time of all functions.");
    check("self-time", "load (x:9) itself takes 67 % of the time of all functions: 40.0 us in 400 "
                       "calls.");
    assert_string_equal(finding("n-plus-one")->evidence.name, "load");
    assert_string_equal(finding("n-plus-one")->evidence.file, "x");
    assert_int_equal(finding("n-plus-one")->evidence.line, 9);
    check("suspended", NULL);
}

static void test_waiting(void **state)
{
    struct vti_call_fact facts[] = {
        {.node = 1, .site = 1, .calls = 1, .resumes = 3, .total = 10000, .suspended = 80000},
    };

    (void)state;
    kit_function(&kit, 1, "fetch", 3, "python");
    kit_calls(&kit, 0, facts, 1);
    query();
    check("suspended",
          "fetch (x:3) mostly waits: suspended for 80.0 us in all (await or yield), it "
          "ran for 10.0 us.");
}

static void test_nothing(void **state)
{
    (void)state;
    query();
    assert_int_equal(found.count, 0);
}

/* ---- resources and lines: a study made by hand ----------------------------------------------- */

static void make(struct vti_study *study)
{
    kit_close(&kit);
    recording = kit_open(&kit);
    study->recording = recording;
    vt_recording_info(recording, &study->info);
    assert_int_equal(vti_findings_make(study, &found), 0);
}

static struct vti_resource_tree tree_of(double seconds, double cpu_s)
{
    return (struct vti_resource_tree){.end_ns = (int64_t)(seconds * SECOND),
                                      .cpu_s = cpu_s,
                                      .cores = cpu_s / seconds,
                                      .known = (1u << VTI_RESOURCE_COUNT) - 1,
                                      .machine_busy = -1,
                                      .others_busy = -1,
                                      .cpu_count = 4};
}

static void check_tree(struct vti_resource_tree tree, const char *kind, const char *text)
{
    struct vti_study study = {.resources = {.trees = &tree, .tree_count = 1}};

    make(&study);
    check(kind, text);
}

static void test_waits(void **state)
{
    (void)state;
    check_tree(tree_of(10, 1), "cpu",
               "The program mostly waited: it used 1.00 s of CPU time in 10.0 s.");
}

/* It may have waited for a CPU. */
static void test_waits_on_a_busy_machine(void **state)
{
    struct vti_resource_tree tree = tree_of(10, 1);

    (void)state;
    tree.others_busy = 0.6;
    check_tree(tree, "cpu", NULL);
    check("busy-machine",
          "Other programs kept 60 % of the machine's CPUs busy meanwhile: times may be "
          "longer than on an idle one.");
}

/* Recordings that were merged saw the same machine: said once; of programs it is said which. */
static void test_several_trees(void **state)
{
    struct vti_resource_tree trees[] = {tree_of(10, 1), tree_of(10, 1), tree_of(10, 9)};
    struct vti_resource_process processes[] = {
        {.tree = 0, .parent = VT_NONE, .pid = 11, .name = "api"},
        {.tree = 1, .parent = VT_NONE, .pid = 12, .name = "engine"},
    };
    struct vti_study study = {
        .resources = {.trees = trees, .tree_count = 3, .processes = processes, .process_count = 2}};
    size_t busy = 0;

    (void)state;
    trees[1].others_busy = 0.6;
    trees[2].others_busy = 0.4;
    make(&study);
    for (size_t i = 0; i < found.count; i++)
        busy += !strcmp(found.items[i].kind, "busy-machine");
    assert_int_equal(busy, 1);
    check("busy-machine",
          "Other programs kept up to 60 % of the machine's CPUs busy meanwhile: times may be "
          "longer than on an idle one.");
    check("cpu", "api (pid 11) mostly waited: it used 1.00 s of CPU time in 10.0 s.");
}

static void test_all_cores(void **state)
{
    (void)state;
    check_tree(tree_of(10, 39), "cpu",
               "The program kept all 4 CPUs busy: 39.0 s of CPU time in 10.0 s.");
}

static void test_in_between(void **state)
{
    (void)state;
    check_tree(tree_of(10, 20), "cpu", NULL);
}

static void test_unknown_cpu(void **state)
{
    struct vti_resource_tree tree = tree_of(10, 0);

    (void)state;
    tree.known = 0;
    check_tree(tree, "cpu", NULL);
}

static void test_io(void **state)
{
    struct vti_resource_tree tree = tree_of(2, 1);

    (void)state;
    tree.read_bytes = 500 * MB;
    tree.written_bytes = 100 * MB;
    check_tree(tree, "io", "Much input and output: 500 MB read, 100 MB written, 300 MB a second.");
}

static void check_memory(uint64_t first, uint64_t step, const char *text)
{
    struct vti_resource_point points[20] = {{0}};
    struct vti_resource_tree tree = tree_of(2, 1);

    for (size_t i = 0; i < 20; i++) {
        points[i].time_ns = (int64_t)i * SECOND / 10;
        points[i].known = 1u << VTI_RESOURCE_MEMORY_BYTES;
        points[i].values[VTI_RESOURCE_MEMORY_BYTES] = first + i * step;
    }
    tree.series = (struct vti_resource_series){points, 20, 20};
    check_tree(tree, "memory-growth", text);
}

static void test_memory_rises(void **state)
{
    (void)state;
    check_memory(
        10 * MB, 10 * MB,
        "Memory rose through the whole run: 30.0 MB on average in its first quarter, 180 MB "
        "in its last.");
}

static void test_memory_rises_little(void **state)
{
    (void)state;
    check_memory(100 * MB, MB, NULL);
}

static void test_child(void **state)
{
    struct vti_resource_process processes[] = {
        {.parent = VT_NONE, .process = 0, .pid = 7, .name = "make"},
        {.parent = 0, .process = VT_NONE, .pid = 9, .name = "cc1"},
    };
    struct vti_resource_tree tree = tree_of(10, 20);
    struct vti_study study = {.resources = {&tree, 1, processes, 2}};

    (void)state;
    processes[0].cpu_ns = 2 * SECOND;
    processes[1].cpu_ns = 18 * SECOND;
    make(&study);
    check("child-cpu",
          "Child process cc1 (pid 9) had 90 % of the CPU time: 18.0 s, and what it did was "
          "not recorded.");
    assert_int_equal(finding("child-cpu")->severity, VTI_SEVERITY_WARNING);
}

static void test_line(void **state)
{
    struct vti_lines_line lines[] = {
        {.line = 4, .time = 10}, {.line = 5, .time = 80}, {.line = 6, .time = 10}};
    struct vti_lines_function function = {.name = "work",
                                          .file = "a/x.py",
                                          .language = "python",
                                          .plain = "",
                                          .thread = "",
                                          .line = 3,
                                          .total = 100,
                                          .lines = lines,
                                          .line_count = 3};
    struct vti_study study = {
        .lines = {.unit_s = 1e-6, .functions = &function, .function_count = 1}};

    (void)state;
    make(&study);
    check("line", "Line 5 takes 80 % of the time of work (x.py:3): 80.0 us.");
    assert_int_equal(finding("line")->evidence.line, 5);
    assert_string_equal(finding("line")->evidence.what, "line");
}

/* ---- names ----------------------------------------------------------------------------------- */

static void test_clip(void **state)
{
    char text[VTI_CLIP_BYTES];
    char name[400];

    (void)state;
    assert_string_equal(vti_clip(text, "f", "a/b/c.py", 7), "f (c.py:7)");
    assert_string_equal(vti_clip(text, "f", "", 7), "f");
    assert_string_equal(vti_clip(text, "", "", 0), "(no name)");
    for (size_t len = 1; len < sizeof name; len++) {
        static const char *const letters[] = {"a", "\xc3\xa4", "\xe6\x97\xa5", "\xf0\x9f\x98\x80",
                                              "\xff"};

        for (size_t l = 0; l < 5; l++) {
            size_t bytes = strlen(letters[l]);

            for (size_t i = 0; i < len; i++)
                name[i] = letters[l][i % bytes];
            name[len] = 0;
            vti_clip(text, name, name, 1);
            assert_int_equal(vti_utf8_good(text, strlen(text)), strlen(text));
            assert_true(strlen(text) > 0 && strlen(text) < VTI_CLIP_BYTES);
        }
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_many_calls_for_each),
        CASE(test_waiting),
        CASE(test_nothing),
        CASE(test_waits),
        CASE(test_waits_on_a_busy_machine),
        CASE(test_several_trees),
        CASE(test_all_cores),
        CASE(test_in_between),
        CASE(test_unknown_cpu),
        CASE(test_io),
        CASE(test_memory_rises),
        CASE(test_memory_rises_little),
        CASE(test_child),
        CASE(test_line),
        cmocka_unit_test(test_clip),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
