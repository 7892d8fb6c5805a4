/* test_graph_save.c - graphs and values as bytes: what comes back is the same, what cannot travel is refused by its key, damage is found. */
#include "graph_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <venturi/blocks.h>

#include <cmocka.h>

static int add(struct vt_call *call)
{
    int64_t sum = call->user ? *(const uint8_t *)call->user : 0;

    for (size_t i = 0; i < call->arg_count; i++) {
        const struct vt_datum *arg = call->args[i];

        switch (arg->type) {
        case VT_DATUM_INT:
            sum += arg->as.number;
            break;
        case VT_DATUM_DOUBLE:
            sum += (int64_t)(arg->as.real * 2);
            break;
        case VT_DATUM_BYTES:
            sum += (int64_t)arg->size * 1000 + (arg->size ? *(const uint8_t *)arg->as.data : 0);
            break;
        default:
            return vt_call_fail(call, "a value of type %d", arg->type);
        }
    }
    call->result = vt_datum_int(sum);
    return 0;
}

static int other(struct vt_call *call)
{
    return add(call);
}

/* One of everything. */
static vt_graph *make_graph(void)
{
    static char text[] = "text";
    vt_graph *graph = vt_graph_new();
    struct vt_arg args[] = {VT_ARG_KEY("bytes"), VT_ARG_KEY("half"), VT_ARG_INT(5),
                            VT_ARG_KEY("also x"), VT_ARG_INT(0)};
    uint32_t task;

    args[4].value = vt_datum_bytes(text, 2, NULL, NULL);
    vt_graph_alias(graph, "also x", "x");
    vt_graph_task(graph, "sum", "add", add, NULL, args, 5);
    vt_graph_literal(graph, "bytes", vt_datum_bytes(text, sizeof text, NULL, NULL));
    vt_graph_literal(graph, "half", vt_datum_double(0.5));
    vt_graph_literal(graph, "nothing", vt_datum_bytes(NULL, 0, NULL, NULL));
    task = vt_graph_task(graph, "x", "start", add, NULL, (struct vt_arg[]){VT_ARG_KEY("nothing")},
                         1);
    vt_graph_user_bytes(graph, task, "\x07", 1);
    vt_graph_priority(graph, task, -3);
    vt_graph_retries(graph, task, 2);
    vt_graph_timeout(graph, task, 100);
    vt_graph_call(graph, "add", add, NULL, &task, 1);
    return graph;
}

static int64_t number_of(vt_graph *graph, const char *key)
{
    vt_run *run = vt_run_new(graph, NULL);
    int64_t number;

    assert_int_equal(vt_run_want(run, key), 0);
    if (vt_run_go(run) != 0)
        fail_msg("%s", vt_run_error(run)->message);
    number = vt_run_result(run, 0)->as.number;
    vt_run_free(run);
    return number;
}

static void test_round(void **state)
{
    vt_graph *graph = make_graph(), *loaded;
    void *bytes, *again;
    size_t size, again_size;

    (void)state;
    assert_int_equal(vt_graph_save(graph, &bytes, &size), 0);
    loaded = vt_graph_load(bytes, size, NULL);
    assert_non_null(loaded);
    assert_int_equal(vt_graph_count(loaded), vt_graph_count(graph));
    assert_int_equal(number_of(loaded, "sum"), number_of(graph, "sum"));
    assert_int_equal(number_of(loaded, "sum"), 5000 + 't' + 1 + 5 + 7 + 2000 + 't');
    for (uint32_t i = 0; i < vt_graph_count(graph); i++) {
        assert_string_equal(vt_graph_key(loaded, i), vt_graph_key(graph, i));
        assert_string_equal(vt_graph_name(loaded, i), vt_graph_name(graph, i));
    }
    /* Priority, retries and time limit too: saved again it is the same. */
    assert_int_equal(vt_graph_save(loaded, &again, &again_size), 0);
    assert_int_equal(again_size, size);
    assert_memory_equal(again, bytes, size);
    free(again);
    free(bytes);
    vt_graph_free(graph);
    vt_graph_free(loaded);
}

static void is_refused(vt_graph *graph, const char *key, const char *text)
{
    void *bytes;
    size_t size;

    assert_true(vt_graph_save(graph, &bytes, &size) < 0);
    if (!strstr(vt_graph_error(graph), key) || !strstr(vt_graph_error(graph), text))
        fail_msg("'%s' says neither '%s' nor '%s'", vt_graph_error(graph), key, text);
    vt_graph_free(graph);
}

