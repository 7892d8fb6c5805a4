/*
 * bench_line.c - what a line event costs, beside one read of the clock, which it cannot do without.
 *
 *     bench_line ROUNDS    in a session of its own: VENTURI_OUTPUT
 */
#include "batch.h"

#include <stdio.h>
#include <venturi/line.h>

#define EVENTS 5000
#define ROWS 8
#define REST_US 1000

static const struct vt_line_row rows[ROWS] = {{1, 0}, {2, 1}, {3, 2}, {4, 3},
                                              {5, 4}, {6, 5}, {7, 6}, {8, 6}};
static struct vt_lines lines = {0, ROWS, ROWS, 0, rows, 0};
static const char outer, inner; /* stand for calls */
static volatile uint64_t sink;

static void run_clock(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        sink = bench_ticks();
}

static void run_lines(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        vt_line_reach(&outer, i % 7, 1);
}

static void run_same_line(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        vt_line_reach(&outer, 0, 1);
}

static void run_calls(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        vt_lines_enter(&lines, &inner);
        vt_line_reach(&inner, 0, 1);
        vt_lines_leave(&inner);
    }
}

int main(int argc, char **argv)
{
    const struct vt_function function = {"bench", "bench", "bench_line.c", 1, VT_LANGUAGE_C};
    struct bench_case cases[] = {
        {.name = "line_clock", .run = run_clock, .count = EVENTS},
        {.name = "line_event", .run = run_lines, .count = EVENTS},
        {.name = "line_same", .run = run_same_line, .count = EVENTS},
        {.name = "line_call", .run = run_calls, .count = EVENTS},
    };

    if (argc != 2) {
        fputs("usage: bench_line ROUNDS\n", stderr);
        return 2;
    }
    lines.function = vt_function_id(&function);
    if (!lines.function) {
        fputs("bench_line: nobody records: set VENTURI_OUTPUT\n", stderr);
        return 1;
    }
    vt_lines_enter(&lines, &outer);
    bench_rounds(cases, sizeof cases / sizeof *cases, bench_number(argv[1]), REST_US);
    vt_lines_leave(&outer);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        bench_print(cases[i].name, cases[i].min, cases[i].median, "ns");
    return 0;
}
