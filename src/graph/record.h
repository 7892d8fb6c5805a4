/* record.h - what a run says of itself to the recording (venturi/task.h). */
#ifndef VENTURI_GRAPH_RECORD_H
#define VENTURI_GRAPH_RECORD_H

#include "graph/run.h"

/* The run begins: it gets its number if somebody records. `scheduler` is how it is called. */
void vti_record_begin(vt_run *run, const char *scheduler, unsigned workers);

/* This thread is in a task of that run from now on (0: of none): the parent of runs that it begins. Returns what was before. */
uint32_t vti_record_enter(uint32_t number);

/* A task is over; by the thread that ran it, or the one in vt_run_go(). What finds no room is said again at the end. */
void vti_record_put(vt_run *run, uint32_t task);

/* All tasks that could not be put until now, and the end. */
void vti_record_end(vt_run *run);

/* What is known of a task; texts and dependencies stay the graph's. */
void vti_record_of(const vt_run *run, uint32_t task, struct vt_task *known);

#endif
