/*
 * test_graph_process.c - graphs in processes: the same results as in one thread, values through shared memory, what cannot go there,
 * workers that are started with a command. This program is such a worker when the environment says so.
 */
#include "graph_kit.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <venturi/graph.h>

#include <cmocka.h>

#define SMALL_BYTES ((size_t)4 << 20)

static int one(struct vt_call *call)
{
    call->result = vt_datum_int(1);
    return 0;
}

/* Depends on the order of its arguments, so that a mix-up shows. */
static int mix(struct vt_call *call)
{
    int64_t sum = call->user ? *(const int32_t *)call->user : 1;

    for (size_t i = 0; i < call->arg_count; i++)
        sum = (sum * 31 + (int64_t)(i + 1) * call->args[i]->as.number) % 1000003;
    call->result = vt_datum_int(sum);
    return 0;
}

static int fill(struct vt_call *call)
{
    size_t size = (size_t)call->args[0]->as.number;
    uint8_t *bytes = vt_call_bytes(call, size);

    if (bytes == NULL)
        return vt_call_fail(call, "no memory");
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * 7 + call->task);
    return 0;
}

static void destroy(void *data, void *with)
{
    (void)with;
    free(data);
}

/* A result that is not in shared memory at first. */
static int reverse(struct vt_call *call)
{
    const struct vt_datum *from = call->args[0];
    uint8_t *bytes = malloc(from->size + 1);

    for (size_t i = 0; i < from->size; i++)
        bytes[i] = ((const uint8_t *)from->as.data)[from->size - 1 - i];
    call->result = vt_datum_bytes(bytes, from->size, destroy, NULL);
    return 0;
}

static int add_up(struct vt_call *call)
{
    double sum = 0;

    for (size_t i = 0; i < call->arg_count; i++)
        for (size_t j = 0; j < call->args[i]->size; j++)
            sum += ((const uint8_t *)call->args[i]->as.data)[j] * (double)(j % 13 + 1);
    call->result = vt_datum_double(sum);
    return 0;
}

static int give_object(struct vt_call *call)
{
    call->result = vt_datum_object(call, 1, NULL, NULL);
    return 0;
}

static int complain(struct vt_call *call)
{
    call->failure = vt_datum_bytes(strdup("more"), 5, destroy, NULL);
    return vt_call_fail(call, "the %s is wrong", "argument");
}

static struct vt_run_options in_processes(void)
{
    return (struct vt_run_options){
        .size = sizeof(struct vt_run_options), .scheduler = VT_PROCESSES, .workers = 2};
}

static struct vt_datum run_for(vt_graph *graph, uint32_t task, const struct vt_run_options *options)
{
    vt_run *run = vt_run_new(graph, options);
    struct vt_datum value;

    assert_non_null(run);
    assert_int_equal(vt_run_want_task(run, task), 0);
    if (vt_run_go(run) != 0)
        fail_msg("%s", vt_run_error(run)->message);
    value = vt_run_take(run, 0);
    vt_run_free(run);
    return value;
}

static void same_as_sync(vt_graph *graph, uint32_t task, const struct vt_run_options *options)
{
    struct vt_datum expected = run_for(graph, task, NULL);
    struct vt_datum value = run_for(graph, task, options);

    kit_same(&expected, &value);
    if (expected.destroy)
        expected.destroy(expected.as.data, expected.with);
}

static void fails_with(vt_graph *graph, const char *key, const struct vt_run_options *options,
                       const char *text)
{
    vt_run *run = vt_run_new(graph, options);

    assert_int_equal(vt_run_want(run, key), 0);
    assert_true(vt_run_go(run) < 0);
    if (strstr(vt_run_error(run)->message, text) == NULL ||
        strstr(vt_run_error(run)->message, key) == NULL)
        fail_msg("'%s' says neither '%s' nor '%s'", vt_run_error(run)->message, key, text);
    vt_run_free(run);
}

static unsigned open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;

    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}

/* Chains, trees, wide and narrow parts, with a random choice of earlier tasks. */
static vt_graph *random_graph(unsigned seed, unsigned count, uint32_t *last)
{
    vt_graph *graph = vt_graph_new();
    uint32_t *ends = malloc(count * sizeof *ends);
    unsigned end_count = 0;

    for (unsigned i = 0; i < count; i++) {
        uint32_t needs[6];
        int32_t user = (int32_t)i;
        unsigned need_count = (seed = seed * 1103515245 + 12345) >> 16 & 7;

        need_count = need_count > 6 ? 1 : need_count;
        need_count = need_count > i ? i : need_count;
        for (unsigned j = 0; j < need_count; j++) {
            seed = seed * 1103515245 + 12345;
            needs[j] = i - 1 - (seed >> 16) % (i < 40 ? i : seed & 0x1000000 ? 40 : 2);
        }
        *last = vt_graph_call(graph, "mix", mix, NULL, needs, need_count);
        assert_int_equal(vt_graph_user_bytes(graph, *last, &user, sizeof user), 0);
        ends[end_count++] = *last;
    }
    *last = vt_graph_call(graph, "mix", mix, NULL, ends, end_count);
    free(ends);
    return graph;
}

