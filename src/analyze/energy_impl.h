/* energy_impl.h - between the files of energy_*.c. */
#ifndef VENTURI_ANALYZE_ENERGY_IMPL_H
#define VENTURI_ANALYZE_ENERGY_IMPL_H

#include "analyze/energy.h"

#define VTI_ENERGY_NOISE_S 1e-6 /* CPU time: of sums and differences */

/* A source from one reading at which it was known to the next. Zeroed: none yet. */
struct vti_energy_step {
    bool has_last;
    uint64_t value;
    size_t from, to; /* readings */
    double joules, seconds;
};

/* Goes to a reading, in order; false if nothing is known of what was used until it. */
bool vti_energy_step_to(const struct vti_energy_log_tree *log, uint32_t number, size_t at,
                        struct vti_energy_step *step);

/* Whether a source counts for its part: what contains it, if anything, is of another one. Whether it is in none at all. */
bool vti_energy_is_of_part(const struct vti_energy_log_tree *log, uint32_t number);
bool vti_energy_is_added_up(const struct vti_energy_log_tree *log, uint32_t number);

double vti_energy_seconds(const struct vti_energy_interval *interval);

/* Sets what the sources use at rest; the intervals have their CPU time. */
void vti_energy_find_rest(struct vti_energy_tree *tree);

/* Works out the intervals of a tree, its sums and its rest. 0 or VTI_E_NOMEM. */
int vti_energy_tree_make(struct vti_energy_tree *tree, const struct vti_energy_log_tree *log,
                         const struct vti_resources *resources);

/* The meter that a track's joules come from; NULL: none. */
const struct vti_energy_tree *vti_energy_tree_of(const struct vti_energy *energy,
                                                 const vt_recording *recording, uint32_t track);

/* What the CPU time of a point cost. */
struct vti_joules vti_energy_cost(const struct vti_energy_tree *tree,
                                  const struct vti_cpu_point *point);
void vti_joules_add(struct vti_joules *to, const struct vti_joules *from);

/* A new row, all zero; NULL without memory. */
struct vti_energy_row *vti_energy_table_add(struct vti_energy_table *table);

/* Each fills one table; 0 or a negative code. */
int vti_energy_load_functions(struct vti_energy *energy, vt_recording *recording);
int vti_energy_load_lines(struct vti_energy *energy, vt_recording *recording);
int vti_energy_load_spans(struct vti_energy *energy, vt_recording *recording);
int vti_energy_load_tasks(struct vti_energy *energy, vt_recording *recording);
int vti_energy_load_processes(struct vti_energy *energy);

/* After all of them: no table has more than the program, and what none of its rows has is in its last one. */
void vti_energy_balance(struct vti_energy *energy);

#endif
