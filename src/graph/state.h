/*
 * state.h - where each task of a run stands, moved on by one thread: the one in vt_run_go(). Not used with work stealing.
 */
#ifndef VENTURI_GRAPH_STATE_H
#define VENTURI_GRAPH_STATE_H

#include "graph/run.h"

/* What is ready at first, in the static order. Negative: no memory. */
int vti_state_open(vt_run *run);

/* The next task to begin, told to callbacks; VT_NO_TASK: none is ready, or the run is given up. */
uint32_t vti_state_begin(vt_run *run);

/* It was not begun after all. */
void vti_state_unbegin(vt_run *run, uint32_t task);

/* A try is over: its result is kept or its failure noted, dependents become ready, what nobody needs any more is destroyed, it is
 * recorded, callbacks are told. Takes all that `done` points to. */
void vti_state_finish(vt_run *run, struct vti_done *done);

/* Gives up the value of a node that nobody needs any more. In work stealing too. */
void vti_value_release(vt_run *run, uint32_t node, uint64_t now);

/* When the last of what a task needs was there: not always when that was seen, which is `now`. In work stealing too. */
uint64_t vti_ready_time(const vt_run *run, uint32_t task, uint64_t now);

/* A try that was not begun or ended because the run is given up: it is neither done nor a failure. Destroys what it left. In work
 * stealing too. */
void vti_done_cancelled(vt_run *run, struct vti_done *done);

/* Keeps when and by whom a try was made. */
void vti_times_keep(vt_run *run, const struct vti_done *done);

#endif
