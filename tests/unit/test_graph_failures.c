/* test_graph_failures.c - runs that do not end well, in every way: failures, retries, time limits, cancellation; nothing leaks or is
 * destroyed twice, and the error says what happened. */
#include "graph_kit.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* good -> bad -> after -> end; good -> beside -> end; apart. */
static void fill(vt_graph *graph, vt_function *bad, void *user)
{
    vt_graph_task(graph, "good", "sum", kit_sum, NULL, NULL, 0);
    vt_graph_task(graph, "bad", "maybe", bad, user, (struct vt_arg[]){VT_ARG_KEY("good")}, 1);
    vt_graph_task(graph, "after", "sum", kit_sum, NULL, (struct vt_arg[]){VT_ARG_KEY("bad")}, 1);
    vt_graph_task(graph, "beside", "sum", kit_sum, NULL, (struct vt_arg[]){VT_ARG_KEY("good")}, 1);
    vt_graph_task(graph, "end", "sum", kit_sum, NULL,
                  (struct vt_arg[]){VT_ARG_KEY("after"), VT_ARG_KEY("beside")}, 2);
    vt_graph_task(graph, "apart", "sum", kit_sum, NULL, NULL, 0);
}

static int state_of(const vt_run *run, const char *key)
{
    struct vt_task task;
    int is_estimated;

    assert_int_equal(vt_run_task(run, vt_graph_find(vt_run_graph(run), key), &task, &is_estimated),
                     1);
    return task.state;
}

static vt_run *want_both(vt_run *run)
{
    assert_int_equal(vt_run_want(run, "end"), 0);
    assert_int_equal(vt_run_want(run, "apart"), 0);
    return run;
}

static vt_run *run_with(struct kit_scene *scene, vt_function *bad, void *user)
{
    fill(scene->graph, bad, user);
    return want_both(kit_run(scene));
}

static void failures_name_everything(struct kit_scene *scene)
{
    const struct vt_run_failure *failure;
    uint64_t done, total;
    vt_run *run;

    scene->options.keep_going = 1;
    scene->options.retries = 2;
    run = run_with(scene, kit_fail, NULL);
    assert_true(vt_run_go(run) < 0);
    failure = vt_run_error(run);
    assert_non_null(failure);
    assert_string_equal(failure->key, "bad");
    assert_string_equal(failure->reason, "try 2 did not work");
    assert_int_equal(kit_number(failure->value), 2);
    assert_int_equal(failure->task, 1);
    assert_int_equal(failure->tries, 3);
    assert_int_equal(failure->skipped_count, 2);
    assert_int_equal(failure->skipped[0], 2);
    assert_int_equal(failure->skipped[1], 4);
    assert_non_null(strstr(failure->message, "task 'bad' (maybe) failed on worker "));
    assert_non_null(
        strstr(failure->message, " after 3 tries: try 2 did not work; 2 dependents skipped"));
    assert_null(vt_run_result(run, 0));
    assert_int_equal(kit_number(vt_run_result(run, 1)), 1);
    assert_int_equal(state_of(run, "bad"), VT_TASK_FAILED);
    assert_int_equal(state_of(run, "after"), VT_TASK_SKIPPED);
    assert_int_equal(state_of(run, "end"), VT_TASK_SKIPPED);
    assert_int_equal(state_of(run, "beside"), VT_TASK_DONE);
    vt_run_progress(run, &done, &total);
    assert_int_equal(done, 6);
    assert_int_equal(total, 6);
}

static int fail_at_length(struct vt_call *call)
{
    char text[100000];

    memset(text, '\n', sizeof text - 1);
    text[sizeof text - 1] = 0;
    return vt_call_fail(call, "%s", text);
}

static void a_message_is_one_line_of_some_length(struct kit_scene *scene)
{
    vt_run *run = run_with(scene, fail_at_length, NULL);

    assert_true(vt_run_go(run) < 0);
    assert_null(strchr(vt_run_error(run)->message, '\n'));
    assert_true(strlen(vt_run_error(run)->message) < 2500);
    assert_int_equal(strlen(vt_run_error(run)->reason), 99999);
}

static void without_keep_going_nothing_new_is_begun(struct kit_scene *scene)
{
    vt_graph *graph = scene->graph;
    uint32_t bad, i;
    vt_run *run;

    scene->options.workers = 2;
    bad = vt_graph_task(graph, "bad", "bad", kit_fail, NULL, NULL, 0);
    for (i = 0; i < 1000; i++)
        vt_graph_call(graph, "slow", kit_sleep, kit_user(2), NULL, 0);
    run = kit_run(scene);
    assert_true(vt_run_go(run) < 0);
    assert_int_equal(vt_run_error(run)->task, bad);
    assert_true(kit_made < 200);
    assert_int_equal(state_of(run, "bad"), VT_TASK_FAILED);
}

