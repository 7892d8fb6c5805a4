/* diff_impl.h - what the files of diff share: the functions of both sides on their way into rows. */
#ifndef VENTURI_ANALYZE_DIFF_IMPL_H
#define VENTURI_ANALYZE_DIFF_IMPL_H

#include "analyze/diff.h"

enum vti_diff_table { VTI_DIFF_COUNTED, VTI_DIFF_SPANS, VTI_DIFF_TABLES };

/* Of each function of each table of the base (0) and of the new side (1) its row in the diff; owned. */
struct vti_diff_rows {
    uint32_t *of[2][VTI_DIFF_TABLES];
};

const struct vti_profile *vti_diff_table(const struct vti_diff_side *side,
                                         enum vti_diff_table table);

/* Fills diff->functions, in no order, and `rows`, whose arrays have their length. 0 or VTI_E_NOMEM. */
int vti_diff_match(struct vti_diff *diff, struct vti_diff_rows *rows);

/* Fills diff->parts. 0 or VTI_E_NOMEM. */
int vti_diff_match_parts(struct vti_diff *diff);
void vti_diff_side_free_parts(struct vti_diff_side *side);

#endif
