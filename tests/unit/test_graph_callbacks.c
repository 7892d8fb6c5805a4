/* test_graph_callbacks.c - callbacks: what is called when and with what, for one run and for all, and what happens if one gives up. */
#include "graph_kit.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What was called, one letter each with the task; and which call is answered with -7. */
struct log {
    char text[4096];
    const char *give_up_at;
};

static int note(struct log *log, const char *what, uint32_t task)
{
    size_t length = strlen(log->text);
    char entry[64];

    if (task == VT_NO_TASK)
        snprintf(entry, sizeof entry, "%s ", what);
    else
        snprintf(entry, sizeof entry, "%s%u ", what, task);
    snprintf(log->text + length, sizeof log->text - length, "%s", entry);
    entry[strlen(entry) - 1] = 0;
    return log->give_up_at != NULL && strcmp(log->give_up_at, entry) == 0 ? -7 : 0;
}

static int on_start(vt_run *run, void *user)
{
    assert_non_null(run);
    return note(user, "start", VT_NO_TASK);
}

static int on_start_state(vt_run *run, vt_state *state, void *user)
{
    uint64_t done, total;

    vt_run_progress(run, &done, &total);
    assert_int_equal(
        vt_state_count(state, VT_PHASE_WAITING) + vt_state_count(state, VT_PHASE_READY), total);
    return note(user, "state", VT_NO_TASK);
}

static int on_pretask(vt_run *run, uint32_t task, vt_state *state, void *user)
{
    (void)run;
    assert_int_equal(vt_state_phase(state, task), VT_PHASE_RUNNING);
    assert_true(vt_state_count(state, VT_PHASE_RUNNING) >= 1);
    assert_null(vt_state_value(state, task));
    return note(user, "<", task);
}

static int on_posttask(vt_run *run, uint32_t task, const struct vt_datum *result, vt_state *state,
                       uint32_t worker, void *user)
{
    const uint32_t *needs;
    size_t count = vt_state_dependencies(state, task, &needs), i;

    (void)run;
    assert_true(worker < 3);
    assert_ptr_equal(result, vt_state_value(state, task));
    assert_int_equal(vt_state_phase(state, task), VT_PHASE_FINISHED);
    for (i = 0; i < count; i++)
        assert_true(vt_state_phase(state, needs[i]) == VT_PHASE_RELEASED ||
                    vt_state_phase(state, needs[i]) == VT_PHASE_FINISHED);
    return note(user, ">", task);
}

static int on_error(vt_run *run, uint32_t task, const char *message, vt_state *state,
                    uint32_t worker, void *user)
{
    (void)run;
    (void)worker;
    assert_non_null(strstr(message, "did not work"));
    assert_int_equal(vt_state_phase(state, task), VT_PHASE_FAILED);
    return note(user, "!", task);
}

static void on_finish(vt_run *run, vt_state *state, int failed, void *user)
{
    (void)run;
    (void)state;
    note(user, failed ? "failed" : "finish", VT_NO_TASK);
}

static int on_start_task(vt_run *run, uint32_t task, vt_state *state, void *user)
{
    (void)run;
    (void)state;
    return note(user, "s", task);
}

static int on_end_task(vt_run *run, uint32_t task, vt_state *state, uint32_t worker, void *user)
{
    (void)run;
    (void)state;
    assert_int_equal(worker == VT_NO_WORKER, task == VT_NO_TASK);
    return note(user, "e", task);
}

static struct vt_callbacks all_of(struct log *log)
{
    return (struct vt_callbacks){on_start,  on_start_state, on_pretask,  on_posttask, on_error,
                                 on_finish, on_start_task,  on_end_task, log};
}

/* 0 -> 1 -> 2 */
static vt_graph *chain(vt_function *middle)
{
    vt_graph *graph = vt_graph_new();

    vt_graph_task(graph, "a", "a", kit_sum, NULL, NULL, 0);
    vt_graph_task(graph, "b", "b", middle, NULL, (struct vt_arg[]){VT_ARG_KEY("a")}, 1);
    vt_graph_task(graph, "c", "c", kit_sum, NULL, (struct vt_arg[]){VT_ARG_KEY("b")}, 1);
    return graph;
}

