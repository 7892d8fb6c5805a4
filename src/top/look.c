/* look.c - one look: what is new is taken in, then head and rows are made of it. */
#include "top/top.h"

#include "base/error.h"

#include <sys/stat.h>

#define LOOK_NS                                                                                    \
    100000000 /* a large file is taken in over several looks: keys are obeyed meanwhile */

void vti_top_show(struct vti_top *top, const struct vti_top_view *view)
{
    top->view = view;
    top->sort = view->sort;
    top->is_reversed = false;
    top->is_chosen = true;
}

/* What a program has shows only after a while; what is shown does not change any more once there is something. */
static void choose(struct vti_top *top)
{
    const struct vti_top_view *best = vti_top_view_best(top->live);

    if (top->view != best)
        vti_top_show(top, best);
    top->is_chosen = best != vti_top_view_find("processes");
}

bool vti_top_is_over(struct vti_top *top)
{
    struct vti_live_summary summary;

    if (!top->live)
        return top->program.pid && top->program.has_ended;
    vti_live_summary(top->live, &summary);
    return summary.is_caught_up && !summary.is_growing &&
           (!top->program.pid || top->program.has_ended);
}

/* A program that was just started has no recording yet. */
static int begin(struct vti_top *top)
{
    struct stat status;

    if (stat(top->program.path, &status) || !status.st_size)
        return 0;
    return vti_live_open(&top->live, top->program.path, NULL);
}

int vti_top_look(struct vti_top *top)
{
    int code;

    vti_top_program_poll(&top->program);
    if (!top->live) {
        code = begin(top);
        if (code && !top->program.has_ended)
            return 0; /* its first bytes are being written */
        if (code || !top->live)
            return code;
    }
    code = vti_live_refresh(top->live, LOOK_NS);
    if (code < 0)
        return code;
    if (!top->is_chosen)
        choose(top);
    vti_top_head_make(&top->head, top->live);
    top->rows.filter = top->filter;
    vti_top_view_fill(top->view, &top->rows, top->live);
    vti_top_rows_sort(&top->rows, top->sort, top->is_reversed);
    return 0;
}