static void retries_help(struct kit_scene *scene)
{
    vt_run *run = run_with(scene, kit_fail_first, kit_user(3));
    struct vt_task known;
    int is_estimated;

    vt_graph_retries(scene->graph, 1, 3);
    assert_int_equal(vt_run_go(run), 0);
    assert_int_equal(vt_run_task(run, 1, &known, &is_estimated), 1);
    assert_int_equal(known.retries, 3);
    vt_graph_retries(scene->graph, 1, 2);
    run = want_both(kit_run(scene));
    assert_true(vt_run_go(run) < 0);
}

static void tasks_that_look_are_told_of_the_time(struct kit_scene *scene)
{
    vt_run *run;

    scene->options.retries = 1;
    run = run_with(scene, kit_until_told, NULL);
    vt_graph_timeout(scene->graph, 1, 0.03);
    assert_true(vt_run_go(run) < 0);
    assert_string_equal(vt_run_error(run)->key, "bad");
    assert_int_equal(vt_run_error(run)->tries, 2);
    assert_non_null(strstr(vt_run_error(run)->message, "took longer than 0.03 s"));
    assert_int_equal(state_of(run, "bad"), VT_TASK_TIMED_OUT);
}

/* A thread that does not come back can be left alone; the caller's cannot. */
static int has_threads(const struct kit_scene *scene)
{
    return scene->way == KIT_STEAL || scene->way == KIT_CENTRAL;
}

static void tasks_that_never_end_are_abandoned(struct kit_scene *scene)
{
    vt_run *run;

    if (!has_threads(scene))
        return;
    scene->options.workers = 1;
    scene->options.timeout = 0.05;
    scene->options.keep_going = 1;
    run = run_with(scene, kit_sleep, kit_user(900));
    assert_true(vt_run_go(run) < 0);
    assert_string_equal(vt_run_error(run)->key, "bad");
    assert_int_equal(state_of(run, "bad"), VT_TASK_TIMED_OUT);
    /* By the one that took its place. */
    assert_int_equal(state_of(run, "beside"), VT_TASK_DONE);
    assert_int_equal(kit_number(vt_run_result(run, 1)), 1);
    vt_graph_free(scene->graph); /* the task still uses its argument */
    scene->graph = NULL;
}

static int slow_at_first(struct vt_call *call)
{
    if (call->try_ == 0)
        kit_pause(60);
    return kit_sum(call);
}

/* What the first try uses stays until that has ended, and not longer: all is well in the end. */
static void what_an_abandoned_try_used_goes_with_the_run(struct kit_scene *scene)
{
    uint32_t first;

    if (!has_threads(scene))
        return;
    scene->options.timeout = 0.02;
    scene->options.retries = 9;
    first = vt_graph_call(scene->graph, "first", kit_sum, NULL, NULL, 0);
    vt_graph_call(scene->graph, "slow", slow_at_first, NULL, &first, 1);
    assert_int_equal(vt_run_go(kit_run(scene)), 0);
    assert_int_equal(kit_made - kit_destroyed, 1); /* the one that was wanted */
}

struct soon {
    vt_run *run;
    void (*end)(vt_run *);
};

static void *end_soon(void *argument)
{
    const struct soon *soon = argument;
    struct timespec time = {0, 30000000};

    nanosleep(&time, NULL);
    soon->end(soon->run);
    return NULL;
}

/* The run is ended by another thread, while it goes on. */
static void go_until(vt_run *run, void (*end)(vt_run *))
{
    struct soon soon = {run, end};
    pthread_t thread;

    pthread_create(&thread, NULL, end_soon, &soon);
    assert_true(vt_run_go(run) < 0);
    pthread_join(thread, NULL);
}

static void other_threads_can_cancel(struct kit_scene *scene)
{
    vt_run *run = run_with(scene, kit_until_told, NULL);

    go_until(run, vt_run_cancel);
    assert_int_equal(vt_run_error(run)->task, VT_NO_TASK);
    assert_non_null(strstr(vt_run_error(run)->message, "cancelled: "));
    assert_int_equal(state_of(run, "bad"), VT_TASK_DONE);
    assert_int_equal(state_of(run, "end"), VT_TASK_CANCELLED);
}

static int give_up_when_told(struct vt_call *call)
{
    kit_until_told(call);
    call->failure = kit_value(5);
    return vt_call_fail(call, "given up");
}

/* Whoever fails because it was told to stop did not fail. */
static void who_is_told_and_fails_is_cancelled(struct kit_scene *scene)
{
    struct vt_task known;
    vt_run *run;
    int is_estimated;

    scene->options.retries = 3;
    run = run_with(scene, give_up_when_told, NULL);
    go_until(run, vt_run_cancel);
    assert_int_equal(vt_run_error(run)->task, VT_NO_TASK);
    assert_non_null(strstr(vt_run_error(run)->message, "the run was cancelled: "));
    assert_int_equal(state_of(run, "bad"), VT_TASK_CANCELLED);
    assert_int_equal(state_of(run, "end"), VT_TASK_CANCELLED);
    assert_int_equal(vt_run_task(run, 1, &known, &is_estimated), 1);
    assert_true(known.end > known.start);
}

