/* perf_kit.h - benches with known figures, for tests of src/perf. */
#ifndef VENTURI_TESTS_PERF_KIT_H
#define VENTURI_TESTS_PERF_KIT_H

#include "perf/bench.h"

/* Runs of one command whose CPU time is `middle` seconds, more or less by `spread` of it. */
void perf_kit_runs(struct vti_bench *bench, double middle, double spread, size_t count);

/* A count in two recorded runs of it. */
void perf_kit_count(struct vti_bench *bench, const char *name, double one, double other);

#endif
