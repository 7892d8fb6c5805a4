/* diff.h - the two ways in which `venturi diff` shows what changed. */
#ifndef VENTURI_CLI_DIFF_H
#define VENTURI_CLI_DIFF_H

#include "analyze/diff.h"
#include "perf/compare.h"

struct vti_diff_view {
    const struct vti_diff *diff;
    const struct vti_comparison *quantities; /* what `check` compares; none of files of cProfile */
    const char *base_name, *name;            /* of the files */
    const char *sort;                        /* NULL: by the change of own time */
    size_t limit;
    bool has_all; /* also what did not change */
};

/* On standard output. 0 or a negative code. */
int vti_diff_print(const struct vti_diff_view *view);
int vti_diff_json(const struct vti_diff_view *view);

/* What `check` compares, of those that people ask for: a sentence a line. The page of a comparison has them too. */
void vti_diff_sentences(struct vti_buf *to, const struct vti_comparison *quantities);

/* Rows to show, in their order; the caller frees. NULL without memory. */
const struct vti_diff_function **vti_diff_rows(const struct vti_diff_view *view, size_t *count);

#endif
