/* test_graph_run.c - runs that end well, in every way that this process has: results, order, culling, releases, times. */
#include "graph_kit.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Pairs are added until one is left; returns its number. */
static uint32_t add_tree(vt_graph *graph, uint32_t leaves)
{
    uint32_t from = vt_graph_count(graph), to = from, i;

    for (i = 0; i < leaves; i++)
        to = vt_graph_call(graph, "leaf", kit_sum, NULL, NULL, 0) + 1;
    while (to - from > 1) {
        uint32_t end = to;

        for (i = from; i < to; i += 2) {
            uint32_t pair[2] = {i, i + 1};

            end = vt_graph_call(graph, "add", kit_sum, NULL, pair, i + 1 < to ? 2 : 1) + 1;
        }
        from = to;
        to = end;
    }
    return from;
}

static void trees(struct kit_scene *scene)
{
    uint32_t top = add_tree(scene->graph, 2048);
    vt_run *run = kit_run(scene);
    uint64_t done, total;

    assert_int_equal(vt_run_want_task(run, top), 0);
    assert_int_equal(vt_run_go(run), 0);
    assert_int_equal(kit_number(vt_run_result(run, 0)), 4095);
    assert_int_equal(kit_made, 4095);
    assert_int_equal(kit_destroyed, 4094);
    assert_in_range(kit_most, 2, 400);
    vt_run_progress(run, &done, &total);
    assert_int_equal(done, 4095);
    assert_int_equal(total, 4095);
    assert_null(vt_run_error(run));
    assert_true(vt_run_go(run) < 0);
    assert_string_equal(vt_run_error(run)->message, "a run can only be run once");
    assert_int_equal(kit_number(vt_run_result(run, 0)), 4095);
}

static void long_chains(struct kit_scene *scene)
{
    uint32_t length = scene->way == KIT_CENTRAL ? 5000 : 100000, i;
    vt_graph *graph = scene->graph;
    vt_run *run = kit_run(scene);

    /* Each needs the next: the order of adding is the wrong one. */
    for (i = 0; i < length; i++)
        vt_graph_call(graph, "link", kit_sum, NULL, (uint32_t[]){i + 1}, i + 1 < length);
    vt_run_want_task(run, 0);
    assert_int_equal(vt_run_go(run), 0);
    assert_int_equal(kit_number(vt_run_result(run, 0)), length);
    assert_in_range(kit_most, 1, 3); /* each is given up right after its use */
}

static void wide_graphs(struct kit_scene *scene)
{
    uint32_t width = scene->way == KIT_CENTRAL ? 3000 : 100000, i;
    vt_graph *graph = scene->graph;
    uint32_t *middle = malloc(width * sizeof *middle);
    uint32_t first = vt_graph_call(graph, "first", kit_sum, NULL, NULL, 0);
    vt_run *run = kit_run(scene);

    for (i = 0; i < width; i++)
        middle[i] = vt_graph_call(graph, "middle", kit_sum, NULL, &first, 1);
    vt_graph_call(graph, "last", kit_sum, NULL, middle, width);
    free(middle);
    assert_int_equal(vt_run_go(run), 0);
    assert_int_equal(kit_number(vt_run_result(run, 0)), 1 + 2 * width);
    assert_null(vt_run_result(run, 1));
}

