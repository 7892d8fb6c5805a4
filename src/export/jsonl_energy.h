/* jsonl_energy.h - readings of the meter and CPU time of threads for jsonl.c. */
#ifndef VENTURI_EXPORT_JSONL_ENERGY_H
#define VENTURI_EXPORT_JSONL_ENERGY_H

#include "export/export.h"

/* A line for each source, note and rest of the meter, and for each reading and each entry of CPU time of the range, into `out` and on to
 * the sink. */
int vti_jsonl_energy(vt_recording *recording, const struct vt_filter *range,
                     const struct vti_sink *sink, struct vti_buf *out);

#endif
