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
static vt_graph *graph_with(vt_function *bad, void *user)
{
    vt_graph *graph = vt_graph_new();

    vt_graph_task(graph, "good", "sum", kit_sum, NULL, NULL, 0);
    vt_graph_task(graph, "bad", "maybe", bad, user, (struct vt_arg[]){VT_ARG_KEY("good")}, 1);
    vt_graph_task(graph, "after", "sum", kit_sum, NULL, (struct vt_arg[]){VT_ARG_KEY("bad")}, 1);
    vt_graph_task(graph, "beside", "sum", kit_sum, NULL, (struct vt_arg[]){VT_ARG_KEY("good")}, 1);
    vt_graph_task(graph, "end", "sum", kit_sum, NULL,
                  (struct vt_arg[]){VT_ARG_KEY("after"), VT_ARG_KEY("beside")}, 2);
    vt_graph_task(graph, "apart", "sum", kit_sum, NULL, NULL, 0);
    return graph;
}

static int state_of(const vt_run *run, const char *key)
{
    struct vt_task task;
    int is_estimated;

    assert_int_equal(vt_run_task(run, vt_graph_find(vt_run_graph(run), key), &task, &is_estimated),
                     1);
    return task.state;
}

static vt_run *run_new(vt_graph *graph, const struct vt_run_options *options)
{
    vt_run *run = vt_run_new(graph, options);

    assert_int_equal(vt_run_want(run, "end"), 0);
    assert_int_equal(vt_run_want(run, "apart"), 0);
    return run;
}

static void failures_name_everything(void **state)
{
    int way;

    (void)state;
    for (way = 0; way < KIT_WAYS; way++) {
        struct vt_run_options options = kit_options(way);
        vt_graph *graph = graph_with(kit_fail, NULL);
        const struct vt_run_failure *failure;
        uint64_t done, total;
        vt_run *run;

        kit_begin();
        options.keep_going = 1;
        options.retries = 2;
        run = run_new(graph, &options);
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
        vt_run_free(run);
        vt_graph_free(graph);
        kit_end();
    }
}

static int fail_at_length(struct vt_call *call)
{
    char text[100000];

    memset(text, '\n', sizeof text - 1);
    text[sizeof text - 1] = 0;
    return vt_call_fail(call, "%s", text);
}

static void a_message_is_one_line_of_some_length(void **state)
{
    vt_graph *graph = graph_with(fail_at_length, NULL);
    vt_run *run = run_new(graph, NULL);

    (void)state;
    assert_true(vt_run_go(run) < 0);
    assert_null(strchr(vt_run_error(run)->message, '\n'));
    assert_true(strlen(vt_run_error(run)->message) < 2500);
    assert_int_equal(strlen(vt_run_error(run)->reason), 99999);
    vt_run_free(run);
    vt_graph_free(graph);
}

static void without_keep_going_nothing_new_is_begun(void **state)
{
    int way;

    (void)state;
    for (way = 0; way < KIT_WAYS; way++) {
        struct vt_run_options options = kit_options(way);
        vt_graph *graph = vt_graph_new();
        uint32_t bad, i;
        vt_run *run;

        kit_begin();
        options.workers = 2;
        bad = vt_graph_task(graph, "bad", "bad", kit_fail, NULL, NULL, 0);
        for (i = 0; i < 1000; i++)
            vt_graph_call(graph, "slow", kit_sleep, kit_user(2), NULL, 0);
        run = vt_run_new(graph, &options);
        assert_true(vt_run_go(run) < 0);
        assert_int_equal(vt_run_error(run)->task, bad);
        assert_true(kit_made < 200);
        assert_int_equal(state_of(run, "bad"), VT_TASK_FAILED);
        vt_run_free(run);
        vt_graph_free(graph);
        kit_end();
    }
}

static void retries_help(void **state)
{
    int way;

    (void)state;
    for (way = 0; way < KIT_WAYS; way++) {
        struct vt_run_options options = kit_options(way);
        vt_graph *graph = graph_with(kit_fail_first, kit_user(3));
        struct vt_task known;
        int is_estimated;
        vt_run *run;

        kit_begin();
        vt_graph_retries(graph, 1, 3);
        run = run_new(graph, &options);
        assert_int_equal(vt_run_go(run), 0);
        assert_int_equal(vt_run_task(run, 1, &known, &is_estimated), 1);
        assert_int_equal(known.retries, 3);
        vt_run_free(run);
        vt_graph_retries(graph, 1, 2);
        run = run_new(graph, &options);
        assert_true(vt_run_go(run) < 0);
        vt_run_free(run);
        vt_graph_free(graph);
        kit_end();
    }
}

static void tasks_that_look_are_told_of_the_time(void **state)
{
    int way;

    (void)state;
    for (way = 0; way < KIT_WAYS; way++) {
        struct vt_run_options options = kit_options(way);
        vt_graph *graph = graph_with(kit_until_told, NULL);
        vt_run *run;

        kit_begin();
        vt_graph_timeout(graph, 1, 0.03);
        options.retries = 1;
        run = run_new(graph, &options);
        assert_true(vt_run_go(run) < 0);
        assert_string_equal(vt_run_error(run)->key, "bad");
        assert_int_equal(vt_run_error(run)->tries, 2);
        assert_non_null(strstr(vt_run_error(run)->message, "took longer than 0.03 s"));
        assert_int_equal(state_of(run, "bad"), VT_TASK_TIMED_OUT);
        vt_run_free(run);
        vt_graph_free(graph);
        kit_end();
    }
}

