/* test_tasks_views.c - what follows from tasks made by hand: figures by name, what workers did with their time, the critical path. */
#include "analyze/tasks_idle.h"
#include "analyze/tasks_path.h"
#include "analyze/tasks_stats.h"
#include "venturi/task.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BEGIN INT64_C(1000000)

/* Times count from the begin; ready -1: nobody said. */
static struct vti_task task(const char *name, uint32_t worker, int64_t ready, int64_t start,
                            int64_t end)
{
    return (struct vti_task){.key = name,
                             .name = name,
                             .worker = worker,
                             .state = VT_TASK_DONE,
                             .ready_ns = ready < 0 ? 0 : BEGIN + ready,
                             .start_ns = BEGIN + start,
                             .end_ns = BEGIN + end,
                             .cpu_ns = VTI_TASK_UNKNOWN,
                             .bytes = VTI_TASK_UNKNOWN};
}

static struct vti_task depends(struct vti_task on, uint32_t first, uint32_t count)
{
    on.first_edge = first;
    on.edge_count = count;
    return on;
}

static struct vti_task_run run_of(uint32_t tasks, uint32_t workers, int64_t end)
{
    return (struct vti_task_run){.parent = VTI_NO_TASK,
                                 .scheduler = "threads",
                                 .error = "",
                                 .begin_ns = BEGIN,
                                 .end_ns = BEGIN + end,
                                 .task_count = tasks,
                                 .worker_count = workers};
}

static struct vti_task_worker two_workers[] = {{.label = "one"}, {.number = 1, .label = "two"}};

/* What one run says: its tasks and workers are all there are. */
static struct vti_tasks tasks_of(struct vti_task_run *run, struct vti_task *list, uint32_t *edges,
                                 uint64_t edge_count)
{
    return (struct vti_tasks){.runs = run,
                              .workers = two_workers,
                              .tasks = list,
                              .edges = edges,
                              .run_count = 1,
                              .worker_count = run->worker_count,
                              .task_count = run->task_count,
                              .edge_count = edge_count};
}

/* All that follows from tasks. */
struct views {
    struct vti_task_times times;
    struct vti_task_paths paths;
    struct vti_task_groups groups;
};

static void make_views(struct views *views, const struct vti_tasks *tasks)
{
    assert_int_equal(vti_task_times_make(&views->times, tasks), 0);
    assert_int_equal(vti_task_paths_make(&views->paths, tasks), 0);
    assert_int_equal(vti_task_groups_make(&views->groups, tasks, VTI_NO_TASK), 0);
}

static void free_views(struct views *views)
{
    vti_task_times_fini(&views->times);
    vti_task_paths_fini(&views->paths);
    vti_task_groups_fini(&views->groups);
}

/* a (10) before b (20) and c (50), these before d (5); a second of nothing between most of them. */
static struct vti_task diamond[4];
static uint32_t diamond_edges[] = {0, 0, 1, 2};
static struct vti_task_run diamond_run;

static struct vti_tasks make_diamond(void)
{
    diamond[0] = task("a", 0, 2, 3, 13);
    diamond[1] = depends(task("c", 0, 13, 14, 64), 0, 1);
    diamond[2] = depends(task("b", 1, 13, 16, 36), 1, 1);
    diamond[3] = depends(task("d", 1, 64, 68, 73), 2, 2);
    diamond_run = run_of(4, 2, 80);
    return tasks_of(&diamond_run, diamond, diamond_edges, 4);
}

static void test_path(void **state)
{
    static const uint32_t steps[] = {0, 1, 3};
    struct vti_tasks tasks = make_diamond();
    struct vti_task_paths paths;

    (void)state;
    assert_int_equal(vti_task_paths_make(&paths, &tasks), 0);
    assert_int_equal(paths.runs[0].count, 3);
    assert_memory_equal(paths.runs[0].steps, steps, sizeof steps);
    assert_int_equal(paths.runs[0].length_ns, 65);
    assert_int_equal(paths.runs[0].circular, 0);
    assert_int_equal(paths.slack_ns[0], 0);
    assert_int_equal(paths.slack_ns[1], 0);
    assert_int_equal(paths.slack_ns[2], 30);
    assert_int_equal(paths.slack_ns[3], 0);
    vti_task_paths_fini(&paths);
}

