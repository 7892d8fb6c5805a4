/*
 * gifts.h - what a measured process hands over (vt_session_give): memory of its own, by descriptor.
 *
 * The process may write to it and change its size at any time: read it with pread(), never map it.
 */
#ifndef VENTURI_DRAIN_GIFTS_H
#define VENTURI_DRAIN_GIFTS_H

#include "drain/sources.h"

#include <stdint.h>

struct vti_target;

#define VTI_GIFTS_MAX 4096               /* that are kept, of all processes together */
#define VTI_GIFT_BYTES_MAX (64ull << 20) /* of one of them */

/* Kept until its process has ended, when whoever knows what is in it reads it: process->gifts is the list, newest
 * first. */
struct vti_gift {
    struct vti_gift *next;
    uint32_t kind; /* enum vt_gift: VT_GIFT_COVERAGE */
    int fd;        /* owned */
    uint64_t bytes;
    char name[];
};

/* The file is the process's to the end of this call: a source is written at once, the rest is kept. 0 or a negative
 * code. Takes `fd` in every case. */
int vti_gifts_take(struct vti_target *process, struct vti_sources *sources, uint32_t kind,
                   const char *name, int fd);

/* Closes and frees all that a process gave. */
void vti_gifts_free(struct vti_target *process);

#endif
