/* order.h - which nodes a run needs, and the static order of its tasks: depth first, so that results are used, and given up, soon after
 * they were made. */
#ifndef VENTURI_GRAPH_ORDER_H
#define VENTURI_GRAPH_ORDER_H

#include "graph/run.h"

/* Sets phase, is_wanted, missing, uses and order of all that is needed, and the run's total; run->order holds its tasks in that order.
 * If nothing is wanted, all that nothing depends on is. Negative: no memory. */
int vti_order(vt_run *run);

#endif