static void test_refused(void **state)
{
    vt_graph *graph = vt_graph_new();
    struct vt_arg missing = VT_ARG_KEY("nowhere");

    (void)state;
    vt_graph_task(graph, "nameless", "other", other, NULL, NULL, 0);
    is_refused(graph, "nameless", "vt_function_register");
    graph = vt_graph_new();
    vt_graph_task(graph, "bound", "add", add, graph, NULL, 0);
    is_refused(graph, "bound", "vt_graph_user_bytes");
    graph = vt_graph_new();
    vt_graph_literal(graph, "thing", vt_datum_object(graph, 0, NULL, NULL));
    is_refused(graph, "thing", "object");
    graph = vt_graph_new();
    vt_graph_task(graph, "lost", "add", add, NULL, &missing, 1);
    is_refused(graph, "lost", "nowhere");
}

/* Every cut and every changed byte: an error or another graph, nothing else. */
static void test_damaged(void **state)
{
    vt_graph *graph = make_graph();
    const char *why = NULL;
    uint8_t *copy;
    void *bytes;
    size_t size;

    (void)state;
    assert_int_equal(vt_graph_save(graph, &bytes, &size), 0);
    vt_graph_free(graph);
    for (size_t i = 0; i < size; i++) {
        copy = malloc(i ? i : 1);
        memcpy(copy, bytes, i);
        assert_null(vt_graph_load(copy, i, &why));
        assert_true(why != NULL && *why);
        free(copy);
    }
    for (size_t i = 0; i < size * 8; i++) {
        copy = malloc(size);
        memcpy(copy, bytes, size);
        copy[i / 8] ^= (uint8_t)(1 << i % 8);
        graph = vt_graph_load(copy, size, NULL);
        if (graph != NULL)
            vt_graph_check(graph);
        vt_graph_free(graph);
        free(copy);
    }
    free(bytes);
}

static void test_unknown_function(void **state)
{
    static const char saved[] = "VTGRAPH1\x01\x01x\x01\x07unknown\x00";
    const char *why = NULL;

    (void)state;
    assert_null(vt_graph_load(saved, sizeof saved - 1, &why));
    assert_non_null(strstr(why, "unknown"));
}

static void same_value(struct vt_datum value)
{
    struct vt_datum loaded;
    void *bytes;
    size_t size;

    assert_int_equal(vt_datum_save(&value, &bytes, &size), 0);
    assert_int_equal(vt_datum_load(&loaded, bytes, size), 0);
    kit_same(&value, &loaded);
    assert_true(vt_datum_load(&loaded, bytes, size - 1) < 0);
    free(bytes);
}

static void test_values(void **state)
{
    struct vt_datum loaded;
    void *bytes;
    size_t size;

    (void)state;
    same_value(vt_datum_int(0));
    same_value(vt_datum_int(INT64_MIN));
    same_value(vt_datum_double(-1.5));
    same_value(vt_datum_bytes("abc", 3, NULL, NULL));
    same_value((struct vt_datum){0});
    loaded = vt_datum_object(&size, 0, NULL, NULL);
    assert_true(vt_datum_save(&loaded, &bytes, &size) < 0);
    assert_true(vt_datum_load(&loaded, "\x01\x02\x03", 3) < 0); /* more than a value */
    assert_true(vt_datum_load(&loaded, "\x04", 1) < 0);
}

static void test_functions(void **state)
{
    char name[6000];

    (void)state;
    assert_int_equal(vt_function_register("add", add), 0);
    assert_true(vt_function_register("add", other) < 0);
    assert_true(vt_function_find("add") == add);
    assert_true(vt_function_register("", add) < 0);
    assert_true(vt_function_register(NULL, add) < 0);
    assert_true(vt_function_register("none", NULL) < 0);
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_true(vt_function_register(name, add) < 0);
    assert_null(vt_function_find(name));
    assert_null(vt_function_find(NULL));
    assert_null(vt_function_find(""));
    assert_null(vt_function_find(":"));
    assert_null(vt_function_find("libm.so.6:"));
    assert_null(vt_function_find(":cos"));
    assert_null(vt_function_find("/dev/stdin.so:cos"));
    assert_null(vt_function_find("/nonexistent/lib.so:cos"));
    assert_null(vt_function_find("libm.so.6:no_such_function"));
    assert_non_null(vt_function_find("libm.so.6:cos"));
    assert_true(vt_function_find("libm.so.6:cos") == vt_function_find("libm.so.6:cos"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_damaged), cmocka_unit_test(test_unknown_function),
        cmocka_unit_test(test_values),  cmocka_unit_test(test_functions),
    };

    vt_function_register("add", add);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
