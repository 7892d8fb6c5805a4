/* functions.h - names of functions, for what crosses processes and machines. */
#ifndef VENTURI_GRAPH_FUNCTIONS_H
#define VENTURI_GRAPH_FUNCTIONS_H

#include <venturi/graph.h>

/* The name that it was registered or found by, for good; NULL: none. */
const char *vti_function_name(vt_function *function);

#endif
