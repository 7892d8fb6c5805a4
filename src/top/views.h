/* views.h - what can be looked at: one view at a time fills the rows from the live state. */
#ifndef VENTURI_TOP_VIEWS_H
#define VENTURI_TOP_VIEWS_H

#include "live/live.h"
#include "top/rows.h"

struct vti_top_view {
    const char *name;
    int key;
    const struct vti_top_column *columns;
    unsigned column_count;
    unsigned sort;       /* the column that it is sorted by at first */
    const char *nothing; /* what to do if there are no rows */
    void (*fill)(struct vti_top_rows *rows, struct vti_live *live);
};

const struct vti_top_view *vti_top_views(size_t *count);

/* The one of this name, or whose name begins so; NULL. */
const struct vti_top_view *vti_top_view_find(const char *name);

/* The first that has something to show, else the first. */
const struct vti_top_view *vti_top_view_best(struct vti_live *live);

/* The column of a view whose title is this, whatever the case; -1. */
int vti_top_view_column(const struct vti_top_view *view, const char *title);

/* Fills the rows anew; the caller sorts. */
void vti_top_view_fill(const struct vti_top_view *view, struct vti_top_rows *rows,
                       struct vti_live *live);

#endif
