/* ready.h - tasks that could begin now: a stack for each priority that there is. What became ready last is begun first; of those that
 * became ready together, the one that comes first in the static order. */
#ifndef VENTURI_GRAPH_READY_H
#define VENTURI_GRAPH_READY_H

#include "graph/run.h"

/* For all tasks that the run needs. NULL: no memory. */
struct vti_ready *vti_ready_new(const vt_run *run);
void vti_ready_free(struct vti_ready *ready);

/* Puts tasks that became ready together on top; sorts `tasks`. */
void vti_ready_push(const vt_run *run, uint32_t *tasks, size_t count);

/* The one to begin next, taken off; VT_NO_TASK: none is ready. */
uint32_t vti_ready_pop(struct vti_ready *ready);

/* The one that would come after so many others; VT_NO_TASK. */
uint32_t vti_ready_at(const struct vti_ready *ready, uint32_t place);

/* Sorts tasks by their static order, descending: the first to begin comes last. */
void vti_ready_sort(const vt_run *run, uint32_t *tasks, size_t count);

#endif
