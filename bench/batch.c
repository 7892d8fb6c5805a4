/* batch.c - timing in short batches, of which the fastest counts. */
#include "batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FLOOR_RECORDS 4096 /* 64 KiB, as one block of ours */

struct record {
    uint64_t ticks;
    uint32_t id;
    uint32_t kind;
};

static __thread struct record buffer[FLOOR_RECORDS];

uint64_t bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t read_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return bench_now_ns();
#endif
}

uint64_t bench_ticks(void)
{
    return read_ticks();
}

void bench_floor(uint32_t count)
{
    struct record *at = buffer;

    for (uint32_t i = 0; i < count; i++) {
        at[0].id = i;
        at[0].kind = 1;
        at[0].ticks = read_ticks();
        at[1].ticks = read_ticks();
        at[1].id = 0;
        at[1].kind = 2;
        at += 2;
        if (at == buffer + FLOOR_RECORDS)
            at = buffer;
        __asm__ volatile("" : : "r"(at) : "memory");
    }
}

void bench_empty(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        __asm__ volatile("" : : : "memory");
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return count ? values[count / 2] : 0;
}

static double *new_samples(uint32_t count)
{
    double *samples = malloc(count * sizeof *samples);

    if (!samples) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return samples;
}

void bench_rounds(struct bench_case *cases, size_t case_count, uint32_t rounds, uint32_t rest_us)
{
    const struct timespec rest = {0, rest_us * 1000L};

    for (size_t i = 0; i < case_count; i++) {
        cases[i].samples = new_samples(rounds);
        cases[i].run(cases[i].count); /* warms up, and registers what is registered on first use */
    }
    for (uint32_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < case_count; i++) {
            uint64_t before;

            nanosleep(&rest, NULL);
            before = bench_now_ns();
            cases[i].run(cases[i].count);
            cases[i].samples[round] = (double)(bench_now_ns() - before) / cases[i].count;
        }
    for (size_t i = 0; i < case_count; i++) {
        cases[i].median = bench_median(cases[i].samples, rounds);
        cases[i].min = cases[i].samples[0];
        free(cases[i].samples);
        cases[i].samples = NULL;
    }
}

void bench_print(const char *name, double value, double median, const char *unit)
{
    printf("{\"name\": \"%s\", \"value\": %.4f, \"median\": %.4f, \"unit\": \"%s\"}\n", name, value,
           median, unit);
    fflush(stdout);
}

uint32_t bench_number(const char *text)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (errno || end == text || *end || !value || value > UINT32_MAX) {
        fprintf(stderr, "%s: not a number above zero\n", text);
        exit(2);
    }
    return (uint32_t)value;
}