static void tasks_that_never_end_are_abandoned(void **state)
{
    int way;

    (void)state;
    for (way = KIT_STEAL; way <= KIT_CENTRAL; way++) {
        struct vt_run_options options = kit_options(way);
        vt_graph *graph = graph_with(kit_sleep, kit_user(900));
        vt_run *run;

        kit_begin();
        options.workers = 1;
        options.timeout = 0.05;
        options.keep_going = 1;
        run = run_new(graph, &options);
        assert_true(vt_run_go(run) < 0);
        assert_string_equal(vt_run_error(run)->key, "bad");
        assert_int_equal(state_of(run, "bad"), VT_TASK_TIMED_OUT);
        assert_int_equal(state_of(run, "beside"),
                         VT_TASK_DONE); /* by the one that took its place */
        assert_int_equal(kit_number(vt_run_result(run, 1)), 1);
        vt_graph_free(graph);
        vt_run_free(run); /* the task still uses its argument */
        kit_end();
    }
}

static void *cancel_soon(void *argument)
{
    struct timespec time = {0, 30000000};

    nanosleep(&time, NULL);
    vt_run_cancel(argument);
    return NULL;
}

static void other_threads_can_cancel(void **state)
{
    int way;

    (void)state;
    for (way = 0; way < KIT_WAYS; way++) {
        struct vt_run_options options = kit_options(way);
        vt_graph *graph = graph_with(kit_until_told, NULL);
        pthread_t thread;
        vt_run *run;

        kit_begin();
        run = run_new(graph, &options);
        pthread_create(&thread, NULL, cancel_soon, run);
        assert_true(vt_run_go(run) < 0);
        pthread_join(thread, NULL);
        assert_int_equal(vt_run_error(run)->task, VT_NO_TASK);
        assert_non_null(strstr(vt_run_error(run)->message, "cancelled: "));
        assert_int_equal(state_of(run, "bad"), VT_TASK_DONE);
        assert_int_equal(state_of(run, "end"), VT_TASK_CANCELLED);
        vt_run_free(run);
        vt_graph_free(graph);
        kit_end();
    }
}

static int give_up_when_told(struct vt_call *call)
{
    kit_until_told(call);
    call->failure = kit_value(5);
    return vt_call_fail(call, "given up");
}

/* Whoever fails because it was told to stop did not fail. */
static void who_is_told_and_fails_is_cancelled(void **state)
{
    int way;

    (void)state;
    for (way = 0; way < KIT_WAYS; way++) {
        struct vt_run_options options = kit_options(way);
        vt_graph *graph = graph_with(give_up_when_told, NULL);
        struct vt_task known;
        pthread_t thread;
        vt_run *run;
        int is_estimated;

        kit_begin();
        options.retries = 3;
        run = run_new(graph, &options);
        pthread_create(&thread, NULL, cancel_soon, run);
        assert_true(vt_run_go(run) < 0);
        pthread_join(thread, NULL);
        assert_int_equal(vt_run_error(run)->task, VT_NO_TASK);
        assert_non_null(strstr(vt_run_error(run)->message, "the run was cancelled: "));
        assert_int_equal(state_of(run, "bad"), VT_TASK_CANCELLED);
        assert_int_equal(state_of(run, "end"), VT_TASK_CANCELLED);
        assert_int_equal(vt_run_task(run, 1, &known, &is_estimated), 1);
        assert_true(known.end > known.start);
        vt_run_free(run);
        vt_graph_free(graph);
        kit_end();
    }
}

/* Four fail; two of them are needed by one task, the others by another, and both of those by a last one. */
static void each_failure_has_its_own_dependents(void **state)
{
    int way;

    (void)state;
    for (way = 0; way < KIT_WAYS; way++) {
        struct vt_run_options options = kit_options(way);
        vt_graph *graph = vt_graph_new();
        uint32_t bad[4], after[2], i;
        vt_run *run;

        kit_begin();
        options.keep_going = 1;
        for (i = 0; i < 4; i++)
            bad[i] = vt_graph_call(graph, "bad", kit_fail, NULL, NULL, 0);
        for (i = 0; i < 2; i++)
            after[i] = vt_graph_call(graph, "after", kit_sum, NULL, bad + 2 * i, 2);
        vt_graph_call(graph, "both", kit_sum, NULL, after, 2);
        run = vt_run_new(graph, &options);
        assert_true(vt_run_go(run) < 0);
        assert_non_null(strstr(vt_run_error(run)->message,
                               " did not work; 2 dependents skipped; 3 other tasks failed"));
        assert_int_equal(vt_run_error(run)->skipped_count, 3);
        vt_run_free(run);
        vt_graph_free(graph);
        kit_end();
    }
}

