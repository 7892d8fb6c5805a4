/* run_energy.h - `run --energy`: its options, and the rest that is measured before the program starts. */
#ifndef VENTURI_CLI_RUN_ENERGY_H
#define VENTURI_CLI_RUN_ENERGY_H

#include "cli/energy_options.h"
#include "drain/drain.h"

#include <stdint.h>

struct vti_run_energy {
    bool is_on;
    uint32_t hz;          /* 0: not said */
    uint64_t baseline_ns; /* 0: none */
    struct vti_energy_stated stated;
    const char *meta[2 * 4 + 1]; /* keys and values for the recording */
};

/* All options are known: 0 with `drain` set up, or VTI_EXIT_BAD after one line on stderr. */
int vti_run_energy_prepare(struct vti_run_energy *energy, struct vti_drain_options *drain);

/* Measures what the machine uses while nothing of the program runs, if that was asked for. 0, or the signal that wants us
 * to end. */
int vti_run_energy_rest(const struct vti_run_energy *energy, struct vti_drain *drain,
                        bool is_quiet);

#endif