static void test_same_results(void **state)
{
    struct vt_run_options options = in_processes();
    unsigned files = open_files();

    (void)state;
    for (unsigned seed = 1; seed <= 12; seed++) {
        uint32_t last;
        vt_graph *graph = random_graph(seed, seed * seed * 30, &last);

        options.workers = seed % 4 + 1;
        same_as_sync(graph, last, &options);
        vt_graph_free(graph);
    }
    assert_int_equal(open_files(), files);
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void test_long_chain(void **state)
{
    struct vt_run_options options = in_processes();
    vt_graph *graph = vt_graph_new();
    uint32_t last = vt_graph_call(graph, "one", one, NULL, NULL, 0);

    (void)state;
    for (int i = 0; i < 20000; i++)
        last = vt_graph_call(graph, "mix", mix, NULL, &last, 1);
    same_as_sync(graph, last, &options);
    vt_graph_free(graph);
}

/* Far more bytes in all than there is room for at a time. */
static void test_bytes(void **state)
{
    struct vt_run_options options = in_processes();
    vt_graph *graph = vt_graph_new();
    uint32_t sums[300], last = 0;

    (void)state;
    options.shared_bytes =
        3 * SMALL_BYTES; /* workers that are slow to give back what was freed need some of it */
    for (int i = 0; i < 300; i++) {
        char key[16];
        struct vt_arg size = VT_ARG_INT(i % 10 ? i * 97 : 300000), from = VT_ARG_TASK(0);

        snprintf(key, sizeof key, "b%d", i);
        from.task = vt_graph_task(graph, key, "fill", fill, NULL, &size, 1);
        from.task = vt_graph_task(graph, NULL, "reverse", reverse, NULL, &from, 1);
        sums[i] = vt_graph_task(graph, NULL, "add_up", add_up, NULL, &from, 1);
        last = from.task;
    }
    same_as_sync(graph, last, &options);
    same_as_sync(graph, vt_graph_call(graph, "add_up", add_up, NULL, sums, 300), &options);
    vt_graph_free(graph);
}

/* Results live longer than the run, its graph, and the workers. */
static void test_taken(void **state)
{
    struct vt_run_options options = in_processes();
    vt_graph *graph = vt_graph_new();
    struct vt_arg size = VT_ARG_INT(100000);
    uint32_t task = vt_graph_task(graph, "x", "fill", fill, NULL, &size, 1);
    struct vt_datum value = run_for(graph, task, &options);

    (void)state;
    vt_graph_free(graph);
    assert_int_equal(value.size, 100000);
    assert_int_equal(((uint8_t *)value.as.data)[99999], (uint8_t)(99999 * 7 + task));
    assert_non_null(value.destroy);
    value.destroy(value.as.data, value.with);
}

static void test_refused(void **state)
{
    struct vt_run_options options = in_processes();
    vt_graph *graph = vt_graph_new();
    struct vt_arg size = VT_ARG_INT(5000000), key = VT_ARG_KEY("literal"), from = VT_ARG_KEY("odd");

    (void)state;
    options.shared_bytes = SMALL_BYTES;
    vt_graph_task(graph, "odd", "give_object", give_object, NULL, NULL, 0);
    vt_graph_task(graph, "later", "mix", mix, NULL, &from, 1);
    vt_graph_literal(graph, "literal", vt_datum_object(graph, 1, NULL, NULL));
    vt_graph_task(graph, "takes", "mix", mix, NULL, &key, 1);
    vt_graph_task(graph, "large", "fill", fill, NULL, &size, 1);
    vt_graph_task(graph, "bad", "complain", complain, NULL, NULL, 0);
    fails_with(graph, "odd", &options, "is an object");
    fails_with(graph, "takes", &options, "is an object");
    fails_with(graph, "large", &options, "5000000 bytes");
    fails_with(graph, "large", &options, "raise shared_bytes");
    fails_with(graph, "bad", &options, "the argument is wrong");
    vt_graph_free(graph);
}

static void test_failure_value(void **state)
{
    struct vt_run_options options = in_processes();
    vt_graph *graph = vt_graph_new();
    struct vt_arg bad = VT_ARG_KEY("bad");
    const struct vt_run_failure *failure;
    vt_run *run;

    (void)state;
    options.retries = 2;
    vt_graph_task(graph, "bad", "complain", complain, NULL, NULL, 0);
    vt_graph_task(graph, "next", "mix", mix, NULL, &bad, 1);
    run = vt_run_new(graph, &options);
    assert_true(vt_run_go(run) < 0);
    failure = vt_run_error(run);
    assert_string_equal(failure->reason, "the argument is wrong");
    assert_string_equal(failure->key, "bad");
    assert_int_equal(failure->tries, 3);
    assert_int_equal(failure->value->type, VT_DATUM_BYTES);
    assert_string_equal(failure->value->as.data, "more");
    assert_int_equal(failure->skipped_count, 1);
    vt_run_free(run);
    vt_graph_free(graph);
}

static int note_time(vt_run *run, uint32_t task, vt_state *now, void *user)
{
    (void)run;
    (void)now;
    ((uint64_t *)user)[task] = vt_task_clock();
    return 0;
}

/* Small tasks are sent ahead of the central loop, but not if somebody wants to know before. */
static void test_callback_comes_first(void **state)
{
    struct vt_run_options options = in_processes();
    vt_graph *graph = vt_graph_new();
    uint64_t before[2000] = {0};
    const struct vt_callbacks callbacks = {.pretask = note_time, .user = before};
    const struct vt_callbacks *list[] = {&callbacks};
    uint32_t last = 0;
    vt_run *run;

    (void)state;
    for (int i = 0; i < 2000; i++)
        last = vt_graph_call(graph, "mix", mix, NULL, &last, i > 0);
    options.callbacks = list;
    options.callback_count = 1;
    run = vt_run_new(graph, &options);
    assert_int_equal(vt_run_go(run), 0);
    for (uint32_t i = 0; i < 2000; i++) {
        struct vt_task known;
        int is_estimated;

        assert_int_equal(vt_run_task(run, i, &known, &is_estimated), 1);
        assert_true(before[i] != 0 && before[i] <= known.start && known.start <= known.end);
    }
    vt_run_free(run);
    vt_graph_free(graph);
}

static void test_started(void **state)
{
    static const char *const command[] = {"/proc/self/exe", NULL};
    struct vt_run_options options = in_processes();
    vt_graph *graph;
    uint32_t last;

    (void)state;
    if (!kit_can_start_itself())
        skip();
    options.worker_command = command;
    graph = random_graph(5, 2000, &last);
    same_as_sync(graph, last, &options);
    vt_graph_free(graph);
}

static void test_started_literals(void **state)
{
    static const char *const command[] = {"/proc/self/exe", NULL};
    struct vt_run_options options = in_processes();
    vt_graph *graph = vt_graph_new();
    struct vt_arg args[3] = {VT_ARG_KEY("text"), VT_ARG_INT(0), VT_ARG_KEY("text")};
    static char text[] = "some bytes of the caller";

    (void)state;
    if (!kit_can_start_itself()) {
        vt_graph_free(graph);
        skip();
    }
    options.worker_command = command;
    args[1].value = vt_datum_bytes(text, 4, NULL, NULL);
    vt_graph_literal(graph, "text", vt_datum_bytes(text, sizeof text, NULL, NULL));
    same_as_sync(graph, vt_graph_task(graph, "sum", "add_up", add_up, NULL, args, 3), &options);
    vt_graph_task(graph, "local", "mix", mix, text, NULL, 0);
    fails_with(graph, "local", &options, "vt_graph_user_bytes");
    vt_graph_task(graph, "nameless", "complain", complain, NULL, NULL, 0);
    fails_with(graph, "nameless", &options, "vt_function_register");
    vt_graph_free(graph);
}

static void test_bad_command(void **state)
{
    static const char *const none[] = {"/nonexistent/worker", NULL}, *const other[] = {"true",
                                                                                       NULL};
    struct vt_run_options options = in_processes();
    vt_graph *graph = vt_graph_new();
    uint32_t task = vt_graph_call(graph, "one", one, NULL, NULL, 0);

    (void)state;
    for (int i = 0; i < 2; i++) {
        uint64_t pid, tid;
        vt_run *run;

        options.worker_command = i ? other : none;
        run = vt_run_new(graph, &options);
        vt_run_want_task(run, task);
        assert_true(vt_run_go(run) < 0);
        assert_non_null(strstr(vt_run_error(run)->message,
                               i ? "workers (command 'true') end before they have done anything: "
                                 : "the worker command '/nonexistent/worker' cannot be executed: "
                                   "No such file or directory"));
        assert_int_equal(
            i, strstr(vt_run_error(run)->message, "ended with status 0 at its start") != NULL);
        vt_run_worker(run, 2 * options.workers, &pid, &tid);
        assert_int_equal(pid, 0); /* so many were not started */
        vt_run_free(run);
    }
    vt_graph_free(graph);
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_results), cmocka_unit_test(test_long_chain),
        cmocka_unit_test(test_bytes),        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_failure_value),
        cmocka_unit_test(test_started),      cmocka_unit_test(test_started_literals),
        cmocka_unit_test(test_bad_command),  cmocka_unit_test(test_callback_comes_first),
    };

    vt_function_register("one", one);
    vt_function_register("mix", mix);
    vt_function_register("add_up", add_up);
    if (getenv("KIT_PROBE") != NULL)
        return 0;
    if (getenv("VENTURI_WORKER_FD") != NULL)
        return vt_worker_main();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
