/* jsonl_tasks.h - runs of task graphs for jsonl.c. */
#ifndef VENTURI_EXPORT_JSONL_TASKS_H
#define VENTURI_EXPORT_JSONL_TASKS_H

#include "export/export.h"

/* A line for each run, each worker and each task of the range, into `out` and on to the sink. */
int vti_jsonl_tasks(vt_recording *recording, const struct vt_filter *range,
                    const struct vti_sink *sink, struct vti_buf *out);

#endif