static void only_what_is_wanted(struct kit_scene *scene)
{
    vt_graph *graph = scene->graph;
    vt_run *run = kit_run(scene);
    struct vt_datum taken;
    uint64_t done, total;
    struct vt_task known;
    int is_estimated;

    vt_graph_task(graph, "a", "sum", kit_sum, NULL, NULL, 0);
    vt_graph_task(graph, "b", "sum", kit_sum, NULL, (struct vt_arg[]){VT_ARG_KEY("a")}, 1);
    vt_graph_task(graph, "c", "sum", kit_sum, NULL, (struct vt_arg[]){VT_ARG_KEY("b")}, 1);
    vt_graph_task(graph, "d", "bad", kit_fail, NULL, (struct vt_arg[]){VT_ARG_KEY("a")}, 1);
    vt_run_want(run, "c");
    vt_run_want(run, "a");
    vt_run_want(run, "c");
    assert_int_equal(vt_run_go(run), 0);
    vt_run_progress(run, &done, &total);
    assert_int_equal(total, 3);
    assert_int_equal(kit_number(vt_run_result(run, 0)), 3);
    assert_int_equal(kit_number(vt_run_result(run, 1)), 1);
    taken = vt_run_take(run, 2);
    assert_int_equal(kit_number(&taken), 3);
    assert_null(vt_run_result(run, 0));
    assert_int_equal(vt_run_task(run, 3, &known, &is_estimated), 0);
    vt_run_free(run);
    vt_graph_free(graph);
    scene->run = NULL;
    scene->graph = NULL;
    assert_int_equal(kit_made - kit_destroyed, 1);
    taken.destroy(taken.as.data, taken.with);
}

static void times_are_in_order(struct kit_scene *scene)
{
    int is_alone = scene->way == KIT_SYNC || scene->way == KIT_WATCHED;
    uint64_t before = vt_task_clock(), pid, tid;
    uint32_t top = add_tree(scene->graph, 64), i;
    vt_run *run = kit_run(scene);

    vt_run_want_task(run, top);
    assert_int_equal(vt_run_go(run), 0);
    for (i = 0; i <= top; i++) {
        struct vt_task task;
        int is_estimated;
        size_t k;

        assert_int_equal(vt_run_task(run, i, &task, &is_estimated), 1);
        assert_int_equal(task.state, VT_TASK_DONE);
        assert_true(before <= task.ready && task.ready <= task.start && task.start <= task.end);
        assert_true(task.end <= vt_task_clock());
        assert_true(task.cpu_ns != VT_UNKNOWN && is_estimated);
        assert_int_equal(task.bytes, 16);
        assert_true(i == top ? task.freed == 0 : task.freed >= task.end);
        for (k = 0; k < task.dependency_count; k++) {
            struct vt_task other;

            vt_run_task(run, task.dependencies[k], &other, &is_estimated);
            assert_true(other.end <= task.ready);
        }
        vt_run_worker(run, task.worker, &pid, &tid);
        assert_int_equal(pid, getpid());
        assert_true(tid != 0 && is_alone == (tid == pid));
    }
}

static int begun[16], begun_count;

static int note_begin(vt_run *run, uint32_t task, vt_state *state, void *user)
{
    (void)run;
    (void)state;
    (void)user;
    begun[begun_count++] = (int)task;
    return 0;
}

static void priorities(void **state)
{
    static const struct vt_callbacks watch = {.pretask = note_begin};
    const struct vt_callbacks *all[] = {&watch};
    struct vt_run_options options = {.size = sizeof options, .callbacks = all, .callback_count = 1};
    vt_graph *graph = vt_graph_new();
    vt_run *run = vt_run_new(graph, &options);
    int i;

    (void)state;
    for (i = 0; i < 6; i++)
        vt_graph_call(graph, "", kit_sum, NULL, NULL, 0);
    vt_graph_priority(graph, 4, 7);
    vt_graph_priority(graph, 2, 7);
    vt_graph_priority(graph, 0, -1);
    begun_count = 0;
    assert_int_equal(vt_run_go(run), 0);
    assert_memory_equal(begun, ((int[]){2, 4, 1, 3, 5, 0}), 6 * sizeof(int));
    vt_run_free(run);
    options = kit_options(KIT_STEAL);
    run = vt_run_new(graph, &options);
    assert_int_equal(vt_run_go(run), 0);
    vt_run_free(run);
    vt_graph_free(graph);
}

struct several {
    vt_graph *graph;
    uint32_t top;
    enum kit_way way;
};

static void *run_one_of_several(void *argument)
{
    struct several *several = argument;
    struct vt_run_options options = kit_options(several->way);
    int i;

    for (i = 0; i < 10; i++) {
        vt_run *run = vt_run_new(several->graph, &options);

        vt_run_want_task(run, several->top);
        if (vt_run_go(run) != 0 || kit_number(vt_run_result(run, 0)) != 511)
            return argument;
        vt_run_free(run);
    }
    return NULL;
}