static void assert_idle(const struct vti_worker_times *times, int64_t dependencies,
                        int64_t finished, int64_t scheduler, int64_t gone)
{
    assert_int_equal(times->idle_ns[VTI_IDLE_DEPENDENCIES], dependencies);
    assert_int_equal(times->idle_ns[VTI_IDLE_FINISHED], finished);
    assert_int_equal(times->idle_ns[VTI_IDLE_SCHEDULER], scheduler);
    assert_int_equal(times->idle_ns[VTI_IDLE_GONE], gone);
}

static void test_idle(void **state)
{
    struct vti_tasks tasks = make_diamond();
    struct vti_task_times times;

    (void)state;
    assert_int_equal(vti_task_times_make(&times, &tasks), 0);
    assert_int_equal(times.runs[0].tasks, 4);
    assert_int_equal(times.runs[0].task_ns, 85);
    assert_int_equal(times.runs[0].wait_ns, 1 + 1 + 3 + 4);
    assert_int_equal(times.workers[0].tasks, 2);
    assert_int_equal(times.workers[0].compute_ns, 60);
    /* 0-3 nothing runs, or is ready; 13-14 b and c are; 64-68 d is; from 68 on nothing is left. */
    assert_idle(&times.workers[0], 0, 12, 3 + 1 + 4, 0);
    assert_int_equal(times.workers[1].compute_ns, 25);
    /* 0-3 as above; 3-13 all waits for a; 13-16 b is ready; 36-64 d waits for c; 64-68 it is ready; then nothing is left. */
    assert_idle(&times.workers[1], 10 + 28, 7, 3 + 3 + 4, 0);
    assert_int_equal(vti_worker_times_all(&times.workers[0]), 80);
    assert_int_equal(vti_worker_times_all(&times.runs[0].sums), 160);
    assert_float_equal(vti_run_times_parallelism(&times.runs[0]), 85.0 / 80, 1e-9);
    vti_task_times_fini(&times);
}

/* Nobody said when they were ready: when what they depend on had ended. */
static void test_ready(void **state)
{
    struct vti_tasks tasks = make_diamond();

    (void)state;
    for (unsigned i = 0; i < 4; i++)
        diamond[i].ready_ns = 0;
    assert_int_equal(vti_task_ready(&tasks, 0), BEGIN);
    assert_int_equal(vti_task_ready(&tasks, 1), BEGIN + 13);
    assert_int_equal(vti_task_ready(&tasks, 3), BEGIN + 64);
    diamond[3].ready_ns = BEGIN + 70; /* after it began: clocks of two machines */
    assert_int_equal(vti_task_ready(&tasks, 3), BEGIN + 68);
}

/* Transfers before, during and after a task; then a task that dies with its worker. */
static void test_moving_and_dying(void **state)
{
    struct vti_task list[] = {task("t", 0, -1, 0, 10), task("a", 0, 0, 5, 30),
                              task("t", 0, -1, 8, 12), task("t", 0, -1, 28, 40),
                              task("b", 1, 0, 10, 20)};
    struct vti_task_run run = run_of(5, 2, 50);
    struct vti_tasks tasks = tasks_of(&run, list, NULL, 0);
    struct vti_task_times times;

    (void)state;
    list[0].action = list[2].action = list[3].action = VT_ACTION_TRANSFER;
    list[4].state = VT_TASK_LOST;
    assert_int_equal(vti_task_times_make(&times, &tasks), 0);
    assert_int_equal(times.runs[0].tasks, 2);
    assert_int_equal(times.runs[0].actions, 3);
    assert_int_equal(times.runs[0].dead_workers, 1);
    assert_int_equal(times.workers[0].compute_ns, 25);
    assert_int_equal(times.workers[0].moving_ns, 15);
    assert_idle(&times.workers[0], 0, 10, 0, 0);
    assert_int_equal(times.workers[1].failed, 1);
    assert_idle(&times.workers[1], 0, 0, 10, 30);
    vti_task_times_fini(&times);
}

