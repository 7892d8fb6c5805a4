/* callbacks.h - who wants to hear of a run: those registered for all runs when it began, then its own; in that order. */
#ifndef VENTURI_GRAPH_CALLBACKS_H
#define VENTURI_GRAPH_CALLBACKS_H

#include "graph/run.h"

/* What one run calls; never changes while it goes. */
struct vti_callback_list {
    size_t count;
    size_t started; /* so many were told of the start: those hear of the finish */
    const struct vt_callbacks *all[];
};

/* NULL: no memory. */
struct vti_callback_list *vti_callbacks_for(const vt_run *run);

/* Each calls all in order and returns 0, or the negative number of the first that gave the run up; the rest is not called then. */
int vti_callbacks_start(vt_run *run);
int vti_callbacks_start_state(vt_run *run);
int vti_callbacks_before(vt_run *run, uint32_t task);
int vti_callbacks_after(vt_run *run, uint32_t task, uint32_t worker);
int vti_callbacks_error(vt_run *run, uint32_t task, const char *message, uint32_t worker);
int vti_callbacks_last(vt_run *run); /* the calls without a task, after the last one */
void vti_callbacks_finish(vt_run *run, int failed);

#endif
