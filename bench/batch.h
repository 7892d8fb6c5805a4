/*
 * batch.h - timing in short batches, of which the fastest counts: other load only ever adds time.
 *
 * Shared by our own programs and the peers', so that all are measured alike, each beside the floor:
 * two clock reads and two 16-byte stores, which no tracer that keeps times can undercut.
 */
#ifndef VENTURI_BENCH_BATCH_H
#define VENTURI_BENCH_BATCH_H

#include <stddef.h>
#include <stdint.h>

struct bench_case {
    const char *name;
    void (*run)(uint32_t count); /* does the thing `count` times */
    uint32_t count;
    double *samples; /* nanoseconds for one, owned by bench_rounds(); sorted once it is done */
    double min, median;
};

uint64_t bench_now_ns(void);
uint64_t bench_ticks(void); /* the CPU's counter, unordered */

/* The floor: `count` pairs of records into a warm buffer of this thread. */
void bench_floor(uint32_t count);

/* Nothing, `count` times: what the loop itself costs. */
void bench_empty(uint32_t count);

/* Each round runs every case once, so that all of them see the same machine. After each batch the
 * thread rests, so that a drainer on a busy machine keeps up. */
void bench_rounds(struct bench_case *cases, size_t case_count, uint32_t rounds, uint32_t rest_us);

/* Middle of `count` values, which are sorted. */
double bench_median(double *values, size_t count);

/* One JSON line; all figures of the benchmarks leave a program this way. */
void bench_print(const char *name, double value, double median, const char *unit);

/* A number from the command line; ends the program with 2 if it is not one above zero. */
uint32_t bench_number(const char *text);

#endif
