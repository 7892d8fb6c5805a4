/*
 * bench_bytes.c - a program with deep, irregular spans, for the size of a recording and the drainer's work.
 *
 *     bench_bytes any EVENTS     200 names in no order at all, depth up to 16, log-normal gaps
 *     bench_bytes calls EVENTS   the same with names as programs have them: each calls a few others
 *     bench_bytes full EVENTS    pairs without a pause: more than any real program does
 *
 * Time between two events is spun away on the clock: median 300 ns, the logarithm's deviation is 1.
 * Prints how many events it made, and for `full` the processor time of a pair.
 */
#include "batch.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <venturi/span.h>

#define NAMES 200
#define DEPTH_MAX 16
#define GAPS 65536
#define GAP_MEDIAN_NS 300.0
#define CALLEES 4

static uint64_t gaps[GAPS]; /* ticks */
static struct vt_site *sites[NAMES];
static uint64_t seed = 88172645463325252u;

static uint32_t draw(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 32);
}

static double draw_fraction(void)
{
    return (draw() + 0.5) / 4294967296.0;
}

static double ticks_per_ns(void)
{
    uint64_t ns = bench_now_ns();
    uint64_t ticks = bench_ticks();

    while (bench_now_ns() - ns < 20000000)
        ;
    return (double)(bench_ticks() - ticks) / (double)(bench_now_ns() - ns);
}

static void prepare(void)
{
    double rate = ticks_per_ns();
    char name[32];

    for (uint32_t i = 0; i < GAPS; i++) {
        double normal = sqrt(-2 * log(draw_fraction())) *
                        cos(2 * 3.14159265358979 * draw_fraction());

        gaps[i] = (uint64_t)(GAP_MEDIAN_NS * exp(normal) * rate);
    }
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "stage-%03u", i);
        sites[i] = vt_site_intern(name);
    }
}

static void spin(void)
{
    uint64_t until = bench_ticks() + gaps[draw() % GAPS];

    while ((int64_t)(bench_ticks() - until) < 0)
        ;
}

/* Half of all calls go to the first of a function's few callees, a quarter to the second, … */
static uint32_t callee_of(uint32_t caller)
{
    uint32_t which = (uint32_t)__builtin_ctz(draw() | 1u << (CALLEES - 1));

    return (caller * 7919u + which * 104729u + 13) % NAMES;
}

static void walk(uint32_t events, bool any)
{
    uint32_t open[DEPTH_MAX + 1] = {0};
    uint32_t depth = 0;

    while (events > depth) {
        spin();
        events--;
        if (depth && (depth == DEPTH_MAX || (draw() & 1))) {
            vt_span_end();
            depth--;
            continue;
        }
        open[depth + 1] = any ? draw() % NAMES : callee_of(open[depth]);
        depth++;
        vt_span_begin(sites[open[depth]]);
    }
    for (; depth; depth--)
        vt_span_end();
}

static double cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void run_full(uint32_t events)
{
    uint32_t pairs = events / 2;
    double before = cpu_ns();
    double one;

    for (uint32_t i = 0; i < pairs; i++) {
        VT_SPAN("full speed");
        __asm__ volatile("" : : : "memory");
    }
    one = (cpu_ns() - before) / pairs;
    bench_print("span_full", one, one, "ns");
}

int main(int argc, char **argv)
{
    uint32_t events;

    if (argc != 3) {
        fputs("usage: bench_bytes any|calls|full EVENTS\n", stderr);
        return 2;
    }
    events = bench_number(argv[2]) & ~1u;
    if (!strcmp(argv[1], "full")) {
        run_full(events);
    } else {
        prepare();
        walk(events, !strcmp(argv[1], "any"));
    }
    bench_print("events", events, events, "events");
    return 0;
}
