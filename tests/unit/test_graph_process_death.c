/*
 * test_graph_process_death.c - workers that are killed, end, take too long or do not stop: the result is right or the error says what
 * happened, and nothing is left behind. Nothing here depends on how long something takes, but for limits that are far away.
 */
#include "graph_kit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <venturi/graph.h>

#include <cmocka.h>

#define KILLS 25

static int one(struct vt_call *call)
{
    call->result = vt_datum_int(1);
    return 0;
}

static int add(struct vt_call *call)
{
    int64_t sum = 1;

    for (size_t i = 0; i < call->arg_count; i++)
        sum += call->args[i]->as.number;
    call->result = vt_datum_int(sum % 1000003);
    return 0;
}

/* As bytes, so that what a dead worker left is used by others. */
static int grow(struct vt_call *call)
{
    const struct vt_datum *from = call->arg_count ? call->args[0] : NULL;
    size_t size = from ? from->size + 8 : 8;
    uint8_t *bytes = vt_call_bytes(call, size > 5000 ? 8 : size);
    uint8_t last = 1;

    if (bytes == NULL)
        return vt_call_fail(call, "no memory");
    for (size_t i = 0; i < call->arg_count; i++)
        for (size_t j = 0; j < call->args[i]->size; j++)
            last = (uint8_t)(last * 3 + ((const uint8_t *)call->args[i]->as.data)[j]);
    memset(bytes, last, call->result.size);
    return 0;
}

static int die_once(struct vt_call *call)
{
    if (call->try_ < (uint32_t)(uintptr_t)call->user)
        raise(SIGKILL);
    call->result = vt_datum_int(7);
    return 0;
}

static int leave(struct vt_call *call)
{
    (void)call;
    _exit(3);
}

static int sleep_long(struct vt_call *call)
{
    (void)call;
    for (;;)
        kit_pause(1000);
    return 0;
}

static int wait_for_cancel(struct vt_call *call)
{
    *(atomic_int *)call->user = 1;
    while (!vt_call_is_cancelled(call))
        kit_pause(1);
    *(atomic_int *)call->user = 2;
    return vt_call_fail(call, "given up");
}

static struct vt_run_options in_processes(void)
{
    return (struct vt_run_options){
        .size = sizeof(struct vt_run_options), .scheduler = VT_PROCESSES, .workers = 2};
}

static void nothing_is_left(void)
{
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static vt_run *run_of(vt_graph *graph, const struct vt_run_options *options, int result)
{
    vt_run *run = vt_run_new(graph, options);
    int code = vt_run_go(run);

    if ((code < 0) != (result < 0))
        fail_msg("%d: %s", code, code < 0 ? vt_run_error(run)->message : "did not fail");
    nothing_is_left();
    return run;
}

static void test_killed(void **state)
{
    struct vt_run_options options = in_processes();
    vt_graph *graph = vt_graph_new();
    struct vt_task known;
    vt_run *run;
    int is_estimated;

    (void)state;
    vt_graph_task(graph, "victim", "die", die_once, (void *)1, NULL, 0);
    run = run_of(graph, &options, -1);
    assert_non_null(strstr(vt_run_error(run)->message, "was killed by SIGKILL (9)"));
    assert_string_equal(vt_run_error(run)->key, "victim");
    assert_int_equal(vt_run_task(run, 0, &known, &is_estimated), 1);
    assert_int_equal(known.state, VT_TASK_LOST);
    vt_run_free(run);
    options.retries = 1;
    run = run_of(graph, &options, 0);
    assert_int_equal(vt_run_result(run, 0)->as.number, 7);
    assert_int_equal(vt_run_task(run, 0, &known, &is_estimated), 1);
    assert_int_equal(known.state, VT_TASK_DONE);
    assert_int_equal(known.retries, 1);
    vt_run_free(run);
    vt_graph_free(graph);
}

/* What waits behind the task that ends its worker is done by others. */
static void test_exits(void **state)
{
    struct vt_run_options options = in_processes();
    vt_graph *graph = vt_graph_new();
    vt_run *run;

    (void)state;
    options.keep_going = 1;
    vt_graph_task(graph, "leaves", "leave", leave, NULL, NULL, 0);
    for (int i = 0; i < 200; i++)
        vt_graph_call(graph, "one", one, NULL, NULL, 0);
    run = run_of(graph, &options, -1);
    assert_non_null(strstr(vt_run_error(run)->message, "ended with status 3"));
    for (int i = 1; i <= 200; i++)
        assert_non_null(vt_run_result(run, (size_t)i));
    vt_run_free(run);
    vt_graph_free(graph);
}

static void test_time_limit(void **state)
{
    struct vt_run_options options = in_processes();
    vt_graph *graph = vt_graph_new();
    uint32_t slow = vt_graph_task(graph, "slow", "sleep_long", sleep_long, NULL, NULL, 0);
    struct vt_task known;
    vt_run *run;
    int is_estimated;

    (void)state;
    options.keep_going = 1;
    vt_graph_timeout(graph, slow, 0.1);
    for (int i = 0; i < 50; i++)
        vt_graph_call(graph, "one", one, NULL, NULL, 0);
    run = run_of(graph, &options, -1);
    assert_int_equal(vt_run_task(run, slow, &known, &is_estimated), 1);
    assert_int_equal(known.state, VT_TASK_TIMED_OUT);
    for (int i = 1; i <= 50; i++)
        assert_non_null(vt_run_result(run, (size_t)i));
    vt_run_free(run);
    vt_graph_free(graph);
}

struct canceller {
    vt_run *run;
    atomic_int *flag;
};

static void *cancel_when_set(void *with)
{
    struct canceller *canceller = with;

    while (!atomic_load(canceller->flag))
        kit_pause(1);
    vt_run_cancel(canceller->run);
    return NULL;
}

/* One task looks and ends by itself, one has to be killed. */
static void test_cancel(void **state)
{
    struct vt_run_options options = in_processes();
    vt_graph *graph = vt_graph_new();
    struct canceller canceller;
    struct vt_task known;
    pthread_t thread;
    int is_estimated;

    (void)state;
    canceller.flag = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    vt_graph_task(graph, "looks", "wait", wait_for_cancel, canceller.flag, NULL, 0);
    vt_graph_task(graph, "sleeps", "sleep_long", sleep_long, NULL, NULL, 0);
    for (int i = 0; i < 10; i++)
        vt_graph_task(graph, NULL, "sleep_long", sleep_long, NULL, NULL, 0);
    canceller.run = vt_run_new(graph, &options);
    pthread_create(&thread, NULL, cancel_when_set, &canceller);
    assert_true(vt_run_go(canceller.run) < 0);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(canceller.flag), 2);
    assert_non_null(strstr(vt_run_error(canceller.run)->message, "the run was cancelled: "));
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(vt_run_task(canceller.run, i, &known, &is_estimated), 1);
        assert_int_equal(known.state, VT_TASK_CANCELLED);
    }
    nothing_is_left();
    vt_run_free(canceller.run);
    vt_graph_free(graph);
    munmap(canceller.flag, 4096);
}