/* Three seats in turn: the second worker dies, the third takes too long, and one that had nothing to do came for it. */
static void test_replaced(void **state)
{
    struct vti_task list[] = {task("a", 0, 0, 0, 90), task("b", 1, 0, 0, 30),
                              task("c", 2, 30, 35, 60)};
    struct vti_task_worker workers[] = {{.label = "0"},
                                        {.number = 1, .label = "1"},
                                        {.number = 2, .label = "2"},
                                        {.number = 3, .label = "3"}};
    struct vti_task_run run = run_of(3, 4, 100);
    struct vti_tasks tasks = tasks_of(&run, list, NULL, 0);
    struct vti_task_times times;

    (void)state;
    tasks.workers = workers;
    run.begun_workers = 2;
    list[1].state = VT_TASK_LOST;
    list[2].state = VT_TASK_TIMED_OUT;
    assert_int_equal(vti_task_times_make(&times, &tasks), 0);
    assert_int_equal(times.runs[0].at_once, 2);
    assert_int_equal(times.runs[0].dead_workers, 1);
    assert_idle(&times.workers[0], 0, 10, 0, 0);
    assert_idle(&times.workers[1], 0, 0, 0, 0);
    assert_int_equal(vti_worker_times_all(&times.workers[1]), 30);
    assert_idle(&times.workers[2], 0, 0, 5, 0);
    assert_int_equal(vti_worker_times_all(&times.workers[2]), 30);
    assert_idle(&times.workers[3], 0, 40, 0, 0);
    assert_int_equal(vti_worker_times_all(&times.runs[0].sums), 200);
    vti_task_times_fini(&times);
    list[1].state =
        VT_TASK_DONE; /* its next task was tried again elsewhere: nobody says that it died */
    list[2].state = VT_TASK_DONE; /* and the last one came too late for anything */
    assert_int_equal(vti_task_times_make(&times, &tasks), 0);
    assert_int_equal(times.runs[0].at_once, 2);
    assert_int_equal(vti_worker_times_all(&times.workers[1]), 35);
    assert_int_equal(vti_worker_times_all(&times.workers[2]), 65);
    assert_int_equal(vti_worker_times_all(&times.workers[3]), 0);
    vti_task_times_fini(&times);
    run.begun_workers = 0; /* nobody said how many there were */
    assert_int_equal(vti_task_times_make(&times, &tasks), 0);
    assert_int_equal(times.runs[0].at_once, 4);
    assert_int_equal(vti_worker_times_all(&times.runs[0].sums), 400);
    vti_task_times_fini(&times);
}

/* Whoever replaced whom: nobody has more time than the run, or less than what it did. */
static void test_any_replaced(void **state)
{
    enum { TASKS = 12, WORKERS = 6 };
    struct vti_task_worker workers[WORKERS];
    struct vti_task list[TASKS];
    struct vti_task_times times;
    unsigned seed = 7;

    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        struct vti_task_run run = run_of(TASKS, WORKERS, 100);
        struct vti_tasks tasks = tasks_of(&run, list, NULL, 0);

        tasks.workers = workers;
        run.begun_workers = (uint64_t)(rand_r(&seed) % WORKERS);
        for (uint32_t i = 0; i < WORKERS; i++)
            workers[i] = (struct vti_task_worker){.number = i, .label = "w"};
        for (int64_t i = 0, start = 0; i < TASKS; i++) {
            list[i] = task("t", (uint32_t)(rand_r(&seed) % WORKERS), 0, start,
                           start + rand_r(&seed) % 30);
            list[i].state = (uint8_t)(rand_r(&seed) % VTI_TASK_STATES);
            start += rand_r(&seed) % 10;
        }
        assert_int_equal(vti_task_times_make(&times, &tasks), 0);
        assert_in_range(times.runs[0].at_once, 1, WORKERS);
        for (uint32_t i = 0; i < WORKERS; i++) {
            assert_in_range(vti_worker_times_all(&times.workers[i]), times.workers[i].compute_ns,
                            times.runs[0].end_ns - times.runs[0].begin_ns);
            for (unsigned j = 0; j < VTI_IDLE_REASONS; j++)
                assert_true(times.workers[i].idle_ns[j] >= 0);
        }
        vti_task_times_fini(&times);
    }
}

