/*
 * test_profile.c - the function table against what cProfile would have said: trees by hand, random
 * ones against a slow way of counting, and trees that are deep or large.
 */
#include "analyze/profile.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t function(struct vti_calls *calls, const char *name)
{
    int64_t at = vti_calls_function(
        calls,
        &(struct vti_function){
            .name = name, .function = name, .file = "a.py", .language = "python", .line = 1});

    assert_true(at >= 0);
    return (uint32_t)at;
}

static uint32_t add(struct vti_calls *calls, uint32_t parent, const char *name, uint64_t count,
                    double total_ns)
{
    int64_t at = vti_calls_add(calls, &(struct vti_call){.parent = parent,
                                                         .function = function(calls, name),
                                                         .track = VT_NONE,
                                                         .calls = count,
                                                         .total_ns = total_ns,
                                                         .shortest_ns = total_ns / 2,
                                                         .longest_ns = total_ns});

    assert_true(at >= 0);
    return (uint32_t)at;
}

static const struct vti_profile_row *row(const struct vti_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->row_count; i++)
        if (!strcmp(profile->calls->functions[profile->rows[i].function].name, name))
            return &profile->rows[i];
    fail_msg("no row %s", name);
    return NULL;
}

static const struct vti_profile_arc *arc(const struct vti_profile *profile, const char *caller,
                                         const char *callee)
{
    const struct vti_profile_row *to = row(profile, callee);

    for (size_t i = 0; i < to->caller_count; i++)
        if (&profile->rows[profile->arcs[to->first_caller + i].caller] == row(profile, caller))
            return &profile->arcs[to->first_caller + i];
    fail_msg("no arc %s to %s", caller, callee);
    return NULL;
}

static void check(const struct vti_profile_numbers *numbers, uint64_t calls, uint64_t primitive,
                  double self_ns, double total_ns)
{
    assert_int_equal(numbers->calls, calls);
    assert_int_equal(numbers->primitive, primitive);
    assert_true(fabs(numbers->self_s - self_ns / 1e9) < 1e-15);
    assert_true(fabs(numbers->total_s - total_ns / 1e9) < 1e-15);
}

/* main calls f, f calls itself twice deep, and g from each. */
static void test_recursion(void **state)
{
    struct vti_calls calls;
    struct vti_profile profile;
    uint32_t at;

    (void)state;
    vti_calls_init(&calls);
    at = add(&calls, VT_NONE, "main", 1, 1000);
    at = add(&calls, at, "f", 2, 900);
    add(&calls, at, "g", 2, 100);
    at = add(&calls, at, "f", 3, 600);
    add(&calls, at, "g", 3, 50);
    at = add(&calls, at, "f", 4, 300);
    vti_calls_finish(&calls);
    assert_int_equal(vti_profile_make(&profile, &calls), 0);
    assert_int_equal(profile.row_count, 3);
    assert_int_equal(profile.arc_count, 3);
    check(&row(&profile, "main")->numbers, 1, 1, 100, 1000);
    check(&row(&profile, "f")->numbers, 9, 2, 200 + 250 + 300, 900);
    check(&row(&profile, "g")->numbers, 5, 5, 150, 150);
    check(&arc(&profile, "main", "f")->numbers, 2, 2, 200, 900);
    check(&arc(&profile, "f", "f")->numbers, 7, 3, 550, 600);
    check(&arc(&profile, "f", "g")->numbers, 5, 5, 150, 150);
    assert_true(row(&profile, "f")->longest_s == 900 * 1e-9);
    assert_true(row(&profile, "f")->shortest_s == 150 * 1e-9);
    assert_true(isnan(row(&profile, "f")->p50_s));
    vti_profile_fini(&profile);
    vti_calls_fini(&calls);
}

/* a calls b calls a calls b: the pair (a, b) is open around itself. */
static void test_mutual(void **state)
{
    struct vti_calls calls;
    struct vti_profile profile;
    uint32_t at;

    (void)state;
    vti_calls_init(&calls);
    at = add(&calls, VT_NONE, "a", 1, 100);
    at = add(&calls, at, "b", 1, 80);
    at = add(&calls, at, "a", 1, 60);
    at = add(&calls, at, "b", 1, 40);
    vti_calls_finish(&calls);
    assert_int_equal(vti_profile_make(&profile, &calls), 0);
    check(&row(&profile, "a")->numbers, 2, 1, 40, 100);
    check(&row(&profile, "b")->numbers, 2, 1, 60, 80);
    check(&arc(&profile, "a", "b")->numbers, 2, 1, 60, 80);
    check(&arc(&profile, "b", "a")->numbers, 1, 1, 20, 60);
    vti_profile_fini(&profile);
    vti_calls_fini(&calls);
}

