/* tasks.h - runs of task graphs of one process: from its records into TASKS and EDGES blocks. */
#ifndef VENTURI_DRAIN_TASKS_H
#define VENTURI_DRAIN_TASKS_H

#include "share/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vti_target;
struct vti_task_lanes;

/* Takes in a record of one of the kinds VTI_RECORD_TASK_…; `data` is its payload. */
void vti_tasks_take(struct vti_target *process, const struct vti_record *record,
                    const uint8_t *data, size_t len);

/* Writes blocks if entries have waited long enough, or now. */
void vti_tasks_cut(struct vti_target *process, uint64_t now_ns, bool now);

/* A spool has begun its next file: runs that have not ended and their workers are told again. */
void vti_tasks_again(struct vti_target *process);
void vti_task_lanes_free(struct vti_task_lanes *lanes);

#endif