static void *abandon_soon(void *argument)
{
    struct timespec time = {0, 30000000};

    nanosleep(&time, NULL);
    vt_run_abandon(argument);
    return NULL;
}

/* The task sleeps for longer than vt_run_go() takes. */
static void nobody_waits_for_an_abandoned_run(void **state)
{
    int way;

    (void)state;
    for (way = KIT_STEAL; way <= KIT_CENTRAL; way++) {
        struct vt_run_options options = kit_options(way);
        vt_graph *graph = graph_with(kit_sleep, kit_user(900));
        pthread_t thread;
        vt_run *run;

        kit_begin();
        options.timeout = 1e9;
        run = run_new(graph, &options);
        pthread_create(&thread, NULL, abandon_soon, run);
        assert_true(vt_run_go(run) < 0);
        pthread_join(thread, NULL);
        assert_int_equal(state_of(run, "bad"), VT_TASK_TIMED_OUT);
        assert_int_equal(state_of(run, "end"), VT_TASK_SKIPPED);
        vt_graph_free(graph);
        vt_run_free(run);
        kit_end();
    }
}

static vt_run *signalled;

static void on_signal(int number)
{
    (void)number;
    vt_run_cancel(signalled);
}

static void signal_handlers_can_cancel(void **state)
{
    struct sigaction action = {.sa_handler = on_signal};
    int way;

    (void)state;
    sigaction(SIGUSR1, &action, NULL);
    for (way = 0; way < KIT_WAYS; way++) {
        struct vt_run_options options = kit_options(way);
        vt_graph *graph = graph_with(kit_until_told, NULL);
        struct itimerspec soon = {{0, 0}, {0, 30000000}};
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
        timer_t timer;

        kit_begin();
        signalled = run_new(graph, &options);
        timer_create(CLOCK_MONOTONIC, &event, &timer);
        timer_settime(timer, 0, &soon, NULL);
        assert_true(vt_run_go(signalled) < 0);
        timer_delete(timer);
        assert_int_equal(state_of(signalled, "end"), VT_TASK_CANCELLED);
        vt_run_free(signalled);
        vt_graph_free(graph);
        kit_end();
    }
}

static void cancelled_before_it_began(void **state)
{
    int way;

    (void)state;
    for (way = 0; way < KIT_WAYS; way++) {
        struct vt_run_options options = kit_options(way);
        vt_graph *graph = graph_with(kit_sum, NULL);
        vt_run *run = run_new(graph, &options);

        kit_begin();
        vt_run_cancel(run);
        assert_true(vt_run_go(run) < 0);
        assert_int_equal(kit_made, 0);
        assert_string_equal(vt_run_error(run)->message,
                            "the run was cancelled: 6 of 6 tasks are not done");
        vt_run_free(run);
        vt_graph_free(graph);
    }
}

/* Random graphs in which some fail, some at first, some take too long: every value is destroyed once. */
static void random_storms(void **state)
{
    unsigned seed = 1, round;

    (void)state;
    for (round = 0; round < 60; round++) {
        struct vt_run_options options = kit_options(round % KIT_WAYS);
        vt_graph *graph = vt_graph_new();
        uint32_t i;
        vt_run *run;

        kit_begin();
        options.keep_going = round / 4 % 2;
        options.retries = round / 8 % 2;
        for (i = 0; i < 400; i++) {
            uint32_t needs[3];
            size_t count = i == 0 ? 0 : (size_t)(rand_r(&seed) % 4), k;
            int kind = rand_r(&seed) % 60;

            for (k = 0; k < count; k++)
                needs[k] = (uint32_t)rand_r(&seed) % i;
            vt_graph_call(graph, "any",
                          kind == 0   ? kit_fail
                          : kind == 1 ? kit_fail_first
                                      : kit_sum,
                          kit_user(1), needs, count);
        }
        run = vt_run_new(graph, &options);
        vt_run_go(run);
        for (i = 0; i < 400; i++) {
            struct vt_task known;
            int is_estimated;

            assert_int_equal(vt_run_task(run, i, &known, &is_estimated), 1);
            assert_true(known.state >= VT_TASK_DONE && known.state <= VT_TASK_CANCELLED);
            assert_true(!options.keep_going || known.state != VT_TASK_CANCELLED);
        }
        vt_run_free(run);
        vt_graph_free(graph);
        kit_end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_name_everything),
        cmocka_unit_test(a_message_is_one_line_of_some_length),
        cmocka_unit_test(without_keep_going_nothing_new_is_begun),
        cmocka_unit_test(retries_help),
        cmocka_unit_test(tasks_that_look_are_told_of_the_time),
        cmocka_unit_test(tasks_that_never_end_are_abandoned),
        cmocka_unit_test(other_threads_can_cancel),
        cmocka_unit_test(who_is_told_and_fails_is_cancelled),
        cmocka_unit_test(each_failure_has_its_own_dependents),
        cmocka_unit_test(nobody_waits_for_an_abandoned_run),
        cmocka_unit_test(signal_handlers_can_cancel),
        cmocka_unit_test(cancelled_before_it_began),
        cmocka_unit_test(random_storms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
