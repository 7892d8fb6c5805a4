/*
 * flame.h - a tree of calls as a flame graph needs it: equal paths are one frame, the widest first, what is too small to be
 * seen folded into its parent.
 */
#ifndef VENTURI_ANALYZE_FLAME_H
#define VENTURI_ANALYZE_FLAME_H

#include "analyze/calls.h"

struct vti_flame_frame {
    uint32_t parent;   /* index, which is lower; VT_NONE: a root */
    uint32_t function; /* index in the calls; VT_NONE: a thread */
    uint32_t track;    /* index of the thread; VT_NONE: several */
    uint32_t depth;    /* 0: a root */
    bool is_estimated; /* samples have a part in it */
    uint64_t calls;
    double total_ns, self_ns;
    double folded_ns; /* of frames within it that were left out … */
    uint64_t folded;  /* … and how many these were, at any depth */
};

struct vti_flame_options {
    const char *focus;  /* only what is within functions of this name; NULL: all */
    bool is_bottom_up;  /* roots are what took the time, within them their callers */
    bool is_by_thread;  /* a root for each thread; the calls must not be merged */
    double least_share; /* of all time: smaller frames are left out */
    uint32_t depth;     /* levels, at least 1 */
};

struct vti_flame {
    struct vti_flame_frame
        *frames; /* depth first, of those with the same parent the longest first */
    size_t count, room;
    double total_ns;  /* of all roots */
    double folded_ns; /* of roots that were left out … */
    uint64_t folded;  /* … and frames, with all those within kept ones */
    uint32_t deeper;  /* levels that are there below the last one kept */
};

/* 0, VTI_E_NOT_FOUND if there is nothing of that name, VTI_E_LIMIT if there are too many paths, VTI_E_NOMEM; with a message.
 * _fini frees in every case. */
int vti_flame_make(struct vti_flame *flame, const struct vti_calls *calls,
                   const struct vti_flame_options *options);
void vti_flame_fini(struct vti_flame *flame);

#endif