/* Four fail; two of them are needed by one task, the others by another, and both of those by a last one. */
static void each_failure_has_its_own_dependents(struct kit_scene *scene)
{
    vt_graph *graph = scene->graph;
    uint32_t bad[4], after[2], i;
    vt_run *run;

    scene->options.keep_going = 1;
    for (i = 0; i < 4; i++)
        bad[i] = vt_graph_call(graph, "bad", kit_fail, NULL, NULL, 0);
    for (i = 0; i < 2; i++)
        after[i] = vt_graph_call(graph, "after", kit_sum, NULL, bad + 2 * i, 2);
    vt_graph_call(graph, "both", kit_sum, NULL, after, 2);
    run = kit_run(scene);
    assert_true(vt_run_go(run) < 0);
    assert_non_null(strstr(vt_run_error(run)->message,
                           " did not work; 2 dependents skipped; 3 other tasks failed"));
    assert_int_equal(vt_run_error(run)->skipped_count, 3);
}

/* The task sleeps for longer than vt_run_go() takes. */
static void nobody_waits_for_an_abandoned_run(struct kit_scene *scene)
{
    vt_run *run;

    if (!has_threads(scene))
        return;
    scene->options.timeout = 1e9;
    run = run_with(scene, kit_sleep, kit_user(900));
    go_until(run, vt_run_abandon);
    assert_int_equal(state_of(run, "bad"), VT_TASK_TIMED_OUT);
    assert_int_equal(state_of(run, "end"), VT_TASK_SKIPPED);
    vt_graph_free(scene->graph);
    scene->graph = NULL;
}

static vt_run *signalled;

static void on_signal(int number)
{
    (void)number;
    vt_run_cancel(signalled);
}

static void signal_handlers_can_cancel(struct kit_scene *scene)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct itimerspec soon = {{0, 0}, {0, 30000000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    timer_t timer;

    sigaction(SIGUSR1, &action, NULL);
    signalled = run_with(scene, kit_until_told, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &soon, NULL);
    assert_true(vt_run_go(signalled) < 0);
    timer_delete(timer);
    assert_int_equal(state_of(signalled, "end"), VT_TASK_CANCELLED);
}

static void cancelled_before_it_began(struct kit_scene *scene)
{
    vt_run *run = run_with(scene, kit_sum, NULL);

    vt_run_cancel(run);
    assert_true(vt_run_go(run) < 0);
    assert_int_equal(kit_made, 0);
    assert_string_equal(vt_run_error(run)->message,
                        "the run was cancelled: 6 of 6 tasks are not done");
}

/* A random graph in which some fail, and some at first. */
static void fill_at_random(vt_graph *graph, unsigned *seed)
{
    uint32_t i;

    for (i = 0; i < 400; i++) {
        uint32_t needs[3];
        size_t count = i == 0 ? 0 : (size_t)(rand_r(seed) % 4), k;
        int kind = rand_r(seed) % 60;

        for (k = 0; k < count; k++)
            needs[k] = (uint32_t)rand_r(seed) % i;
        vt_graph_call(graph, "any",
                      kind == 0   ? kit_fail
                      : kind == 1 ? kit_fail_first
                                  : kit_sum,
                      kit_user(1), needs, count);
    }
}

/* Every value is destroyed once, and of every task it is known what became of it. */
static void random_storms(struct kit_scene *scene)
{
    unsigned seed = 1 + (unsigned)scene->way, round;

    for (round = 0; round < 16; round++) {
        uint32_t i;

        scene->options.keep_going = round % 2;
        scene->options.retries = round / 2 % 2;
        vt_graph_free(scene->graph);
        scene->graph = vt_graph_new();
        fill_at_random(scene->graph, &seed);
        vt_run_go(kit_run(scene));
        for (i = 0; i < 400; i++) {
            struct vt_task known;
            int is_estimated;

            assert_int_equal(vt_run_task(scene->run, i, &known, &is_estimated), 1);
            assert_true(known.state >= VT_TASK_DONE && known.state <= VT_TASK_CANCELLED);
            assert_true(!scene->options.keep_going || known.state != VT_TASK_CANCELLED);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_EVERY_WAY(failures_name_everything),
        KIT_EVERY_WAY(a_message_is_one_line_of_some_length),
        KIT_EVERY_WAY(without_keep_going_nothing_new_is_begun),
        KIT_EVERY_WAY(retries_help),
        KIT_EVERY_WAY(tasks_that_look_are_told_of_the_time),
        KIT_EVERY_WAY(tasks_that_never_end_are_abandoned),
        KIT_EVERY_WAY(what_an_abandoned_try_used_goes_with_the_run),
        KIT_EVERY_WAY(other_threads_can_cancel),
        KIT_EVERY_WAY(who_is_told_and_fails_is_cancelled),
        KIT_EVERY_WAY(each_failure_has_its_own_dependents),
        KIT_EVERY_WAY(nobody_waits_for_an_abandoned_run),
        KIT_EVERY_WAY(signal_handlers_can_cancel),
        KIT_EVERY_WAY(cancelled_before_it_began),
        KIT_EVERY_WAY(random_storms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
