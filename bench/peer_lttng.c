/*
 * peer_lttng.c - what a begin and an end cost with LTTng-UST, beside the floor.
 *
 *     peer_lttng ROUNDS    while a session of its own records (bench/run makes one), or without one
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "peer_lttng_tp.h"

#include "batch.h"

#include <stdio.h>

#define PAIRS 5000
#define REST_US 1000

static void run_pair(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        lttng_ust_tracepoint(venturi_bench, begin, i);
        lttng_ust_tracepoint(venturi_bench, end, i);
    }
}

int main(int argc, char **argv)
{
    struct bench_case cases[] = {
        {.name = "lttng_floor", .run = bench_floor, .count = PAIRS},
        {.name = "lttng_pair", .run = run_pair, .count = PAIRS},
    };
    uint32_t rounds;

    if (argc != 2) {
        fputs("usage: peer_lttng ROUNDS\n", stderr);
        return 2;
    }
    rounds = bench_number(argv[1]);
    bench_rounds(cases, 2, rounds, REST_US);
    bench_print(cases[0].name, cases[0].min, cases[0].median, "ns");
    bench_print(cases[1].name, cases[1].min, cases[1].median, "ns");
    bench_print("lttng_events", (rounds + 1) * 2.0 * PAIRS, 0, "events");
    return 0;
}
