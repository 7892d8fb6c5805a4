/* test_graph_forks.c - a fork while other threads make plans and run graphs: the child runs that graph, and one of its own. */
#include "graph_kit.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { NODES = 200000, ROUNDS = 8, PATIENCE = 30 };

static int nothing(struct vt_call *call)
{
    (void)call;
    return 0;
}

static vt_graph *chain(uint32_t count)
{
    vt_graph *graph = vt_graph_new();

    for (uint32_t i = 0; i < count; i++) {
        uint32_t before = i - 1;

        vt_graph_call(graph, "nothing", nothing, NULL, &before, i > 0);
    }
    return graph;
}

static int run_last(vt_graph *graph, uint32_t count)
{
    struct vt_run_options options = kit_options(KIT_SYNC);
    vt_run *run = vt_run_new(graph, &options);
    int code = vt_run_want_task(run, count - 1);

    code = code == 0 ? vt_run_go(run) : code;
    vt_run_free(run);
    return code;
}

/* Another thread makes the plan of a graph that the child has too. */
struct planning {
    vt_graph *graph;
    int has_begun; /* atomic */
};

static void *plan(void *arg)
{
    struct planning *planning = arg;

    __atomic_store_n(&planning->has_begun, 1, __ATOMIC_RELEASE);
    vt_graph_check(planning->graph);
    return NULL;
}

/* What is not over in time would never be. */
static void in_child(vt_graph *shared)
{
    vt_graph *own = chain(10);

    alarm(PATIENCE);
    _exit(run_last(own, 10) == 0 && run_last(shared, NODES) == 0 ? 0 : 1);
}

/* The thread sanitizer makes a child fail that ends with threads which it never had. */
static void leave_to_others(void)
{
#ifdef __SANITIZE_THREAD__
    skip();
#endif
}

static void test_fork_while_others_plan(void **state)
{
    (void)state;
    leave_to_others();
    for (int i = 0; i < ROUNDS; i++) {
        struct planning planning = {chain(NODES), 0};
        pthread_t thread;
        int status = 1;
        pid_t child;

        assert_int_equal(pthread_create(&thread, NULL, plan, &planning), 0);
        while (__atomic_load_n(&planning.has_begun, __ATOMIC_ACQUIRE) == 0) {
        }
        usleep(200u * (unsigned)i); /* somewhere in it */
        child = fork();
        if (child == 0)
            in_child(planning.graph);
        assert_true(child > 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        pthread_join(thread, NULL);
        assert_int_equal(run_last(planning.graph, NODES), 0);
        vt_graph_free(planning.graph);
    }
}

/* A task that forks: its child runs a graph of its own, while the run that it was forked from goes on without it. */
static int fork_in_task(struct vt_call *call)
{
    vt_graph *own;
    int status = 1;
    pid_t child = fork();

    if (child == 0) {
        own = chain(10);
        alarm(PATIENCE);
        _exit(run_last(own, 10) == 0 ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return vt_call_fail(call, "the child ended with %d", status);
    return 0;
}

static void test_fork_in_a_task(struct kit_scene *scene)
{
    leave_to_others();
    for (int i = 0; i < 8; i++)
        vt_graph_call(scene->graph, "fork", fork_in_task, NULL, NULL, 0);
    kit_run(scene);
    for (uint32_t i = 0; i < 8; i++)
        vt_run_want_task(scene->run, i);
    assert_int_equal(vt_run_go(scene->run), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fork_while_others_plan),
        KIT_EVERY_WAY(test_fork_in_a_task),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
