/* test_tasks.c - runs of task graphs: their entries, a recording made of them, and what is read back from it. */
#include "analyze/resources.h"
#include "analyze/tasks.h"
#include "export/tasks_write.h"
#include "format/facts.h"
#include "recording_kit.h"
#include "venturi/task.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND ((int64_t)1000000000)
#define EPOCH (1700000000 * SECOND)

/* ---- entries ------------------------------------------------------------------------------------- */

static void check_task(const struct vti_task_fact *got, const struct vti_task_fact *want)
{
    assert_int_equal(got->type, want->type);
    assert_int_equal(got->run, want->run);
    assert_int_equal(got->number, want->number);
    assert_int_equal(got->site, want->site);
    assert_int_equal(got->worker_plus_one, want->worker_plus_one);
    assert_int_equal(got->retries, want->retries);
    assert_int_equal(got->state, want->state);
    assert_int_equal(got->action, want->action);
    assert_int_equal(got->ready, want->ready);
    assert_int_equal(got->start, want->start);
    assert_int_equal(got->end, want->end);
    assert_int_equal(got->freed, want->freed);
    assert_int_equal(got->cpu_ns, want->cpu_ns);
    assert_int_equal(got->cpu_is_estimated, want->cpu_is_estimated);
    assert_int_equal(got->bytes, want->bytes);
    assert_int_equal(got->key.len, want->key.len);
    assert_memory_equal(got->key.data, want->key.data, want->key.len);
}

/* Nothing is known of it but what it is. */
static struct vti_task_fact task_fact(uint32_t run, uint32_t number, uint32_t site, uint8_t state,
                                      const char *key)
{
    return (struct vti_task_fact){.type = VTI_TASK_TASK,
                                  .run = run,
                                  .number = number,
                                  .site = site,
                                  .state = state,
                                  .cpu_ns = VTI_TASK_UNKNOWN,
                                  .bytes = VTI_TASK_UNKNOWN,
                                  .key = {key, strlen(key)}};
}

#define SOME 4

static struct vti_task_fact some[SOME];

/* One of which everything is known, a failure with large numbers, one that was never begun, and an action. */
static int make_some(void **state)
{
    (void)state;
    some[0] = task_fact(1, 7, 3, VT_TASK_DONE, "x-7");
    some[0].worker_plus_one = 2;
    some[0].ready = 900;
    some[0].start = 1000;
    some[0].end = 1500;
    some[0].freed = 1600;
    some[0].cpu_ns = 480;
    some[0].bytes = 0;
    some[1] = task_fact(1, 8, 3, VT_TASK_FAILED, "x-81");
    some[1].worker_plus_one = 1;
    some[1].retries = 3;
    some[1].ready = 2000;
    some[1].start = some[1].end = 1200;
    some[1].cpu_ns = 5;
    some[1].cpu_is_estimated = true;
    some[1].bytes = UINT64_MAX - 1;
    some[2] = task_fact(9, 0, 67, VT_TASK_SKIPPED, "");
    some[3] = task_fact(9, UINT32_MAX - 1, 3, VT_TASK_DONE, "x-8");
    some[3].action = VT_ACTION_DESERIALIZE;
    some[3].ready = 40;
    some[3].freed = 1;
    return 0;
}

static void test_entries_come_back(void **state)
{
    struct vti_task_codec codec = {0};
    struct vti_buf out = {0};
    struct vti_task_fact fact;
    struct vti_reader in;

    (void)state;
    for (size_t i = 0; i < SOME; i++)
        vti_task_write(&out, &codec, &some[i]);
    assert_false(out.failed);
    vti_task_codec_clear(&codec);
    vti_reader_init(&in, out.data, out.len);
    for (size_t i = 0; i < SOME; i++) {
        assert_true(vti_task_read(&in, &codec, &fact));
        check_task(&fact, &some[i]);
    }
    assert_int_equal(vti_reader_left(&in), 0);
    vti_task_codec_fini(&codec);
    vti_buf_fini(&out);
}

/* Whatever is cut off, nothing is read that was not there. */
static void test_entries_that_are_cut(void **state)
{
    struct vti_task_codec codec = {0};
    struct vti_buf out = {0};

    (void)state;
    vti_task_write(&out, &codec, &some[0]);
    for (size_t len = 0; len < out.len; len++) {
        uint8_t *cut = malloc(len + 1);
        struct vti_task_fact fact;
        struct vti_reader in;

        memcpy(cut, out.data, len);
        vti_task_codec_clear(&codec);
        vti_reader_init(&in, cut, len);
        assert_false(vti_task_read(&in, &codec, &fact));
        free(cut);
    }
    vti_task_codec_fini(&codec);
    vti_buf_fini(&out);
}