static void test_resumes_are_calls(void **state)
{
    struct vti_calls calls;
    struct vti_profile profile;

    (void)state;
    vti_calls_init(&calls);
    add(&calls, VT_NONE, "generator", 1, 100);
    calls.calls[0].resumes = 100;
    calls.calls[0].suspended_ns = 5000;
    vti_calls_finish(&calls);
    assert_int_equal(vti_profile_make(&profile, &calls), 0);
    check(&profile.rows[0].numbers, 101, 101, 100, 100);
    assert_int_equal(profile.rows[0].resumes, 100);
    assert_true(profile.rows[0].suspended_s == 5000 * 1e-9);
    vti_profile_fini(&profile);
    vti_calls_fini(&calls);
}

static void test_twins_are_two(void **state)
{
    struct vti_calls calls;
    struct vti_function lambda = {
        .name = "<lambda>", .function = "<lambda>", .file = "a.py", .line = 3};
    int64_t first;

    (void)state;
    vti_calls_init(&calls);
    first = vti_calls_function(&calls, &lambda);
    lambda.twin = 1;
    assert_int_not_equal(vti_calls_function(&calls, &lambda), first);
    lambda.twin = 0;
    assert_int_equal(vti_calls_function(&calls, &lambda), first);
    assert_int_equal(calls.function_count, 2);
    vti_calls_fini(&calls);
}

/* Whether the function (with its caller, if that is not VT_NONE) is open above a call. */
static bool is_open_above(const struct vti_calls *calls, uint32_t at, uint32_t caller,
                          uint32_t callee)
{
    for (at = calls->calls[at].parent; at != VT_NONE; at = calls->calls[at].parent) {
        uint32_t parent = calls->calls[at].parent;

        if (calls->calls[at].function == callee &&
            (caller == VT_NONE || (parent != VT_NONE && calls->calls[parent].function == caller)))
            return true;
    }
    return false;
}

/* The numbers of a function, or of a pair, the slow way. */
static struct vti_profile_numbers count_slowly(const struct vti_calls *calls, uint32_t caller,
                                               uint32_t callee)
{
    struct vti_profile_numbers sum = {0};

    for (uint32_t i = 0; i < calls->call_count; i++) {
        const struct vti_call *call = &calls->calls[i];

        if (call->function != callee)
            continue;
        if (caller != VT_NONE &&
            (call->parent == VT_NONE || calls->calls[call->parent].function != caller))
            continue;
        sum.calls += call->calls;
        sum.self_s += call->self_ns * 1e-9;
        if (!is_open_above(calls, i, caller, callee)) {
            sum.primitive += call->calls;
            sum.total_s += call->total_ns * 1e-9;
        }
    }
    return sum;
}

static void check_slowly(const struct vti_profile *profile)
{
    for (size_t i = 0; i < profile->row_count; i++) {
        const struct vti_profile_row *line = &profile->rows[i];
        struct vti_profile_numbers sum = count_slowly(profile->calls, VT_NONE, line->function);

        check(&line->numbers, sum.calls, sum.primitive, sum.self_s * 1e9, sum.total_s * 1e9);
    }
    for (size_t i = 0; i < profile->arc_count; i++) {
        const struct vti_profile_arc *pair = &profile->arcs[i];
        struct vti_profile_numbers sum = count_slowly(profile->calls,
                                                      profile->rows[pair->caller].function,
                                                      profile->rows[pair->callee].function);

        check(&pair->numbers, sum.calls, sum.primitive, sum.self_s * 1e9, sum.total_s * 1e9);
    }
}

static void test_random_trees(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};

    (void)state;
    srand(7);
    for (int round = 0; round < 300; round++) {
        struct vti_calls calls;
        struct vti_profile profile;
        uint32_t count = 1 + (uint32_t)rand() % 60;

        vti_calls_init(&calls);
        for (uint32_t i = 0; i < count; i++)
            add(&calls, i && rand() % 8 ? (uint32_t)rand() % i : VT_NONE, names[rand() % 5],
                1 + (uint64_t)rand() % 3, rand() % 1000);
        vti_calls_finish(&calls);
        assert_int_equal(vti_profile_make(&profile, &calls), 0);
        check_slowly(&profile);
        vti_profile_fini(&profile);
        vti_calls_fini(&calls);
    }
}

