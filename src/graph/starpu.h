/*
 * starpu.h - what libventuri-graph needs of StarPU, and nothing else: a library of its own (starpu.c) has it, so that only those load
 * StarPU who ask for it.
 */
#ifndef VENTURI_GRAPH_STARPU_H
#define VENTURI_GRAPH_STARPU_H

#include <stddef.h>

#define VTI_STARPU_LIBRARY "libventuri-starpu.so.1"
#define VTI_STARPU_ENTRY "vt_starpu"

struct vti_starpu {
    unsigned version; /* of this struct */

    /* Starts so many workers, or fewer where there are fewer processors, or joins those that are there; how many. Negative: `why` says
     * why. */
    int (*start)(unsigned workers, char *why, size_t room);
    void (*stop)(void); /* once for each start */

    /* Has each worker call the function once, and waits for all. */
    void (*each)(void (*function)(unsigned worker, void *with), void *with);

    /* Has some worker call it soon. Negative: it will not. */
    int (*submit)(void (*function)(unsigned worker, void *with), void *with);
};

#define VTI_STARPU_VERSION 1u

#endif