static void test_long_keys_are_cut(void **state)
{
    static char text[VTI_TASK_KEY_BYTES + 100];
    struct vti_task_codec codec = {0};
    struct vti_buf out = {0};
    struct vti_task_fact fact = some[0];
    struct vti_reader in;

    (void)state;
    memset(text, 'k', sizeof text);
    fact.key = (struct vti_bytes){text, sizeof text};
    vti_task_write(&out, &codec, &fact);
    vti_task_write(&out, &codec, &fact);
    assert_true(out.len < VTI_TASK_KEY_BYTES + 100);
    vti_task_codec_clear(&codec);
    vti_reader_init(&in, out.data, out.len);
    for (int i = 0; i < 2; i++) {
        assert_true(vti_task_read(&in, &codec, &fact));
        assert_int_equal(fact.key.len, VTI_TASK_KEY_BYTES);
    }
    vti_task_codec_fini(&codec);
    vti_buf_fini(&out);
}

static void test_edges_come_back(void **state)
{
    static const uint32_t few[] = {0, 5, 4, UINT32_MAX - 1};
    struct vti_edges_fact facts[] = {{1, 9, 0, few, 4}, {1, 9, 4, few, 1}, {2, 3, 0, few, 0}};
    struct vti_task_codec codec = {0};
    struct vti_edges_fact got;
    struct vti_buf out = {0};
    struct vti_reader in;

    (void)state;
    for (int i = 0; i < 3; i++)
        vti_edges_write(&out, &codec, &facts[i]);
    vti_task_codec_clear(&codec);
    vti_reader_init(&in, out.data, out.len);
    for (int i = 0; i < 3; i++) {
        assert_true(vti_edges_read(&in, &codec, &got));
        assert_int_equal(got.run, facts[i].run);
        assert_int_equal(got.number, facts[i].number);
        assert_int_equal(got.before, facts[i].before);
        assert_int_equal(got.count, facts[i].count);
        if (got.count)
            assert_memory_equal(got.dependencies, facts[i].dependencies, 4 * got.count);
    }
    vti_task_codec_fini(&codec);
    vti_buf_fini(&out);
}

/* ---- a recording of tasks alone ------------------------------------------------------------------ */

static char path[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/test_tasks-%ld.vt", (long)getpid());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static vt_recording *open_it(void)
{
    vt_recording *recording = NULL;

    assert_int_equal(vt_recording_open(&recording, path), 0);
    return recording;
}

static void make(const struct vti_tasks_in *in)
{
    assert_int_equal(vti_tasks_write(path, true, in), 0);
}

#define COUNT 20000u

static char keys[COUNT][24];
static struct vti_task tasks[COUNT];
static uint32_t edges[COUNT];
static struct vti_task_run runs[2] = {{.parent = VTI_NO_TASK,
                                       .scheduler = "threads",
                                       .error = "",
                                       .planned = COUNT,
                                       .lost = 3,
                                       .begin_ns = EPOCH,
                                       .end_ns = EPOCH + 9 * SECOND,
                                       .worker_count = 2},
                                      {.parent = 0,
                                       .scheduler = "sync",
                                       .error = "boom",
                                       .planned = 1,
                                       .begin_ns = EPOCH + SECOND,
                                       .worker_count = 1}};

/* A chain, of which the last task is of a second run that was started by a task of the first. */
static void make_chain(void)
{
    static struct vti_task_worker workers[3] = {
        {0, 1, "B", 10, 12}, {0, 0, "A", 10, 11}, {1, 0, "C", 0, 0}};
    static struct vti_task_reading readings[2] = {{EPOCH, 0, 1000},
                                                  {EPOCH + 2 * SECOND, 150, 5000}};
    struct vti_tasks all = {.runs = runs,
                            .workers = workers,
                            .tasks = tasks,
                            .edges = edges,
                            .run_count = 2,
                            .worker_count = 3,
                            .task_count = COUNT,
                            .edge_count = COUNT - 2};
    struct vti_tasks_in in = {&all, "make it", "", 77, readings, 2};

    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(keys[i], sizeof keys[i], "('name-%u', %u)", i % 3, i);
        tasks[i] = (struct vti_task){.key = keys[i],
                                     .name = i % 3 ? "one" : "other",
                                     .number = i,
                                     .worker = i & 1,
                                     .state = VT_TASK_DONE,
                                     .ready_ns = EPOCH + i * 1000,
                                     .start_ns = EPOCH + i * 1000 + 10,
                                     .end_ns = EPOCH + i * 1000 + 500,
                                     .cpu_ns = 400,
                                     .cpu_is_estimated = i & 1,
                                     .bytes = i,
                                     .first_edge = i ? i - 1 : 0,
                                     .edge_count = i && i < COUNT - 1};
        edges[i] = i;
    }
    tasks[COUNT - 1].run = 1;
    tasks[COUNT - 1].worker = 2;
    make(&in);
}