static void test_deep_and_large(void **state)
{
    static const char *const names[] = {"a", "b", "c"};
    struct vti_calls calls;
    struct vti_profile profile;
    uint64_t sum = 0;

    (void)state;
    vti_calls_init(&calls);
    for (uint32_t i = 0; i < 1000000; i++)
        add(&calls, i && i < 100000 ? i - 1 : (uint32_t)((uint64_t)i * 7919 % (i + 1)),
            names[i % 3], 1, 5);
    vti_calls_finish(&calls);
    assert_int_equal(vti_profile_make(&profile, &calls), 0);
    for (size_t i = 0; i < profile.row_count; i++)
        sum += profile.rows[i].numbers.calls;
    assert_int_equal(sum, 1000000);
    vti_profile_fini(&profile);
    vti_calls_fini(&calls);
}

static void test_durations(void **state)
{
    struct vti_durations durations = {.ns_per_tick = 0.5};
    struct vti_durations other = {.ns_per_tick = 2};

    (void)state;
    assert_true(isnan(vti_durations_percentile(&durations, 0.5, 0, 1)));
    for (int i = 0; i < 100; i++)
        vti_durations_note(&durations, 1000 + i * 10);
    assert_int_equal(vti_durations_count(&durations), 100);
    assert_true(fabs(vti_durations_percentile(&durations, 0.5, 1000, 1990) - 1500) < 150);
    assert_true(fabs(vti_durations_percentile(&durations, 0.99, 1000, 1990) - 1980) < 200);
    assert_true(vti_durations_percentile(&durations, 0, 1000, 1990) >= 1000);
    assert_true(vti_durations_percentile(&durations, 1, 1000, 1990) <= 1990);
    vti_durations_note(&other, 8000);
    vti_durations_note(&other, 1);
    vti_durations_note(&other, 1e30);
    vti_durations_add(&durations, &other);
    assert_int_equal(vti_durations_count(&durations), 103);
    assert_int_equal(durations.counts[4 * (13 - 5) + 3] + durations.counts[4 * (13 - 5) + 2] +
                         durations.counts[4 * (14 - 5)],
                     1); /* 16,000 ticks of this clock, or a quarter beside it */
}

/* Of one, of the same in two halves, and of parts that different costs come off. */
static void test_durations_of_several(void **state)
{
    struct vti_durations parts[3] = {{.ns_per_tick = 0.5, .cost_ns = 30, .remainder = 0.9},
                                     {.ns_per_tick = 0.5, .cost_ns = 30, .remainder = 0.9},
                                     {.ns_per_tick = 0.4, .cost_ns = 10}};
    struct vti_durations one = parts[0];

    (void)state;
    assert_true(isnan(vti_durations_percentile_of(parts, 3, 0.5, NAN, NAN)));
    assert_true(isnan(vti_durations_percentile_of(NULL, 0, 0.5, 0, 1)));
    for (int i = 0; i < 1000; i++) {
        vti_durations_note(&one, 1000 + i * 7 % 1000);
        vti_durations_note(&parts[i % 2], 1000 + i * 7 % 1000);
    }
    for (int percent = 1; percent <= 100; percent++) {
        double share = percent / 100.0;
        double wanted = vti_durations_percentile(&one, share, NAN, NAN);

        assert_true(fabs(vti_durations_percentile_of(&one, 1, share, NAN, NAN) - wanted) < 1e-3);
        assert_true(fabs(vti_durations_percentile_of(parts, 2, share, NAN, NAN) - wanted) < 1e-3);
    }
    /* A third as many long ones: they are the last quarter. */
    for (int i = 0; i < 333; i++)
        vti_durations_note(&parts[2], 100010);
    assert_true(vti_durations_percentile_of(parts, 3, 0.74, NAN, NAN) < 2000);
    assert_true(fabs(vti_durations_percentile_of(parts, 3, 0.9, NAN, NAN) - 100000) < 15000);
    assert_true(vti_durations_percentile_of(parts, 3, 0.9, 0, 99000) <= 99000);
    assert_true(vti_durations_percentile_of(parts, 3, 0.1, 1500, NAN) >= 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_durations_of_several),
        cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_mutual),
        cmocka_unit_test(test_resumes_are_calls),
        cmocka_unit_test(test_twins_are_two),
        cmocka_unit_test(test_random_trees),
        cmocka_unit_test(test_deep_and_large),
        cmocka_unit_test(test_durations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