static void test_groups(void **state)
{
    struct vti_task list[104];
    struct vti_task_run run = run_of(104, 2, 100000);
    struct vti_tasks tasks = tasks_of(&run, list, NULL, 0);
    struct vti_task_groups groups;

    (void)state;
    for (unsigned i = 0; i < 100; i++)
        list[i] = task("inc", 0, 0, 1000 * i, 1000 * i + (i * 37) % 100 + 1); /* 1 … 100 */
    list[7].bytes = 4;
    list[8].bytes = 5;
    list[9].cpu_ns = 3;
    list[9].cpu_is_estimated = true;
    list[9].retries = 2;
    list[10].state = VT_TASK_FAILED;
    list[100] = task("sum", 1, 0, 10, 9010);
    list[101] = task("sum", 1, 0, 0, 0); /* never ran */
    list[101].state = VT_TASK_SKIPPED;
    list[101].start_ns = list[101].end_ns = 0;
    list[102] = task("inc", 1, 0, 10, 20010);
    list[103] = task("sum", 1, 0, 10, 110);
    list[102].action = list[103].action = VT_ACTION_TRANSFER;
    assert_int_equal(vti_task_groups_make(&groups, &tasks, VTI_NO_TASK), 0);
    assert_int_equal(groups.count, 3);
    assert_int_equal(groups.total_ns, 9000 + 5050);
    assert_string_equal(groups.items[0].name, "sum");
    assert_int_equal(groups.items[0].count, 2);
    assert_int_equal(groups.items[0].ran, 1);
    assert_int_equal(groups.items[0].states[VT_TASK_SKIPPED], 1);
    assert_int_equal(groups.items[0].p50_ns, 9000);
    assert_string_equal(groups.items[1].name, "inc");
    assert_int_equal(groups.items[1].total_ns, 5050);
    assert_int_equal(groups.items[1].min_ns, 1);
    assert_int_equal(groups.items[1].p50_ns, 50);
    assert_int_equal(groups.items[1].p90_ns, 90);
    assert_int_equal(groups.items[1].p99_ns, 99);
    assert_int_equal(groups.items[1].max_ns, 100);
    assert_int_equal(groups.items[1].bytes, 9);
    assert_int_equal(groups.items[1].bytes_count, 2);
    assert_int_equal(groups.items[1].cpu_ns, 3);
    assert_true(groups.items[1].cpu_is_estimated);
    assert_int_equal(groups.items[1].retries, 2);
    assert_int_equal(vti_task_states_failed(groups.items[1].states), 1);
    assert_int_equal(groups.items[2].action, VT_ACTION_TRANSFER);
    assert_string_equal(groups.items[2].name, "");
    assert_int_equal(groups.items[2].total_ns, 20100);
    assert_int_equal(groups.of_task[0], 1);
    assert_int_equal(groups.of_task[101], 0);
    assert_int_equal(groups.of_task[103], 2);
    vti_task_groups_fini(&groups);
    assert_int_equal(vti_task_groups_make(&groups, &tasks, 1), 0);
    assert_int_equal(groups.count, 0);
    vti_task_groups_fini(&groups);
}

/* Two that depend on each other, a third on both, a fourth on itself. */
static void test_circles(void **state)
{
    uint32_t edges[] = {1, 0, 0, 1, 3};
    struct vti_task list[] = {
        depends(task("a", 0, 0, 0, 10), 0, 1), depends(task("b", 0, 0, 10, 30), 1, 1),
        depends(task("c", 0, 0, 30, 35), 2, 2), depends(task("d", 0, 0, 35, 36), 4, 1)};
    struct vti_task_run run = run_of(4, 1, 100);
    struct vti_tasks tasks = tasks_of(&run, list, edges, 5);
    struct vti_task_paths paths;

    (void)state;
    assert_int_equal(vti_task_paths_make(&paths, &tasks), 0);
    assert_int_equal(paths.runs[0].circular, 2);
    assert_int_equal(paths.runs[0].length_ns, 35);
    assert_int_equal(paths.runs[0].count, 3);
    assert_int_equal(paths.slack_ns[3], 34);
    vti_task_paths_fini(&paths);
}

/* As many as anybody will have, one behind the other, and all before one. */
static void test_long_and_wide(void **state)
{
    uint32_t count = 200000;
    struct vti_task *list = calloc(count, sizeof *list);
    uint32_t *edges = calloc(2 * (size_t)count, sizeof *edges);
    struct vti_task_run run = run_of(count, 1, 2 * (int64_t)count);
    struct vti_tasks tasks = tasks_of(&run, list, edges, 2 * (uint64_t)count - 2);
    struct vti_task_paths paths;

    (void)state;
    assert_non_null(list);
    assert_non_null(edges);
    for (uint32_t i = 0; i < count; i++) { /* the last first: nothing may depend on their order */
        list[count - 1 - i] = depends(task("x", 0, 0, i, i + 1), i, i ? 1 : 0);
        edges[i] = count - i;
    }
    list[0].first_edge = count;
    list[0].edge_count = count - 1;
    for (uint32_t i = 1; i < count; i++)
        edges[count + i - 1] = i;
    assert_int_equal(vti_task_paths_make(&paths, &tasks), 0);
    assert_int_equal(paths.runs[0].count, count);
    assert_int_equal(paths.runs[0].length_ns, count);
    assert_int_equal(paths.runs[0].steps[0], count - 1);
    vti_task_paths_fini(&paths);
    free(list);
    free(edges);
}

