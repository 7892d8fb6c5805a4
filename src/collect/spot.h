/*
 * spot.h - what is known about a place in the code that a sample met: its function, and the way to its caller.
 *
 * Worked out when it is met for the first time, then found in a table. All of it runs in a signal handler:
 * no lock of the loader's, no malloc.
 */
#ifndef VENTURI_COLLECT_SPOT_H
#define VENTURI_COLLECT_SPOT_H

#include "collect/cfi.h"

#define VTI_SPOT_OURS 0x1u    /* our own code, which the program does not have by itself … */
#define VTI_SPOT_WRAPPER 0x2u /* … and of it what stands in front of libc */
#define VTI_SPOT_PYTHON 0x4u  /* the loop that runs Python functions */
#define VTI_SPOT_CODE 0x8u    /* in a module … */
#define VTI_SPOT_LINES 0x10u  /* … whose lines are counted */

struct vti_spot {
    uint32_t function; /* id; 0: nobody records */
    uint32_t flags;
    uint32_t offset; /* from the beginning of the function */
    struct vti_row row;
};

/* Once, before any sample: what has to be asked with locks. */
void vti_spots_init(void);

void vti_spot_find(struct vti_spot *spot, uintptr_t pc);

/* The module of an address has lines that are counted; not any more. Whether there is any such module. */
void vti_spots_add_lines(const void *address);
void vti_spots_drop_lines(const void *address);
bool vti_spots_have_lines(void);

/* A module may have gone, and another may come to lie where it was. */
void vti_spots_forget(void);

#endif
