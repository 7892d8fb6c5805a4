/* caller.h - one thread of this process that calls tasks of a run: room for arguments, its CPU time. */
#ifndef VENTURI_GRAPH_CALLER_H
#define VENTURI_GRAPH_CALLER_H

#include "graph/run.h"

struct vti_caller {
    vt_run *run;
    struct vti_call inner;
    struct vt_call call;
    struct vti_cpu cpu;
    const struct vt_datum *few[16];
    const struct vt_datum **many; /* owned, for more than those; NULL: not yet */
    size_t many_room;
    bool has_times; /* some task has a limit */
};

/* By the thread itself. */
void vti_caller_open(struct vti_caller *caller, vt_run *run, uint32_t worker);
void vti_caller_close(struct vti_caller *caller);

/* Calls the task and says in `done` what came of it. */
void vti_caller_make(struct vti_caller *caller, uint32_t task, uint32_t try_,
                     struct vti_done *done);

#endif
