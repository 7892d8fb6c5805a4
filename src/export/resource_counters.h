/* resource_counters.h - readings of resources as counters, for formats that have such. */
#ifndef VENTURI_EXPORT_RESOURCE_COUNTERS_H
#define VENTURI_EXPORT_RESOURCE_COUNTERS_H

#include "venturi/read.h"

struct vti_resource_counter {
    uint32_t number;  /* which one it is, from 0 */
    const char *name; /* "CPU of all processes", "power of package-0", … */
    const char *unit;
    uint32_t process; /* id of the first recorded process, or VT_NONE */
    int64_t time_ns;
    double value;
};

/* Calls `each` for every value that is known in the range, counter by counter in order of time. Stops when it returns
 * non-zero and returns that. */
int vti_resource_counters(vt_recording *recording, const struct vt_filter *range,
                          int (*each)(const struct vti_resource_counter *counter, void *arg),
                          void *arg);

#endif
