/* jsonl_steps.h - messages of steps for jsonl.c, and their extra metrics for all that is JSON. */
#ifndef VENTURI_EXPORT_JSONL_STEPS_H
#define VENTURI_EXPORT_JSONL_STEPS_H

#include "base/json.h"
#include "export/export.h"
#include "model/step_log.h"

/* A member "extra": text that is what it should be as an object, other text as a string. */
void vti_json_step_extra(struct vti_json *json, struct vti_buf *out, const struct vti_step *step);

/* A line for each entry of the range, into `out` and on to the sink. */
int vti_jsonl_steps(vt_recording *recording, const struct vt_filter *range,
                    const struct vti_sink *sink, struct vti_buf *out);

#endif