static void check_runs(const struct vti_tasks *got)
{
    assert_int_equal(got->run_count, 2);
    assert_string_equal(got->runs[0].scheduler, "threads");
    assert_int_equal(got->runs[0].begin_ns, EPOCH);
    assert_int_equal(got->runs[0].end_ns, EPOCH + 9 * SECOND);
    assert_int_equal(got->runs[0].lost, 3);
    assert_int_equal(got->runs[0].parent, VTI_NO_TASK);
    assert_int_equal(got->runs[0].task_count, COUNT - 1);
    assert_int_equal(got->runs[1].parent, 0);
    assert_int_equal(got->runs[1].first_task, COUNT - 1);
    assert_int_equal(got->runs[1].first_worker, 2);
    assert_int_equal(got->runs[1].end_ns, 0);
    assert_int_equal(got->worker_count, 3);
    assert_string_equal(got->workers[0].label, "A");
    assert_string_equal(got->workers[1].label, "B");
    assert_int_equal(got->workers[1].tid, 12);
}

static void check_chain(const struct vti_tasks *got)
{
    assert_int_equal(got->task_count, COUNT);
    assert_int_equal(got->edge_count, COUNT - 2);
    assert_int_equal(got->missing_edges, 0);
    for (uint32_t i = 0; i < COUNT - 1; i++) {
        const struct vti_task *task = &got->tasks[i];

        assert_string_equal(task->key, keys[i]);
        assert_string_equal(task->name, tasks[i].name);
        assert_ptr_equal(task->name, got->tasks[i % 3 ? 1 : 0].name);
        assert_int_equal(task->worker, 1 - (i & 1));
        assert_int_equal(task->ready_ns, tasks[i].ready_ns);
        assert_int_equal(task->start_ns, tasks[i].start_ns);
        assert_int_equal(task->end_ns, tasks[i].end_ns);
        assert_int_equal(task->freed_ns, 0);
        assert_int_equal(task->bytes, i);
        assert_int_equal(task->cpu_is_estimated, i & 1);
        assert_int_equal(task->edge_count, tasks[i].edge_count);
        if (task->edge_count)
            assert_int_equal(got->edges[task->first_edge], i - 1);
    }
}

static void test_written_and_read(void **state)
{
    struct vti_resources resources;
    struct vti_tasks got;
    vt_recording *recording;

    (void)state;
    make_chain();
    recording = open_it();
    assert_int_equal(vti_tasks_load(recording, &got), 0);
    check_runs(&got);
    check_chain(&got);
    vti_tasks_free(&got);
    assert_int_equal(vti_resources_load(&resources, recording), 0);
    assert_int_equal(resources.tree_count, 1);
    assert_int_equal(resources.trees[0].peak_bytes, 5000);
    assert_int_equal(resources.trees[0].last.values[VTI_RESOURCE_CPU_NS], 3 * SECOND);
    vti_resources_fini(&resources);
    vt_recording_close(recording);
}

static void test_none_at_all(void **state)
{
    struct vti_tasks none = {0};
    struct vti_tasks_in in = {.tasks = &none, .command = ""};
    vt_recording *recording;

    (void)state;
    make(&in);
    recording = open_it();
    assert_int_equal(vti_tasks_load(recording, &none), 0);
    assert_int_equal(none.run_count + none.task_count, 0);
    vti_tasks_free(&none);
    vt_recording_close(recording);
}

/* ---- what a hostile or unlucky writer leaves ------------------------------------------------------- */

static struct vti_task_fact task_of(uint32_t number, uint64_t start)
{
    struct vti_task_fact fact = task_fact(4, number, 1, VT_TASK_DONE, "");

    fact.worker_plus_one = 6;
    fact.start = start;
    fact.end = start + 10;
    return fact;
}

static void load_block(struct vti_tasks *tasks, const struct vti_task_fact *facts, uint32_t count,
                       const struct vti_edges_fact *edges, uint32_t edge_count)
{
    struct vti_task_codec codec = {0};
    struct vti_buf out = {0};
    vt_recording *recording;

    kit_clock(&kit, 1);
    for (uint32_t i = 0; i < count; i++)
        vti_task_write(&out, &codec, &facts[i]);
    kit_fact(&kit, VTI_TASKS, &out, count);
    vti_buf_clear(&out);
    vti_task_codec_clear(&codec);
    for (uint32_t i = 0; i < edge_count; i++)
        vti_edges_write(&out, &codec, &edges[i]);
    kit_fact(&kit, VTI_EDGES, &out, edge_count);
    kit_close(&kit);
    recording = kit_open(&kit);
    assert_int_equal(vti_tasks_load(recording, tasks), 0);
    vt_recording_close(recording);
    vti_task_codec_fini(&codec);
    vti_buf_fini(&out);
}

