/* diff.h - the two ways in which `venturi diff` shows what changed. */
#ifndef VENTURI_CLI_DIFF_H
#define VENTURI_CLI_DIFF_H

#include "analyze/diff.h"
#include "base/number.h"
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

/* Tasks and steps: a table on standard output; a sentence a line, for the page; the member "parts". */
int vti_diff_print_parts(const struct vti_diff_view *view);
void vti_diff_part_sentences(struct vti_buf *to, const struct vti_diff *diff);
struct vti_json;
void vti_diff_add_parts(struct vti_json *json, const struct vti_diff *diff);

/* "+1.20 ms". */
const char *vti_diff_signed_time(char to[VTI_NUMBER_BYTES + 1], double ns);

/* Rows to show, in their order; the caller frees. NULL without memory. */
const struct vti_diff_function **vti_diff_rows(const struct vti_diff_view *view, size_t *count);

#endif