static void one_graph_by_several_threads(void **state)
{
    vt_graph *graph = vt_graph_new();
    uint32_t top = add_tree(graph, 256);
    struct several several[KIT_WAYS];
    pthread_t threads[KIT_WAYS];
    void *failed;
    int i;

    (void)state;
    kit_begin();
    for (i = 0; i < KIT_WAYS; i++) {
        several[i] = (struct several){graph, top, (enum kit_way)i};
        pthread_create(&threads[i], NULL, run_one_of_several, &several[i]);
    }
    for (i = 0; i < KIT_WAYS; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    vt_graph_free(graph);
    kit_end();
}

static void nothing_to_do(struct kit_scene *scene)
{
    vt_graph *graph = scene->graph;
    vt_run *run = kit_run(scene);

    assert_int_equal(vt_run_go(run), 0);
    assert_null(vt_run_result(run, 0));
    run = kit_run(scene);
    vt_graph_literal(graph, "x", vt_datum_double(0.5));
    vt_run_want(run, "x");
    assert_int_equal(vt_run_go(run), 0);
    assert_true(vt_run_result(run, 0)->as.real == 0.5);
    kit_run(scene); /* never run */
}

static void unknown_keys_are_not_forgotten(struct kit_scene *scene)
{
    vt_graph *graph = scene->graph;
    vt_run *run = kit_run(scene);

    vt_graph_task(graph, "x", "sum", kit_sum, NULL, NULL, 0);
    assert_int_equal(vt_run_want(run, "x"), 0);
    assert_true(vt_run_want(run, "nokey") < 0);
    assert_string_equal(vt_run_error(run)->message, "no key 'nokey' in the graph");
    assert_true(vt_run_go(run) < 0);
    assert_string_equal(vt_run_error(run)->message, "no key 'nokey' in the graph");
    assert_null(vt_run_result(run, 0));
    assert_int_equal(kit_made, 0);
    run = kit_run(scene);
    assert_true(vt_run_want_task(run, 1) < 0);
    assert_true(vt_run_go(run) < 0);
    assert_string_equal(vt_run_error(run)->message, "no task 1 in the graph");
}

/* Options of a size: the start of what is known, all of it, and more. */
static void options_have_a_size(void **state)
{
    struct {
        struct vt_run_options known;
        char more[64];
    } options = {.known = {.scheduler = VT_THREADS, .workers = 2}};
    const size_t known = sizeof options.known;
    const struct {
        size_t size;
        char last;
        const char *why; /* NULL: it works */
    } all[] = {{0, 0, "`.size`"},
               {sizeof(size_t), 0, "`.size`"},
               {SIZE_MAX, 0, "`.size`"},
               {offsetof(struct vt_run_options, retries), 0, NULL},
               {known, 1, NULL},
               {known + 64, 0, NULL},
               {known + 64, 1, "older than the program"}};
    vt_graph *graph = vt_graph_new();

    (void)state;
    vt_graph_task(graph, "x", "sum", kit_sum, NULL, NULL, 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        vt_run *run;

        options.known.size = all[i].size;
        options.more[63] = all[i].last;
        run = vt_run_new(graph, &options.known);
        kit_begin();
        assert_int_equal(vt_run_go(run) == 0, all[i].why == NULL);
        assert_int_equal(kit_made, all[i].why == NULL);
        if (all[i].why != NULL)
            assert_non_null(strstr(vt_run_error(run)->message, all[i].why));
        vt_run_free(run);
        kit_end();
    }
    vt_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_EVERY_WAY(trees),
        KIT_EVERY_WAY(long_chains),
        KIT_EVERY_WAY(wide_graphs),
        KIT_EVERY_WAY(only_what_is_wanted),
        KIT_EVERY_WAY(times_are_in_order),
        cmocka_unit_test(priorities),
        cmocka_unit_test(one_graph_by_several_threads),
        KIT_EVERY_WAY(nothing_to_do),
        KIT_EVERY_WAY(unknown_keys_are_not_forgotten),
        cmocka_unit_test(options_have_a_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
