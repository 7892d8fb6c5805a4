/* failure.h - what went wrong in a run: the first of it in full, and all tasks that did not run because of any. */
#ifndef VENTURI_GRAPH_FAILURE_H
#define VENTURI_GRAPH_FAILURE_H

#include "graph/run.h"

/* One line about a try that failed for good; malloc, NULL: no memory. */
char *vti_failure_line(const vt_run *run, const struct vti_done *done);

/* A task failed for good; takes `failure` and `reason` of `done`. Any thread. */
void vti_failure_note(vt_run *run, struct vti_done *done);

/* Something went wrong that is not a task's own fault: the run is given up. `task` may be VT_NO_TASK. Any thread. */
void vti_failure_say(vt_run *run, uint32_t task, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A callback returned this number. */
void vti_failure_callback(vt_run *run, uint32_t task, int code);

/* Puts all that depends on a failed task behind `skipped`, each once, with its state set. Under failure.lock with work stealing. */
void vti_failure_skip(vt_run *run, uint32_t task);

/* The run is over: the line that vt_run_error() gives is made. */
void vti_failure_close(vt_run *run);

#endif
