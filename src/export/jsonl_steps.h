/* jsonl_steps.h - messages of steps for jsonl.c. */
#ifndef VENTURI_EXPORT_JSONL_STEPS_H
#define VENTURI_EXPORT_JSONL_STEPS_H

#include "export/export.h"

/* A line for each entry of the range, into `out` and on to the sink. */
int vti_jsonl_steps(vt_recording *recording, const struct vt_filter *range,
                    const struct vti_sink *sink, struct vti_buf *out);

#endif
