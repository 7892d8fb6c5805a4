/* graph_kit.c - tasks for tests of graphs; every value they make is counted. */
#include "graph_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

const char *const kit_names[KIT_WAYS] = {"sync", "steal", "central", "watched"};
long kit_made, kit_destroyed, kit_most;

struct counted {
    int64_t number;
    long is_alive;
};

void kit_pause(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

struct vt_run_options kit_options(enum kit_way way)
{
    static const struct vt_callbacks none;
    static const struct vt_callbacks *const all[] = {&none};
    struct vt_run_options options = {.size = sizeof options, .workers = 3};

    if (way == KIT_STEAL || way == KIT_CENTRAL)
        options.scheduler = VT_THREADS;
    if (way == KIT_CENTRAL || way == KIT_WATCHED) {
        options.callbacks = all;
        options.callback_count = 1;
    }
    return options;
}

void kit_begin(void)
{
    kit_made = kit_destroyed = kit_most = 0;
}

void kit_end(void)
{
    int i;

    for (i = 0; i < 2000 && __atomic_load_n(&kit_made, __ATOMIC_ACQUIRE) !=
                                __atomic_load_n(&kit_destroyed, __ATOMIC_ACQUIRE);
         i++)
        kit_pause(5);
    assert_int_equal(kit_made, kit_destroyed);
}

vt_run *kit_run(struct kit_scene *scene)
{
    vt_run_free(scene->run);
    scene->run = vt_run_new(scene->graph, &scene->options);
    assert_non_null(scene->run);
    return scene->run;
}

void kit_in_every_way(void **state)
{
    kit_test *const *test = *state;
    int way;

    for (way = 0; way < KIT_WAYS; way++) {
        struct kit_scene scene = {
            .way = (enum kit_way)way, .options = kit_options(way), .graph = vt_graph_new()};

        kit_begin();
        (*test)(&scene);
        vt_run_free(scene.run);
        vt_graph_free(scene.graph);
        kit_end();
    }
}

static void destroy(void *data, void *with)
{
    struct counted *counted = data;

    assert_ptr_equal(with, &kit_made);
    assert_int_equal(counted->is_alive, 1);
    counted->is_alive = counted->number = 0;
    free(counted);
    __atomic_add_fetch(&kit_destroyed, 1, __ATOMIC_RELEASE);
}

struct vt_datum kit_value(int64_t number)
{
    struct counted *counted = malloc(sizeof *counted);
    long live;

    counted->number = number;
    counted->is_alive = 1;
    live = __atomic_add_fetch(&kit_made, 1, __ATOMIC_RELAXED) -
           __atomic_load_n(&kit_destroyed, __ATOMIC_RELAXED);
    if (live > __atomic_load_n(&kit_most, __ATOMIC_RELAXED))
        __atomic_store_n(&kit_most, live, __ATOMIC_RELAXED);
    return vt_datum_object(counted, sizeof *counted, destroy, &kit_made);
}

int64_t kit_number(const struct vt_datum *value)
{
    return value->type == VT_DATUM_OBJECT ? ((const struct counted *)value->as.data)->number
                                          : value->as.number;
}

int kit_sum(struct vt_call *call)
{
    int64_t sum = 1;
    size_t i;

    for (i = 0; i < call->arg_count; i++)
        sum += kit_number(call->args[i]);
    call->result = kit_value(sum);
    return 0;
}

int kit_mix(struct vt_call *call)
{
    int64_t sum = 1;
    size_t i;

    for (i = 0; i < call->arg_count; i++)
        sum = (sum * 31 + call->args[i]->as.number) % 1000003;
    call->result = vt_datum_int(sum);
    return 0;
}

void kit_same(const struct vt_datum *want, struct vt_datum *got)
{
    assert_int_equal(got->type, want->type);
    if (want->type == VT_DATUM_BYTES) {
        assert_int_equal(got->size, want->size);
        assert_memory_equal(got->as.data, want->as.data, want->size);
    } else {
        assert_int_equal(got->as.number, want->as.number);
    }
    if (got->destroy)
        got->destroy(got->as.data, got->with);
}

int kit_fail(struct vt_call *call)
{
    call->result = kit_value(1);
    call->failure = kit_value(2);
    return vt_call_fail(call, "try %u did not work", call->try_);
}

int kit_fail_first(struct vt_call *call)
{
    return call->try_ < (uint32_t)(uintptr_t)call->user ? kit_fail(call) : kit_sum(call);
}

int kit_until_told(struct vt_call *call)
{
    while (!vt_call_is_cancelled(call))
        kit_pause(1);
    call->result = kit_value(3);
    return 0;
}

int kit_sleep(struct vt_call *call)
{
    size_t i;

    kit_pause((long)(uintptr_t)call->user);
    call->result = kit_value(4);
    for (i = 0; i < call->arg_count; i++)
        assert_true(kit_number(call->args[i]) != 0); /* it is still there */
    return 0;
}

void *kit_user(long number)
{
    return (void *)(uintptr_t)number;
}

int kit_can_start_itself(void)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        setenv("KIT_PROBE", "1", 1);
        execl("/proc/self/exe", "probe", (char *)NULL);
        _exit(1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}