/* Neither the run nor its worker was defined, one task is told twice, one dependency is not there. */
static void test_what_nobody_defined(void **state)
{
    static const uint32_t first[] = {0, 99, 1};
    static const uint32_t again[] = {0};
    static const uint32_t more[] = {2, 5};
    struct vti_task_fact facts[4] = {task_of(2, 3000), task_of(0, 5000), task_of(1, 4000),
                                     task_of(2, 6000)};
    struct vti_edges_fact edges[] = {
        {4, 1, 0, first, 3}, {4, 2, 0, first, 3}, {4, 2, 0, again, 1}, {4, 2, 1, more, 2}};
    struct vti_tasks got;

    (void)state;
    load_block(&got, facts, 4, edges, 4);
    assert_int_equal(got.run_count, 1);
    assert_int_equal(got.runs[0].number, 4);
    assert_string_equal(got.runs[0].scheduler, "");
    assert_int_equal(got.runs[0].begin_ns, got.tasks[0].start_ns);
    assert_int_equal(got.worker_count, 1);
    assert_string_equal(got.workers[0].label, "worker 5");
    assert_int_equal(got.task_count, 3);
    assert_int_equal(got.tasks[0].number, 1);
    assert_int_equal(got.tasks[1].number, 0);
    assert_int_equal(got.tasks[2].number, 2);
    assert_string_equal(got.tasks[2].key, "#2");
    assert_string_equal(got.tasks[2].name, "site 1");
    assert_int_equal(got.tasks[2].start_ns - got.tasks[0].start_ns, 2000);
    /* Of task 1 the first and not 99 and itself; of task 2 what came again, with what continues that. */
    assert_int_equal(got.tasks[0].edge_count, 1);
    assert_int_equal(got.tasks[2].edge_count, 1);
    assert_int_equal(got.edges[got.tasks[2].first_edge], 1);
    assert_int_equal(got.missing_edges, 4);
    vti_tasks_free(&got);
}

static void test_actions_have_no_edges(void **state)
{
    static const uint32_t first[] = {0};
    struct vti_task_fact facts[3] = {task_of(0, 1000), task_of(1, 3000), task_of(1, 2000)};
    struct vti_edges_fact edges[] = {{4, 1, 0, first, 1}};
    struct vti_tasks got;

    (void)state;
    facts[2].action = VT_ACTION_TRANSFER;
    load_block(&got, facts, 3, edges, 1);
    assert_int_equal(got.task_count, 3);
    assert_int_equal(got.tasks[1].action, VT_ACTION_TRANSFER);
    assert_int_equal(got.tasks[1].edge_count, 0);
    assert_int_equal(got.tasks[2].edge_count, 1);
    vti_tasks_free(&got);
}

/* Entries after one that makes no sense are gone, those before it are not, and it is told. */
static void test_damage_is_noted(void **state)
{
    struct vti_task_codec codec = {0};
    struct vti_task_fact fact = task_of(0, 1000);
    struct vti_buf out = {0};
    struct vti_tasks got;
    vt_recording *recording;
    struct vt_damage_info damage;

    (void)state;
    kit_clock(&kit, 1);
    vti_task_write(&out, &codec, &fact);
    vti_buf_add(&out, "\3\5\377\377\377\377\377", 7);
    vti_task_write(&out, &codec, &fact);
    kit_fact(&kit, VTI_TASKS, &out, 3);
    kit_close(&kit);
    recording = kit_open(&kit);
    assert_int_equal(vti_tasks_load(recording, &got), 0);
    assert_int_equal(got.task_count, 1);
    assert_true(vt_recording_damage(recording, 0, &damage));
    vti_tasks_free(&got);
    vt_recording_close(recording);
    vti_task_codec_fini(&codec);
    vti_buf_fini(&out);
}

#define ALONE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define ON_A_KIT(test) cmocka_unit_test_setup_teardown(test, kit_set_up, kit_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_entries_come_back, make_some),
        cmocka_unit_test_setup(test_entries_that_are_cut, make_some),
        cmocka_unit_test_setup(test_long_keys_are_cut, make_some),
        cmocka_unit_test(test_edges_come_back),
        ALONE(test_written_and_read),
        ALONE(test_none_at_all),
        ON_A_KIT(test_what_nobody_defined),
        ON_A_KIT(test_actions_have_no_edges),
        ON_A_KIT(test_damage_is_noted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