static int run_with(vt_graph *graph, enum vt_scheduler scheduler,
                    const struct vt_callbacks *callbacks, char *message, size_t room)
{
    const struct vt_callbacks *const all[] = {callbacks};
    struct vt_run_options options = {.size = sizeof options,
                                     .scheduler = scheduler,
                                     .workers = 2,
                                     .callbacks = all,
                                     .callback_count = callbacks == NULL ? 0 : 1};
    vt_run *run = vt_run_new(graph, &options);
    int code = vt_run_go(run);

    snprintf(message, room, "%s", code == 0 ? "" : vt_run_error(run)->message);
    vt_run_free(run);
    return code;
}

static void in_their_order(void **state)
{
    enum vt_scheduler scheduler;
    char message[256];

    (void)state;
    for (scheduler = VT_SYNC; scheduler <= VT_THREADS; scheduler++) {
        struct log log = {.text = ""};
        struct vt_callbacks callbacks = all_of(&log);
        vt_graph *graph = chain(kit_sum);

        kit_begin();
        assert_int_equal(run_with(graph, scheduler, &callbacks, message, sizeof message), 0);
        assert_string_equal(log.text,
                            "start state <0 s0 >0 e0 <1 s1 >1 e1 <2 s2 >2 e2 s e finish ");
        vt_graph_free(graph);
        graph = chain(kit_fail);
        log.text[0] = 0;
        assert_true(run_with(graph, scheduler, &callbacks, message, sizeof message) < 0);
        assert_string_equal(log.text, "start state <0 s0 >0 e0 <1 s1 !1 failed ");
        vt_graph_free(graph);
        kit_end();
    }
}

static void each_can_give_up(void **state)
{
    static const struct {
        const char *at, *text, *message;
    } cases[] = {
        {"start", "start ", "a callback gave the run up (-7)"},
        {"state", "start state failed ", "a callback gave the run up (-7)"},
        {"<1", "start state <0 s0 >0 e0 <1 failed ", "a callback gave the run up at task 'b' (-7)"},
        {"s1", "start state <0 s0 >0 e0 <1 s1 failed ",
         "a callback gave the run up at task 'b' (-7)"},
        {">1", "start state <0 s0 >0 e0 <1 s1 >1 failed ",
         "a callback gave the run up at task 'b' (-7)"},
        {"e1", "start state <0 s0 >0 e0 <1 s1 >1 e1 failed ",
         "a callback gave the run up at task 'b' (-7)"},
        {"s", "start state <0 s0 >0 e0 <1 s1 >1 e1 <2 s2 >2 e2 s failed ",
         "a callback gave the run up (-7)"},
        {"e", "start state <0 s0 >0 e0 <1 s1 >1 e1 <2 s2 >2 e2 s e failed ",
         "a callback gave the run up (-7)"},
    };
    enum vt_scheduler scheduler;
    char message[256];
    size_t i;

    (void)state;
    for (scheduler = VT_SYNC; scheduler <= VT_THREADS; scheduler++)
        for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            struct log log = {.text = "", .give_up_at = cases[i].at};
            struct vt_callbacks callbacks = all_of(&log);
            vt_graph *graph = chain(kit_sum);

            kit_begin();
            assert_true(run_with(graph, scheduler, &callbacks, message, sizeof message) < 0);
            assert_string_equal(log.text, cases[i].text);
            assert_string_equal(message, cases[i].message);
            vt_graph_free(graph);
            kit_end();
        }
}

static void a_graph_that_is_wrong_is_finished_too(void **state)
{
    struct log log = {.text = ""};
    struct vt_callbacks callbacks = all_of(&log);
    vt_graph *graph = vt_graph_new();
    char message[256];

    (void)state;
    vt_graph_task(graph, "a", "", kit_sum, NULL, (struct vt_arg[]){VT_ARG_KEY("b")}, 1);
    assert_true(run_with(graph, VT_SYNC, &callbacks, message, sizeof message) < 0);
    assert_string_equal(log.text, "start failed ");
    vt_graph_free(graph);
}

