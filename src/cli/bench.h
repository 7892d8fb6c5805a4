/* bench.h - the parts of `venturi bench`: a suite of scripts, and what is shown. */
#ifndef VENTURI_CLI_BENCH_H
#define VENTURI_CLI_BENCH_H

#include "cli/bencher.h"

#include <stdio.h>

/* One line for each command, with what speaks against trusting it on stderr. 0 or a negative code. */
int vti_bench_print(const struct vti_bench *bench, FILE *to);

/* One or all scripts of a folder: measured into `bench`, one row each. An exit code. */
struct vti_suite_wish {
    const char *folder;
    char **names; /* ends with NULL; none: all */
    size_t runs;
    bool is_json;
};
int vti_bench_suite(struct vti_bencher *bencher, struct vti_bench *bench,
                    const struct vti_suite_wish *wish);

/* Items for each second; NaN where there are none. `what`: "throughput", "effective/core", … (perf/budget.h). */
double vti_bench_rate(const struct vti_bench *bench, const struct vti_bench_entry *entry,
                      const char *what);

/* "1327", "3.142", for a second of anything; "-" unknown. */
#define VTI_RATE_BYTES 32
const char *vti_bench_number(char to[VTI_RATE_BYTES], double value);

/* Where joules are from, by enum vt_energy_how. */
const char *vti_bench_how(uint32_t how);

/* Writes the bench to a file ("-": standard output). 0 or an exit code after one line on stderr. */
int vti_bench_save(const char *command, const struct vti_bench *bench, const char *path,
                   bool force);

#endif
