/*
 * fence.c - a full fence between processes.
 *
 * ThreadSanitizer does not know fences, and gcc refuses them under it; there a locked instruction does the same.
 */
#include "graph/fence.h"

#include <stdatomic.h>

void vti_fence(void)
{
#ifdef __SANITIZE_THREAD__
    static atomic_uint nothing;

    atomic_fetch_add(&nothing, 0);
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}