static int run_inside(struct vt_call *call)
{
    vt_graph *graph = vt_graph_new();
    char message[64];
    int code;

    vt_graph_task(graph, "inner", "", kit_sum, NULL, NULL, 0);
    code = run_with(graph, VT_SYNC, NULL, message, sizeof message);
    vt_graph_free(graph);
    call->result = kit_value(1);
    return code;
}

static void registered_ones_hear_of_all_runs(void **state)
{
    struct log log = {.text = ""}, other = {.text = ""};
    struct vt_callbacks callbacks = all_of(&log);
    struct vt_callbacks later = {.start = on_start, .finish = on_finish, .user = &other};
    vt_graph *graph = chain(run_inside);
    char message[256];

    (void)state;
    kit_begin();
    assert_int_equal(vt_callbacks_register(&callbacks), 0);
    assert_int_equal(vt_callbacks_register(&callbacks), 0);
    assert_int_equal(run_with(graph, VT_SYNC, &later, message, sizeof message), 0);
    assert_string_equal(log.text, "start state <0 s0 >0 e0 <1 s1 "
                                  "start state <0 s0 >0 e0 s e finish "
                                  ">1 e1 <2 s2 >2 e2 s e finish ");
    assert_string_equal(other.text, "start finish ");
    vt_callbacks_unregister(&callbacks);
    vt_callbacks_unregister(&callbacks);
    log.text[0] = 0;
    assert_int_equal(run_with(graph, VT_SYNC, NULL, message, sizeof message), 0);
    assert_string_equal(log.text, "");
    vt_graph_free(graph);
    kit_end();
}

static void one_that_starts_late_does_not_finish(void **state)
{
    struct log first = {.text = ""}, second = {.text = "", .give_up_at = "start"},
               third = {.text = ""};
    struct vt_callbacks one = {.start = on_start, .finish = on_finish, .user = &first};
    struct vt_callbacks two = {.start = on_start, .finish = on_finish, .user = &second};
    struct vt_callbacks three = {.start = on_start, .finish = on_finish, .user = &third};
    const struct vt_callbacks *const all[] = {&one, &two, &three};
    struct vt_run_options options = {.size = sizeof options, .callbacks = all, .callback_count = 3};
    vt_graph *graph = chain(kit_sum);
    vt_run *run = vt_run_new(graph, &options);

    (void)state;
    assert_true(vt_run_go(run) < 0);
    assert_string_equal(first.text, "start failed ");
    assert_string_equal(second.text, "start ");
    assert_string_equal(third.text, "");
    vt_run_free(run);
    vt_graph_free(graph);
}

static void *register_often(void *argument)
{
    int i;

    for (i = 0; i < 2000; i++) {
        vt_callbacks_register(argument);
        vt_callbacks_unregister(argument);
    }
    return NULL;
}

static void the_register_may_change_meanwhile(void **state)
{
    static const struct vt_callbacks none;
    vt_graph *graph = chain(kit_sum);
    char message[64];
    pthread_t thread;
    int i;

    (void)state;
    kit_begin();
    pthread_create(&thread, NULL, register_often, (void *)&none);
    for (i = 0; i < 200; i++)
        assert_int_equal(
            run_with(graph, i % 2 ? VT_SYNC : VT_THREADS, NULL, message, sizeof message), 0);
    pthread_join(thread, NULL);
    vt_graph_free(graph);
    kit_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_their_order),
        cmocka_unit_test(each_can_give_up),
        cmocka_unit_test(a_graph_that_is_wrong_is_finished_too),
        cmocka_unit_test(registered_ones_hear_of_all_runs),
        cmocka_unit_test(one_that_starts_late_does_not_finish),
        cmocka_unit_test(the_register_may_change_meanwhile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
