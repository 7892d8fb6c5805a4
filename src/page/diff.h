/* diff.h - the page of a comparison. */
#ifndef VENTURI_PAGE_DIFF_H
#define VENTURI_PAGE_DIFF_H

#include "analyze/diff.h"
#include "export/export.h"

/* 0 or a negative code. `quantities` are sentences about both runs as wholes, one a line; the names are those of the files. */
int vti_page_diff(const struct vti_diff *diff, const struct vti_buf *quantities,
                  const char *base_name, const char *name, const struct vti_sink *sink);

#endif
