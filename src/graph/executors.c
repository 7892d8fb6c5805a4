/* executors.c - which executor stands behind which scheduler. */
#include "graph/schedulers.h"

static const struct vti_executor_ops *const all[] = {
    [VT_THREADS] = &vti_executor_threads,
    [VT_PROCESSES] = &vti_executor_processes,
    [VT_STARPU] = &vti_executor_starpu,
};

const struct vti_executor_ops *vti_executor_of(enum vt_scheduler scheduler)
{
    return (size_t)scheduler < sizeof all / sizeof all[0] ? all[scheduler] : NULL;
}
