/* profile_impl.h - putting a profile together row by row; for the files that do so. */
#ifndef VENTURI_ANALYZE_PROFILE_IMPL_H
#define VENTURI_ANALYZE_PROFILE_IMPL_H

#include "analyze/profile.h"
#include "model/model.h"

/* An empty profile with functions of its own. 0 or VTI_E_NOMEM. */
int vti_profile_begin(struct vti_profile *profile);

/* The row of a key, with all its numbers unknown if it is new; its function is then for the caller
 * to set. Negative without memory. */
int64_t vti_profile_row(struct vti_profile *profile, const char *file, uint32_t line,
                        const char *name, int *is_new);

/* The same with a function of that file, line and name. */
int64_t vti_profile_plain_row(struct vti_profile *profile, const char *file, uint32_t line,
                              const char *name);

/* The arc of a pair of rows, with zeros if it is new. Negative without memory. */
int64_t vti_profile_arc(struct vti_profile *profile, uint32_t caller, uint32_t callee);

/* Puts the arcs of each row together, in the order in which they were added. The last step. */
int vti_profile_order(struct vti_profile *profile);

/* Gives a function that was called a row, under the name that cProfile has for it. If another one
 * has that name, a number is added to it. */
int64_t vti_profile_function_row(struct vti_profile *profile, uint32_t function);

/* A time that a file gives, as it is if it can be one; else the nearest, and counted. */
double vti_profile_seconds(struct vti_profile *profile, double seconds);

void vti_profile_add_numbers(struct vti_profile_numbers *to,
                             const struct vti_profile_numbers *from);

/* Puts a row of another profile into this one, under that file; adds it to the one that is there. Its index;
 * negative without memory. */
int64_t vti_profile_take_row(struct vti_profile *to, const struct vti_profile *from,
                             const struct vti_profile_row *row, const char *file);

/* All rows of both. What holds for the whole (our cost, losses) is that of the first. */
int vti_profile_sum(struct vti_profile *sum, const struct vti_profile *one,
                    const struct vti_profile *other);

/* The table that a recording was given by `venturi import`, empty if it was given none. */
int vti_profile_load_imported(struct vti_profile *profile, vt_recording *recording);

#endif