/* Two runs, one within the other: each has a time, workers and a path of its own. */
static void test_nested(void **state)
{
    uint32_t edges[] = {0};
    struct vti_task list[] = {task("outer", 0, 0, 1, 90),
                              depends(task("inner", 1, 10, 20, 50), 0, 1)};
    struct vti_task_worker workers[] = {{.label = "o"}, {.run = 1, .label = "i"}};
    struct vti_task_run runs[] = {run_of(1, 1, 100), run_of(1, 1, 60)};
    struct vti_tasks tasks = tasks_of(runs, list, edges, 1);
    struct views views;

    (void)state;
    tasks.workers = workers;
    tasks.run_count = tasks.worker_count = tasks.task_count = 2;
    list[1].run = 1;
    runs[1].parent = 0;
    runs[1].first_task = runs[1].first_worker = 1;
    make_views(&views, &tasks);
    assert_int_equal(views.times.workers[0].compute_ns, 89);
    assert_idle(&views.times.workers[0], 0, 10, 1, 0);
    assert_int_equal(views.times.workers[1].compute_ns, 30);
    assert_idle(&views.times.workers[1], 0, 10, 20, 0);
    assert_int_equal(views.paths.runs[0].length_ns, 89);
    assert_int_equal(views.paths.runs[1].length_ns,
                     30); /* what is in another run is no step of it */
    assert_int_equal(views.paths.runs[1].count, 1);
    free_views(&views);
}

/* Whatever a file says, it ends, and nothing is negative. */
static void test_hostile(void **state)
{
    uint32_t edges[] = {1, 2};
    struct vti_task list[] = {depends(task("a", 0, 0, 0, 10), 0, 2), task("b", 9, 0, 0, 10),
                              task("c", 0, 0, 50, 20), task("d", 1, 0, 0, 0)};
    struct vti_task_run run = run_of(4, 1, 0);
    struct vti_task_worker workers[] = {{.label = "w"}, {.run = 1, .label = "of another"}};
    struct vti_tasks tasks = tasks_of(&run, list, edges, 2);
    struct views views;

    (void)state;
    tasks.workers = workers;
    tasks.worker_count = 2;
    list[0].start_ns = 1;
    list[0].end_ns = INT64_MAX;
    list[1].start_ns = INT64_MIN;
    list[3].start_ns = list[3].end_ns = INT64_MAX;
    list[3].state = 200;
    list[3].action = 77;
    for (unsigned i = 0; i < 3; i++) {
        run.begin_ns = i == 0 ? INT64_MIN : i == 1 ? INT64_MAX : 0;
        run.end_ns = i == 0 ? INT64_MAX : i == 1 ? INT64_MIN : 0;
        make_views(&views, &tasks);
        assert_true(views.times.runs[0].begin_ns <= views.times.runs[0].end_ns);
        assert_true(views.times.workers[0].compute_ns >= 0 &&
                    views.times.workers[0].moving_ns >= 0);
        for (unsigned j = 0; j < VTI_IDLE_REASONS; j++)
            assert_true(views.times.workers[0].idle_ns[j] >= 0);
        assert_true(views.paths.runs[0].length_ns > 0);
        free_views(&views);
    }
}

static void test_nothing(void **state)
{
    struct vti_tasks tasks = {0};
    struct views views;

    (void)state;
    make_views(&views, &tasks);
    assert_int_equal(views.groups.count, 0);
    free_views(&views);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path),          cmocka_unit_test(test_idle),
        cmocka_unit_test(test_ready),         cmocka_unit_test(test_moving_and_dying),
        cmocka_unit_test(test_replaced),      cmocka_unit_test(test_any_replaced),
        cmocka_unit_test(test_groups),        cmocka_unit_test(test_circles),
        cmocka_unit_test(test_long_and_wide), cmocka_unit_test(test_nested),
        cmocka_unit_test(test_hostile),       cmocka_unit_test(test_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
