/*
 * tree.h - the tree of calls of a thread, in the arena.
 *
 * The memory for trees is cut into chunks of 64 units of 128 bytes; a chunk belongs to one thread, and
 * its first unit says what is in it and how much. A node is one unit: one function called along one path.
 * Since a path is open at most once at a time on one stack, a node is also the frame of the call that is
 * open there: there is no other stack. The durations of a function on a thread take nine units.
 *
 * A thread alone writes to its chunks; they are linked in the order in which they came into use, and a node comes
 * after its parent. The drainer reads them at any time, and when the thread has ended it zeroes them
 * and gives them back.
 */
#ifndef VENTURI_SHARE_TREE_H
#define VENTURI_SHARE_TREE_H

#include "share/arena.h"

#include <stdbool.h>
#include <stdint.h>

#define VTI_UNIT_BYTES 128u
#define VTI_CHUNK_UNITS 64u
#define VTI_CHUNK_BYTES (VTI_UNIT_BYTES * VTI_CHUNK_UNITS)
#define VTI_DURATION_UNITS 9u
#define VTI_DURATION_BUCKETS 128u
#define VTI_CHUNK_DURATION_COUNT ((VTI_CHUNK_UNITS - 1) / VTI_DURATION_UNITS)

enum vti_chunk_type {
    VTI_CHUNK_NODES = 1,
    VTI_CHUNK_DURATIONS,
    VTI_CHUNK_SAMPLES,
    VTI_CHUNK_LINES, /* lines.h … */
    VTI_CHUNK_LINE_CALLEES,
    VTI_CHUNK_LINE_DURATIONS, /* … as durations, with the unit of the line instead of the site */
    VTI_CHUNK_LINE_SAMPLES    /* where in functions stacks stood, as nodes; see vti_node.frame */
};

/* The first unit of a chunk. */
struct vti_chunk {
    uint32_t type;      /* enum vti_chunk_type */
    uint32_t no_site;   /* zero: where a node has its site, so that unit 0 is never taken for one */
    uint32_t used;      /* units in use, this one included; published last */
    uint32_t next;      /* index + 1 of the thread's next chunk; 0: this is the last */
    uint32_t next_free; /* link of the free list */
    uint32_t sites[VTI_CHUNK_DURATION_COUNT]; /* of durations: whose they are, in order */
    uint32_t reserved[20];
};

/* Nodes go by the number of their unit in the whole area. A node of a chunk of samples has only a parent,
 * which may be of either type, a site, and in `calls` and `total` samples and nanoseconds. */
struct vti_node {
    uint32_t parent;    /* 0: a root */
    uint32_t site;      /* 0: a root, which is no call but the bottom of a stack */
    uint32_t recent;    /* the child that was entered last */
    uint32_t durations; /* unit where they are counted; 0: nowhere */
    uint64_t begin;     /* ticks; of the call that is open, else 0 */
    uint64_t calls;
    uint64_t total;    /* ticks of calls and resumes that have ended */
    uint64_t shortest; /* ticks + 1; 0: none has ended */
    uint64_t longest;
    uint64_t resumes;
    uint64_t suspended;
    uint64_t elapsed; /* of a call that is open on a stack that was switched away from: ticks + 1 */
    uint64_t
        frame; /* address on the C stack; 0: the caller does not know. Of samples of lines: how far from the
                       * beginning of the function its code stood */
    uint32_t mark; /* who called and where, see vt_call_enter_at() */
    uint32_t reserved[9];
};

/*
 * How long calls took. That of the last one is not counted yet: a store to an address that comes from the clock makes
 * what follows wait for the clock, 3 ns of a call of 30, and by the next call it is long known.
 */
struct vti_durations_unit {
    uint64_t counts[VTI_DURATION_BUCKETS + 1]; /* and one behind them, for nothing */
    int64_t last; /* bucket of the last one, - VTI_DURATION_BUCKETS; 0: there was none */
    uint64_t reserved[14];
};

_Static_assert(sizeof(struct vti_chunk) == VTI_UNIT_BYTES, "the head of a chunk is one unit");
_Static_assert(sizeof(struct vti_node) == VTI_UNIT_BYTES, "a node is one unit");
_Static_assert(sizeof(struct vti_durations_unit) == VTI_DURATION_UNITS * VTI_UNIT_BYTES,
               "durations fit");

/* What was counted until now, the last call included. */
void vti_durations_copy(const struct vti_durations_unit *from,
                        uint64_t counts[VTI_DURATION_BUCKETS]);

/* Where unit 0 is. */
uint8_t *vti_arena_units(const struct vti_arena_control *control);

/* NULL for an index past the end. */
struct vti_chunk *vti_arena_chunk(const struct vti_arena_control *control, uint32_t at);

/* An index nobody uses, or UINT32_MAX. Called by the program's threads. */
uint32_t vti_chunks_pop(const struct vti_arena_control *control);

/* Whether half of them are in use: the rest is for what cannot be done without. */
bool vti_chunks_are_scarce(const struct vti_arena_control *control);

/* Gives an index back; the chunk is all zero. */
void vti_chunks_push(const struct vti_arena_control *control, uint32_t at);

#endif
