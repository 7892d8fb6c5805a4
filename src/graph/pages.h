/* pages.h - large pieces of zeroed memory: in huge pages where the system has them, since a fault for each small one costs more than
 * all else that a run does to prepare (0.5 to 2 us for 4 KiB, in a virtual machine). */
#ifndef VENTURI_GRAPH_PAGES_H
#define VENTURI_GRAPH_PAGES_H

#include <stddef.h>

/* NULL: no memory. */
void *vti_pages_new(size_t bytes);

/* With the size it was made with; NULL is fine. */
void vti_pages_free(void *memory, size_t bytes);

#endif