/* ---- a task that takes long ------------------------------------------------------------------- */

static int count_up(struct vt_call *call)
{
    atomic_fetch_add((atomic_int *)call->user, 1);
    return one(call);
}

static int wait_for_all(struct vt_call *call)
{
    while (atomic_load((atomic_int *)call->user) < 600)
        kit_pause(1);
    return one(call);
}

/* It ends when all others have: none may wait behind it. */
static void test_nobody_waits_behind(void **state)
{
    struct vt_run_options options = in_processes();
    vt_graph *graph = vt_graph_new();
    atomic_int *count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint32_t last = 0;

    (void)state;
    options.timeout = 20;
    for (int i = 0; i < 600; i++) {
        if (i == 300)
            vt_graph_call(graph, "wait", wait_for_all, count, NULL, 0);
        last = vt_graph_call(graph, "count", count_up, count, &last, i % 3 == 1);
    }
    vt_run_free(run_of(graph, &options, 0));
    vt_graph_free(graph);
    munmap(count, 4096);
}

/* ---- killed at any moment --------------------------------------------------------------------- */

struct killer {
    pid_t thread; /* whose children are killed */
    atomic_int is_over;
    unsigned seed;
    int kills;
};

static void kill_one(struct killer *killer)
{
    char path[64], text[256] = "";
    int fd, count = 0;
    pid_t pids[16];

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)killer->thread);
    fd = open(path, O_RDONLY);
    if (fd < 0)
        return;
    if (read(fd, text, sizeof text - 1) > 0)
        for (char *at = text, *end; count < 16; at = end) {
            long pid = strtol(at, &end, 10);

            if (end == at)
                break;
            pids[count++] = (pid_t)pid;
        }
    close(fd);
    killer->seed = killer->seed * 1103515245 + 12345;
    if (count && kill(pids[(killer->seed >> 16) % (unsigned)count], SIGKILL) == 0)
        killer->kills++;
}

static void *kill_some(void *with)
{
    struct killer *killer = with;

    while (!atomic_load(&killer->is_over) && killer->kills < KILLS) {
        killer->seed = killer->seed * 1103515245 + 12345;
        usleep(100 + (killer->seed >> 16) % 3000);
        kill_one(killer);
    }
    return NULL;
}

static vt_graph *lattice(vt_function *function, unsigned count, uint32_t *last)
{
    vt_graph *graph = vt_graph_new();

    for (unsigned i = 0; i < count; i++) {
        uint32_t needs[3] = {i - 1, i - (i > 20 ? 20 : 1), i - (i > 7 ? 7 : 1)};

        *last = vt_graph_call(graph, "step", function, NULL, needs, i ? i % 4 : 0);
    }
    return graph;
}

