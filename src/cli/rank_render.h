/* rank_render.h - how `venturi rank` shows what it found. */
#ifndef VENTURI_CLI_RANK_RENDER_H
#define VENTURI_CLI_RANK_RENDER_H

#include "analyze/rank.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct vti_rank_view {
    const char *file; /* as it was named */
    bool is_file;     /* goes to a file, else to standard output */
    bool is_json, is_csv, is_wide, is_compat;
    size_t limit; /* rows; 0: all */
};

/* Appends the sorted rows. 0 or VTI_E_NOMEM. */
int vti_rank_render(struct vti_buf *out, const struct vti_rank *rank,
                    const struct vti_rank_view *view);

#endif
