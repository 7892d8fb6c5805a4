/* lines_render.h - what the files of `venturi lines` share. */
#ifndef VENTURI_CLI_LINES_RENDER_H
#define VENTURI_CLI_LINES_RENDER_H

#include "analyze/lines_source.h"

#define VTI_LINES_COLUMNS 16

enum vti_lines_extra {
    VTI_EXTRA_EVENTS,
    VTI_EXTRA_MIN,
    VTI_EXTRA_MAX,
    VTI_EXTRA_AWAIT,
    VTI_EXTRA_RESUMES,
    VTI_EXTRA_ERROR,
    VTI_EXTRA_PERCENTILE,
};

struct vti_lines_column {
    enum vti_lines_extra what;
    double share;   /* of a percentile */
    char title[16]; /* "P99" */
};

/* What is shown of a table, and how. */
struct vti_lines_view {
    const struct vti_lines *lines;
    struct vti_lines_texts texts;
    uint32_t *functions; /* owned: those that are shown, in order */
    size_t count;
    double unit_s;
    struct vti_lines_column columns[VTI_LINES_COLUMNS];
    unsigned column_count;
    bool has_callees;
    bool skips_empty; /* functions that were not called */
    bool has_summary;
    bool is_rich;     /* with colours */
    bool is_terminal; /* text of others is made harmless */
};

/* Takes "min,max,p99,calls" in. 0, or VTI_EXIT_BAD after one line on stderr. */
int vti_lines_columns_parse(struct vti_lines_view *view, const char *text);

/* The functions that fit one of the names (all, if there are none), in the order of the file or, if `is_sorted`,
 * by their time. 0 or a negative code. */
int vti_lines_view_choose(struct vti_lines_view *view, const char *const *names, bool is_sorted);
void vti_lines_view_fini(struct vti_lines_view *view);

/* The tables, as line_profiler prints them. 0 or a negative code. */
int vti_lines_text_tables(struct vti_buf *out, struct vti_lines_view *view);

int vti_lines_json(struct vti_buf *out, struct vti_lines_view *view, const char *const *files,
                   size_t file_count);

/* A number of an extra column in the unit of the view; NaN: nothing is known. */
double vti_lines_extra(const struct vti_lines_view *view, const struct vti_lines_line *line,
                       const struct vti_lines_column *column);

#endif
