/* between.h - what was called between snapshots of this process. */
#ifndef VENTURI_PY_BETWEEN_H
#define VENTURI_PY_BETWEEN_H

#include "snapshot.h"

#include "analyze/calls.h"

/* Some time: up to a snapshot, since another. */
struct vti_py_period {
    const struct vti_py_snapshot *after;
    const struct vti_py_snapshot *before; /* NULL: since calls are counted */
};

struct vti_py_wanted {
    uint32_t thread;  /* its number; 0: all threads */
    bool is_raw;      /* with our own cost */
    bool no_builtins; /* what they took belongs to who called them */
};

/*
 * Fills in `calls` with all that was called in some periods, ready for a profile. 0 or a negative code;
 * vti_calls_fini() in every case.
 */
int vti_py_between(struct vti_calls *calls, const struct vti_py_period *periods, size_t count,
                   const struct vti_py_wanted *wanted);

#endif
