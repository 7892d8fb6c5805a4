/*
 * bench_step.c - what a step pays for telling of one message, beside the floor.
 *
 *     bench_step on ROUNDS      under `venturi run`
 *     bench_step off ROUNDS     without it
 *     bench_step full ROUNDS    under `venturi run`, which is stopped meanwhile: there is no room, and all is lost
 */
#include "batch.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <venturi/step_record.h>

#define COUNT 500 /* in a batch, of up to a dozen records each: the drainer keeps up */
#define OFF_COUNT 100000
#define FILLING 2000000 /* more than there is room for */
#define REST_US 1000
#define ATTACH_US 200000
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char extra[] =
    "\"candid\":\"1549473362115015004\",\"oid\":\"ZTF20aaelulu\",\"n_det\":17";
static uint32_t step;

static void put(uint32_t count, const char *text, size_t bytes)
{
    struct vt_step_done done = {.step = step,
                                .messages = 1,
                                .execute_ns = 1500,
                                .pre_ns = VT_UNKNOWN,
                                .post_ns = VT_UNKNOWN,
                                .produce_ns = VT_UNKNOWN,
                                .lag_ns = VT_LAG_UNKNOWN,
                                .extra = text,
                                .extra_bytes = bytes};

    for (uint32_t i = 0; i < count; i++) {
        done.received = vt_task_clock(); /* a step reads it, too */
        vt_step_put(&done);
    }
}

static void run_plain(uint32_t count)
{
    put(count, NULL, 0);
}

static void run_extra(uint32_t count)
{
    put(count, extra, sizeof extra - 1);
}

static void run_all(uint32_t count)
{
    struct vt_step_done done = {.step = step,
                                .messages = 500,
                                .execute_ns = 1500,
                                .pre_ns = 10,
                                .post_ns = 20,
                                .produce_ns = 30,
                                .lag_ns = 1000000,
                                .extra = extra,
                                .extra_bytes = sizeof extra - 1};

    for (uint32_t i = 0; i < count; i++) {
        done.received = vt_task_clock();
        vt_step_put(&done);
    }
}

int main(int argc, char **argv)
{
    struct bench_case on[] = {
        {.name = "step_floor", .run = bench_floor, .count = COUNT},
        {.name = "step", .run = run_plain, .count = COUNT},
        {.name = "step_extra", .run = run_extra, .count = COUNT},
        {.name = "step_all", .run = run_all, .count = COUNT},
    };
    struct bench_case off[] = {{.name = "step_off", .run = run_extra, .count = OFF_COUNT}};
    struct bench_case full[] = {{.name = "step_full", .run = run_extra, .count = OFF_COUNT}};
    struct bench_case *cases = on;
    size_t count = COUNT_OF(on);
    uint32_t rest_us = REST_US;

    if (argc != 3 || (strcmp(argv[1], "on") && strcmp(argv[1], "off") && strcmp(argv[1], "full"))) {
        fputs("usage: bench_step on|off|full ROUNDS\n", stderr);
        return 2;
    }
    step = vt_step_source("Bench", NULL, NULL);
    if (strcmp(argv[1], "on")) {
        cases = !strcmp(argv[1], "off") ? off : full;
        count = 1;
        rest_us = 1;
    }
    if (cases == full) {
        run_extra(1);
        usleep(ATTACH_US);
        kill(getppid(), SIGSTOP);
        run_extra(FILLING);
    }
    bench_rounds(cases, count, bench_number(argv[2]), rest_us);
    if (cases == full)
        kill(getppid(), SIGCONT);
    for (size_t i = 0; i < count; i++)
        bench_print(cases[i].name, cases[i].min, cases[i].median, "ns");
    return 0;
}
