/* progress.h - a bar on stderr while a run goes, if that is asked for and a terminal. Drawn by whoever looks after the run. */
#ifndef VENTURI_GRAPH_PROGRESS_H
#define VENTURI_GRAPH_PROGRESS_H

#include "graph/run.h"

struct vti_progress {
    bool is_shown;
    bool is_drawn;  /* there is a line to be ended */
    uint64_t begin; /* of vt_task_clock() */
    uint64_t next;  /* when it is drawn again */
};

void vti_progress_open(struct vti_progress *progress, const vt_run *run);

/* Draws it if it is time; `now` is of vt_task_clock(). */
void vti_progress_show(struct vti_progress *progress, const vt_run *run, uint64_t now);

/* The last state, and the end of the line. */
void vti_progress_close(struct vti_progress *progress, const vt_run *run);

#endif
