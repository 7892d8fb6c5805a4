/*
 * bench_trace.c - what a trace point of a trace costs, ids included, beside the floor.
 *
 *     bench_trace on ROUNDS     under `venturi run`
 *     bench_trace off ROUNDS    without it: in a trace, and in none
 */
#include "batch.h"

#include <stdio.h>
#include <string.h>
#include <venturi/context.h>

#define PAIRS 2000 /* seven records each: the drainer keeps up */
#define OFF_PAIRS 100000
#define REST_US 1000
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static void run_trace(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        VT_TRACE("trace");
        __asm__ volatile("" : : : "memory");
    }
}

static void run_start_stop(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        vt_trace_start("trace by hand");
        vt_trace_stop();
    }
}

static void run_in_a_trace(uint32_t count)
{
    vt_context_begin(NULL);
    run_trace(count);
    vt_context_end();
}

static void run_id(uint32_t count)
{
    struct vt_id id;

    for (uint32_t i = 0; i < count; i++) {
        vt_id_new(&id);
        __asm__ volatile("" : : "m"(id));
    }
}

int main(int argc, char **argv)
{
    struct bench_case on[] = {
        {.name = "trace_floor", .run = bench_floor, .count = PAIRS},
        {.name = "trace", .run = run_trace, .count = PAIRS},
        {.name = "trace_start", .run = run_start_stop, .count = PAIRS},
    };
    struct bench_case off[] = {
        {.name = "trace_empty", .run = bench_empty, .count = OFF_PAIRS},
        {.name = "trace_off", .run = run_trace, .count = OFF_PAIRS},
        {.name = "trace_unrecorded", .run = run_in_a_trace, .count = OFF_PAIRS},
        {.name = "trace_id", .run = run_id, .count = OFF_PAIRS},
    };

    if (argc != 3 || (strcmp(argv[1], "on") && strcmp(argv[1], "off"))) {
        fputs("usage: bench_trace on|off ROUNDS\n", stderr);
        return 2;
    }
    if (!strcmp(argv[1], "off")) {
        bench_rounds(off, COUNT_OF(off), bench_number(argv[2]), REST_US / 4);
        for (size_t i = 1; i < COUNT_OF(off); i++)
            bench_print(off[i].name, off[i].min - off[0].min, off[i].median - off[0].median, "ns");
        return 0;
    }
    vt_context_begin(NULL);
    bench_rounds(on, COUNT_OF(on), bench_number(argv[2]), REST_US);
    vt_context_end();
    for (size_t i = 0; i < COUNT_OF(on); i++)
        bench_print(on[i].name, on[i].min, on[i].median, "ns");
    return 0;
}
