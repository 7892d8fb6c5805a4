/* steps.h - messages that steps of one process have dealt with: from its records into STEPS blocks. */
#ifndef VENTURI_DRAIN_STEPS_H
#define VENTURI_DRAIN_STEPS_H

#include "base/buf.h"
#include "share/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vti_target;
struct vti_step_lane;

/* Takes in a record of one of the kinds VTI_RECORD_STEP…; `data` is its payload, `text` what parts of a longer text its thread has told so far. */
void vti_steps_take(struct vti_target *process, struct vti_buf *text,
                    const struct vti_record *record, const uint8_t *data, size_t len);

/* Writes a block if entries have waited long enough, or now; and how many were lost meanwhile. */
void vti_steps_cut(struct vti_target *process, uint64_t now_ns, bool now);
void vti_step_lane_free(struct vti_step_lane *lane);

#endif
