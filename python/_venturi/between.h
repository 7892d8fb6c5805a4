/* between.h - what was called between two snapshots of this process. */
#ifndef VENTURI_PY_BETWEEN_H
#define VENTURI_PY_BETWEEN_H

#include "snapshot.h"

#include "analyze/calls.h"

/*
 * Fills in `calls`, ready for a profile. `before` NULL: since calls are counted. `tid` 0: all threads. 0 or a negative code;
 * vti_calls_fini() in every case.
 */
int vti_py_between(struct vti_calls *calls, const struct vti_py_snapshot *after,
                   const struct vti_py_snapshot *before, bool is_raw, int32_t tid);

#endif
