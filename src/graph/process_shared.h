/*
 * process_shared.h - what the calling process and its workers both see, in one memfd: a header, a lane for each worker, segments.
 *
 * A lane has slots. The caller fills a free slot, pushes its number on the ring `down`; the worker changes the slot's state, fills in the
 * result and pushes the number on the ring `up`: everything that goes down comes up, unless the worker dies. Each ring has one writer
 * and one reader, nothing is ever locked, and the state of a slot alone says what was done: whoever is killed leaves something to go by.
 */
#ifndef VENTURI_GRAPH_PROCESS_SHARED_H
#define VENTURI_GRAPH_PROCESS_SHARED_H

#include "graph/shared_arena.h"

#include <stdalign.h>
#include <venturi/graph.h>

#define VTI_LANE_SLOTS 1024u /* a power of two */
#define VTI_SLOT_ARGS 4u     /* longer lists lie in a block */
#define VTI_SHARED_MAGIC 0x57475456u
#define VTI_WORKER_ENVIRONMENT "VENTURI_WORKER_FD"

enum vti_flat_place {
    VTI_FLAT_HERE,    /* `bits` is the value */
    VTI_FLAT_SHARED,  /* an offset */
    VTI_FLAT_ADDRESS, /* in memory that was there before the worker was forked */
    VTI_FLAT_SLOT     /* the result of an earlier slot of the same lane */
};

/* A value that can be seen by another process. */
struct vti_flat {
    uint32_t type;  /* of struct vt_datum */
    uint32_t place; /* enum vti_flat_place */
    uint64_t size;
    uint64_t bits;
};

enum vti_slot_state {
    VTI_SLOT_FREE,
    VTI_SLOT_QUEUED, /* by the caller; the worker makes it RUNNING, the caller TAKEN_BACK, whoever is first */
    VTI_SLOT_RUNNING,
    VTI_SLOT_DONE,
    VTI_SLOT_FAILED,
    VTI_SLOT_TIMED_OUT,
    VTI_SLOT_CANCELLED,  /* it ended because the run is given up */
    VTI_SLOT_TAKEN_BACK, /* somebody else shall do it */
    VTI_SLOT_NOT_BEGUN   /* what it needs failed, or the run is given up */
};

struct vti_slot {
    _Atomic uint32_t state;
    uint32_t task;
    uint32_t try_;
    uint32_t arg_count;
    uint64_t function; /* address, or for a started worker the offset of its name */
    uint64_t user;     /* address, or offset, or 0 */
    uint64_t args;     /* offset of a longer list, 0: `here` */
    uint64_t time;     /* that it may take, in ticks; 0: any */
    _Atomic uint64_t start;
    uint64_t end;
    uint64_t cpu_ns;
    struct vti_flat result;
    struct vti_flat failure;
    struct vti_flat reason; /* of NONE or BYTES */
    struct vti_flat here[VTI_SLOT_ARGS];
};

struct vti_ring {
    alignas(64) _Atomic uint32_t tail; /* of its writer */
    alignas(64) _Atomic uint32_t head; /* of its reader */
    uint32_t numbers[VTI_LANE_SLOTS];
};

struct vti_lane {
    _Atomic uint32_t is_asleep; /* the worker waits for a byte on its socket */
    _Atomic uint32_t is_begun;  /* the worker has found its way */
    uint32_t worker;            /* its number in the run */
    uint32_t exec_errno;        /* why the command could not be executed; 0: it could */
    _Atomic uint64_t given;     /* blocks that the worker gets back */
    struct vti_ring down, up;
    struct vti_slot slots[VTI_LANE_SLOTS];
};

struct vti_header {
    uint32_t magic;
    uint32_t lane_count;
    uint64_t bytes; /* of all */
    uint64_t owners, first_segment;
    uint32_t segment_bytes, segment_count;
    uint64_t ticks_per_second; /* of vt_task_clock() */
    uint32_t is_cpu_time;      /* read it for each task */
    uint32_t is_forked;        /* addresses mean the same in the workers */
    uint32_t is_cancelled;     /* atomic: what tasks look at */
    alignas(64) _Atomic uint32_t is_caller_asleep;
    _Atomic uint32_t is_closing;
};

/* Both sides of a ring. The reader gets UINT32_MAX if there is nothing. */
void vti_ring_push(struct vti_ring *ring, uint32_t number);
uint32_t vti_ring_pull(struct vti_ring *ring);
int vti_ring_is_empty(const struct vti_ring *ring);

struct vti_lane *vti_shared_lane(struct vti_header *header, uint32_t lane);
void vti_shared_segments(struct vti_header *header, struct vti_segments *segments);

/* What a worker does until there is no more: `control` is its end of the socket, `caller` an eventfd that wakes the caller. Returns what
 * the process exits with. */
int vti_worker_loop(struct vti_header *header, uint32_t lane, int control, int caller);

#endif
