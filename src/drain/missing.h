/* missing.h - processes that should have been recorded and were not, or not to their end. */
#ifndef VENTURI_DRAIN_MISSING_H
#define VENTURI_DRAIN_MISSING_H

#include "drain/recorder.h"
#include "drain/target.h"

/* States a loss for each of those of which the recording would not tell otherwise. */
void vti_missing_state(struct vti_recorder *recorder, const struct vti_drain_stats *stats,
                       const struct vti_target *processes);

#endif
