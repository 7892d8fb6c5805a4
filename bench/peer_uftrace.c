/*
 * peer_uftrace.c - what uftrace adds to a function call, beside the floor.
 *
 *     peer_uftrace_… ROUNDS    under `uftrace record`; built once with -finstrument-functions, once with -pg
 */
#include "batch.h"

#include <stdio.h>

#define CALLS 5000
#define REST_US 1000
#define PLAIN __attribute__((no_instrument_function))

static __attribute__((noinline)) void traced(void)
{
    __asm__ volatile("" : : : "memory");
}

static PLAIN __attribute__((noinline)) void untraced(void)
{
    __asm__ volatile("" : : : "memory");
}

static PLAIN void run_traced(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        traced();
}

static PLAIN void run_untraced(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        untraced();
}

PLAIN int main(int argc, char **argv)
{
    struct bench_case cases[] = {
        {.name = "uftrace_floor", .run = bench_floor, .count = CALLS},
        {.name = "uftrace_plain", .run = run_untraced, .count = CALLS},
        {.name = "uftrace_call", .run = run_traced, .count = CALLS},
    };
    uint32_t rounds;

    if (argc != 2) {
        fputs("usage: peer_uftrace ROUNDS\n", stderr);
        return 2;
    }
    rounds = bench_number(argv[1]);
    bench_rounds(cases, 3, rounds, REST_US);
    bench_print(cases[0].name, cases[0].min, cases[0].median, "ns");
    bench_print(cases[2].name, cases[2].min - cases[1].min, cases[2].median - cases[1].median,
                "ns");
    bench_print("uftrace_calls", (rounds + 1) * (double)CALLS, 0, "calls");
    return 0;
}