static void kill_during(vt_function *function, unsigned seed, int is_started)
{
    static const char *const command[] = {"/proc/self/exe", NULL};
    struct vt_run_options options = in_processes();
    struct killer killer = {.thread = (pid_t)syscall(SYS_gettid), .seed = seed};
    uint32_t last;
    vt_graph *graph = lattice(function, 20000, &last);
    vt_run *expected = vt_run_new(graph, NULL), *run;
    const struct vt_datum *a, *b;
    pthread_t thread;

    options.retries = 4 * KILLS;
    options.shared_bytes = (size_t)8 << 20;
    options.worker_command = is_started ? command : NULL;
    run = vt_run_new(graph, &options);
    assert_int_equal(vt_run_go(expected), 0);
    pthread_create(&thread, NULL, kill_some, &killer);
    if (vt_run_go(run) != 0)
        fail_msg("%s", vt_run_error(run)->message);
    atomic_store(&killer.is_over, 1);
    pthread_join(thread, NULL);
    for (size_t i = 0; (a = vt_run_result(expected, i)) != NULL; i++) {
        b = vt_run_result(run, i);
        assert_non_null(b);
        assert_int_equal(a->type, b->type);
        assert_int_equal(a->size, b->size);
        if (a->type == VT_DATUM_BYTES)
            assert_memory_equal(a->as.data, b->as.data, a->size);
        else
            assert_int_equal(a->as.number, b->as.number);
    }
    vt_run_free(expected);
    vt_run_free(run);
    vt_graph_free(graph);
    nothing_is_left();
    assert_true(killer.kills > 0);
}

static void test_kills(void **state)
{
    int can_start = kit_can_start_itself();

    (void)state;
    for (unsigned seed = 1; seed <= 4; seed++) {
        kill_during(add, seed, seed == 3 && can_start);
        kill_during(grow, seed * 77, seed == 4 && can_start);
    }
}

/* It runs one thread at a time, and lets a busy one go on for long. */
static int is_under_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");

    return preloaded != NULL && strstr(preloaded, "vgpreload") != NULL;
}

/* ---- locks of other threads ------------------------------------------------------------------ */

static void *use_locks(void *is_over)
{
    static const struct vt_callbacks nothing;

    while (!atomic_load((atomic_int *)is_over)) {
        vt_callbacks_register(&nothing);
        vt_callbacks_unregister(&nothing);
        vt_function_find("nothing");
    }
    return NULL;
}

static int run_another(struct vt_call *call)
{
    vt_graph *graph = vt_graph_new();
    vt_run *run;
    int code;

    vt_graph_call(graph, "one", one, NULL, NULL, 0);
    run = vt_run_new(graph, NULL);
    code = vt_run_go(run);
    vt_run_free(run);
    vt_graph_free(graph);
    vt_function_find("nothing");
    call->result = vt_datum_int(code);
    return code;
}

/* Workers are forked while another thread holds locks that they need. */
static void test_locks(void **state)
{
    struct vt_run_options options = in_processes();
    atomic_int is_over = 0;
    pthread_t thread;

    (void)state;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    skip(); /* their own allocators do not survive this */
#endif
    if (is_under_valgrind())
        skip();
    options.timeout = 30;
    assert_int_equal(pthread_create(&thread, NULL, use_locks, &is_over), 0);
    for (int i = 0; i < 40; i++) {
        vt_graph *graph = vt_graph_new();
        vt_run *run;

        for (int k = 0; k < 8; k++)
            vt_graph_call(graph, "run", run_another, NULL, NULL, 0);
        run = vt_run_new(graph, &options);
        if (vt_run_go(run) != 0)
            fail_msg("%s", vt_run_error(run)->message);
        vt_run_free(run);
        vt_graph_free(graph);
    }
    atomic_store(&is_over, 1);
    pthread_join(thread, NULL);
}

/* ---- the caller dies -------------------------------------------------------------------------- */

static int say_and_sleep(struct vt_call *call)
{
    pid_t pid = getpid();

    if (write(*(int *)call->user, &pid, sizeof pid) != sizeof pid)
        return -1;
    return sleep_long(call);
}

static void test_caller_dies(void **state)
{
    struct vt_run_options options = in_processes();
    pid_t caller, workers[2];
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    caller = fork();
    if (caller == 0) {
        vt_graph *graph = vt_graph_new();

        for (int i = 0; i < 2; i++)
            vt_graph_task(graph, NULL, "say", say_and_sleep, &ends[1], NULL, 0);
        vt_run_go(vt_run_new(graph, &options));
        _exit(0);
    }
    close(ends[1]);
    for (int i = 0; i < 2; i++)
        assert_int_equal(read(ends[0], &workers[i], sizeof workers[i]), sizeof workers[i]);
    kill(caller, SIGKILL);
    waitpid(caller, NULL, 0);
    /* The pipe ends when no worker is left to hold it. */
    assert_int_equal(read(ends[0], &workers[0], sizeof workers[0]), 0);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_exits),
        cmocka_unit_test(test_time_limit),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_nobody_waits_behind),
        cmocka_unit_test(test_kills),
        cmocka_unit_test(test_locks),
        cmocka_unit_test(test_caller_dies),
    };

    vt_function_register("add", add);
    vt_function_register("grow", grow);
    if (getenv("KIT_PROBE") != NULL)
        return 0;
    if (getenv("VENTURI_WORKER_FD") != NULL)
        return vt_worker_main();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
