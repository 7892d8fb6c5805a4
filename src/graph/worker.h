/* worker.h - one worker process: its lane, what it gives out of the shared memory, and the call that it makes. */
#ifndef VENTURI_GRAPH_WORKER_H
#define VENTURI_GRAPH_WORKER_H

#include "graph/process_shared.h"
#include "graph/run.h"

struct vti_worker_name {
    uint64_t offset;
    vt_function *function;
};

struct vti_worker {
    struct vti_header *header;
    struct vti_lane *lane;
    int control, caller;
    struct vti_space space;
    struct vt_datum *values; /* of the arguments of the call that is made; owned */
    const struct vt_datum **args;
    size_t room;
    struct vti_worker_name *names; /* of functions, by offset; owned */
    size_t name_count;
    uint64_t made;    /* the block of vt_call_bytes() in this call, 0: none */
    size_t made_size; /* what was asked for, also if there was no room */
    unsigned untold;  /* tasks since the caller was last looked at */
    uint64_t told_at, tell_ticks;
    struct vti_cpu cpu;
};

/* Resolves the function and the arguments of a slot. 1; 0: what it needs has failed; -1: it cannot be called, and the slot says why. */
int vti_worker_args(struct vti_worker *worker, struct vti_slot *slot, vt_function **function);

/* Calls it and fills the slot in but for its state, which is returned. */
enum vti_slot_state vti_worker_call(struct vti_worker *worker, struct vti_slot *slot,
                                    vt_function *function);

void vti_worker_forget(struct vti_worker *worker); /* frees what the above keep */

#endif
