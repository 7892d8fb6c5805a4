/* schedulers.h - ways to execute the tasks of a run that is prepared; each returns when nothing is running any more but what it abandoned. */
#ifndef VENTURI_GRAPH_SCHEDULERS_H
#define VENTURI_GRAPH_SCHEDULERS_H

#include "graph/run.h"

/* In this thread. */
void vti_sync_go(vt_run *run);

/* By an executor; this thread decides what is begun and tells callbacks. */
void vti_central_go(vt_run *run, const struct vti_executor_ops *ops, unsigned workers);

/* By threads that take work from each other; this one only watches. For runs without callbacks and priorities. */
void vti_steal_go(vt_run *run, unsigned workers);

/* The executor of a scheduler, NULL: this library was built without it. */
const struct vti_executor_ops *vti_executor_of(enum vt_scheduler scheduler);

#endif
