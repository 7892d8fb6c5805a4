/*
 * bench_function.c - what is added to a call of a C function, by us or by uftrace: the same program for both.
 *
 *     bench_function ROUNDS    under `venturi run` or `uftrace record`; built with -finstrument-functions
 */
#include "batch.h"

#include <stdio.h>
#include <time.h>

#define CALLS 5000
#define FIB 27
#define FIB_CALLS 635621
#define FIB_RUNS 10
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

static __attribute__((noinline)) uint32_t fib(uint32_t n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static PLAIN __attribute__((noinline)) uint32_t untraced_fib(uint32_t n)
{
    return n < 2 ? n : untraced_fib(n - 1) + untraced_fib(n - 2);
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

static PLAIN double cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static volatile uint32_t sink; /* so that nothing is left out as unused */

/* Long enough that whoever keeps an event for each call has to find memory for them. */
static PLAIN void measure_fib(void)
{
    double plain[FIB_RUNS];
    double hooked[FIB_RUNS];
    double median;

    for (int i = 0; i < FIB_RUNS; i++) {
        double start = cpu_ns();
        double middle;

        sink = untraced_fib(FIB);
        middle = cpu_ns();
        sink += fib(FIB);
        plain[i] = (middle - start) / FIB_CALLS;
        hooked[i] = (cpu_ns() - middle) / FIB_CALLS;
    }
    median = bench_median(hooked, FIB_RUNS) - bench_median(plain, FIB_RUNS);
    bench_print("function_fib", hooked[0] - plain[0], median, "ns"); /* sorted by now */
}

PLAIN int main(int argc, char **argv)
{
    struct bench_case cases[] = {
        {.name = "function_plain", .run = run_untraced, .count = CALLS},
        {.name = "function_call", .run = run_traced, .count = CALLS},
    };

    if (argc != 2) {
        fputs("usage: bench_function ROUNDS\n", stderr);
        return 2;
    }
    bench_rounds(cases, 2, bench_number(argv[1]), REST_US);
    bench_print("function_call", cases[1].min - cases[0].min, cases[1].median - cases[0].median,
                "ns");
    measure_fib();
    return 0;
}
